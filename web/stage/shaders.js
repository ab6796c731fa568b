// @ts-check
/** Shaders. Transforms are in one texture: three texels, the rows of a matrix, for each mover. */

const MOVERS = `
uniform highp sampler2D movers;
mat3x4 mover(int k) {  // its columns are the rows of the transform
  ivec2 at = ivec2(3 * (k & 255), k >> 8);
  return mat3x4(texelFetch(movers, at, 0), texelFetch(movers, at + ivec2(1, 0), 0), texelFetch(movers, at + ivec2(2, 0), 0));
}`;

const HEAD = `#version 300 es
precision highp float;`;

/** Instanced shapes: each instance has a rotation, a position, a size, a colour, and the mover that carries it. */
export const INSTANCES = `${HEAD}
layout(location = 0) in vec3 corner; layout(location = 1) in vec3 normal; layout(location = 2) in float end;
layout(location = 3) in vec4 turn; layout(location = 4) in vec4 place;  // w, x, y, z; x, y, z and half a length
layout(location = 5) in vec4 size; layout(location = 6) in vec4 color;  // size.w is the mover
uniform mat4 camera; uniform vec3 away; uniform float reached; uniform vec4 beyond;
out vec3 facing, world; out vec4 paint; flat out int owner;
${MOVERS}
vec3 turned(vec3 v) { return v + 2.0 * cross(turn.yzw, cross(turn.yzw, v) + turn.x * v); }
void main() {
  owner = int(size.w);
  mat3x4 move = mover(owner);
  vec3 local = turned(corner * size.xyz + vec3(0, 0, end * place.w)) + place.xyz;
  world = vec4(local, 1) * move;
  facing = vec4(turned(normal), 0) * move;
  paint = reached >= 0.0 && float(gl_InstanceID) >= reached ? beyond : color;
  gl_Position = camera * vec4(world + away * float(gl_InstanceID & 3), 1);  // of two surfaces in one place, one wins
}`;

/** Triangles whose vertices are moved by up to four movers. */
export const CORNERS = `${HEAD}
layout(location = 0) in vec4 corner; layout(location = 1) in vec4 normal; layout(location = 2) in vec4 color;
layout(location = 3) in uvec4 bone; layout(location = 4) in vec4 weight;
uniform mat4 camera; uniform int first; uniform highp usampler2D owners; uniform vec3 low, grain;
out vec3 facing, world; out vec4 paint; flat out int owner;
${MOVERS}
void main() {
  mat3x4 move = mat3x4(0);
  for (int k = 0; k < 4; k++) if (weight[k] > 0.0) move += weight[k] * mover(first + int(bone[k]));
  owner = int(texelFetch(owners, ivec2(int(bone[0]) & 255, int(bone[0]) >> 8), 0).r);
  world = vec4(low + grain * corner.xyz, 1) * move;
  facing = vec4(normal.xyz, 0) * move;
  paint = vec4(color.rgb, 1);
  gl_Position = camera * vec4(world, 1);
}`;

const SHADOWS = `
uniform highp sampler2DShadow depths; uniform mat4 sun; uniform float texel, depthBias;
const vec2 DISC[12] = vec2[](vec2(-.840, -.374), vec2(.896, -.312), vec2(-.296, .887), vec2(.385, .893),
  vec2(-.696, .457), vec2(-.203, .321), vec2(.473, -.480), vec2(.185, -.893), vec2(.507, .064), vec2(-.326, -.406),
  vec2(-.322, -.933), vec2(.812, .398));  // the first four on the rim
float lit(vec3 point, float spread, bool fine) {  // the share of the light that comes through
  vec3 at = (sun * vec4(point, 1)).xyz * 0.5 + 0.5;
  if (at != clamp(at, 0.0, 1.0)) return 1.0;
  float turn = 6.2832 * fract(52.9829 * fract(dot(gl_FragCoord.xy, vec2(0.06711, 0.00584))));
  mat2 spin = spread * texel * mat2(cos(turn), sin(turn), -sin(turn), cos(turn));
  float sum = 0.0;
  for (int k = 0; k < 4; k++) sum += texture(depths, vec3(at.xy + spin * DISC[k], at.z - depthBias));
  if (!fine || sum == 0.0 || sum == 4.0) return sum / 4.0;  // all light or all shadow
  for (int k = 4; k < 12; k++) sum += texture(depths, vec3(at.xy + spin * DISC[k], at.z - depthBias));
  return sum / 12.0;
}`;

/** Light: the sun with shadows, a little light from the eye, the sky, and a rim that sets things off from the page. */
export const LIT = `${HEAD}
in vec3 facing, world; in vec4 paint; flat in int owner;
uniform vec3 eye, towards, light, rim; uniform bool parallel, shaded, plain; uniform float rimming, lift; uniform int chosen;
uniform vec3 glow; uniform vec4 tint;
out vec4 pixel;
${SHADOWS}
void main() {
  if (plain) { pixel = paint; return; }
  vec3 normal = normalize(facing), look = parallel ? towards : normalize(eye - world);
  if (!gl_FrontFacing) normal = -normal;
  float faces = max(dot(normal, look), 0.0), sun = max(dot(normal, light), 0.0);
  if (shaded && sun > 0.0) sun *= lit(world + lift * normal, 1.6, false);
  vec3 base = pow(paint.rgb, vec3(2.2));
  vec3 color = base * (0.27 + 0.12 * normal.z + 0.22 * faces + 0.58 * sun);
  color += 0.10 * sun * pow(max(dot(normal, normalize(light + look)), 0.0), 30.0);
  color = mix(pow(color, vec3(1.0 / 2.2)), rim, rimming * pow(1.0 - faces, 3.0));
  if (!shaded) color = mix(color, paint.rgb, 0.5);  // handles: nearly their own colour
  if (chosen == owner) color = mix(color, glow, 0.35);
  pixel = tint.a > 0.0 ? vec4(mix(color, tint.rgb, 0.72), tint.a) : vec4(color, paint.a);
}`;

/** Only depth, for the shadow map. */
export const DEPTH = `${HEAD}
void main() {}`;

/** Mover and depth as integers, for picking. */
export const IDENTITY = `${HEAD}
precision highp int;
flat in int owner;
out uvec4 seen;
void main() { seen = uvec4(uint(owner), floatBitsToUint(gl_FragCoord.z), 0, 0); }`;

/** The ground: a square around a point. */
export const GROUND = `${HEAD}
uniform mat4 camera; uniform vec3 middle; uniform float reach;
out vec2 at; out vec3 world;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  at = middle.xy + corner * reach;
  world = vec3(at, middle.z);
  gl_Position = camera * vec4(world, 1);
}`;

/** A pool of light, a grid with every fifth line stronger, and shadows; all fade out. */
export const FLOOR = `${HEAD}
in vec2 at; in vec3 world;
uniform vec3 middle, line, ground, dark; uniform float reach, cell, strength, soft; uniform bool shaded;
out vec4 pixel;
${SHADOWS}
float grid(float size) {
  vec2 wide = fwidth(at / size), near = abs(fract(at / size - 0.5) - 0.5) / max(wide, vec2(1e-6));
  return (1.0 - min(min(near.x, near.y), 1.0)) * (1.0 - smoothstep(0.2, 0.6, max(wide.x, wide.y)));
}
void main() {
  float far = length(at - middle.xy) / reach, fade = 1.0 - smoothstep(0.3, 1.0, far);
  float lines = fade * max(0.28 * grid(cell), 0.5 * grid(5.0 * cell));
  float shadow = shaded ? strength * fade * (1.0 - lit(world, soft, true)) : 0.0;
  vec3 color = mix(mix(ground, line, lines), dark, shadow);
  float pool = 1.0 - smoothstep(0.0, 0.8, far);
  pixel = vec4(color, max(max(pool, lines), shadow));
}`;

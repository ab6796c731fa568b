"use strict";
// Plays a film in the page that `player.py` writes: what moves, a camera, a clock, and the hands that turn them.

// The film: what Python wrote. Arrays are little-endian numbers in base64.

const film = JSON.parse(document.getElementById("film").textContent);
const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer;
const times = new Float32Array(bytes(film.times));      // of every frame [s], from 0
const numbers = new Uint32Array(bytes(film.numbers));   // of the frame in the clip
const tracks = new Float32Array(bytes(film.tracks));    // frames x bodies x (turn x, y, z, w, place x, y, z)
const parts = new Float32Array(bytes(film.parts));      // body, mesh, size 3, half, colour 3, turn 4, place 3
const rails = new Float32Array(bytes(film.rails));      // frames x rails x both ends
const trail = new Float32Array(bytes(film.trail));      // places, film.fine of them from frame to frame; or none
const hull = new Float32Array(bytes(film.hull));        // points on the outside of all that is ever shown
const way = new Float32Array(bytes(film.way));          // frames x where the camera has gone to; or none
const PART = 16, POSE = 7, INSTANCE = 14;               // numbers of a part, of a body's pose, of an instance
const bodies = tracks.length / POSE / times.length, railCount = rails.length / 6 / times.length;
const duration = times[times.length - 1];
const night = matchMedia("(prefers-color-scheme: dark)");
const CAPSULE = 0, CYLINDER = 1, BOX = 2;
const PAST = [0.93, 0.47, 0.2], FUTURE = [[0.97, 0.81, 0.7], [0.4, 0.27, 0.18]], RAIL = [0.54, 0.58, 0.62];

// Small algebra: vectors are arrays, quaternions are x, y, z, w.

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const mix = (a, b, t) => a + (b - a) * t;
const between = (low, x, high) => Math.min(Math.max(x, low), high);

function product(a, b) {
  return [a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
    a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]];
}

function turned(q, v) {
  const t = cross(q, v).map(x => 2 * x), u = cross(q, t);
  return [v[0] + q[3] * t[0] + u[0], v[1] + q[3] * t[1] + u[1], v[2] + q[3] * t[2] + u[2]];
}

function fromZ(d) {  // the turn that brings z to a unit vector
  if (d[2] < -0.999999) return [1, 0, 0, 0];
  const q = [-d[1], d[0], 0, 1 + d[2]], length = Math.hypot(...q);
  return q.map(x => x / length);
}

// Meshes of unit size. A vertex is corner 3, normal 3, end: it stands at corner * size + (0, 0, end * half).

function revolved(profile, sides) {  // profile: radius, z, normal's radius, normal's z, end
  const vertices = [], indices = [];
  for (const [r, z, nr, nz, end] of profile)
    for (let k = 0; k <= sides; k++) {
      const c = Math.cos(2 * Math.PI * k / sides), s = Math.sin(2 * Math.PI * k / sides);
      vertices.push(r * c, r * s, z, nr * c, nr * s, nz, end);
    }
  for (let i = 0; i + 1 < profile.length; i++)
    for (let k = 0; k < sides; k++) {
      const a = i * (sides + 1) + k, b = a + sides + 1;
      indices.push(a, a + 1, b, b, a + 1, b + 1);
    }
  return [vertices, indices];
}

function capsule(sides, rings) {
  const profile = [];
  for (const end of [-1, 1])
    for (let k = 0; k <= rings; k++) {
      const latitude = Math.PI / 2 * (end < 0 ? k / rings - 1 : k / rings);
      profile.push([Math.cos(latitude), Math.sin(latitude), Math.cos(latitude), Math.sin(latitude), end]);
    }
  return revolved(profile, sides);
}

const cylinder = sides => revolved(
  [[0, 0, 0, -1, -1], [1, 0, 0, -1, -1], [1, 0, 1, 0, -1], [1, 0, 1, 0, 1], [1, 0, 0, 1, 1], [0, 0, 0, 1, 1]], sides);

function box() {
  const vertices = [], indices = [];
  for (let axis = 0; axis < 3; axis++)
    for (const sign of [-1, 1]) {
      const first = vertices.length / 7;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const corner = [0, 0, 0], normal = [0, 0, 0];
        corner[axis] = normal[axis] = sign;
        corner[(axis + 1) % 3] = u * sign;
        corner[(axis + 2) % 3] = v;
        vertices.push(...corner, ...normal, 0);
      }
      indices.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
  return [vertices, indices];
}

function blended(list, width, [low, high, share]) {  // numbers of the frames around a time
  return Array.from({length: width}, (_, k) => mix(list[low * width + k], list[high * width + k], share));
}

// What to draw at a time: instances of meshes, one list for each mesh.

const many = parts.length / PART > 1500;
const meshes = [many ? capsule(10, 3) : capsule(24, 6), cylinder(many ? 14 : 40), box()];

function moment(time) {  // the frames around a time, and the share of the second
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle; else high = middle;
  }
  return [low, high, high > low ? between(0, (time - times[low]) / (times[high] - times[low]), 1) : 0];
}

function pose(body, [low, high, share]) {
  const a = tracks.subarray((low * bodies + body) * POSE), b = tracks.subarray((high * bodies + body) * POSE);
  const way = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
  const turn = [0, 1, 2, 3].map(k => mix(a[k], way * b[k], share)), length = Math.hypot(...turn);
  return [turn.map(x => x / length), [4, 5, 6].map(k => mix(a[k], b[k], share))];
}

function rod(list, start, end, radius, color) {
  const along = [0, 1, 2].map(k => end[k] - start[k]), length = Math.hypot(...along);
  if (length === 0) return;
  const middle = [0, 1, 2].map(k => (start[k] + end[k]) / 2);
  list.push(...fromZ(along.map(x => x / length)), ...middle, length / 2, radius, radius, radius, ...color);
}

function instances(now) {
  const lists = [[], [], []], poses = Array.from({length: bodies}, (_, body) => pose(body, now));
  for (let k = 0; k < parts.length; k += PART) {
    const [turn, place] = poses[parts[k]], size = parts.subarray(k + 2, k + 5), color = parts.subarray(k + 6, k + 9);
    const own = parts.subarray(k + 9, k + 13), at = turned(turn, parts.subarray(k + 13, k + 16));
    lists[parts[k + 1]].push(...product(turn, own), place[0] + at[0], place[1] + at[1], place[2] + at[2], parts[k + 5],
      ...size, ...color);
  }
  const [low, high, share] = now, thin = 0.0035 * film.own;
  for (let k = 0; k < railCount; k++) {
    const a = (low * railCount + k) * 6, b = (high * railCount + k) * 6;
    const ends = [0, 1, 2, 3, 4, 5].map(i => mix(rails[a + i], rails[b + i], share));
    rod(lists[CAPSULE], ends.slice(0, 3), ends.slice(3), 2 * thin, RAIL);
  }
  return lists;
}

function path([low, , share]) {  // the trail: what lies behind in full colour, what lies ahead faintly
  const list = [], reached = (low + share) * film.fine, thin = 0.0028 * Math.min(film.scale, 1.5 * film.own);
  for (let k = 0; 3 * k + 3 < trail.length; k++) {
    const start = trail.subarray(3 * k, 3 * k + 3), end = trail.subarray(3 * k + 3, 3 * k + 6);
    const here = [0, 1, 2].map(i => mix(start[i], end[i], between(0, reached - k, 1)));
    rod(list, start, here, thin, PAST);
    rod(list, here, end, thin, FUTURE[Number(night.matches)]);
  }
  return list;
}

// Drawing with WebGL 2.

const canvas = document.querySelector("canvas");
const gl = canvas.getContext("webgl2", {antialias: true, alpha: false});
const SOLID = [`#version 300 es
layout(location = 0) in vec3 corner; layout(location = 1) in vec3 normal; layout(location = 2) in float end;
layout(location = 3) in vec4 turn; layout(location = 4) in vec4 place;
layout(location = 5) in vec3 size; layout(location = 6) in vec3 color;
uniform mat4 camera; uniform vec3 away; uniform float ground; uniform bool shadow;
out vec3 facing, paint;
vec3 turned(vec3 v) { return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v); }
void main() {
  vec3 world = turned(corner * size + vec3(0, 0, end * place.w)) + place.xyz;
  world += away * float(gl_InstanceID & 3);  // of two surfaces in one place, one wins
  if (shadow) world.z = ground;
  facing = turned(normal); paint = color;
  gl_Position = camera * vec4(world, 1);
}`, `#version 300 es
precision highp float;
in vec3 facing, paint;
uniform vec3 light; uniform vec4 dark; uniform bool shadow, plain;
out vec4 pixel;
void main() {
  vec3 normal = normalize(facing);
  if (!gl_FrontFacing) normal = -normal;
  float towards = dot(normal, light);
  vec3 dim = paint * (0.70 + 0.28 * towards);
  vec3 lit = dim + (1.0 - dim) * 0.18 * pow(max(towards, 0.0), 3.0);
  pixel = shadow ? dark : vec4(plain ? paint : lit, 1);
}`];
const GROUND = [`#version 300 es
uniform mat4 camera; uniform vec3 middle; uniform float reach;
out vec2 at;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  at = middle.xy + corner * reach;
  gl_Position = camera * vec4(at, middle.z, 1);
}`, `#version 300 es
precision highp float;
in vec2 at;
uniform vec3 middle, line; uniform float reach, cell;
out vec4 pixel;
float grid(float size) {
  vec2 near = abs(fract(at / size - 0.5) - 0.5) / fwidth(at / size);
  return 1.0 - min(min(near.x, near.y), 1.0);
}
void main() {
  float fade = 1.0 - smoothstep(0.35, 1.0, length(at - middle.xy) / reach);
  pixel = vec4(line, fade * max(0.4 * grid(cell), 0.8 * grid(5.0 * cell)));
}`];

function program(sources) {
  const made = gl.createProgram();
  [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, k) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, sources[k]);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  });
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const at = {};
  for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
    const name = gl.getActiveUniform(made, k).name;
    at[name] = gl.getUniformLocation(made, name);
  }
  return {made, at};
}

function uploaded([vertices, indices]) {
  const array = gl.createVertexArray(), instance = gl.createBuffer();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(vertices), gl.STATIC_DRAW);
  const attribute = (index, count, stride, offset, divisor) => {
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, count, gl.FLOAT, false, 4 * stride, 4 * offset);
    gl.vertexAttribDivisor(index, divisor);
  };
  for (const [index, count, offset] of [[0, 3, 0], [1, 3, 3], [2, 1, 6]]) attribute(index, count, 7, offset, 0);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(indices), gl.STATIC_DRAW);
  gl.bindBuffer(gl.ARRAY_BUFFER, instance);
  for (const [index, count, offset] of [[3, 4, 0], [4, 4, 4], [5, 3, 8], [6, 3, 11]])
    attribute(index, count, INSTANCE, offset, 1);
  return {array, instance, indices: indices.length, count: 0};
}

function fill(mesh, list) {
  mesh.count = list.length / INSTANCE;
  gl.bindBuffer(gl.ARRAY_BUFFER, mesh.instance);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(list), gl.DYNAMIC_DRAW);
}

function drawn(mesh) {
  gl.bindVertexArray(mesh.array);
  gl.drawElementsInstanced(gl.TRIANGLES, mesh.indices, gl.UNSIGNED_SHORT, 0, mesh.count);
}

// The camera turns about a point. A flat linkage is seen straight from above, without perspective.

const HALF = Math.tan(15 * Math.PI / 180);  // of the angle of view
const middle = film.low.map((x, k) => (x + film.high[k]) / 2);
let eye = {}, gone = [0, 0, 0];  // the camera, and where it has gone to if it follows

function axes() {
  const a = eye.azimuth, e = eye.elevation;
  const towards = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  const right = [-Math.sin(a), Math.cos(a), 0];
  return {towards, right, up: cross(towards, right)};
}

function room() {  // the part of the canvas that nothing covers, in CSS pixels: above the bar, below the title
  const top = document.querySelector("h1").getBoundingClientRect().bottom + 24;
  const bottom = canvas.clientHeight - document.querySelector("form").offsetHeight - 12;
  return {top, height: Math.max(bottom - top, 0.4 * canvas.clientHeight)};
}

function home() {  // see everything that the film shows
  const [elevation, azimuth] = film.view.map(degrees => degrees * Math.PI / 180);
  eye = {azimuth, elevation, at: middle.slice(), distance: 0.05 * film.scale};
  const {towards, right, up} = axes(), free = room();
  const tall = HALF * free.height / canvas.clientHeight, wide = 0.94 * HALF * canvas.clientWidth / canvas.clientHeight;
  for (let k = 0; k < hull.length; k += 3) {
    const point = middle.map((x, i) => hull[k + i] - x), away = film.flat ? 0 : dot(point, towards);
    const needed = Math.max(Math.abs(dot(point, right)) / wide, Math.abs(dot(point, up)) / tall);
    eye.distance = Math.max(eye.distance, away + needed);
  }
  dirty = true;
}

function cameraMatrix() {
  const {towards, right, up} = axes(), d = eye.distance, aspect = canvas.width / canvas.height;
  const free = room(), shift = 2 * (free.top + free.height / 2) / canvas.clientHeight - 1;  // where the middle stands
  const x = 1 / (HALF * aspect), y = 1 / HALF, span = d + 4 * film.scale;
  const rows = film.flat
    ? [right.map(v => v * x / d), up.map(v => v * y / d), towards.map(v => -v / span), [0, 0, 0]]
    : [right.map(v => v * x), up.map((v, k) => v * y + shift * towards[k]), null, towards.map(v => -v)];
  const near = Math.max(0.02 * d, d - 3 * film.scale), depth = (span + near) / (span - near);
  if (!film.flat) rows[2] = towards.map(v => -v * depth);
  const last = rows.map(row => -dot(row, eye.at.map((x, k) => x + gone[k])));
  if (film.flat) { last[1] -= shift; last[3] = 1; }
  else { last[1] -= shift * d; last[2] += depth * d - 2 * span * near / (span - near); last[3] += d; }
  return new Float32Array([0, 1, 2].flatMap(k => rows.map(row => row[k])).concat(last));
}

let solids, skins, ground, shapes, mesh, line, dirty = true;

function prepare() {
  solids = program(SOLID);
  ground = program(GROUND);
  shapes = meshes.map(uploaded);
  if (bones.length) { skins = program([MESH, SOLID[1]]); mesh = uploadedMesh(); }
  line = uploaded(capsule(8, 2));
  gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
}

function paint() {
  const pixels = Math.min(devicePixelRatio || 1, 2);
  const width = Math.round(canvas.clientWidth * pixels), height = Math.round(canvas.clientHeight * pixels);
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  gl.viewport(0, 0, width, height);
  gl.clearColor(...(night.matches ? [0.082, 0.094, 0.11] : [0.965, 0.969, 0.973]), 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  const now = moment(time), {towards, right, up} = axes();
  if (way.length) gone = blended(way, 3, now);
  const camera = cameraMatrix();
  for (const rule of [gl.DEPTH_TEST, gl.CULL_FACE]) gl.disable(rule);  // a shadow is as flat as the ground it lies on
  gl.enable(gl.BLEND);
  gl.useProgram(ground.made);
  gl.uniformMatrix4fv(ground.at.camera, false, camera);
  gl.uniform3f(ground.at.middle, middle[0] + gone[0], middle[1] + gone[1], film.ground);
  gl.uniform3f(ground.at.line, ...(night.matches ? [0.5, 0.55, 0.6] : [0.6, 0.65, 0.7]));
  gl.uniform1f(ground.at.reach, film.flat ? 2.5 * film.scale : 1.6 * film.scale);
  gl.uniform1f(ground.at.cell, film.cell);
  gl.bindVertexArray(null);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  gl.disable(gl.BLEND);
  gl.useProgram(solids.made);
  const light = [0, 1, 2].map(k => towards[k] + 0.9 * up[k] - 0.5 * right[k]), length = Math.hypot(...light);
  const settings = shadow => at => {
    gl.uniformMatrix4fv(at.camera, false, camera);
    gl.uniform3f(at.light, ...light.map(x => x / length));
    gl.uniform1f(at.ground, film.ground);
    gl.uniform4f(at.dark, ...(night.matches ? [0.055, 0.063, 0.075] : [0.885, 0.9, 0.915]), 1);
    gl.uniform1i(at.shadow, Number(shadow));
  };
  gl.uniform3f(solids.at.away, ...towards.map(x => -0.0002 * film.scale * x));
  instances(now).forEach((list, k) => fill(shapes[k], list));
  for (const shadow of film.flat ? [false] : [true, false]) {
    settings(shadow)(solids.at);
    if (!shadow) for (const rule of [gl.DEPTH_TEST, gl.CULL_FACE]) gl.enable(rule);
    shapes.forEach(drawn);
    if (mesh) drawMesh(now, settings(shadow));
  }
  gl.enable(gl.CULL_FACE);
  fill(line, path(now));
  gl.uniform1i(solids.at.plain, 1);
  drawn(line);
  gl.uniform1i(solids.at.plain, 0);
}

// Time.

const [play, scrub, clock, speed, loop] = document.querySelectorAll("#play, #scrub, #clock, #speed, #loop");
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
let time = 0, playing = duration > 0 && !calm, before = null;

function show() {
  const [low, high, share] = moment(time), number = numbers[share > 0.999 ? high : low];
  clock.textContent = `frame ${number} of ${film.last} | ${time.toFixed(2)} of ${duration.toFixed(2)} s`;
  scrub.value = time;
  scrub.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds, frame ${number}`);
  play.textContent = playing ? "\u275A\u275A" : "\u25B6\uFE0E";
  play.setAttribute("aria-label", playing ? "Pause" : "Play");
  dirty = true;
}

function seek(value) { time = between(0, value, duration); show(); }

function toggle() {
  playing = !playing && duration > 0;
  if (playing && time >= duration) time = 0;
  show();
}

function step(count) {  // whole frames; between two, the next or the one before
  playing = false;
  const [low, , share] = moment(time), here = low + share;
  const whole = count < 0 ? Math.ceil(here - 0.001) : Math.floor(here + 0.001);
  seek(times[between(0, whole + count, times.length - 1)]);
}

function tick(now) {
  if (playing && before !== null) {
    let next = time + (now - before) / 1000 * Number(speed.value);
    if (next >= duration) { next = loop.checked ? next % duration : duration; playing = loop.checked; }
    seek(next);
  }
  before = now;
  if (dirty) { dirty = false; paint(); }
  requestAnimationFrame(tick);
}

// Hands: mouse, touch and keys.

const fingers = new Map();

function move(dx, dy) {
  const {right, up} = axes(), metres = 2 * HALF * eye.distance / canvas.clientHeight;
  look({at: eye.at.map((x, k) => x - metres * (dx * right[k] - dy * up[k]))});
}

const look = change => { Object.assign(eye, change); dirty = true; };
const zoom = factor => look({distance: between(0.02 * film.scale, eye.distance * factor, 60 * film.scale)});
const orbit = (dx, dy) => look({
  azimuth: eye.azimuth - 0.008 * dx, elevation: between(-0.4, eye.elevation + 0.008 * dy, Math.PI / 2)});

canvas.addEventListener("pointerdown", event => {
  fingers.set(event.pointerId, event);
  canvas.setPointerCapture(event.pointerId);
});
for (const ending of ["pointerup", "pointercancel"])
  canvas.addEventListener(ending, event => fingers.delete(event.pointerId));
canvas.addEventListener("pointermove", event => {
  const old = fingers.get(event.pointerId);
  if (!old) return;
  const dx = event.clientX - old.clientX, dy = event.clientY - old.clientY;
  const other = [...fingers.values()].find(finger => finger.pointerId !== event.pointerId);
  if (other) {
    const gap = finger => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY) + 1;
    zoom(gap(old) / gap(event));
    move(dx / 2, dy / 2);
  } else if (film.flat || event.shiftKey || event.buttons & 6) move(dx, dy);
  else orbit(dx, dy);
  fingers.set(event.pointerId, event);
});
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  zoom(Math.exp(0.0012 * event.deltaY));
}, {passive: false});
canvas.addEventListener("contextmenu", event => event.preventDefault());
canvas.addEventListener("dblclick", home);
play.addEventListener("click", toggle);
scrub.addEventListener("input", () => { playing = false; seek(Number(scrub.value)); });
document.querySelector("form").addEventListener("submit", event => event.preventDefault());
addEventListener("resize", home);
night.addEventListener("change", () => { dirty = true; });
canvas.addEventListener("webglcontextlost", event => event.preventDefault());
canvas.addEventListener("webglcontextrestored", () => { prepare(); dirty = true; });

const faster = way => { speed.selectedIndex = between(0, speed.selectedIndex + way, speed.length - 1); };
const KEYS = {
  " ": toggle, ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => faster(1),
  ArrowDown: () => faster(-1), Home: () => step(-times.length), End: () => step(times.length), r: home, R: home,
  "+": () => zoom(0.85), "-": () => zoom(1.18),
};
addEventListener("keydown", event => {
  const presses = event.key === " " && event.target.matches("button, summary, input[type=checkbox]");
  if (presses || event.target === speed || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

function start() {  // when all of the page is read
  if (gl) {
    scrub.max = duration;
    scrub.disabled = play.disabled = duration === 0;
    prepare();
    home();
    show();
    requestAnimationFrame(tick);
  } else document.getElementById("failure").hidden = false;
}

// Meshes and skins in the page: triangles whose corners are moved by bones, on the graphics card. It goes on where
// `player.js` has read the film, and uses its algebra and its programs.

const bones = new Uint16Array(bytes(film.mesh.bodies)); // of the meshes: the body that each is
const binds = new Float32Array(bytes(film.mesh.binds)); // and where the mesh is bound to it, three rows of four

function moves(now) {  // where each bone takes what is bound to it: three rows of four numbers
  const list = new Float32Array(12 * bones.length);
  bones.forEach((body, bone) => {
    const [turn, place] = pose(body, now), bind = binds.subarray(12 * bone, 12 * bone + 12);
    for (let column = 0; column < 4; column++) {
      const at = turned(turn, [bind[column], bind[4 + column], bind[8 + column]]);
      for (let row = 0; row < 3; row++) list[12 * bone + 4 * row + column] = at[row] + (column === 3 ? place[row] : 0);
    }
  });
  return list;
}

// Drawing with WebGL 2.

const MESH = `#version 300 es
layout(location = 0) in vec3 corner; layout(location = 1) in vec4 normal; layout(location = 2) in vec4 color;
layout(location = 3) in uvec4 bone; layout(location = 4) in vec4 weight;
uniform mat4 camera; uniform float ground; uniform bool shadow; uniform highp sampler2D moves;
out vec3 facing, paint;
void main() {
  mat3x4 move = mat3x4(0);  // its columns are the rows of the transform
  for (int k = 0; k < 4; k++)
    for (int row = 0; row < 3; row++) move[row] += weight[k] * texelFetch(moves, ivec2(row, bone[k]), 0);
  vec3 world = vec4(corner, 1) * move;
  if (shadow) world.z = ground;
  facing = vec4(normal.xyz, 0) * move; paint = color.rgb;
  gl_Position = camera * vec4(world, 1);
}`;

function uploadedMesh() {  // the triangles of meshes and skins, and a texture that takes the moves of their bones
  const array = gl.createVertexArray(), indices = new Uint32Array(bytes(film.mesh.indices));
  gl.bindVertexArray(array);
  const attribute = (index, name, count, kind, norm) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, bytes(film.mesh[name]), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(index);
    if (kind === gl.UNSIGNED_SHORT) gl.vertexAttribIPointer(index, count, kind, 0, 0);
    else gl.vertexAttribPointer(index, count, kind, norm, 0, 0);
  };
  attribute(0, "corners", 3, gl.FLOAT, false);
  attribute(1, "normals", 4, gl.BYTE, true);
  attribute(2, "colors", 4, gl.UNSIGNED_BYTE, true);
  attribute(3, "bones", 4, gl.UNSIGNED_SHORT, false);
  attribute(4, "weights", 4, gl.UNSIGNED_BYTE, true);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const rule of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, rule, gl.NEAREST);
  return {array, texture, indices: indices.length};
}

function drawMesh(now, settings) {
  gl.useProgram(skins.made);
  settings(skins.at);
  gl.disable(gl.CULL_FACE);
  gl.bindTexture(gl.TEXTURE_2D, mesh.texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 3, bones.length, 0, gl.RGBA, gl.FLOAT, moves(now));
  gl.bindVertexArray(mesh.array);
  gl.drawElements(gl.TRIANGLES, mesh.indices, gl.UNSIGNED_INT, 0);
  gl.useProgram(solids.made);
}

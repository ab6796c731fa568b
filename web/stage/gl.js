// @ts-check
/** Helpers for WebGL 2: programs with their uniforms by name, batches of instances, and the texture of movers. */

const STRIDE = 16; // numbers of an instance: rotation 4, position 3, half, size 3, mover, colour 4
const ROW = 256; // movers per row of their texture

/** @typedef {{made: WebGLProgram, at: Record<string, WebGLUniformLocation>}} Program */
/** @typedef {import("./algebra.js").Numbers} Numbers */

/** Programs of a GPU by name. Those that are begun compile in parallel; the first use waits for the program. */
export class Programs {
  /** @param {WebGL2RenderingContext} gl @param {Record<string, [string, string]>} texts of vertices and of fragments */
  constructor(gl, texts) {
    this.gl = gl;
    this.texts = texts;
    /** @type {Map<string, WebGLProgram>} */ this.begun = new Map();
    /** @type {Map<string, Program>} */ this.known = new Map();
  }

  /** Begin to compile programs that are needed soon. @param {string[]} names */
  begin(...names) {
    for (const name of names) if (!this.begun.has(name)) this.begun.set(name, begin(this.gl, ...this.texts[name]));
  }

  /** @param {string} name @returns {Program} */
  get(name) {
    let found = this.known.get(name);
    if (!found) {
      this.begin(name);
      found = finished(this.gl, /** @type {WebGLProgram} */ (this.begun.get(name)));
      this.known.set(name, found);
    }
    return found;
  }
}

/** @param {WebGL2RenderingContext} gl @param {string} vertex @param {string} fragment */
function begin(gl, vertex, fragment) {
  const made = /** @type {WebGLProgram} */ (gl.createProgram());
  for (const [kind, text] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  return made;
}

/** @param {WebGL2RenderingContext} gl @param {WebGLProgram} made @returns {Program} */
function finished(gl, made) {
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = (gl.getAttachedShaders(made) ?? []).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error([gl.getProgramInfoLog(made), ...logs].join("\n"));
  }
  /** @type {Record<string, WebGLUniformLocation>} */ const at = {};
  for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
    const name = /** @type {WebGLActiveInfo} */ (gl.getActiveUniform(made, k)).name;
    at[name] = /** @type {WebGLUniformLocation} */ (gl.getUniformLocation(made, name));
  }
  return { made, at };
}

/** Many instances of one shape, drawn by one call. */
export class Batch {
  /** @param {WebGL2RenderingContext} gl @param {import("./shapes.js").Geometry} geometry */
  constructor(gl, { vertices, indices }) {
    this.gl = gl;
    this.count = this.sent = 0;
    this.numbers = new Float32Array(STRIDE * 8);
    this.room = 0; // number of instances that fit into the GPU buffer
    this.indices = indices.length;
    this.array = gl.createVertexArray();
    this.buffers = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[0]);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(vertices), gl.STATIC_DRAW);
    this.attributes([[0, 3, 0], [1, 3, 3], [2, 1, 6]], 7, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[1]);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(indices), gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[2]);
    this.attributes([[3, 4, 0], [4, 4, 4], [5, 4, 8], [6, 4, 12]], STRIDE, 1);
    gl.bindVertexArray(null);
  }

  /** @param {number[][]} list of location, count and offset @param {number} stride @param {number} divisor */
  attributes(list, stride, divisor) {
    const { gl } = this;
    for (const [index, count, offset] of list) {
      gl.enableVertexAttribArray(index);
      gl.vertexAttribPointer(index, count, gl.FLOAT, false, 4 * stride, 4 * offset);
      gl.vertexAttribDivisor(index, divisor);
    }
  }

  clear() {
    this.count = this.sent = 0;
  }

  /**
   * Add an instance.
   * @param {Numbers} turn @param {Numbers} place @param {number} half @param {Numbers} size @param {Numbers} color
   * @param {number} [alpha] @param {number} [mover] 0 is the world
   */
  push(turn, place, half, size, color, alpha = 1, mover = 0) {
    if (STRIDE * (this.count + 1) > this.numbers.length) {
      const larger = new Float32Array(2 * this.numbers.length);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    const { numbers } = this;
    const at = STRIDE * this.count++;
    for (let k = 0; k < 4; k++) numbers[at + k] = turn[k];
    for (let k = 0; k < 3; k++) {
      numbers[at + 4 + k] = place[k];
      numbers[at + 8 + k] = size[k];
      numbers[at + 12 + k] = color[k];
    }
    numbers[at + 7] = half;
    numbers[at + 11] = mover;
    numbers[at + 15] = alpha;
  }

  /** Upload the added instances to the GPU. */
  send() {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[2]);
    if (this.count > this.room) {
      this.room = this.numbers.length / STRIDE;
      gl.bufferData(gl.ARRAY_BUFFER, this.numbers, gl.DYNAMIC_DRAW);
    } else if (this.count) {
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.numbers, 0, STRIDE * this.count);
    }
    this.sent = this.count;
  }

  draw() {
    if (!this.sent) return;
    this.gl.bindVertexArray(this.array);
    this.gl.drawElementsInstanced(this.gl.TRIANGLES, this.indices, this.gl.UNSIGNED_SHORT, 0, this.sent);
  }

  free() {
    this.gl.deleteVertexArray(this.array);
    for (const buffer of this.buffers) this.gl.deleteBuffer(buffer);
  }
}

/** The transforms of all movers: mover 0 is the world, then come links, then the bones of meshes. */
export class Movers {
  /** @param {WebGL2RenderingContext} gl @param {number} count */
  constructor(gl, count) {
    this.gl = gl;
    this.rows = Math.max(1, Math.ceil(count / ROW));
    this.numbers = new Float32Array(12 * ROW * this.rows);
    for (let k = 0; k < count; k++) for (let i = 0; i < 3; i++) this.numbers[12 * k + 5 * i] = 1;
    this.texture = plainTexture(gl);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, 3 * ROW, this.rows);
  }

  /** Copy three rows of a matrix. @param {number} k @param {Numbers} matrices @param {number} at */
  set(k, matrices, at) {
    for (let i = 0; i < 12; i++) this.numbers[12 * k + i] = matrices[at + i];
  }

  /** Write a mover's matrix times another. @param {number} k @param {number} left a mover @param {Float32Array} m @param {number} at */
  setProduct(k, left, m, at) {
    const n = this.numbers;
    for (let row = 0; row < 3; row++) {
      const [i, o] = [12 * left + 4 * row, 12 * k + 4 * row];
      for (let c = 0; c < 4; c++) n[o + c] = n[i] * m[at + c] + n[i + 1] * m[at + 4 + c] + n[i + 2] * m[at + 8 + c];
      n[o + 3] += n[i + 3];
    }
  }

  /** Upload all to the GPU. */
  send() {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 3 * ROW, this.rows, gl.RGBA, gl.FLOAT, this.numbers);
  }

  free() {
    this.gl.deleteTexture(this.texture);
  }
}

/** @param {WebGL2RenderingContext} gl a bound texture without filtering */
export function plainTexture(gl) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const rule of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, rule, gl.NEAREST);
  for (const rule of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, rule, gl.CLAMP_TO_EDGE);
  return texture;
}

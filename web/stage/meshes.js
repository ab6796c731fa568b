// @ts-check
/** Meshes and skins: triangles whose vertices are moved by bones, drawn by one call. */

import { bytes } from "./algebra.js";
import { plainTexture } from "./gl.js";

/** A packed mesh from Python: arrays in base64 and a few numbers, see `stage_scene.py`. @typedef {Record<string, any>} PackedMesh */

const ROW = 256;

/**
 * Return rows padded to a larger width, since GPUs need rows of multiples of four bytes.
 * @template {Uint8Array | Int8Array | Uint16Array} T
 * @param {T} numbers @param {number} width @param {number} wanted
 * @returns {T}
 */
export function widened(numbers, width, wanted) {
  const count = numbers.length / width;
  const result = /** @type {T} */ (new /** @type {any} */ (numbers.constructor)(count * wanted));
  for (let k = 0; k < count; k++) {
    for (let i = 0; i < width; i++) result[wanted * k + i] = numbers[width * k + i];
  }
  return result;
}

export class Meshes {
  /** @param {WebGL2RenderingContext} gl @param {PackedMesh} packed */
  constructor(gl, packed) {
    this.gl = gl;
    /** The link of each bone. */ this.links = new Uint16Array(bytes(packed.links));
    /** The bind matrix of each bone, three rows of four. */ this.binds = new Float32Array(bytes(packed.binds));
    /** Vertex coordinates are integer steps from the lowest. @type {number[]} */ this.low = packed.low;
    /** @type {number[]} */ this.step = packed.step;
    /** @type {WebGLBuffer[]} */ this.buffers = [];
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    const corners = new Uint16Array(bytes(packed.corners));
    const bones = new Uint16Array(bytes(packed.bones));
    const wide = (3 * bones.length) / corners.length; // bones per vertex: 1 or 4
    this.attribute(0, widened(corners, 3, 4), gl.UNSIGNED_SHORT, false);
    this.attribute(1, widened(new Int8Array(bytes(packed.normals)), 3, 4), gl.BYTE, true);
    this.attribute(2, widened(new Uint8Array(bytes(packed.colors)), 3, 4), gl.UNSIGNED_BYTE, true);
    this.attribute(3, wide === 1 ? widened(bones, 1, 4) : bones, gl.UNSIGNED_SHORT, null);
    if (packed.weights) this.attribute(4, new Uint8Array(bytes(packed.weights)), gl.UNSIGNED_BYTE, true);
    this.rigid = !packed.weights;
    const text = bytes(packed.indices);
    const small = corners.length / 3 < 65536;
    const indices = small ? new Uint16Array(text) : new Uint32Array(text);
    this.kind = small ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT;
    this.count = indices.length;
    /** Number of the indices that belong to closed surfaces. @type {number} */ this.closed = packed.closed;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    this.owners = plainTexture(gl); // the mover of each bone's link
    const rows = Math.max(1, Math.ceil(this.links.length / ROW));
    const owners = new Uint16Array(ROW * rows);
    this.links.forEach((link, bone) => (owners[bone] = 1 + link));
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R16UI, ROW, rows, 0, gl.RED_INTEGER, gl.UNSIGNED_SHORT, owners);
  }

  buffer() {
    const buffer = this.gl.createBuffer();
    this.buffers.push(buffer);
    return buffer;
  }

  /** @param {number} index @param {ArrayBufferView} numbers four per vertex @param {number} kind @param {boolean | null} norm null for integers */
  attribute(index, numbers, kind, norm) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer());
    gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(index);
    if (norm === null) gl.vertexAttribIPointer(index, 4, kind, 0, 0);
    else gl.vertexAttribPointer(index, 4, kind, norm, 0, 0);
  }

  /** Draw all; of closed surfaces only the front faces. @param {boolean} [culled] */
  draw(culled = false) {
    const { gl, closed, count, kind } = this;
    const size = kind === gl.UNSIGNED_SHORT ? 2 : 4;
    gl.bindVertexArray(this.array);
    if (this.rigid) gl.vertexAttrib4f(4, 1, 0, 0, 0);
    if (culled && closed) gl.enable(gl.CULL_FACE);
    if (closed) gl.drawElements(gl.TRIANGLES, closed, kind, 0);
    gl.disable(gl.CULL_FACE);
    if (count > closed) gl.drawElements(gl.TRIANGLES, count - closed, kind, size * closed);
  }

  free() {
    this.gl.deleteVertexArray(this.array);
    this.gl.deleteTexture(this.owners);
    for (const buffer of this.buffers) this.gl.deleteBuffer(buffer);
  }
}

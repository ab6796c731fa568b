// @ts-check
/** Meshes and skins: triangles whose corners are moved by bones, in one call for all of them. */

import { bytes } from "./algebra.js";
import { plainTexture } from "./gl.js";

/** What Python writes of them: arrays in base64, see `stage_scene.py`. @typedef {Record<string, string>} PackedMesh */

const ROW = 256;

export class Meshes {
  /** @param {WebGL2RenderingContext} gl @param {PackedMesh} packed */
  constructor(gl, packed) {
    this.gl = gl;
    /** The link that each bone is. */ this.links = new Uint16Array(bytes(packed.links));
    /** Where corners are bound to it, three rows of four. */ this.binds = new Float32Array(bytes(packed.binds));
    /** @type {WebGLBuffer[]} */ this.buffers = [];
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    this.attribute(0, packed.corners, 3, gl.FLOAT, false);
    this.attribute(1, packed.normals, 4, gl.BYTE, true);
    this.attribute(2, packed.colors, 4, gl.UNSIGNED_BYTE, true);
    this.attribute(3, packed.bones, 4, gl.UNSIGNED_SHORT, false);
    this.attribute(4, packed.weights, 4, gl.UNSIGNED_BYTE, true);
    const indices = new Uint32Array(bytes(packed.indices));
    this.count = indices.length;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    this.owners = plainTexture(gl); // of each bone, the mover that its link is
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

  /** @param {number} index @param {string} text @param {number} count @param {number} kind @param {boolean} norm */
  attribute(index, text, count, kind, norm) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer());
    gl.bufferData(gl.ARRAY_BUFFER, bytes(text), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(index);
    if (kind === gl.UNSIGNED_SHORT) gl.vertexAttribIPointer(index, count, kind, 0, 0);
    else gl.vertexAttribPointer(index, count, kind, norm, 0, 0);
  }

  draw() {
    if (!this.count) return;
    this.gl.bindVertexArray(this.array);
    this.gl.drawElements(this.gl.TRIANGLES, this.count, this.gl.UNSIGNED_INT, 0);
  }

  free() {
    this.gl.deleteVertexArray(this.array);
    this.gl.deleteTexture(this.owners);
    for (const buffer of this.buffers) this.gl.deleteBuffer(buffer);
  }
}

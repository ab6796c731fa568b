// @ts-check
/** Find the link at a point of the screen, by drawing a small window around it with indices instead of colours. */

const WIDE = 4; // numbers per pixel: the mover, the depth, and two unused ones that WebGL requires

/** @typedef {import("./camera.js").Camera} Camera */
/** The index of the link, its visible point, and the depth. @typedef {{link: number, point: number[], depth: number}} Picked */

/**
 * Return the camera that sees only a square around a point.
 * @param {Camera} camera @param {number} x @param {number} y in CSS pixels @param {number} side of the square
 * @param {Float32Array} out
 */
export function narrowed(camera, x, y, side, out) {
  const [cx, cy] = [(2 * x) / camera.width - 1, 1 - (2 * y) / camera.height];
  const m = camera.matrix;
  for (let k = 0; k < 16; k += 4) {
    out[k] = ((m[k] - cx * m[k + 3]) * camera.width) / side;
    out[k + 1] = ((m[k + 1] - cy * m[k + 3]) * camera.height) / side;
    out[k + 2] = m[k + 2];
    out[k + 3] = m[k + 3];
  }
  return out;
}

/**
 * Return the column and row of the pixel with a link that is nearest to the centre of a square; null if there is none.
 * @param {Uint32Array} seen four numbers per pixel, the first is zero without a link @param {number} side @param {number} reach
 */
export function nearest(seen, side, reach) {
  const middle = (side - 1) / 2;
  let [best, least] = [-1, Infinity];
  for (let k = 0; k < side * side; k++) {
    if (!seen[WIDE * k]) continue;
    const away = ((k % side) - middle) ** 2 + (Math.floor(k / side) - middle) ** 2;
    if (away < least && away <= reach * reach) [best, least] = [k, away];
  }
  return best < 0 ? null : { column: best % side, row: Math.floor(best / side), at: best };
}

export class Picker {
  /** @param {WebGL2RenderingContext} gl @param {number} side of the square, odd */
  constructor(gl, side) {
    this.gl = gl;
    this.side = side;
    this.seen = new Uint32Array(WIDE * side * side);
    this.depths = new Float32Array(this.seen.buffer);
    this.camera = new Float32Array(16);
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32UI, side, side);
    this.depth = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, this.depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, side, side);
    this.buffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.buffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, this.depth);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /**
   * @param {import("./painter.js").Painter} painter @param {Camera} camera @param {number} x @param {number} y
   * @param {number} reach largest distance of a link from the point
    * @returns {Picked | null}
   */
  pick(painter, camera, x, y, reach) {
    const { gl, side } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.buffer);
    gl.viewport(0, 0, side, side);
    gl.clearBufferuiv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clearBufferfv(gl.DEPTH, 0, [1]);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    painter.bodies("partNames", "cornerNames", narrowed(camera, x, y, side, this.camera), () => {});
    gl.readPixels(0, 0, side, side, gl.RGBA_INTEGER, gl.UNSIGNED_INT, this.seen);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    const found = nearest(this.seen, side, reach);
    if (!found) return null;
    const middle = (side - 1) / 2;
    const point = camera.unproject(x + found.column - middle, y - (found.row - middle), this.depths[WIDE * found.at + 1]);
    return { link: this.seen[WIDE * found.at] - 1, point, depth: camera.project(point).depth };
  }

  free() {
    const { gl } = this;
    gl.deleteFramebuffer(this.buffer);
    gl.deleteRenderbuffer(this.depth);
    gl.deleteTexture(this.texture);
  }
}

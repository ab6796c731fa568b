// @ts-check
/** Small algebra of the stage: vectors are arrays of three, quaternions w, x, y, z. */

/** @typedef {ArrayLike<number>} Numbers */

/** @param {Numbers} a @param {Numbers} b @returns {number[]} */
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
/** @param {Numbers} a @param {Numbers} b */
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
/** @param {Numbers} a @param {Numbers} b @returns {number[]} */
export const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
/** Return a + t b. @param {Numbers} a @param {Numbers} b @param {number} [t] @returns {number[]} */
export const plus = (a, b, t = 1) => [a[0] + t * b[0], a[1] + t * b[1], a[2] + t * b[2]];
/** @param {number} a @param {number} b @param {number} t */
export const mix = (a, b, t) => a + (b - a) * t;
/** @param {number} low @param {number} x @param {number} high */
export const between = (low, x, high) => Math.min(Math.max(x, low), high);
/** @param {Numbers} v @returns {number[]} of length one; zero stays zero */
export function unit(v) {
  const length = Math.hypot(v[0], v[1], v[2]) || 1;
  return [v[0] / length, v[1] / length, v[2] / length];
}

/** The quaternion product a b: first b, then a. @param {Numbers} a @param {Numbers} b @returns {number[]} */
export function product(a, b) {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

/** @param {Numbers} q @param {Numbers} v @returns {number[]} a vector turned by a unit quaternion */
export function turned(q, v) {
  const part = [q[1], q[2], q[3]];
  const t = cross(part, v).map((x) => 2 * x);
  return plus(plus(v, t, q[0]), cross(part, t));
}

/** @param {Numbers} axis of length one @param {number} angle @returns {number[]} */
export function about(axis, angle) {
  const s = Math.sin(angle / 2);
  return [Math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s];
}

/** @param {Numbers} d @returns {number[]} the rotation that takes z to a unit vector */
export function fromZ(d) {
  if (d[2] < -0.999999) return [0, 1, 0, 0];
  const length = Math.hypot(d[0], d[1], 1 + d[2]);
  return [(1 + d[2]) / length, -d[1] / length, d[0] / length, 0];
}

/** Arrays as Python writes them: little-endian numbers in base64. @param {string} text @returns {ArrayBuffer} */
export function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

/**
 * Write a rotation and a position as a 4x4 matrix.
 * @param {Float64Array} out @param {number} at its index in the array @param {Numbers} q @param {Numbers} p
 */
export function writeMatrix(out, at, q, p) {
  const [w, x, y, z] = [q[0], q[1], q[2], q[3]];
  out[at] = 1 - 2 * (y * y + z * z);
  out[at + 1] = 2 * (x * y - z * w);
  out[at + 2] = 2 * (x * z + y * w);
  out[at + 3] = p[0];
  out[at + 4] = 2 * (x * y + z * w);
  out[at + 5] = 1 - 2 * (x * x + z * z);
  out[at + 6] = 2 * (y * z - x * w);
  out[at + 7] = p[1];
  out[at + 8] = 2 * (x * z - y * w);
  out[at + 9] = 2 * (y * z + x * w);
  out[at + 10] = 1 - 2 * (x * x + y * y);
  out[at + 11] = p[2];
  out[at + 12] = out[at + 13] = out[at + 14] = 0;
  out[at + 15] = 1;
}

/** @param {Numbers} m matrices, row-major @param {number} at @param {Numbers} v @returns {number[]} a transformed point */
export function moved(m, at, v) {
  return [0, 4, 8].map((r) => m[at + r] * v[0] + m[at + r + 1] * v[1] + m[at + r + 2] * v[2] + m[at + r + 3]);
}

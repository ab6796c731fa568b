// @ts-check
/** Rotations and rigid transforms: quaternions are w, x, y, z; matrices are row-major, nine or sixteen numbers. */

/** @typedef {ArrayLike<number>} Numbers */
/** The limits of a ball joint. @typedef {{q: number, axis: Numbers, swing: number, low: number, high: number}} Cone */

const TINY = 1e-12;

/** @param {Numbers} quaternion @returns {number[]} nine numbers */
export function rotation(quaternion) {
  const length = Math.hypot(...Array.from(quaternion));
  const [w, x, y, z] = Array.from(quaternion, (part) => part / length);
  const [xx, yy, zz] = [2 * x * x, 2 * y * y, 2 * z * z];
  const [xy, xz, yz, wx, wy, wz] = [2 * x * y, 2 * x * z, 2 * y * z, 2 * w * x, 2 * w * y, 2 * w * z];
  return [1 - yy - zz, xy - wz, xz + wy, xy + wz, 1 - xx - zz, yz - wx, xz - wy, yz + wx, 1 - xx - yy];
}

/** @param {Numbers} quaternion @returns {number[]} the angles about moving x, y and z axes */
export function anglesOf(quaternion) {
  const m = rotation(quaternion);
  const first = Math.atan2(0 - m[5], m[8] + 0);
  const [c, s] = [Math.cos(first), Math.sin(first)];
  const third = Math.atan2(c * m[3] + s * m[6], c * m[4] + s * m[7]);
  return [first, Math.atan2(m[2], Math.hypot(m[5], m[8])), third];
}

/** @param {Numbers} angles about moving x, y and z axes @returns {number[]} the quaternion of all three */
export function quaternionOf(angles) {
  const [x, y, z] = Array.from(angles, (angle) => angle / 2);
  const [a, b, c, d, e, f] = [Math.cos(x), Math.cos(y), Math.cos(z), Math.sin(x), Math.sin(y), Math.sin(z)];
  return [a * b * c - d * e * f, d * b * c + a * e * f, a * e * c - d * b * f, d * e * c + a * b * f];
}

/** @param {Numbers} quaternion @returns {number[]} its rotation vector */
export function vectorOf(quaternion) {
  const [w, ...turn] = Array.from(quaternion);
  const sine = Math.hypot(...turn);
  const share = sine ? (2 * (w < 0 ? -1 : 1) * Math.atan2(sine, Math.abs(w))) / sine : 2;
  return turn.map((part) => share * part);
}

/** Turn a quaternion by a rotation vector about its own axes. @param {Numbers} quaternion @param {Numbers} vector */
export function turned(quaternion, vector) {
  const [w, x, y, z] = Array.from(quaternion);
  const angle = Math.hypot(...Array.from(vector));
  const share = angle ? Math.sin(angle / 2) / angle : 0.5;
  const [c, [i, j, k]] = [Math.cos(angle / 2), Array.from(vector, (part) => share * part)];
  const next = [w * c - x * i - y * j - z * k, w * i + x * c + y * k - z * j, w * j - x * k + y * c + z * i];
  next.push(w * k + x * j - y * i + z * c);
  const length = Math.hypot(...next);
  return next.map((part) => part / length);
}

/** @param {Numbers} a @param {Numbers} b matrices of 16 numbers @returns {Float64Array} their product */
export function times(a, b) {
  return Float64Array.from({ length: 16 }, (_, k) => {
    const [row, column] = [k - (k % 4), k % 4];
    return a[row] * b[column] + a[row + 1] * b[column + 4] + a[row + 2] * b[column + 8] + a[row + 3] * b[column + 12];
  });
}

/** @param {Numbers} m a rigid transform @returns {number[]} its inverse */
export function inverse(m) {
  const rows = [0, 1, 2].map((k) => [m[k], m[4 + k], m[8 + k]]);
  return [...rows.flatMap((row) => [...row, -(row[0] * m[3] + row[1] * m[7] + row[2] * m[11])]), 0, 0, 0, 1];
}

/** @param {number[]} a @param {number[]} b */
function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** @param {number[]} vector @returns {number[]} */
function unit(vector) {
  const length = Math.hypot(...vector);
  return vector.map((part) => (length > TINY ? part / length : 0));
}

/**
 * Return the rotation of a ball joint, clamped to its cone and its range of twist; one within limits is unchanged.
 *
 * A rotation is a twist about an axis of the child, followed by a swing of that axis: swing * twist.
 * @param {Float64Array} quaternion @param {Cone} cone
 */
export function withinCone(quaternion, cone) {
  const axis = Array.from(cone.axis);
  const { swing: widest, low, high } = cone;
  const [w, ...vector] = Array.from(quaternion, (part) => (quaternion[0] < 0 ? -part : part));
  const along = vector.reduce((sum, part, k) => sum + part * axis[k], 0);
  const across = vector.map((part, k) => part - along * axis[k]);
  const both = Math.hypot(w, along);
  const twist = both > TINY ? 2 * Math.atan2(along, w) : 0;
  const swing = 2 * Math.atan2(Math.hypot(...across), both);
  if (swing <= widest && twist >= low && twist <= high) return quaternion;
  const aside = cross(axis, across);
  const about = unit(both > TINY ? across.map((part, k) => w * part + along * aside[k]) : across);
  const [s, t] = [Math.min(swing, widest) / 2, nearest(twist, low, high) / 2];
  const [cs, ss, ct, st] = [Math.cos(s), Math.sin(s), Math.cos(t), Math.sin(t)];
  const normal = cross(about, axis);
  return [cs * ct, ...axis.map((part, k) => cs * st * part + ss * ct * about[k] + ss * st * normal[k])];
}

/** Clamp a twist to the nearer end of its range. @param {number} twist @param {number} low @param {number} high */
function nearest(twist, low, high) {
  if (twist >= low && twist <= high) return twist;
  const turn = 2 * Math.PI;
  const [below, above] = [low, high].map((end) => {
    const x = twist - end + Math.PI;
    return Math.abs(x - turn * Math.floor(x / turn) - Math.PI);
  });
  return below < above ? low : high;
}

/** Write a rotation into a matrix. @param {Float64Array} m @param {number[]} wxyz */
export function turnInto(m, [w, x, y, z]) {
  m.set([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], 0);
  m.set([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], 4);
  m.set([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], 8);
}

/** @param {ArrayLike<number>} m @returns {number[]} its rotation, w, x, y, z */
export function quaternion(m) {
  const trace = m[0] + m[5] + m[10];
  const all = [trace, m[0], m[5], m[10]];
  const k = all.indexOf(Math.max(...all));
  const parts = [
    [1 + trace, m[9] - m[6], m[2] - m[8], m[4] - m[1]],
    [m[9] - m[6], 1 + m[0] - m[5] - m[10], m[1] + m[4], m[2] + m[8]],
    [m[2] - m[8], m[1] + m[4], 1 - m[0] + m[5] - m[10], m[6] + m[9]],
    [m[4] - m[1], m[2] + m[8], m[6] + m[9], 1 - m[0] - m[5] + m[10]],
  ][k];
  const size = Math.hypot(...parts);
  return parts.map((x) => x / size);
}

// @ts-check
/** Planar arms in figures: positions of joints, and directions in which their angles are measured. */

/** @typedef {import("../linkwork.js").Linkage} Linkage */
/** @typedef {import("../linkwork.js").Numbers} Numbers */

/** @param {Linkage} arm that Python's models.planar made @returns {string[]} the frames of its joints in order, then the tip */
export function jointFrames(arm) {
  return [...arm.frames.filter((name) => /^link[1-9]/.test(name)), "tip"];
}

/** @param {Linkage} arm @param {Numbers} q @param {string[]} [frames] @returns {number[][]} positions of joints and tip */
export function places(arm, q, frames = jointFrames(arm)) {
  const all = arm.forward(q);
  return frames.map((name) => [all[name][3], all[name][7]]);
}

/** @param {ArrayLike<number>} values @param {number} columns @param {number[]} rows which of them @returns {number[][]} */
export function rowsOf(values, columns, rows) {
  return rows.map((row) => Array.from({ length: columns }, (_, k) => values[columns * row + k]));
}

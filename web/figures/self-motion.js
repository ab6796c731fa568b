// @ts-check
/** Self-motion: the poses that an arm can pass through while its tip stays. */

import { step } from "../textbook.js";
import { places, rowsOf } from "./arms.js";

/** @typedef {import("../linkwork.js").Linkage} Linkage */
const STRIDES = [0.06, 0.015, 0.004, 0.001]; // steps along the curve [rad]; smaller ones for short curves
const ENOUGH = 40; // smallest number of poses on a curve
const MOST = 1500;

/**
 * Return all poses that the arm can pass through while its tip stays: a closed curve in the space of poses, from q to q again.
 * @param {Linkage} arm of three joints @param {ArrayLike<number>} target @param {Float64Array} q
 * @param {(J: number[][]) => number[]} direction of the null space
 */
export function selfMotion(arm, target, q, direction) {
  /** @type {Float64Array[]} */ let poses = [];
  for (const stride of STRIDES) {
    poses = walk(arm, target, q, direction, stride);
    if (poses.length >= ENOUGH) break;
  }
  return poses;
}

/** @param {Linkage} arm @param {ArrayLike<number>} target @param {Float64Array} start @param {(J: number[][]) => number[]} direction @param {number} stride */
function walk(arm, target, start, direction, stride) {
  const poses = [start];
  let [q, before] = [start, along(arm, start, direction, null)];
  for (let k = 1; k < MOST; k++) {
    const middle = along(arm, q.map((angle, i) => angle + (stride / 2) * before[i]), direction, before);
    q = back(arm, target, q.map((angle, i) => angle + stride * middle[i]));
    before = along(arm, q, direction, before);
    if (k > 2 && apart(q, start) < 0.75 * stride) break;
    poses.push(q);
  }
  return poses;
}

/** The direction of the null space, with the sign of the previous one. @param {Linkage} arm @param {Float64Array} q @param {(J: number[][]) => number[]} direction @param {number[] | null} before */
function along(arm, q, direction, before) {
  const way = direction(rowsOf(arm.jacobian(q, "tip"), arm.nv, [0, 1]));
  const same = !before || way.reduce((sum, value, k) => sum + value * before[k], 0) >= 0;
  return same ? way : way.map((value) => -value);
}

/** Correct the tip after a step, by steps of the pseudoinverse. @param {Linkage} arm @param {ArrayLike<number>} target @param {Float64Array} q */
export function back(arm, target, q) {
  let pose = q;
  for (let k = 0; k < 6; k++) {
    const [x, y] = places(arm, pose, ["tip"])[0];
    if (Math.hypot(x - target[0], y - target[1]) < 1e-12 * arm.data.length) break;
    pose = step(arm, "pseudoinverse", target, pose).q;
  }
  return pose;
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b @returns {number} the distance of two poses, without full turns */
export function apart(a, b) {
  const turn = 2 * Math.PI;
  return Math.hypot(...Array.from(a, (angle, k) => angle - b[k] - turn * Math.round((angle - b[k]) / turn)));
}

// @ts-check
/** Planar arms that follow a dragged point, also beyond their reach and back. */

import { places } from "./arms.js";

/** @typedef {import("../linkwork.js").Linkage} Linkage */

const BEND = 0.02; // [rad]: a straight arm is singular, and must be bent before its tip can move inward

/**
 * Return the pose near `start` with the tip at a position, or as near to it as possible.
 * @param {Linkage} arm a planar one whose base is at the origin @param {ArrayLike<number>} at @param {Float64Array} start
 */
export function dragged(arm, at, start) {
  const reach = arm.data.length;
  const distance = Math.hypot(at[0], at[1]);
  const target = distance > reach ? [(at[0] * reach) / distance, (at[1] * reach) / distance] : at;
  const found = arm.solve(target, { start, stay: true });
  if (found.success || distance >= reach) return found.q;
  const bent = start.map((angle, k) => (k && Math.abs(Math.sin(angle)) < BEND ? angle + BEND : angle));
  const again = arm.solve(target, { start: bent, stay: true });
  return miss(arm, again.q, target) < miss(arm, found.q, target) ? again.q : found.q;
}

/** @param {Linkage} arm @param {Float64Array} q @param {ArrayLike<number>} target */
function miss(arm, q, target) {
  const [x, y] = places(arm, q, ["tip"])[0];
  return Math.hypot(x - target[0], y - target[1]);
}

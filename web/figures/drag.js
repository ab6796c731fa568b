// @ts-check
/** Arms that follow the reader's hand, up to the edge of their reach and back again. */

import { places } from "./arms.js";

/** @typedef {import("../linkwork.js").Linkage} Linkage */

const BEND = 0.02; // radians: a straight arm has to be bent before it can come in

/**
 * Return the pose near `start` whose tip is at a place, or as near to it as the arm reaches.
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

// @ts-check
/** Numbers in the chosen units: degrees or radians, metres or other lengths. */

import { amount } from "../view/words.js";

const LENGTHS = /** @type {Record<string, [number, number]>} */ ({ m: [1, 3], cm: [100, 1], mm: [1000, 0], in: [1 / 0.0254, 2] });

/** @param {number} value @param {string} unit "rad" or "m" @param {{angle: string, length: string}} units @returns {string} */
export function written(value, unit, units) {
  if (unit === "rad") return units.angle === "rad" ? `${value.toFixed(3)} rad` : `${((value * 180) / Math.PI).toFixed(1)}\u00b0`;
  const [factor, digits] = LENGTHS[units.length] ?? [0, 0];
  return factor ? `${(value * factor).toFixed(digits)} ${units.length}` : `${value < 0 ? "-" : ""}${amount(Math.abs(value), "m")}`;
}

const LENGTH = /(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?) (mm|cm|m)\b/g;
const ANGLE = /(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)( rad\b|\u00b0)/g;

/** A sentence with lengths and angles converted to the chosen units. @param {string} text @param {{angle: string, length: string}} units @returns {string} */
export function inUnits(text, units) {
  const said = units.length in LENGTHS ? text.replace(LENGTH, (_, number, unit) => written(Number(number) / LENGTHS[unit][0], "m", units)) : text;
  return said.replace(ANGLE, (_, number, unit) => written(unit === " rad" ? Number(number) : (Number(number) * Math.PI) / 180, "rad", units));
}

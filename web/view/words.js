// @ts-check
/** Sentences on how a solve ended, as in Python's `Solution.reason`; the texts of statuses come with the pack. */

/** @typedef {import("./session.js").Told} Told */

const WORDS = /** @type {Record<string, string>} */ ({ m: "position", rad: "rotation" });
const DEGREES = 180 / Math.PI;

/** @param {number} x @param {number} digits @returns {string} the number in the format of Python's `%.3g` */
export function general(x, digits) {
  if (x === 0 || !Number.isFinite(x)) return x === 0 ? "0" : x > 0 ? "inf" : x < 0 ? "-inf" : "nan";
  const [mantissa, power] = x.toExponential(digits - 1).split("e");
  const e = Number(power);
  /** @param {string} text */
  const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (e >= -4 && e < digits) return short(x.toFixed(digits - 1 - e));
  return `${short(mantissa)}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}`;
}

/** @param {number} value @param {string} unit @returns {string} a distance or an angle for users */
export function amount(value, unit) {
  if (unit === "rad") return `${general(value * DEGREES, 3)}°`;
  if (value < 0.01) return `${general(value * 1000, 3)} mm`;
  return value < 1 ? `${general(value * 100, 3)} cm` : `${general(value, 3)} m`;
}

/** @param {number} value @param {string} unit */
const error = (value, unit) => `${WORDS[unit]} error ${general(value, 3)} ${unit}`;

/** @param {Told} told @returns {string} the errors; of many goals, the largest of each unit */
function errors({ blocks, alone }) {
  if (alone) return blocks.map(({ value, unit }) => error(value, unit)).join(", ");
  const parts = [];
  for (const unit of ["m", "rad"]) {
    const own = blocks.filter((block) => block.unit === unit);
    if (!own.length) continue;
    const worst = own.reduce((most, block) => (block.value > most.value ? block : most));
    parts.push(`largest ${error(worst.value, unit)} (${worst.goal})`);
  }
  return parts.join(", ");
}

/** @param {Told} told @returns {string} a text if a target is outside the chain's reach, or "" */
function beyond(told) {
  const { goals, blocks, tolerance, alone } = told;
  for (const { frame, target, position, reach } of goals) {
    if (!reach || !position) continue;
    const [x, y, z, least, most] = reach.numbers;
    const away = [target[3] - x, target[7] - y, target[11] - z].slice(0, position);
    const distance = Math.hypot(...away);
    const place = `goal of '${frame}' is ${general(distance, 4)} m from '${reach.joint}'`;
    if (distance > most + tolerance) {
      const over = distance - most;
      const [first, ...rest] = blocks;
      const more = alone && (first.value > 1.01 * over || Math.max(0, ...rest.map(({ value }) => value)) >= 0.01);
      const left = more ? `; the pose found has ${errors(told)}` : "";
      return `out of reach: the ${place}, the chain reaches ${general(most, 4)} m: ${general(over, 3)} m too far${left}.`;
    }
    if (distance < least - tolerance) return `too close: the ${place}, the chain cannot fold nearer than ${general(least, 4)} m.`;
  }
  return "";
}

/** @param {Told} told @returns {string} one sentence with numbers on the result */
export function sentence(told) {
  const { status, iterations, endings, limits } = told;
  const effort = `${iterations} iteration${iterations === 1 ? "" : "s"}`;
  if (status === "reached") return `reached: ${errors(told)} after ${effort}.`;
  const known = beyond(told);
  if (known) return known;
  const at = limits.length ? `; at their limits: ${limits.join(", ")}` : "";
  if (status === "following") return `on its way: ${errors(told)} after ${effort}${at}.`;
  const how = status === "beyond" ? "out of reach" : "not reached";
  return `${how}: ${endings[status]} after ${effort}, with ${errors(told)}${at}.`;
}

/** @param {Told} told @returns {string} the result in a few words */
export function headline(told) {
  const { status, blocks, blocking: names } = told;
  if (status === "reached") return "reached";
  if (status === "following") return "on its way";
  /** @param {string} unit */
  const most = (unit) => Math.max(0, ...blocks.filter((block) => block.unit === unit).map(({ value }) => value));
  const [metres, radians] = [most("m"), most("rad")];
  const short = metres > 1e-4 || !radians ? `${amount(metres, "m")} short` : `${amount(radians, "rad")} off`;
  if (beyond(told).startsWith("out of reach")) return `${short}: out of reach`;
  if (!names.length) return short;
  return `${short}: ${names.length === 1 ? `${names[0]} is at its limit` : `${names.length} joints are at their limits`}`;
}

/**
 * @param {import("../linkwork.js").Linkage} linkage @param {ArrayLike<number>} q
 * @returns {{k: number, name: string, text: string}[]} values at a limit: index, name, and a text
 */
export function atLimits({ coordinates, lower, upper }, q) {
  return coordinates.flatMap((name, k) => {
    const [low, high] = [q[k] <= lower[k] + 1e-9, q[k] >= upper[k] - 1e-9];
    if (!(lower[k] < upper[k]) || !(low || high)) return [];
    return [{ k, name, text: `${name} (${low ? `lower ${general(lower[k], 4)}` : `upper ${general(upper[k], 4)}`})` }];
  });
}

// @ts-check
/** The number of goals that each method reaches, and its time, measured in this page. */

import { run as runMethod } from "../textbook.js";
import { split } from "./controls.js";
import { number } from "./dom.js";
import { Plane } from "./plane.js";

const METHODS = {
  transpose: "gold", ccd: "red", fabrik: "orange", pseudoinverse: "blue", "selectively-damped": "teal", damped: "green", robust: "violet",
}; // prettier-ignore
const GOALS = 40;
const LONG = 20; // shortest measurement [ms], for clocks of low resolution
const [FAST, SLOW] = [0, 5]; // range of the time axis, as powers of ten of microseconds

/** Which goals were reached, their number, and the time per goal. @typedef {{which: boolean[], reached: number, microseconds: number}} Result */

/** Random numbers between 0 and 1, the same for every reader. @param {number} seed @returns {() => number} */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function production(root, home) {
  const arm = home.linkage("panda");
  const draws = random(18);
  const any = () => arm.lower.map((low, k) => low + draws() * (arm.upper[k] - low));
  const poses = Array.from({ length: GOALS }, any); // goals come from poses, so they can be reached
  const others = Array.from({ length: 9 }, any); // further starts
  const names = /** @type {(keyof METHODS)[]} */ (Object.keys(METHODS));
  /** @type {Partial<Record<keyof METHODS, Result>>} */ let results = {};
  /** @type {(keyof METHODS)[]} */ let queue = [];

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [0, 100], y: [-0.8, names.length + 0.5], height: 50 * (names.length + 1), grid: 0, label: "Bars: goals reached and time taken by each method" });
  const words = (/** @type {string} */ anchor) => plane.text({ anchor });
  const [left, right] = [[2, 46], [54, 98]];
  words("start").show([left[0], names.length + 0.2], "goals reached", 0, 0);
  words("start").show([right[0], names.length + 0.2], "time for one goal", 0, 0);
  const rows = names.map((method, k) => {
    const color = METHODS[method];
    const y = names.length - 1 - k;
    plane.text({ anchor: "start", color }).show([left[0], y + 0.68], method, 0, 0);
    for (const [from, to] of [left, right]) plane.path({ color: "muted", fill: true, faint: true }).show(box(from, to, y));
    return { y, bars: [plane.path({ color, fill: true, width: 1.5 }), plane.path({ color, fill: true, width: 1.5 })], texts: [words("start"), words("start")] };
  });
  for (const power of [0, 2, 4]) plane.text({ color: "muted" }).show([right[0] + ((right[1] - right[0]) * power) / SLOW, -0.4], ["1 µs", "", "100 µs", "", "10 ms"][power], power ? 0 : 10, 0);
  plane.text({ color: "muted" }).show([left[0], -0.4], "0", 0, 0);
  plane.text({ color: "muted" }).show([left[1], -0.4], String(GOALS), 0, 0);

  const kind = panel.choice({ label: "Goals ask for", options: { tip: "position and orientation", point: "position" }, chosen: clear });
  const starts = panel.choice({ label: "Starts", options: ["1", "2", "5", "10"], chosen: clear });
  const { Run: run } = panel.buttons({ Run: begin });
  panel.note("The same forty goals for all. A textbook method stops when it comes no nearer to its goal, as in lw.solve.");

  /** @param {number} from @param {number} to @param {number} y @returns {number[][]} corners */
  function box(from, to, y) {
    return [[from, y], [to, y], [to, y + 0.45], [from, y + 0.45]];
  }

  /** Solve for one goal by a textbook method, with several starts. @param {any} method @param {any} target @returns {boolean} */
  function walk(method, target) {
    const count = Number(starts.value);
    for (let k = 0; k < count; k++) {
      if (runMethod(arm, method, target, k ? others[k - 1] : "ready", { solver: kind.value }).success) return true;
    }
    return false;
  }

  /** @param {keyof METHODS} method @param {Float64Array[]} targets @returns {Result} */
  function measure(method, targets) {
    const solve = method === "robust" ? (/** @type {any} */ target) => arm.solve(target, { solver: kind.value, start: "ready" }).success : (/** @type {any} */ target) => walk(method, target);
    solve(targets[0]); // warm up, since one-time work such as a table of starts does not count
    const begun = performance.now();
    let [rounds, passed] = [0, 0];
    /** @type {boolean[]} */ let which = [];
    do {
      which = targets.map(solve);
      rounds++;
      passed = performance.now() - begun;
    } while (passed < LONG);
    return { which, reached: which.filter(Boolean).length, microseconds: (1000 * passed) / (rounds * targets.length) };
  }

  function begin() {
    clear();
    queue = [...names];
    run.disabled = true;
    const targets = poses.map((q) => arm.forward(q, "tip"));
    home.loop(() => {
      const method = queue.shift();
      if (method) results[method] = measure(method, targets);
      run.disabled = queue.length > 0;
      draw();
      return queue.length > 0;
    });
  }

  function clear() {
    results = {};
    queue = [];
    run.disabled = false;
    draw();
  }

  function draw() {
    names.forEach((method, k) => {
      const { y, bars, texts } = rows[k];
      const found = results[method];
      if (!found) return [...bars, ...texts].forEach((mark) => mark.hide());
      const time = Math.min(Math.max(Math.log10(found.microseconds), FAST + 0.05), SLOW);
      const ends = [left[0] + ((left[1] - left[0]) * found.reached) / GOALS, right[0] + ((right[1] - right[0]) * time) / SLOW];
      bars[0].show(box(left[0], ends[0], y));
      bars[1].show(box(right[0], ends[1], y));
      texts[0].show([left[0] + 1, y + 0.22], String(found.reached), 0, 0);
      texts[1].show([right[0] + 1, y + 0.22], told(found.microseconds), 0, 0);
    });
    const { robust, damped } = results;
    if (robust && damped) {
      panel.say(`robust reached ${robust.reached} of ${GOALS}, in ${told(robust.microseconds)} each; damped ${damped.reached}, in ${told(damped.microseconds)}.`, "green");
    } else panel.say(queue.length ? `Measuring ${queue[0]} …` : "Press Run.");
  }

  draw();
  return { state: () => ({ results, running: queue.length > 0, poses: poses.map((q) => [...q]), kind: kind.value, starts: Number(starts.value) }) };
}

/** @param {number} microseconds @returns {string} */
function told(microseconds) {
  return microseconds < 1000 ? `${number(microseconds, microseconds < 10 ? 1 : 0)} µs` : `${number(microseconds / 1000, microseconds < 1e4 ? 1 : 0)} ms`;
}

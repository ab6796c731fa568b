// @ts-check
/**
 * A race: every method follows the same goal.
 *
 * The arms are side by side; plots show their errors and their distance from a singularity.
 */

import { step, whyNot } from "../textbook.js";
import { places } from "./arms.js";
import { Panel } from "./controls.js";
import { counted, html, number } from "./dom.js";
import { History } from "./history.js";
import { Plane } from "./plane.js";
import { singularValues } from "./spectrum.js";

/** @typedef {import("../linkwork.js").Linkage} Linkage */

/** @type {Record<string, string>} */
const COLORS = {
  inverse: "muted", pseudoinverse: "blue", damped: "green", "selectively-damped": "teal", control: "muted",
  alternative: "violet", transpose: "gold", ccd: "red", "ranked-ccd": "orange", fabrik: "ink",
}; // prettier-ignore
const READY = [Math.PI / 8, Math.PI / 4, Math.PI / 4]; // the chapter's worked example
const LAPS = { still: "stays", out: "out and back", circle: "round the base" };
const PERIOD = 240; // duration of a path [frames]
const [SWAY, FAR] = [0.3, 0.75]; // path beyond the reach: angle to the side [rad], and relative distance outward
const NEAR = 1e-4;

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function race(root, home) {
  const arm = home.linkage(home.option("linkage", "planar-3"));
  const frame = arm.solver().frame;
  const size = arm.data.length;
  const frames = chain(arm, frame);
  const base = places(arm, arm.neutral, frames.slice(0, 1))[0];
  const wanted = home.option("methods", Object.keys(COLORS).join(",")).split(/[\s,]+/);
  const first = home.numbers("start", arm.nq === 3 ? READY : Array(arm.nq).fill(0.6));
  /** Start poses with their goals. @type {Record<string, {q: number[], goal: number[]}>} */
  const starts = {
    given: { q: first, goal: home.numbers("goal", [base[0] - 0.667 * size, base[1] + 0.167 * size]) },
    straight: { q: Array(arm.nq).fill(0), goal: [base[0] + 0.733 * size, base[1]] },
    folded: { q: first.map((_, k) => (k % 2 ? -2.4 : k ? 2 : 2.6)), goal: [base[0] + 0.6 * size, base[1] + 0.4 * size] },
  };
  let origin = starts.given.goal;
  let clock = 0;

  const grid = html("div", { class: "lanes" });
  const charts = html("div", { class: "stage" });
  const panel = new Panel(html("div", { class: "panel" }));
  root.append(html("style", {}, LANES), panel.node, grid, charts);

  const motion = panel.choice({ label: "The goal", options: LAPS, chosen: () => begin(false) });
  const start = panel.choice({ label: "Start", options: Object.keys(starts), chosen: (name) => ((origin = starts[name].goal), begin(true)) });
  const damping = panel.slider({ label: "λ of damped", min: 0, max: size / 3, step: size / 300, value: home.numbers("damping", [size / 6])[0], digits: 1 });
  const player = panel.player({ step: advance, reset: () => begin(true), rate: 30 });

  const colors = Object.fromEntries(Object.entries(COLORS).filter(([method]) => !whyNot(arm, method)));
  const lanes = Object.entries(colors).map(([method, color]) => {
    const box = html("input", { type: "checkbox", checked: wanted.includes(method), "aria-label": method });
    const errors = html("span", { class: "error" });
    const head = html("label", { class: `c-${color}` }, box, html("b", {}, method), errors);
    const cell = html("div", { class: "lane" }, head);
    grid.append(cell);
    const plane = new Plane(cell, { x: [base[0] - 1.25 * size, base[0] + 1.15 * size], y: [base[1] - size, base[1] + 1.05 * size], grid: size / 3, margin: [2, 2, 2, 2], label: `The arm of ${method}` });
    const lane = {
      method: /** @type {any} */ (method), box, errors, cell, q: /** @type {Float64Array} */ (Float64Array.from(first)), error: 0, smallest: 0,
      trail: plane.trail({ color, width: 1.4, limit: 300 }),
      body: plane.arm({ color }),
      goal: plane.goal({ at: origin, name: `goal of ${method}`, moved: (at) => move(at) }),
    }; // prettier-ignore
    box.addEventListener("change", () => draw());
    return lane;
  });
  const [far, near] = [
    new History(charts, { lines: colors, label: "The distance of every arm to the goal", up: "distance to the goal", decades: [-4, 2], most: 240, height: 190 }),
    new History(charts, { lines: colors, label: "The smallest singular value of every arm's Jacobian", up: "smallest singular value", across: "step", range: [0, 0.4 * size], most: 240 }),
  ];

  /** @returns {[number, number]} the present position of the goal */
  function now() {
    const phase = (2 * Math.PI * (clock % PERIOD)) / PERIOD;
    const [x, y] = [origin[0] - base[0], origin[1] - base[1]];
    if (motion.value === "out") return turned(x, y, SWAY * Math.sin(phase), 1 + FAR * Math.sin(phase) ** 2);
    return motion.value === "circle" ? turned(x, y, phase, 1) : [base[0] + x, base[1] + y];
  }

  /** @param {number} x @param {number} y @param {number} angle @param {number} far @returns {[number, number]} turned about the base */
  function turned(x, y, angle, far) {
    const [c, s] = [far * Math.cos(angle), far * Math.sin(angle)];
    return [base[0] + x * c - y * s, base[1] + x * s + y * c];
  }

  /** Drag the goal, which all arms share. @param {[number, number]} at */
  function move(at) {
    origin = at;
    clock = 0;
    motion.put("still");
    measure();
    draw();
  }

  function advance() {
    if (motion.value !== "still") clock++;
    const goal = now();
    for (const lane of lanes.filter(({ box }) => box.checked)) lane.q = step(arm, lane.method, goal, lane.q, lane.method === "damped" ? { damping: damping.value } : {}).q;
    measure();
    record();
    draw();
    return motion.value !== "still" || far.length < 240;
  }

  /** @param {boolean} poses whether to reset the arms too */
  function begin(poses) {
    clock = 0;
    if (poses) {
      player.stop();
      for (const lane of lanes) {
        lane.q = Float64Array.from(starts[start.value].q);
        lane.trail.clear();
      }
      far.clear();
      near.clear();
    }
    measure();
    record();
    draw();
  }

  function measure() {
    const goal = now();
    for (const lane of lanes) {
      const [x, y] = places(arm, lane.q, [frame])[0];
      lane.error = Math.hypot(goal[0] - x, goal[1] - y);
      lane.smallest = singularValues(arm.jacobian(lane.q, frame), arm.nv)[1];
    }
  }

  function record() {
    far.add(lanes.map(({ box, error }) => (box.checked ? error : NaN)));
    near.add(lanes.map(({ box, smallest }) => (box.checked ? smallest : NaN)));
    for (const { q, trail } of lanes) trail.add(places(arm, q, [frame])[0]);
  }

  function draw() {
    const goal = now();
    const running = lanes.filter(({ box }) => box.checked);
    for (const lane of lanes) {
      lane.body.show(places(arm, lane.q, frames));
      lane.goal.put(goal);
      lane.errors.textContent = lane.error < NEAR ? "reached" : number(lane.error, lane.error < 1 ? 4 : 1);
      lane.cell.classList.toggle("off", !lane.box.checked);
    }
    const done = running.filter(({ error }) => error < NEAR).length;
    const out = Math.hypot(goal[0] - base[0], goal[1] - base[1]) > size ? " The goal is out of reach." : "";
    panel.say(`${done} of ${running.length} ${done === 1 ? "is" : "are"} at the goal after ${counted(far.length - 1, "step")}.${out}`, done === running.length ? "green" : "ink");
  }

  begin(true);
  return {
    state: () => ({
      goal: now(), damping: damping.value, steps: far.length - 1, playing: player.playing,
      lanes: Object.fromEntries(lanes.map(({ method, q, error, smallest, box }) => [method, { q: [...q], error, smallest, runs: box.checked }])),
    }),
  }; // prettier-ignore
}

/** @param {Linkage} arm @param {string} frame @returns {string[]} the frames on the path to it, one for each position */
function chain(arm, frame) {
  const path = [arm.frames.indexOf(frame)];
  while (arm.parents[path[0]] >= 0) path.unshift(arm.parents[path[0]]);
  const names = path.map((k) => arm.frames[k]);
  const points = places(arm, arm.neutral, names);
  return names.filter((_, k) => k + 1 === names.length || Math.hypot(points[k + 1][0] - points[k][0], points[k + 1][1] - points[k][1]) > 1e-9);
}

const LANES = `
.panel > .slider { max-width: 26em; }
.lanes { display: grid; gap: 8px; grid-template-columns: repeat(auto-fill, minmax(136px, 1fr)); }
@container (min-width: 800px) { .lanes { grid-template-columns: repeat(auto-fill, minmax(172px, 1fr)); } }
.lane { border: 1px solid var(--edge); border-radius: 7px; overflow: hidden; min-width: 0; }
.lane label { display: flex; gap: 6px; align-items: center; padding: 4px 7px; color: var(--c); font-size: 13.5px; }
.lane b { font-weight: 600; }
.lane .error { margin-left: auto; color: var(--muted); font-variant-numeric: tabular-nums; font-size: 13px; }
.lane input { accent-color: var(--c); margin: 0; width: 16px; height: 16px; flex: none; }
.lane.off .plane { opacity: 0.25; }
`;

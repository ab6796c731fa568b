// @ts-check
/** Every method after one goal, side by side: their arms, their errors, and how near to a singularity they are. */

import { step } from "../textbook.js";
import { places } from "./arms.js";
import { Panel } from "./controls.js";
import { html, number } from "./dom.js";
import { History } from "./history.js";
import { Plane } from "./plane.js";
import { singularValues } from "./spectrum.js";

const COLORS = {
  pseudoinverse: "blue", damped: "green", "selectively-damped": "teal", control: "muted", alternative: "violet",
  transpose: "gold", ccd: "red", "ranked-ccd": "orange", fabrik: "ink",
}; // prettier-ignore
const STARTS = { ready: [Math.PI / 8, Math.PI / 4, Math.PI / 4], straight: [0, 0, 0], folded: [2.6, -2.2, 1.2] };
const GOALS = { ready: [-20, 5], straight: [22, 0], folded: [18, 12] };
const LAPS = { still: "stays", out: "out and back", circle: "round the base" };
const PERIOD = 240; // frames that a path takes
const NEAR = 1e-4;

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function race(root, home) {
  const arm = home.linkage("planar-3");
  const size = arm.data.length;
  const wanted = home.option("methods", Object.keys(COLORS).join(",")).split(/[\s,]+/);
  let origin = home.numbers("goal", GOALS.ready);
  let clock = 0;

  const grid = html("div", { class: "lanes" });
  const charts = html("div", { class: "stage" });
  const panel = new Panel(html("div", { class: "panel" }));
  root.append(html("style", {}, LANES), panel.node, grid, charts);

  const motion = panel.choice({ label: "The goal", options: LAPS, chosen: () => begin(false) });
  const start = panel.choice({ label: "Start", options: Object.keys(STARTS), chosen: (name) => ((origin = GOALS[/** @type {keyof GOALS} */ (name)]), begin(true)) });
  const player = panel.player({ step: advance, reset: () => begin(true), rate: 30 });

  const lanes = Object.entries(COLORS).map(([method, color]) => {
    const box = html("input", { type: "checkbox", checked: wanted.includes(method), "aria-label": method });
    const errors = html("span", { class: "error" });
    const head = html("label", { class: `c-${color}` }, box, html("b", {}, method), errors);
    const cell = html("div", { class: "lane" }, head);
    grid.append(cell);
    const plane = new Plane(cell, { x: [-1.25 * size, 1.15 * size], y: [-1.0 * size, 1.05 * size], grid: size / 3, margin: [2, 2, 2, 2], label: `The arm of ${method}` });
    const lane = {
      method: /** @type {keyof typeof COLORS} */ (method), box, errors, cell,
      q: Float64Array.from(STARTS.ready), error: 0, smallest: 0,
      trail: plane.trail({ color, width: 1.4, limit: 300 }),
      body: plane.arm({ color }),
      goal: plane.goal({ at: origin, name: `goal of ${method}`, moved: (at) => move(at) }),
    }; // prettier-ignore
    box.addEventListener("change", () => draw());
    return lane;
  });
  const [far, near] = [
    new History(charts, { lines: COLORS, label: "The distance of every arm to the goal", up: "distance to the goal", decades: [-4, 2], most: 240 }),
    new History(charts, { lines: COLORS, label: "The smallest singular value of every arm's Jacobian", up: "smallest singular value", across: "step", range: [0, 12], most: 240 }),
  ];

  /** @returns {[number, number]} where the goal is now */
  function now() {
    const phase = (2 * Math.PI * (clock % PERIOD)) / PERIOD;
    const [x, y] = origin;
    if (motion.value === "out") {
      const far = 1 + 0.75 * Math.sin(phase) ** 2; // beyond the reach of the arm and back
      return [x * far, y * far];
    }
    if (motion.value === "circle") return [x * Math.cos(phase) - y * Math.sin(phase), x * Math.sin(phase) + y * Math.cos(phase)];
    return [x, y];
  }

  /** A goal is dragged: it is the same for all. @param {[number, number]} at */
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
    for (const lane of lanes.filter(({ box }) => box.checked)) lane.q = step(arm, lane.method, goal, lane.q).q;
    measure();
    record();
    draw();
    return motion.value !== "still" || far.length < 240;
  }

  /** @param {boolean} poses whether the arms go back as well */
  function begin(poses) {
    clock = 0;
    if (poses) {
      player.stop();
      for (const lane of lanes) {
        lane.q = Float64Array.from(STARTS[/** @type {keyof STARTS} */ (start.value)]);
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
      const [x, y] = places(arm, lane.q, ["tip"])[0];
      lane.error = Math.hypot(goal[0] - x, goal[1] - y);
      lane.smallest = singularValues(arm.jacobian(lane.q, "tip"), arm.nv)[1];
    }
  }

  function record() {
    far.add(lanes.map(({ box, error }) => (box.checked ? error : NaN)));
    near.add(lanes.map(({ box, smallest }) => (box.checked ? smallest : NaN)));
    for (const { q, trail } of lanes) trail.add(places(arm, q, ["tip"])[0]);
  }

  function draw() {
    const goal = now();
    const running = lanes.filter(({ box }) => box.checked);
    for (const lane of lanes) {
      lane.body.show(places(arm, lane.q));
      lane.goal.put(goal);
      lane.errors.textContent = lane.error < NEAR ? "reached" : number(lane.error, lane.error < 1 ? 4 : 1);
      lane.cell.classList.toggle("off", !lane.box.checked);
    }
    const done = running.filter(({ error }) => error < NEAR).length;
    const out = Math.hypot(goal[0], goal[1]) > size ? " The goal is out of reach." : "";
    panel.say(`${done} of ${running.length} are at the goal after ${far.length - 1} steps.${out}`, done === running.length ? "green" : "ink");
  }

  begin(true);
  return {
    state: () => ({
      goal: now(), steps: far.length - 1, playing: player.playing,
      lanes: Object.fromEntries(lanes.map(({ method, q, error, smallest, box }) => [method, { q: [...q], error, smallest, runs: box.checked }])),
    }),
  }; // prettier-ignore
}

const LANES = `
.lanes { display: grid; gap: 8px; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); }
@container (min-width: 800px) { .lanes { grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); } }
.lane { border: 1px solid var(--edge); border-radius: 7px; overflow: hidden; min-width: 0; }
.lane label { display: flex; gap: 6px; align-items: center; padding: 4px 8px; color: var(--c); font-size: 14px; }
.lane b { font-weight: 600; }
.lane .error { margin-left: auto; color: var(--muted); font-variant-numeric: tabular-nums; font-size: 13px; }
.lane input { accent-color: var(--c); margin: 0; width: 16px; height: 16px; flex: none; }
.lane.off .plane { opacity: 0.25; }
`;

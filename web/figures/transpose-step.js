// @ts-check
/** Pseudoinverse, alternative Jacobian and transpose follow one goal. */

import { step } from "../textbook.js";
import { places } from "./arms.js";
import { split } from "./controls.js";
import { counted, number } from "./dom.js";
import { History } from "./history.js";
import { Plane } from "./plane.js";
import { singularValues } from "./spectrum.js";

const START = [Math.PI / 8, Math.PI / 4, Math.PI / 4];
const COLORS = { pseudoinverse: "blue", alternative: "violet", transpose: "teal" };
const THOUSAND = 1000; // the slider shows a thousand times the scale
const NEAR = 1e-4; // distance that counts as reached

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function transposeStep(root, home) {
  const arm = home.linkage("planar-3");
  const size = arm.data.length;
  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-1.25 * size, 1.05 * size], y: [-0.6 * size, 0.95 * size], label: "Three arms that step towards one goal, each by its own method" });
  const walkers = Object.entries(COLORS).map(([method, color]) => ({
    method: /** @type {keyof typeof COLORS} */ (method),
    q: /** @type {Float64Array} */ (Float64Array.from(START)),
    body: plane.arm({ color, faint: method !== "transpose" }),
    trail: plane.trail({ color, width: 1.6 }),
    tip: plane.point({ color }),
  }));
  const slow = walkers[walkers.length - 1]; // the transpose
  const goal = plane.goal({ at: home.numbers("goal", [-20, 5]), label: "goal", moved: again });
  const history = new History(stage, { lines: COLORS, label: "The distance of each arm to the goal after every step", across: "step", up: "distance to the goal", decades: [-4, 2], height: 190 });

  const fits = panel.check({ label: "the scale that fits best", value: true, changed: draw });
  const slider = panel.slider({ label: "1000 α", min: 0.1, max: 8, step: 0.1, value: 1.2, digits: 1, color: "teal", moved: () => (fits.put(false), draw()) });
  const player = panel.player({ step: advance, reset, rate: 4 });
  const table = panel.table();

  /** @param {Float64Array} q @returns {number} */
  const off = (q) => Math.hypot(...tipOf(q).map((x, k) => goal.at[k] - x));
  /** @param {Float64Array} q */
  const tipOf = (q) => places(arm, q, ["tip"])[0];

  /** @returns {{scale: number, limit: number}} best scale and stability limit of the transpose at its present pose */
  function scales() {
    const J = arm.jacobian(slow.q, "tip");
    const V = tipOf(slow.q).map((x, k) => goal.at[k] - x);
    const row = (/** @type {number} */ r) => J.subarray(arm.nv * r, arm.nv * (r + 1));
    const push = Array.from(row(0), (x, k) => x * V[0] + row(1)[k] * V[1]); // Jᵀ V
    const W = [0, 1].map((r) => push.reduce((sum, x, k) => sum + row(r)[k] * x, 0)); // J Jᵀ V
    const length = W[0] * W[0] + W[1] * W[1];
    const best = length > 0 ? (V[0] * W[0] + V[1] * W[1]) / length : 0;
    return { scale: fits.value ? best : slider.value / THOUSAND, limit: 2 / singularValues(J, arm.nv)[0] ** 2 };
  }

  function advance() {
    for (const walker of walkers) {
      const scale = fits.value ? 0 : slider.value / THOUSAND; // zero selects the best scale
      walker.q = step(arm, walker.method, goal.at, walker.q, { scale }).q;
      walker.trail.add(tipOf(walker.q));
    }
    history.add(walkers.map(({ q }) => off(q)));
    draw();
    return history.length < 200 && walkers.some(({ q }) => off(q) > NEAR);
  }

  /** Restart the count of steps for a new goal. */
  function again() {
    walkers.forEach((walker) => walker.trail.clear().add(tipOf(walker.q)));
    history.clear().add(walkers.map(({ q }) => off(q)));
    draw();
  }

  function reset() {
    walkers.forEach((walker) => (walker.q = Float64Array.from(START)));
    goal.put(home.numbers("goal", [-20, 5]));
    again();
  }

  function draw() {
    for (const { q, body, tip } of walkers) {
      body.show(places(arm, q));
      tip.show(tipOf(q));
    }
    const { scale, limit } = scales();
    const values = Object.fromEntries(walkers.map(({ method, q }) => [method, number(off(q), 4)]));
    table.show({ α: number(scale, 5), "2 / σ² (limit)": number(limit, 5), steps: String(history.length - 1), ...values });
    if (!fits.value && scale > limit) panel.say("α is above its limit: along the strongest direction each step lands further away than it began.", "red");
    else if (off(slow.q) < NEAR) panel.say(`The transpose has arrived after ${counted(history.length - 1, "step")}.`, "green");
    else if (fits.value) panel.say("α is the scale that leaves the shortest remaining distance; it is computed again at every step.");
    else panel.say("α is below its limit: every part of the error shrinks.");
  }

  again();
  return {
    state: () => ({
      goal: [...goal.at], ...scales(), steps: history.length - 1, playing: player.playing,
      q: Object.fromEntries(walkers.map(({ method, q }) => [method, [...q]])),
      errors: Object.fromEntries(walkers.map(({ method, q }) => [method, off(q)])),
    }),
  }; // prettier-ignore
}

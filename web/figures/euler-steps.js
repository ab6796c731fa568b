// @ts-check
/** One Euler step at a time: the motion of the tip predicted by the Jacobian, and the actual one. */

import { integrate, step } from "../textbook.js";
import { jointFrames, places, rowsOf } from "./arms.js";
import { split } from "./controls.js";
import { DEGREE, counted, number } from "./dom.js";
import { times } from "./ellipse.js";
import { Plane } from "./plane.js";

const COLORS = ["violet", "teal", "gold"];
const STARTS = { "planar-3": [Math.PI / 8, Math.PI / 4, Math.PI / 4], "planar-2": [Math.PI / 8, Math.PI / 2] };
const PIECES = 24; // line segments of the actual path

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function eulerSteps(root, home) {
  const arms = { "planar-3": home.linkage("planar-3"), "planar-2": home.linkage("planar-2") };
  /** @type {"planar-3" | "planar-2"} */ let name = "planar-3";
  let arm = arms[name];
  let q = Float64Array.from(STARTS[name]);
  let [size, taken] = [home.numbers("step", [0.25])[0], 0];

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-31, 31], y: [-31, 31], label: "An arm, its goal, the step that the Jacobian predicts and the real path of the tip" });
  const trail = plane.trail({ color: "muted", width: 1.6 });
  const next = plane.arm({ faint: true });
  const body = plane.arm();
  const wish = plane.vector({ color: "orange", width: 1.6, dashed: true });
  const parts = COLORS.map((color) => plane.vector({ color, width: 3 }));
  const real = plane.path({ color: "red", width: 2.6, layer: "marks" });
  const ends = [plane.point({ color: "muted" }), plane.point({ color: "red" })];
  const goal = plane.goal({ at: home.numbers("goal", [-20, 5]), label: "goal", moved: draw });

  panel.choice({ label: "Arm", options: { "planar-3": "3 links", "planar-2": "2 links" }, chosen: (word) => choose(/** @type {any} */ (word)) });
  panel.slider({ label: "Step size h", min: 0.05, max: 1, step: 0.05, value: size, digits: 2, moved: (value) => ((size = value), draw()) });
  const player = panel.player({ step: take, reset, rate: home.still ? 1 : 4 });
  const matrices = [2, 3].map((n) => panel.matrix({ label: "J =", columns: ["g_1", "g_2", "g_3"].slice(0, n), colors: COLORS }));
  const change = panel.matrix({ label: "h θ̇ [°]", colors: COLORS, digits: 1 });
  const table = panel.table();

  /** @param {"planar-3" | "planar-2"} word */
  function choose(word) {
    name = word;
    arm = arms[name];
    player.stop();
    reset();
  }

  function reset() {
    q = Float64Array.from(STARTS[name]);
    taken = 0;
    trail.clear();
    draw();
  }

  /** The quantities of the next step. */
  function look() {
    const [E, G] = [places(arm, q, ["tip"])[0], goal.at];
    const V = [G[0] - E[0], G[1] - E[1]];
    const J = rowsOf(arm.jacobian(q, "tip"), arm.nv, [0, 1]);
    const method = name === "planar-2" ? "inverse" : "pseudoinverse";
    const rates = Array.from(step(arm, method, G, q, { maxStep: Infinity }).velocity, (rate) => size * rate);
    const moved = times(J, rates);
    const predicted = [E[0] + moved[0], E[1] + moved[1]];
    const way = Array.from({ length: PIECES + 1 }, (_, k) => places(arm, integrate(arm, q, rates.map((rate) => (rate * k) / PIECES)), ["tip"])[0]);
    const reached = way[PIECES];
    const off = Math.hypot(reached[0] - predicted[0], reached[1] - predicted[1]);
    return { E, G, V, J, method, rates, predicted, way, reached, off, distance: Math.hypot(...V) };
  }

  function take() {
    const { rates, distance } = look();
    if (distance < 1e-3) return false;
    const before = places(arm, q, ["tip"])[0];
    if (!trail.points.length) trail.add(before);
    look().way.forEach((point) => trail.add(point));
    q = integrate(arm, q, rates);
    taken++;
    draw();
    return true;
  }

  function draw() {
    const now = look();
    const { E, G, J, rates, predicted, way, reached } = now;
    body.show(places(arm, q, jointFrames(arm)));
    next.show(places(arm, integrate(arm, q, rates), jointFrames(arm)));
    wish.show(E, G, "V", 0.6);
    let from = E;
    parts.forEach((part, k) => {
      if (k >= arm.nv) return part.hide();
      const to = [from[0] + J[0][k] * rates[k], from[1] + J[1][k] * rates[k]];
      part.show(from, to);
      from = to;
      return part;
    });
    real.show(way);
    const there = Math.hypot(predicted[0] - G[0], predicted[1] - G[1]) < 4; // a label would overlap that of the goal
    ends[0].show(predicted, there ? "" : "predicted", 0, -17);
    ends[1].show(reached, "really", 0, 17);
    tell(now);
  }

  /** @param {ReturnType<typeof look>} now */
  function tell({ V, J, rates, off, reached, G, distance, method }) {
    matrices.forEach((matrix, k) => {
      const row = /** @type {HTMLElement} */ (matrix.table.parentElement);
      row.style.display = arm.nv === k + 2 ? "" : "none";
      matrix.show(J);
    });
    change.show([rates.map((rate) => rate / DEGREE)]);
    const after = Math.hypot(G[0] - reached[0], G[1] - reached[1]);
    table.show({
      "V": `(${number(V[0], 1)}, ${number(V[1], 1)})`,
      "prediction off by": number(off),
      "to the goal": number(distance),
      "after the step": number(after),
      "steps": String(taken),
    });
    if (distance < 1e-3) panel.say(`Reached after ${counted(taken, "step")}.`, "green");
    else if (after > distance) panel.say("This step leads away from the goal: it is too large.", "red");
    else panel.say(`The coloured arrows, column times change, add up to the prediction. The changes are h ${method === "inverse" ? "J⁻¹V" : "J⁺V"}.`);
  }

  draw();
  return {
    state: () => {
      const { J, V, rates, predicted, reached, off, distance } = look();
      return { q: [...q], J, V, change: rates, predicted, reached, off, distance, taken, goal: [...goal.at] };
    },
  };
}

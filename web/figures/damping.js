// @ts-check
/** Damped least squares: the filter factors of the singular values, and the joint rates for every λ. */

import { jointFrames, places, rowsOf } from "./arms.js";
import { split } from "./controls.js";
import { number } from "./dom.js";
import { dragged } from "./drag.js";
import { dampedRates, filterFactor, outline, singular, times } from "./ellipse.js";
import { Plane, Plot } from "./plane.js";

const SCALE = 0.25; // scale of the drawn ellipse
const LARGEST = 10; // largest λ
const COLORS = ["violet", "teal", "gold"];

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function damping(root, home) {
  const arm = home.linkage("planar-3");
  /** @type {Float64Array} */ let q = Float64Array.from(home.numbers("pose", [0.35, 0.25, 0.2]));
  let lambda = home.numbers("damping", [2])[0];
  let V = home.numbers("velocity", [-6, -2]);

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-8, 38], y: [-10, 26], label: "An arm, the velocity that you ask of its tip, and the velocity that results" });
  const edge = plane.circle({ color: "muted", dashed: true, width: 1 });
  const body = plane.arm();
  const area = plane.path({ color: "green", fill: true, width: 1.4, layer: "marks" });
  const wanted = plane.vector({ color: "orange", width: 2.6 });
  const got = plane.vector({ color: "red", width: 2.6 });
  plane.text({ color: "orange", anchor: "start" }).show([plane.x[0], plane.y[1]], "V, what you ask for", 12, 18);
  plane.text({ color: "red", anchor: "start" }).show([plane.x[0], plane.y[1]], "J θ̇, what results", 12, 40);
  const tip = plane.goal({ at: [0, 0], name: "tip", color: "blue", shape: "dot", moved: (at) => ((q = dragged(arm, at, q)), draw()) });
  const head = plane.goal({ at: [0, 0], name: "wanted velocity V", shape: "dot", moved: aim });

  const slider = panel.slider({ label: "λ", min: 0, max: LARGEST, step: 0.1, value: lambda, digits: 1, color: "orange", moved: (value) => ((lambda = value), draw()) });
  panel.buttons({
    Bent: () => put([0.35, 1.1, 0.8]),
    "Nearly straight": () => put([0.35, 0.04, 0.04]),
    "λ = σ₂": () => slider.put((lambda = Math.min(LARGEST, look().found.values[1]))) ?? draw(),
  });
  const change = panel.matrix({ label: "θ̇ =", colors: COLORS, digits: 3 });
  const table = panel.table();
  const filter = new Plot(stage, { x: [0, 36], y: [0, 1.15], height: 150, label: "The filter factor over the singular value", across: "singular value σ", up: "filter factor f(σ)" });
  const half = filter.path({ color: "orange", dashed: true, width: 1.4 });
  const curve = filter.path({ color: "blue", width: 2.4 });
  const dots = [filter.point({ color: "green" }), filter.point({ color: "red" })];
  const rates = new Plot(panel.node, { x: [0, LARGEST], y: [-2.5, 1.5], log: true, height: 160, label: "The joint rates over λ, below their bound", across: "λ", up: "length of θ̇ [rad], bound dashed" });
  const bound = rates.path({ color: "muted", dashed: true, width: 1.6 });
  const speeds = rates.path({ color: "blue", width: 2.4 });
  const now = rates.point({ color: "orange" });

  /** @param {number[]} pose */
  function put(pose) {
    q = Float64Array.from(pose);
    draw();
  }

  /** Drag the head of the arrow. @param {[number, number]} at */
  function aim(at) {
    const [x, y] = places(arm, q, ["tip"])[0];
    V = [at[0] - x, at[1] - y];
    draw();
  }

  function look() {
    const J = rowsOf(arm.jacobian(q, "tip"), arm.nv, [0, 1]);
    const found = singular(J);
    const velocity = dampedRates(found, V, lambda);
    return { J, found, velocity, achieved: times(J, velocity), factors: found.values.map((sigma) => filterFactor(sigma, lambda)) };
  }

  function draw() {
    const { found, velocity, achieved, factors } = look();
    const points = places(arm, q, jointFrames(arm));
    const at = points[arm.nv];
    edge.show([0, 0], arm.data.length);
    body.show(points);
    area.show(outline(found, at, SCALE));
    wanted.show(at, [at[0] + V[0], at[1] + V[1]]);
    got.show(at, [at[0] + achieved[0], at[1] + achieved[1]]);
    tip.put(at);
    head.put([at[0] + V[0], at[1] + V[1]]);
    curve.show(Array.from({ length: 145 }, (_, k) => [k / 4, lambda ? filterFactor(k / 4, lambda) : Number(k > 0)]));
    half.show(lambda ? [[lambda, 0], [lambda, 0.5], [0, 0.5]] : []);
    dots.forEach((dot, k) => dot.show([found.values[k], factors[k]], `σ_${k + 1}`, 4, k ? 16 : -14));
    plots(found, velocity);
    change.show([velocity]);
    table.show({ "σ_1, σ_2": found.values.map((value) => number(value)).join(",  "), "f_1, f_2": factors.map((value) => number(value)).join(",  "), "length of θ̇": `${number(Math.hypot(...velocity), 3)} rad`, "bound": `${number(Math.hypot(...V) / (2 * lambda), 3)} rad` });
    tell(found, factors);
  }

  /** @param {ReturnType<typeof singular>} found @param {number[]} velocity */
  function plots(found, velocity) {
    const clip = (/** @type {number} */ value) => Math.min(1.5, Math.max(-2.5, Math.log10(value)));
    const grid = Array.from({ length: 101 }, (_, k) => (LARGEST * k) / 100);
    speeds.show(grid.map((value) => [value, clip(Math.hypot(...dampedRates(found, V, value)))]));
    bound.show(grid.slice(1).map((value) => [value, clip(Math.hypot(...V) / (2 * value))]));
    now.show([lambda, clip(Math.hypot(...velocity))]);
  }

  /** @param {ReturnType<typeof singular>} found @param {number[]} factors */
  function tell({ values }, factors) {
    if (!lambda && values[1] < 1) panel.say("No damping near a singular pose: the joints turn very fast.", "red");
    else if (factors[1] < 0.5) panel.say("σ₂ is below λ: less than half of the motion along u₂ remains. The tip lags there.");
    else if (factors[1] < 0.9) panel.say("σ₂ is not far above λ: damping reduces the motion along u₂.");
    else panel.say("Both singular values are far above λ: damping changes little.", "green");
  }

  draw();
  return { state: () => ({ q: [...q], lambda, V: [...V], ...look() }) };
}

// @ts-check
/** The null space: an arm moves towards desired angles while its tip stays. */

import { step } from "../textbook.js";
import { jointFrames, places, rowsOf } from "./arms.js";
import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { dragged } from "./drag.js";
import { nullVector } from "./ellipse.js";
import { Plane, Plot } from "./plane.js";
import { apart, back, selfMotion } from "./self-motion.js";

/**
 * The desired angles, a gain for each, and the form of z: the gradient a (θ - θ_c), or its square as in equation 5.27.
 * @typedef {{desired: number[], gains: number[], form: "gradient" | "printed"}} Wish
 */

const COLORS = ["violet", "teal", "gold"];
const GHOSTS = 10;
const PIECES = 8; // largest number of parts of the curve, which is cut where it leaves the plot on one side
const SETTLED = 1e-7; // smallest change per step [rad]

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function nullSpace(root, home) {
  const arm = home.linkage("planar-3");
  const bones = jointFrames(arm);
  /** @type {Wish} */ const wish = { desired: home.numbers("desired", [0, 0, 0]), gains: home.numbers("gains", [0.1, 0.5, 0.1]), form: "gradient" };
  /** @type {Float64Array} */ let q = Float64Array.from(home.numbers("pose", [Math.PI / 8, Math.PI / 4, Math.PI / 4]));
  /** @type {Float64Array[]} */ let curve = [];

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-20, 31], y: [-13, 31], label: "An arm and other poses of it with the tip in the same place" });
  const edge = plane.circle({ color: "muted", dashed: true, width: 1 });
  const ghosts = Array.from({ length: GHOSTS }, () => plane.arm({ faint: true }));
  const body = plane.arm();
  const goal = plane.goal({ at: places(arm, q, ["tip"])[0], label: "goal", moved: drag, hold: within });
  const along = panel.slider({ label: "null space", min: 0, max: 1, step: 0.002, value: 0, digits: 2, color: "blue", moved: slide });
  panel.choice({ label: "Form", options: { gradient: "gradient", printed: "printed (5.27)" }, chosen: (word) => (wish.form = /** @type {any} */ (word)) });
  COLORS.forEach((color, k) =>
    panel.slider({ label: `desired θ_${k + 1}`, min: -180, max: 180, step: 5, value: wish.desired[k] / DEGREE, unit: "°", color, moved: (value) => ((wish.desired[k] = value * DEGREE), draw()) }),
  );
  COLORS.forEach((color, k) => panel.slider({ label: `gain a_${k + 1}`, min: 0, max: 1, step: 0.05, value: wish.gains[k], digits: 2, color, moved: (value) => (wish.gains[k] = value) }));
  panel.buttons({ Lean: lean, "One step": () => void once(), Reset: reset });
  const vector = panel.matrix({ label: "n =", columns: ["θ_1", "θ_2", "θ_3"], colors: COLORS });
  const plot = new Plot(stage, { x: [-180, 180], y: [-180, 180], height: 240, label: "All poses with this tip, as a curve over the second and third joint angle", across: "θ₂ [°]", up: "θ₃ [°]" });
  const lines = Array.from({ length: PIECES }, () => plot.path({ color: "blue", width: 2.2 }));
  const aim = plot.point({ color: "orange" });
  const here = plot.point({ color: "blue", radius: 6 });

  /** @param {[number, number]} at @returns {[number, number]} a position within reach, slightly inside the edge */
  function within(at) {
    const share = Math.min(1, (0.995 * arm.data.length) / Math.hypot(...at));
    return [at[0] * share, at[1] * share];
  }

  /** @param {[number, number]} at */
  function drag(at) {
    q = back(arm, at, dragged(arm, at, q));
    trace();
  }

  /** All poses with this tip, the present one first. */
  function trace() {
    curve = selfMotion(arm, goal.at, q, nullVector);
    along.put(0);
    draw();
  }

  /** @param {number} share */
  function slide(share) {
    q = curve[Math.round(share * curve.length) % curve.length];
    draw();
  }

  /** Take one step of the control expression. @returns {boolean} whether the arm still moves */
  function once() {
    const next = step(arm, "control", goal.at, q, wish).q;
    const change = Math.max(...next.map((angle, k) => Math.abs(angle - q[k])));
    q = next;
    const near = curve.reduce((best, pose, k) => (apart(pose, q) < apart(curve[best], q) ? k : best), 0);
    along.put(near / curve.length);
    draw();
    return change > SETTLED;
  }

  function lean() {
    let steps = 0;
    if (home.still) while (once() && ++steps < 300);
    else home.loop(() => once() && ++steps < 300);
  }

  function reset() {
    q = Float64Array.from([Math.PI / 8, Math.PI / 4, Math.PI / 4]);
    goal.put(places(arm, q, ["tip"])[0]);
    trace();
  }

  function draw() {
    edge.show([0, 0], arm.data.length);
    ghosts.forEach((ghost, k) => ghost.show(places(arm, curve[Math.floor((k * curve.length) / GHOSTS)], bones)));
    body.show(places(arm, q, bones));
    const parts = pieces(curve.map(corner));
    lines.forEach((line, k) => (parts[k] ? line.show(parts[k]) : line.hide()));
    here.show(corner(q));
    aim.show(corner(wish.desired), "desired");
    vector.show([nullVector(rowsOf(arm.jacobian(q, "tip"), 3, [0, 1]))]);
    const [x, y] = places(arm, q, ["tip"])[0];
    const off = Math.hypot(x - goal.at[0], y - goal.at[1]);
    if (off > 0.01) panel.say(`The tip is ${number(off)} away from the goal.`, "red");
    else panel.say(`Pose (${[...q].map((angle) => `${number(angle / DEGREE, 0)}°`).join(", ")}); the tip has not moved.`, "green");
  }

  trace();
  return { state: () => ({ q: [...q], goal: [...goal.at], tip: places(arm, q, ["tip"])[0], null: nullVector(rowsOf(arm.jacobian(q, "tip"), 3, [0, 1])), curve: curve.map((pose) => [...pose]), ...wish }) };
}

/** @param {ArrayLike<number>} q @returns {number[]} the second and third angle within half a turn [°] */
function corner(q) {
  return [q[1], q[2]].map((angle) => (angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI))) / DEGREE);
}

/** @param {number[][]} points of a closed curve @returns {number[][][]} pieces without jumps from side to side */
function pieces(points) {
  /** @type {number[][][]} */ const parts = [[]];
  [...points, points[0]].forEach((point, k) => {
    const last = points[k - 1];
    if (last && Math.hypot(point[0] - last[0], point[1] - last[1]) > 180) parts.push([]);
    parts[parts.length - 1].push(point);
  });
  return parts;
}

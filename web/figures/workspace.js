// @ts-check
/** The number of poses that reach a goal (none, one, two or infinitely many), and the reach of an arm. */

import { places } from "./arms.js";
import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { Plane } from "./plane.js";

const [L1, L2, L3] = [15, 10, 5];
const SAMPLES = 36; // number of sampled directions, if any direction is allowed
const TOUCH = 1e-9;

/**
 * The poses of two links that reach a point: cos θ2 = (x² + y² − L1² − L2²) / (2 L1 L2), θ2 of either sign, and
 * θ1 = atan2(y, x) − atan2(L2 sin θ2, L1 + L2 cos θ2).
 * @param {number} x @param {number} y @returns {number[][]} none, one or two
 */
function twoLinks(x, y) {
  const cosine = (x * x + y * y - L1 * L1 - L2 * L2) / (2 * L1 * L2);
  if (Math.abs(cosine) > 1 + TOUCH) return [];
  const bend = Math.acos(Math.min(1, Math.max(-1, cosine)));
  return (bend < 1e-6 || bend > Math.PI - 1e-6 ? [bend] : [bend, -bend]).map((second) => [Math.atan2(y, x) - Math.atan2(L2 * Math.sin(second), L1 + L2 * Math.cos(second)), second]);
}

/** The poses of three links with a given direction of the last one: the first two reach the wrist. @param {number[]} goal @param {number} direction */
function threeLinks([x, y], direction) {
  const wrist = twoLinks(x - L3 * Math.cos(direction), y - L3 * Math.sin(direction));
  return wrist.map(([first, second]) => [first, second, direction - first - second].map(wrap));
}

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function workspace(root, home) {
  const arms = { 2: home.linkage("planar-2"), 3: home.linkage("planar-3") };
  let asked = home.option("asked", "2 links, position");
  let direction = 60 * DEGREE;

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-34, 34], y: [-31, 31], label: "An arm, where it can reach, and its poses at a goal" });
  const reach = plane.path({ color: "blue", fill: true, width: 1 });
  const free = plane.path({ color: "green", fill: true, width: 1 });
  const drawn = Array.from({ length: 2 * SAMPLES }, (_, k) => plane.arm({ base: k === 0 }));
  const pointer = plane.vector({ color: "orange", width: 3 });
  const goal = plane.goal({ at: home.numbers("goal", [12, 14]), label: "goal", moved: draw });

  panel.choice({ label: "Asked", options: ["2 links, position", "3 links, position", "3 links, position and direction"], value: asked, chosen: (word) => ((asked = word), draw()) });
  const slider = panel.slider({ label: "direction", min: -180, max: 180, step: 1, value: direction / DEGREE, unit: "°", color: "orange", moved: (angle) => ((direction = angle * DEGREE), draw()) });
  const table = panel.table({});
  panel.say("");

  function solve() {
    if (asked === "2 links, position") return twoLinks(goal.at[0], goal.at[1]).map((q) => q.map(wrap));
    if (asked === "3 links, position and direction") return threeLinks(goal.at, direction);
    return Array.from({ length: SAMPLES }, (_, k) => (2 * Math.PI * k) / SAMPLES).flatMap((angle) => threeLinks(goal.at, angle));
  }

  /** @param {number} inner @param {number} outer @param {number[]} [center] @returns {(number[] | null)[]} the two edges of a ring */
  function ring(inner, outer, [x, y] = [0, 0]) {
    const round = (/** @type {number} */ r) => Array.from({ length: 120 }, (_, k) => [x + r * Math.cos((k * Math.PI) / 60), y + r * Math.sin((k * Math.PI) / 60)]);
    return inner > 0 ? [...round(outer), null, ...round(inner)] : round(outer);
  }

  function draw() {
    const found = solve();
    const arm = asked.startsWith("2") ? arms[2] : arms[3];
    const exact = asked.endsWith("direction");
    const offset = exact ? [L3 * Math.cos(direction), L3 * Math.sin(direction)] : [0, 0];
    reach.show(asked === "3 links, position" ? ring(L1 - L2 - L3, L1 + L2 + L3) : ring(L1 - L2, L1 + L2, offset));
    if (asked.startsWith("3")) free.show(ring(L1 - L2 + L3, L1 + L2 - L3));
    else free.hide();
    drawn.forEach((mark, k) => (k < found.length ? mark.show(places(arm, found[k])).paint(k === 0 || found.length > 2 ? "blue" : "teal", found.length > 2) : mark.hide()));
    slider.row.style.display = exact ? "" : "none";
    if (exact) pointer.show([goal.at[0] - offset[0], goal.at[1] - offset[1]], goal.at);
    else pointer.hide();
    const away = Math.hypot(...goal.at);
    table.show([["goal", `(${number(goal.at[0], 1)}, ${number(goal.at[1], 1)})`], ["distance from the base", number(away, 1)], ["given", exact ? "3 numbers" : "2 numbers"], ["unknown", asked.startsWith("2") ? "2 angles" : "3 angles"]]);
    const many = asked === "3 links, position" && found.length > 0;
    const words = many ? "Infinitely many poses; some of them are drawn. The arm is underconstrained." : ["No pose reaches the goal.", "One pose reaches the goal.", "Two poses reach the goal."][found.length];
    panel.say(asked.startsWith("3") && found.length ? `${words} In the green ring every direction is possible.` : words, found.length ? "green" : "red");
  }

  draw();
  return { state: () => ({ asked, goal: [...goal.at], direction, solutions: solve(), tips: solve().map((q) => places(asked.startsWith("2") ? arms[2] : arms[3], q, ["tip"])[0]) }) };
}

/** @param {number} angle */
function wrap(angle) {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

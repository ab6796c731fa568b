// @ts-check
/** Cyclic coordinate descent, one joint at a time. */

import { places } from "./arms.js";
import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { Plane } from "./plane.js";

const START = [Math.PI / 8, Math.PI / 4, Math.PI / 4];
const NEAR = 1e-4; // distance that counts as reached

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function ccdTurns(root, home) {
  const arm = home.linkage(home.option("linkage", "planar-3"));
  const n = arm.nq;
  const size = arm.data.length;
  let q = Float64Array.from(home.numbers("pose", START));
  let inward = n - 1; // the joint to move next, from the tip inward
  let turns = 0;

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-1.1 * size, 1.1 * size], y: [-0.75 * size, 1.05 * size], label: "An arm, and at one of its joints the ray to the end effector, the ray to the goal and the angle between them" });
  const circle = plane.circle({ color: "muted", dashed: true });
  const body = plane.arm();
  const toTip = plane.vector({ color: "violet", width: 2.6 });
  const toGoal = plane.vector({ color: "orange", width: 2.6, dashed: true });
  const angle = plane.arc({ color: "teal", width: 3 });
  const lands = plane.point({ color: "teal" });
  const here = plane.point({ color: "teal", radius: 8 });
  const goal = plane.goal({ at: home.numbers("goal", [-20, 5]), label: "goal", moved: draw });

  const order = panel.choice({ label: "Order", options: { inward: "outermost first", ranked: "most useful first" }, chosen: draw });
  const player = panel.player({ step: turn, reset, rate: 2 });
  panel.buttons({ Sweep: sweep, Straighten: straighten });
  const table = panel.table();

  /**
   * The best rotation of each joint alone: e is the vector from it to the end effector, g that to the goal.
   * Its best angle is atan2(e x g, e · g); the end effector is then | |g| - |e| | from the goal.
   */
  function offers() {
    const points = places(arm, q);
    const tip = points[n];
    const now = Math.hypot(goal.at[0] - tip[0], goal.at[1] - tip[1]);
    return points.slice(0, n).map(([x, y]) => {
      const [e, g] = [[tip[0] - x, tip[1] - y], [goal.at[0] - x, goal.at[1] - y]];
      const change = Math.atan2(e[0] * g[1] - e[1] * g[0], e[0] * g[0] + e[1] * g[1]);
      return { at: [x, y], e, g, change, gain: now - Math.abs(Math.hypot(g[0], g[1]) - Math.hypot(e[0], e[1])) };
    });
  }

  /** @returns {number} the joint to move next */
  function chosen() {
    if (order.value === "inward") return inward;
    const gains = offers().map(({ gain }) => gain);
    return gains.indexOf(Math.max(...gains));
  }

  /** @returns {number} distance of the end effector from the goal */
  function error() {
    const tip = places(arm, q, ["tip"])[0];
    return Math.hypot(goal.at[0] - tip[0], goal.at[1] - tip[1]);
  }

  function turn() {
    const k = chosen();
    q[k] += offers()[k].change;
    inward = (k + n - 1) % n;
    turns++;
    draw();
    return error() > NEAR && turns < 1000;
  }

  function sweep() {
    player.stop();
    for (let k = 0; k < n; k++) turn();
  }

  /** @param {ArrayLike<number>} pose @param {number[]} at */
  function begin(pose, at) {
    player.stop();
    q = Float64Array.from(pose);
    [inward, turns] = [n - 1, 0];
    goal.put(at);
    draw();
  }

  function reset() {
    begin(home.numbers("pose", START), home.numbers("goal", [-20, 5]));
  }

  function straighten() {
    begin(new Float64Array(n), [0.73 * size, 0]);
  }

  function draw() {
    const points = places(arm, q);
    const all = offers();
    const k = chosen();
    const { at, e, g, change } = all[k];
    const from = Math.atan2(e[1], e[0]);
    const reach = Math.hypot(e[0], e[1]);
    body.show(points);
    circle.show(at, reach);
    toTip.show(at, points[n], "e", 0.55);
    toGoal.show(at, goal.at, "g", 0.55);
    if (Math.abs(change) > 0.01) angle.show(at, from, from + change, `Δθ_${k + 1}`, 44);
    else angle.hide();
    lands.show([at[0] + reach * Math.cos(from + change), at[1] + reach * Math.sin(from + change)]);
    const [ux, uy] = behind(e, g);
    here.show(at, String(k + 1), 18 * ux, -18 * uy);
    table.show(Object.fromEntries(all.map((one, i) => [`joint ${i + 1}`, `${number(one.change / DEGREE, 1)}°, nearer by ${number(one.gain, 1)}`])));
    const left = error();
    if (left <= NEAR) panel.say(`Reached after ${turns} ${turns === 1 ? "turn" : "turns"}.`, "green");
    else if (all.every((one) => Math.abs(Math.sin(one.change)) < 1e-9 && one.gain < 1e-9)) panel.say(`Stuck, ${number(left, 2)} from the goal: no turn moves the end effector off the line.`, "red");
    else panel.say(`Joint ${k + 1} is next and turns by ${number(change / DEGREE, 1)}°. The end effector is ${number(left, left < 0.1 ? 4 : 2)} away after ${turns} ${turns === 1 ? "turn" : "turns"}.`);
  }

  draw();
  return {
    state: () => {
      const all = offers();
      return { q: [...q], goal: [...goal.at], joint: chosen() + 1, turns, error: error(), changes: all.map((one) => one.change), gains: all.map((one) => one.gain) };
    },
  };
}

/** @param {number[]} e @param {number[]} g @returns {[number, number]} a direction away from both vectors, for a label */
function behind(e, g) {
  const [a, b] = [Math.hypot(e[0], e[1]) || 1, Math.hypot(g[0], g[1]) || 1];
  const [x, y] = [e[0] / a + g[0] / b, e[1] / a + g[1] / b];
  const length = Math.hypot(x, y);
  return length < 0.2 ? [e[1] / a, -e[0] / a] : [-x / length, -y / length];
}

// @ts-check
/** A human with goals for its hands, its feet and its balance. */

import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { Plane } from "./plane.js";

/** @typedef {[number, number, number]} Vector */

const LIMBS = {
  spine: ["pelvis", "abdomen", "ribs", "chest", "neck", "head"],
  hips: ["left_thigh", "pelvis", "right_thigh"],
  shoulders: ["left_upper_arm", "left_clavicle", "right_clavicle", "right_upper_arm"],
  left_leg: ["left_thigh", "left_shin", "left_tarsus"],
  left_sole: ["left_heel", "left_tarsus", "left_toe", "left_heel"],
  right_leg: ["right_thigh", "right_shin", "right_tarsus"],
  right_sole: ["right_heel", "right_tarsus", "right_toe", "right_heel"],
  left_arm: ["left_upper_arm", "left_forearm", "left_wrist", "left_hand"],
  right_arm: ["right_upper_arm", "right_forearm", "right_wrist", "right_hand"],
};
const TORSO = ["left_upper_arm", "right_upper_arm", "ribs", "right_thigh", "left_thigh", "ribs"];
const WIDTHS = { spine: 12, hips: 13, shoulders: 12, leg: 13, sole: 6, arm: 10 }; // [px]
const SOLES = ["left_heel", "left_ball", "right_heel", "right_ball"];
const HANDS = ["left_hand", "right_hand"];
const FEET = ["left_foot", "right_foot"];
const SOLVERS = { first: "feet and balance first", alike: "all alike", unbalanced: "feet first, no balance" };
const HEAD = 0.105; // radius [m]
const STILL = 1e-4; // a step that changes all values by less is the last
const MOST = 60; // steps towards one goal

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function bodyGoals(root, home) {
  const body = home.linkage("human");
  const { masses } = body.data;
  let q = body.read("stand");
  let around = 0; // azimuth of the view, 0 from the front [rad]
  let left = 0; // remaining number of steps
  /** The last step: start and result. @type {{start: number[], q: number[]} | null} */ let last = null;
  /** @type {number[]} */ let residuals = [];
  const standing = body.forward(q);
  const place = (/** @type {Float64Array} */ m) => /** @type {Vector} */ ([m[3], m[7], m[11]]);
  /** @type {Record<string, Vector>} */ const goals = Object.fromEntries(HANDS.map((name) => [name, place(standing[name])]));
  const held = Object.fromEntries(FEET.map((name) => [name, standing[name]]));

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-1.15, 1.15], y: [-0.12, 2.1], grid: 0.5, label: "A standing human whose hands can be dragged" });
  const floor = plane.path({ color: "green", width: 6, layer: "marks" });
  const plumb = plane.path({ color: "violet", dashed: true, width: 2, layer: "marks" });
  const torso = plane.path({ color: "muted", fill: true, width: 8, layer: "arm" });
  const limbs = Object.keys(LIMBS).map((name) => {
    const color = name.startsWith("left") ? "teal" : name.startsWith("right") ? "blue" : "muted";
    const part = /** @type {keyof WIDTHS} */ (name.split("_").pop());
    return plane.path({ color, width: WIDTHS[part], layer: "arm" });
  });
  const head = plane.circle({ color: "muted", fill: true, layer: "arm" });
  const center = plane.point({ color: "violet", radius: 6 });
  const ties = HANDS.map(() => plane.path({ color: "orange", dashed: true, width: 1.6, layer: "marks" }));
  const handles = HANDS.map((name) => plane.goal({ at: [0, 0], name: `goal of the ${name.replace("_", " ")}`, hold: above, moved: (at) => drag(name, at) }));

  const mode = panel.choice({ label: "Which goals count most", options: SOLVERS, chosen: follow });
  panel.slider({ label: "view", min: -90, max: 90, step: 5, value: 0, unit: "°", moved: (angle) => ((around = angle * DEGREE), draw()) });
  panel.buttons({ Reset: reset });
  const table = panel.table();

  /** @param {ArrayLike<number>} p @returns {[number, number]} the projection of a point: to the right, and up */
  const seen = (p) => [-p[0] * Math.sin(around) + p[1] * Math.cos(around), p[2]];

  /** @param {[number, number]} at @returns {[number, number]} a position kept within the picture and above the floor */
  function above(at) {
    const [x, y] = plane.inside(at);
    return [x, Math.max(y, 0.03)];
  }

  /** Drag a goal in the plane of the screen; its depth stays. @param {string} name @param {[number, number]} at */
  function drag(name, at) {
    const goal = goals[name];
    const [across] = seen(goal);
    goal[0] -= (at[0] - across) * Math.sin(around);
    goal[1] += (at[0] - across) * Math.cos(around);
    goal[2] = at[1];
    follow();
  }

  /** Take one step per picture until nothing moves. */
  function follow() {
    const running = left > 0;
    left = MOST;
    if (!running) home.loop(advance);
  }

  function advance() {
    const start = q;
    const found = body.solve({ ...held, ...goals }, { solver: mode.value, start, stay: true });
    q = found.q;
    last = { start: [...start], q: [...q] };
    residuals = found.residuals;
    left = Math.max(...q.map((x, k) => Math.abs(x - start[k]))) > STILL ? left - 1 : 0;
    draw();
    return left > 0;
  }

  function reset() {
    q = body.read("stand");
    for (const name of HANDS) goals[name] = place(standing[name]);
    follow();
  }

  /** @param {Record<string, Float64Array>} frames @returns {Vector} the centre of mass, by the links' shares of the total mass */
  function middle(frames) {
    /** @type {Vector} */ const sum = [0, 0, 0];
    masses.links.forEach((/** @type {string} */ name, /** @type {number} */ k) => {
      const m = frames[name];
      const c = masses.centers.slice(3 * k, 3 * k + 3);
      for (let i = 0; i < 3; i++) sum[i] += masses.shares[k] * (m[4 * i] * c[0] + m[4 * i + 1] * c[1] + m[4 * i + 2] * c[2] + m[4 * i + 3]);
    });
    return sum;
  }

  function draw() {
    const frames = body.forward(q);
    const at = (/** @type {string} */ name) => seen(place(frames[name]));
    torso.show(TORSO.map(at));
    Object.values(LIMBS).forEach((names, k) => limbs[k].show(names.map(at)));
    const [[x1, y1], [x2, y2]] = [at("head"), at("crown")];
    head.show([(x1 + x2) / 2, (y1 + y2) / 2], HEAD);
    const mass = seen(middle(frames));
    const reach = SOLES.map((name) => at(name)[0]);
    floor.show([[Math.min(...reach), 0], [Math.max(...reach), 0]]);
    plumb.show([mass, [mass[0], 0]]);
    center.show(mass, "centre of mass", 12, 0);
    HANDS.forEach((name, k) => {
      handles[k].put(seen(goals[name]));
      ties[k].show([at(name), seen(goals[name])]);
    });
    say(frames);
  }

  /** @param {Record<string, Float64Array>} frames */
  function say(frames) {
    const off = (/** @type {string} */ name, /** @type {ArrayLike<number>} */ to) => Math.hypot(...place(frames[name]).map((x, k) => x - to[k]));
    const short = HANDS.map((name) => off(name, goals[name]));
    const slid = FEET.map((name) => off(name, place(standing[name])));
    const tipped = mode.value === "unbalanced" ? NaN : (residuals[4] ?? 0);
    const cm = (/** @type {number} */ x) => `${number(100 * x, 1)} cm`;
    table.show({
      "left hand short by": cm(short[0]), "right hand short by": cm(short[1]),
      "left foot slid by": cm(slid[0]), "right foot slid by": cm(slid[1]),
      "balance off by": Number.isNaN(tipped) ? "not asked for" : cm(tipped),
    }); // prettier-ignore
    const [far, slides, falls] = [Math.max(...short) > 0.005, Math.max(...slid) > 0.005, tipped > 0.005];
    if (falls || slides) panel.say(`All goals are missed a little: ${falls ? "the figure is about to fall" : "a foot slides"}.`, "red");
    else if (far) panel.say("The feet stay where they are. A hand does not reach its goal.", "orange");
    else panel.say("All goals are met.", "green");
  }

  follow();
  return { state: () => ({ q: [...q], goals, last, settled: left === 0, solver: mode.value, mass: middle(body.forward(q)), residuals: [...residuals] }) };
}

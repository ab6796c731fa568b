// @ts-check
/** Two links by analysis: the triangle of both links and the line to the goal, its two mirror images, and the ring of reach. */

import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { Plane } from "./plane.js";

const { acos, atan2, cos, hypot, PI, sin } = Math;
const EDGE = 1e-9; // tolerance of the edge of reach, over the arm's length

/**
 * The closed form: no pose, or elbow down and elbow up.
 * @param {number} L1 @param {number} L2 @param {ArrayLike<number>} goal
 */
export function analysis(L1, L2, goal) {
  const [X, Y] = [goal[0], goal[1]];
  const d = hypot(X, Y);
  const toGoal = atan2(Y, X);
  const alpha = acos(within((L1 ** 2 + d ** 2 - L2 ** 2) / (2 * L1 * d)));
  const gamma = acos(within((L1 ** 2 + L2 ** 2 - d ** 2) / (2 * L1 * L2)));
  const slack = EDGE * (L1 + L2);
  const reached = d <= L1 + L2 + slack && d >= Math.abs(L1 - L2) - slack;
  const poses = reached ? [[toGoal - alpha, PI - gamma], [toGoal + alpha, gamma - PI]] : [];
  return { d, toGoal, alpha, gamma, poses };
}

/** The formulas of figure 5.15 as printed. @param {number} L1 @param {number} L2 @param {ArrayLike<number>} goal */
export function asPrinted(L1, L2, goal) {
  const [X, Y] = [goal[0], goal[1]];
  const d = hypot(X, Y);
  const theta1 = acos(within((L1 ** 2 + d ** 2 - L2 ** 2) / (2 * L1 * d))) + acos(X / d);
  return [theta1, acos(within((L1 ** 2 + L2 ** 2 - d ** 2) / (2 * L1 * L2)))];
}

/** @param {number} value @returns {number} the value clamped to a cosine; at the base, where it is undefined, 0 */
function within(value) {
  return Number.isNaN(value) ? 0 : Math.min(1, Math.max(-1, value));
}

/** @param {number} L1 @param {number} L2 @param {number[]} pose @returns {number[][]} base, elbow and tip */
function places(L1, L2, [a, b]) {
  const elbow = [L1 * cos(a), L1 * sin(a)];
  return [[0, 0], elbow, [elbow[0] + L2 * cos(a + b), elbow[1] + L2 * sin(a + b)]];
}

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function twoLinks(root, home) {
  let lengths = home.numbers("lengths", [15, 10]);
  let [shown, elbow, printed] = ["triangle", 0, false];
  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-27, 27], y: [-26, 26], label: "An arm of two links, the ring that it reaches, and the triangle of its links and the line to the goal" });
  const ring = plane.path({ color: "green", closed: true, fill: true, width: 0.01 });
  const edges = [plane.circle({ color: "green", width: 1.2 }), plane.circle({ color: "green", width: 1.2 })];
  const triangle = plane.path({ color: "orange", fill: true, width: 0.01 });
  const line = plane.path({ color: "orange", dashed: true, width: 2 });
  const other = plane.arm({ faint: true });
  const wrong = plane.arm({ color: "red" });
  const arm = plane.arm();
  const inside = ["violet", "teal"].map((color) => plane.arc({ color, arrow: false }));
  const turns = ["violet", "teal"].map((color) => plane.arc({ color }));
  const straight = plane.path({ color: "teal", dashed: true, width: 1.4 });
  const words = ["blue", "blue", "orange"].map((color) => plane.text({ color }));
  const goal = plane.goal({ at: home.numbers("goal", [12, 13]), label: "goal", moved: draw });

  panel.choice({ label: "Elbow", options: { 0: "down", 1: "up" }, chosen: (word) => ((elbow = Number(word)), draw()) });
  panel.choice({ label: "Show", options: { triangle: "triangle", joints: "joint angles" }, chosen: (word) => ((shown = word), draw()) });
  [15, 10].forEach((most, k) =>
    panel.slider({ label: `L_${k + 1}`, min: 5, max: most, step: 0.5, value: lengths[k], digits: 1, moved: (value) => ((lengths[k] = value), draw()) }),
  );
  panel.check({ label: "as printed in figure 5.15", changed: (value) => ((printed = value), draw()) });
  const table = panel.table();

  /** The angles of the triangle, or of the joints. @param {ReturnType<typeof analysis>} found @param {number[][]} at @param {number[]} pose */
  function angles(found, at, pose) {
    const [wide, small] = [Math.min(40, plane.width / 12), Math.min(30, plane.width / 16)]; // pixels
    if (shown === "triangle") {
      inside[0].show(at[0], found.toGoal, pose[0], "α", wide);
      inside[1].show(at[1], pose[0] + PI, pose[0] + PI + (pose[1] >= 0 ? -1 : 1) * found.gamma, "γ", small);
      triangle.show(at);
    } else {
      turns[0].show(at[0], 0, pose[0], "θ_1", wide);
      turns[1].show(at[1], pose[0], pose[0] + pose[1], "θ_2", small);
      straight.show([1, 1.4].map((share) => [share * at[1][0], share * at[1][1]]));
    }
  }

  /** Name the sides, outside the triangle. @param {number[][]} at @param {number[]} pose */
  function name(at, pose) {
    const side = pose[1] >= 0 ? -1 : 1;
    [pose[0], pose[0] + pose[1]].forEach((angle, k) => {
      const middle = [(at[k][0] + at[k + 1][0]) / 2, (at[k][1] + at[k + 1][1]) / 2];
      words[k].show(middle, `L_${k + 1}`, -20 * side * sin(angle), -20 * side * cos(angle));
    });
    const toGoal = atan2(at[2][1], at[2][0]);
    words[2].show([at[2][0] * 0.6, at[2][1] * 0.6], "d", 16 * side * sin(toGoal), 16 * side * cos(toGoal));
  }

  function draw() {
    const [L1, L2] = lengths;
    const found = analysis(L1, L2, goal.at);
    ring.show(band(L1, L2));
    edges[0].show([0, 0], L1 + L2);
    edges[1].show([0, 0], Math.abs(L1 - L2));
    line.show([[0, 0], goal.at]);
    const pose = found.poses[elbow];
    [arm, other, wrong, triangle, ...inside, ...turns, straight, ...words].forEach((mark) => mark.hide());
    if (pose) {
      const at = places(L1, L2, pose);
      other.show(places(L1, L2, found.poses[1 - elbow]));
      if (printed) wrong.show(places(L1, L2, asPrinted(L1, L2, goal.at)));
      else {
        arm.show(at);
        angles(found, at, pose);
        if (shown === "triangle") name(at, pose);
      }
    }
    tell(found, pose);
  }

  /** @param {ReturnType<typeof analysis>} found @param {number[] | undefined} pose */
  function tell(found, pose) {
    const degrees = (/** @type {number} */ angle) => `${number(angle / DEGREE, 1)}°`;
    const [L1, L2] = lengths;
    table.show({
      "d": number(found.d),
      "θ_T": degrees(found.toGoal),
      ...(pose ? { "α": degrees(found.alpha), "γ": degrees(found.gamma), "θ_1": degrees(pose[0]), "θ_2": degrees(pose[1]) } : {}),
    });
    if (!pose) {
      const [far, near] = [found.d - L1 - L2, Math.abs(L1 - L2) - found.d];
      panel.say(far > 0 ? `No pose: the goal is ${number(far)} too far.` : `No pose: the goal is ${number(near)} too near.`, "red");
    } else if (printed) {
      const tip = places(L1, L2, asPrinted(L1, L2, goal.at))[2];
      panel.say(`As printed, the tip misses the goal by ${number(hypot(tip[0] - goal.at[0], tip[1] - goal.at[1]))}.`, "red");
    } else panel.say(Math.abs(pose[1]) < 1e-3 || PI - Math.abs(pose[1]) < 1e-3 ? "One pose: the triangle is flat." : "Two poses: elbow down and elbow up.", "green");
  }

  draw();
  return {
    state: () => {
      const { poses, d } = analysis(lengths[0], lengths[1], goal.at);
      return { goal: [...goal.at], lengths: [...lengths], d, poses, printed: asPrinted(lengths[0], lengths[1], goal.at) };
    },
  };
}

/** @param {number} L1 @param {number} L2 @returns {number[][]} an outline around the outer edge of reach, and back around the inner one */
function band(L1, L2) {
  const circle = (/** @type {number} */ r, /** @type {number} */ sign) =>
    Array.from({ length: 97 }, (_, k) => [r * cos((sign * k * PI) / 48), r * sin((sign * k * PI) / 48)]);
  return [...circle(L1 + L2, 1), ...circle(Math.abs(L1 - L2), -1)];
}

// @ts-check
/** The worked example: the tip follows a straight line to the goal in 21 frames, one step of a method for each. */

import { follow as followed, METHODS, whyNot } from "../textbook.js";
import { jointFrames, places } from "./arms.js";
import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { Plane, Plot } from "./plane.js";

/** @typedef {import("./element.js").Home} Home */

const FRAMES = 21;
const START = [Math.PI / 8, Math.PI / 4, Math.PI / 4];
const COLORS = ["violet", "teal", "gold"];
const SHOWN = [0, 5, 10, 15, 20]; // the frames of the printed figures

/** @param {HTMLElement} root @param {Home} home */
export function follow(root, home) {
  const arm = home.linkage("planar-3");
  const bones = jointFrames(arm);
  const wish = { method: home.option("method", "pseudoinverse"), damping: home.numbers("damping", [5])[0], gains: home.numbers("gains", [0.1, 0.5, 0.1]) };
  let frame = FRAMES - 1;
  const at = home.numbers("goal", [-20, 5]);
  let found = run(at);

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-37, 31], y: [-8, 31], label: "An arm in five of 21 frames, and the path of its tip to the goal" });
  const reach = plane.circle({ color: "muted", dashed: true, width: 1 });
  const line = plane.path({ color: "orange", dashed: true, width: 1.6 });
  const ghosts = SHOWN.map(() => plane.arm({ faint: true }));
  const body = plane.arm();
  const path = plane.path({ color: "red", width: 2.4, layer: "marks" });
  const tip = plane.point({ color: "red" });
  const goal = plane.goal({ at, label: "goal", moved: solve });
  panel.choice({ label: "Method", options: METHODS.filter((name) => !whyNot(arm, name)), value: wish.method, chosen: (name) => ((wish.method = name), solve()) });
  const damping = panel.slider({ label: "λ", min: 0, max: 20, step: 0.5, value: wish.damping, digits: 1, moved: (value) => ((wish.damping = value), solve()) });
  const gains = wish.gains.map((gain, k) =>
    panel.slider({ label: `gain a_${k + 1}`, min: 0, max: 1, step: 0.05, value: gain, digits: 2, color: COLORS[k], moved: (value) => ((wish.gains[k] = value), solve()) }),
  );
  const scrub = panel.slider({ label: "frame", min: 0, max: FRAMES - 1, step: 1, value: frame, moved: (value) => ((frame = value), draw()) });
  panel.player({ step: forward, back: () => show(frame - 1), reset: () => show(0), rate: home.still ? 2 : 10 });
  const plot = new Plot(stage, { x: [0, FRAMES + 1], y: [-90, 180], height: 210, label: "The joint angles over the frames", across: "frame", up: "joint angles [°]" });
  const curves = COLORS.map((color) => plot.path({ color, width: 2.2 }));
  const now = plot.path({ color: "orange", width: 1.6 });
  const letters = COLORS.map((color) => plot.text({ color }));
  const table = panel.table();

  /** Solve all frames, each by one step from the one before. @param {ArrayLike<number>} to */
  function run(to) {
    const [from] = places(arm, START, ["tip"]);
    const way = Array.from({ length: FRAMES }, (_, k) => [0, 1].map((i) => from[i] + ((to[i] - from[i]) * k) / (FRAMES - 1)));
    const poses = followed(arm, wish.method, way, START, options()).map(({ q }) => q);
    const tips = poses.map((pose) => places(arm, pose, ["tip"])[0]);
    const turns = poses.slice(1).map((pose, k) => Math.max(...pose.map((angle, i) => Math.abs(angle - poses[k][i]))));
    const last = tips[FRAMES - 1];
    return { poses, tips, largest: Math.max(...turns), at: turns.indexOf(Math.max(...turns)) + 1, residual: Math.hypot(to[0] - last[0], to[1] - last[1]) };
  }

  /** The options of the chosen method. */
  function options() {
    if (wish.method === "damped") return { damping: wish.damping };
    return wish.method === "control" ? { desired: [0, 0, 0], gains: wish.gains } : {};
  }

  /** @param {number} next */
  function show(next) {
    frame = Math.max(0, Math.min(FRAMES - 1, next));
    draw();
  }

  function forward() {
    show(frame === FRAMES - 1 ? 0 : frame + 1);
    return frame < FRAMES - 1;
  }

  function solve() {
    found = run(goal.at);
    damping.row.style.display = wish.method === "damped" ? "" : "none";
    gains.forEach(({ row }) => (row.style.display = wish.method === "control" ? "" : "none"));
    scale();
    draw();
  }

  /** Fit the plot to all angles, and place their names at the right without overlap. */
  function scale() {
    const angles = found.poses.flatMap((pose) => [...pose].map((angle) => angle / DEGREE));
    const [low, high] = [Math.min(-10, ...angles), Math.max(...angles)];
    plot.look([0, FRAMES + 1], [low - 0.08 * (high - low), high + 0.12 * (high - low)]);
    const ends = found.poses[FRAMES - 1];
    const order = [0, 1, 2].sort((i, k) => ends[k] - ends[i]);
    let above = -Infinity;
    for (const i of order) {
      const at = [FRAMES - 1, ends[i] / DEGREE];
      const y = Math.max(plot.to(at)[1], above + 17);
      letters[i].show(at, `θ_${i + 1}`, 14, y - plot.to(at)[1]);
      above = y;
    }
  }

  function draw() {
    const { poses, tips, largest, at, residual } = found;
    scrub.put(frame);
    reach.show([0, 0], arm.data.length);
    line.show([tips[0], goal.at]);
    SHOWN.forEach((k, i) => ghosts[i].show(places(arm, poses[k], bones)));
    body.show(places(arm, poses[frame], bones));
    path.show(tips);
    tip.show(tips[frame]);
    curves.forEach((curve, i) => curve.show(poses.map((pose, k) => [k, pose[i] / DEGREE])));
    now.show([[frame, plot.y[0]], [frame, plot.y[1]]]);
    table.show({
      "pose": [...poses[frame]].map((angle) => `${number(angle / DEGREE, 0)}°`).join("  "),
      "tip": `(${number(tips[frame][0], 1)}, ${number(tips[frame][1], 1)})`,
      "largest step": `${number(largest)} rad`,
      "in frame": String(at),
      "off the goal": number(residual),
    });
    if (largest > 1) panel.say(`A joint jumps by ${number(largest / DEGREE, 0)}° between two frames.`, "red");
    else if (residual > 1) panel.say(`The tip ends ${number(residual)} away from the goal.`, Math.hypot(...goal.at) > arm.data.length ? "ink" : "red");
    else panel.say(`The tip ends ${number(residual)} away from the goal, and no joint turns by more than ${number(largest / DEGREE, 0)}° per frame.`, "green");
  }

  solve();
  return { state: () => ({ goal: [...goal.at], frame, ...wish, poses: found.poses.map((pose) => [...pose]), residual: found.residual, largest: found.largest }) };
}

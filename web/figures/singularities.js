// @ts-check
/** Singular values of an arm in any pose, and the ellipse of its tip velocities for unit joint rates. */

import { jointFrames, places, rowsOf } from "./arms.js";
import { split } from "./controls.js";
import { number } from "./dom.js";
import { outline, singular } from "./ellipse.js";
import { Plane, Plot } from "./plane.js";
import { dragged } from "./drag.js";

const COLORS = ["violet", "teal", "gold"];
const SCALE = 0.3; // scale of the drawn ellipse
const STARTS = { "planar-2": [0.3, 1.2], "planar-3": [0.3, 0.7, 0.6] };

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function singularities(root, home) {
  const arms = { "planar-2": home.linkage("planar-2"), "planar-3": home.linkage("planar-3") };
  /** @type {"planar-2" | "planar-3"} */ let name = "planar-2";
  let arm = arms[name];
  /** @type {Float64Array} */ let q = Float64Array.from(STARTS[name]);

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-16, 41], y: [-13, 31], label: "An arm with the ellipse of velocities that its tip can have" });
  const edge = plane.circle({ color: "muted", dashed: true, width: 1 });
  const body = plane.arm();
  const area = plane.path({ color: "green", fill: true, width: 1.6, layer: "marks" });
  const axes = [plane.vector({ color: "green", width: 2.4 }), plane.vector({ color: "red", width: 2.4 })];
  const columns = COLORS.map((color) => plane.vector({ color, width: 1.8 }));
  const tip = plane.goal({ at: [0, 0], name: "tip", shape: "dot", moved: drag });
  panel.choice({ label: "Arm", options: { "planar-2": "2 links", "planar-3": "3 links" }, chosen: (word) => choose(/** @type {any} */ (word)) });
  const columnsShown = panel.check({ label: "show the columns g", value: true, changed: draw });
  panel.buttons({ Stretch: () => pose(Array.from(q, (angle, k) => (k ? 0 : angle))), Fold: () => pose(fold()), Bend: () => pose(STARTS[name]) });
  const table = panel.table();
  const plot = new Plot(panel.node, { x: [0, 30], y: [-1.5, 2], log: true, height: 170, label: "Joint speed over the distance of the tip from the base", across: "distance of the tip from the base", up: "joint speed 1/σ₂ [rad/s]" });
  const curve = plot.path({ color: "red", width: 2 });
  const visited = plot.trail({ color: "red", width: 1.4 });
  const here = plot.point({ color: "red" });

  /** @param {"planar-2" | "planar-3"} word */
  function choose(word) {
    name = word;
    arm = arms[name];
    pose(STARTS[name]);
  }

  /** @returns {number[]} the folded pose: every link points back along the one before */
  function fold() {
    return Array.from(q, (angle, k) => (k ? Math.PI : angle));
  }

  /** @param {ArrayLike<number>} next */
  function pose(next) {
    q = Float64Array.from(next);
    visited.clear();
    draw();
  }

  /** @param {[number, number]} at */
  function drag(at) {
    q = dragged(arm, at, q);
    draw();
  }

  /** The singular values of the pose. */
  function look() {
    return singular(rowsOf(arm.jacobian(q, "tip"), arm.nv, [0, 1]));
  }

  /** Plot 1/σ_2 of two links against the distance of the tip, which depends only on the elbow. */
  function distances() {
    return Array.from({ length: 120 }, (_, k) => {
      const bent = places(arms["planar-2"], [0, (Math.PI * (k + 0.5)) / 120], ["tip"])[0];
      const { values } = singular(rowsOf(arms["planar-2"].jacobian([0, (Math.PI * (k + 0.5)) / 120], "tip"), 2, [0, 1]));
      return [Math.hypot(...bent), Math.min(2, -Math.log10(values[1]))];
    });
  }

  function draw() {
    const found = look();
    const points = places(arm, q, jointFrames(arm));
    const at = points[arm.nv];
    edge.show([0, 0], arm.data.length);
    body.show(points);
    tip.put(at);
    area.show(outline(found, at, SCALE));
    axes.forEach((axis, k) => {
      const size = SCALE * found.values[k] * (k === 0 || !facing(found.axes[k], at) ? 1 : -1);
      axis.show(at, [at[0] + size * found.axes[k][0], at[1] + size * found.axes[k][1]], `σ_${k + 1}`);
    });
    const J = rowsOf(arm.jacobian(q, "tip"), arm.nv, [0, 1]);
    columns.forEach((column, k) => {
      if (k >= arm.nv || !columnsShown.value) column.hide();
      else column.show(at, [at[0] + SCALE * J[0][k], at[1] + SCALE * J[1][k]], `g_${k + 1}`);
    });
    tell(found, Math.hypot(...at));
  }

  /** @param {ReturnType<typeof look>} found @param {number} distance */
  function tell({ values, measure }, distance) {
    const speed = Math.min(2, -Math.log10(Math.max(values[1], 1e-9)));
    if (name === "planar-2") curve.show(distances());
    else curve.hide();
    if (name === "planar-3") visited.add([distance, speed]);
    here.show([distance, speed]);
    table.show({ "σ_1": number(values[0]), "σ_2": number(values[1]), "manipulability μ": number(measure, 1), "1/σ_2": `${number(1 / values[1])} rad/s` });
    if (values[1] < 1e-6 * values[0]) panel.say("Singular: the ellipse has become a line. The tip can only move along this line.", "red");
    else if (values[1] < 0.05 * values[0]) panel.say(`Nearly singular: one unit per second needs up to ${number(1 / values[1], 1)} rad/s.`, "red");
    else panel.say("The tip can move in every direction.", "green");
  }

  draw();
  return { state: () => ({ q: [...q], tip: places(arm, q, ["tip"])[0], ...look() }) };
}

/** @param {number[]} axis @param {number[]} at @returns {boolean} whether it points outwards, from the base to the tip */
function facing(axis, at) {
  return axis[0] * at[0] + axis[1] * at[1] > 0;
}

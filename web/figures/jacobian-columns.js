// @ts-check
/** The columns of the Jacobian: the cross product of the joint's axis and the vector from joint to end effector. */

import { jointFrames, places, rowsOf } from "./arms.js";
import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { Plane } from "./plane.js";

const COLORS = ["violet", "teal", "gold", "red", "green"];
const START = [Math.PI / 8, Math.PI / 4, Math.PI / 4];

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function jacobianColumns(root, home) {
  const arm = home.linkage(home.option("linkage", "planar-3"));
  const n = arm.nq;
  const size = arm.data.length;
  /** @type {Float64Array} */ let q = Float64Array.from(home.numbers("pose", START));
  let shown = "all";

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-0.6 * size, 1.08 * size], y: [-0.3 * size, 1.08 * size], label: "An arm, and for each joint the vector to the end effector, and how the end effector moves when the joint turns" });
  const body = plane.arm();
  const ways = COLORS.slice(0, n).map((color) => plane.vector({ color, dashed: true, width: 1.8 }));
  const changes = COLORS.slice(0, n).map((color) => plane.vector({ color, width: 3.2 }));
  const names = COLORS.slice(0, n).map((color) => plane.text({ color }));
  const goal = plane.goal({ at: [0, 0], name: "end effector", moved: follow });

  panel.choice({ label: "Joint", options: ["all", ...arm.coordinates.map((_, k) => String(k + 1))], chosen: (word) => ((shown = word), draw()) });
  const sliders = arm.coordinates.map((_, k) =>
    panel.slider({ label: `θ_${k + 1}`, min: -180, max: 180, step: 0.5, value: 0, unit: "°", digits: 1, color: COLORS[k], moved: (angle) => turn(k, angle * DEGREE) }),
  );
  const matrix = panel.matrix({ label: "J =", columns: arm.coordinates.map((_, k) => `g_${k + 1}`), rows: ["x", "y"], colors: COLORS });

  /** Drag the end effector; the pose follows. @param {[number, number]} at */
  function follow(at) {
    q = arm.solve(at, { start: q, stay: true }).q;
    draw();
  }

  /** Move a slider. @param {number} k @param {number} angle */
  function turn(k, angle) {
    q[k] = angle;
    draw();
  }

  function draw() {
    const points = places(arm, q, jointFrames(arm));
    const tip = points[n];
    const J = arm.jacobian(q, "tip");
    body.show(points);
    goal.put(tip);
    for (let k = 0; k < n; k++) {
      const on = shown === "all" || Number(shown) === k + 1;
      const joint = points[k];
      const g = [J[k], J[n + k]]; // its axis is z, so g = z x V
      if (on) {
        ways[k].show(joint, tip, `V_${k + 1}`, shown === "all" ? 0.45 : 0.5);
        changes[k].show(tip, [tip[0] + SHARE * g[0], tip[1] + SHARE * g[1]], `g_${k + 1}`);
      } else {
        ways[k].hide();
        changes[k].hide();
      }
      const away = Math.hypot(joint[0] - tip[0], joint[1] - tip[1]) || 1;
      names[k].show(joint, String(k + 1), (17 * (joint[0] - tip[0])) / away, (-17 * (joint[1] - tip[1])) / away);
      sliders[k].put(wrap(q[k]) / DEGREE);
    }
    matrix.show(rowsOf(J, n, [0, 1]));
    panel.say(sentence(J));
  }

  /** @param {Float64Array} J */
  function sentence(J) {
    const lengths = Array.from({ length: n }, (_, k) => Math.hypot(J[k], J[n + k]));
    if (shown === "all") return `g is drawn at ${number(SHARE, 1)} of its length. Each g is perpendicular to its V and equally long.`;
    const k = Number(shown) - 1;
    return `One radian per second at joint ${shown} moves the end effector at ${number(lengths[k], 1)} units per second.`;
  }

  draw();
  return { state: () => ({ q: [...q], J: rowsOf(arm.jacobian(q, "tip"), n, [0, 1]), tip: places(arm, q, ["tip"])[0], shown }) };
}

const SHARE = 0.5;

/** @param {number} angle @returns {number} the same angle between minus and plus half a turn */
function wrap(angle) {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

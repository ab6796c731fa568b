// @ts-check
/** The coordinates of one point in every frame of an arm with a revolute, a prismatic and a revolute joint. */

import { places } from "./arms.js";
import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { inverse } from "../rotations.js";
import { Plane } from "./plane.js";

const FRAMES = ["world", "link1", "link2", "link3"];
const WORDS = { world: "world", link1: "link 1", link2: "link 2", link3: "link 3" };
const COLORS = { world: "muted", link1: "violet", link2: "teal", link3: "gold" };
const START = [0.5, 3, -0.9];

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function frames(root, home) {
  const arm = home.linkage("slide-arm");
  const q = Float64Array.from(home.numbers("pose", START));
  let fixed = home.option("fixed", "link3");
  let local = [4, 3]; // the point in its own frame

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-6, 24], y: [-9, 17], label: "An arm with a revolute, a prismatic and a revolute joint, the frames of its links, and a point" });
  const rail = plane.path({ color: "muted", width: 3, dashed: true });
  const body = plane.arm();
  const axes = Object.fromEntries(FRAMES.map((name) => [name, { x: plane.vector({ color: colorOf(name), width: 2 }), y: plane.vector({ color: colorOf(name), width: 2 }), word: plane.text({ color: colorOf(name) }) }]));
  const way = plane.path({ color: "orange", dashed: true, width: 1.5, layer: "marks" });
  const point = plane.goal({ at: [0, 0], label: "P", shape: "dot", name: "point P", moved: (at) => ((local = into(fixed, at)), draw()) });

  panel.choice({ label: "P is fixed to", options: WORDS, value: fixed, chosen: attach });
  panel.slider({ label: "θ_1", min: -180, max: 180, step: 1, value: q[0] / DEGREE, unit: "°", moved: (angle) => set(0, angle * DEGREE) });
  panel.slider({ label: "d_2", min: 0, max: 8, step: 0.1, value: q[1], digits: 1, moved: (value) => set(1, value) });
  panel.slider({ label: "θ_3", min: -180, max: 180, step: 1, value: q[2] / DEGREE, unit: "°", moved: (angle) => set(2, angle * DEGREE) });
  const table = panel.matrix({ label: "P", columns: ["x", "y"], rows: FRAMES.map((name) => `in ${/** @type {any} */ (WORDS)[name]}`) });

  /** @param {string} name */
  function colorOf(name) {
    return /** @type {any} */ (COLORS)[name];
  }

  /** @param {number} k @param {number} value */
  function set(k, value) {
    q[k] = value;
    draw();
  }

  /** @param {string} name @returns {ArrayLike<number>} world_from_frame */
  function matrix(name) {
    return name === "world" ? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] : arm.forward(q, name);
  }

  /** The coordinates of a world point in a frame, by the inverse transform. @param {string} name @param {number[]} p */
  function into(name, p) {
    return apply(inverse(matrix(name)), p);
  }

  /** Fix the point to another frame at its present position. @param {string} name */
  function attach(name) {
    const here = apply(matrix(fixed), local);
    fixed = name;
    local = into(fixed, here);
    draw();
  }

  function draw() {
    const [a, b, c, tip] = places(arm, q, ["link1", "link2", "link3", "tip"]);
    const here = apply(matrix(fixed), local);
    const along = [Math.cos(q[0]), Math.sin(q[0])];
    rail.show([a, [a[0] + 14 * along[0], a[1] + 14 * along[1]]]);
    body.show([a, b, c, tip]);
    for (const name of FRAMES) {
      const m = matrix(name);
      const origin = [m[3], m[7]];
      axes[name].x.show(origin, apply(m, [2.6, 0]), "x");
      axes[name].y.show(origin, apply(m, [0, 2.6]), "y");
      axes[name].word.show(apply(m, name === "link3" ? [4, -1.6] : [0.4, -1.8]), name === "world" ? "" : /** @type {any} */ (WORDS)[name]);
    }
    const own = into(fixed, here);
    way.show([apply(matrix(fixed), [0, 0]), apply(matrix(fixed), [own[0], 0]), here]);
    point.put(here);
    table.show(FRAMES.map((name) => into(name, here)));
    panel.say(`P is fixed to ${/** @type {any} */ (WORDS)[fixed]}, at (${number(own[0], 1)}, ${number(own[1], 1)}). There its coordinates stay the same, whatever moves.`, "orange");
  }

  draw();
  return {
    state() {
      const here = apply(matrix(fixed), local);
      return { q: [...q], fixed, point: here, coordinates: Object.fromEntries(FRAMES.map((name) => [name, into(name, here)])) };
    },
  };
}

/** @param {ArrayLike<number>} m a rigid transform of 16 numbers @param {number[]} p in the plane */
function apply(m, [x, y]) {
  return [m[0] * x + m[1] * y + m[3], m[4] * x + m[5] * y + m[7]];
}

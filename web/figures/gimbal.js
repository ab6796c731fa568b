// @ts-check
/** Three rings rotate a plane by Euler angles; at a middle angle of 90°, two of them rotate about the same axis. */

import { split } from "./controls.js";
import { DEGREE, number } from "./dom.js";
import { rotation, vectorOf } from "../rotations.js";
import { Space } from "./space.js";

/** @typedef {number[]} Matrix nine numbers, row by row */

const COLORS = ["violet", "teal", "gold"];
const RADII = [3.1, 2.65, 2.2];
const PLANE = [
  [[1.7, 0, 0], [-1, 0.95, 0], [-0.7, 0, 0], [-1, -0.95, 0]],
  [[0.1, 0, 0], [-1, 0, 0.75], [-0.75, 0, 0]],
]; // prettier-ignore

/** @param {0 | 1 | 2} axis @param {number} angle @returns {Matrix} */
function about(axis, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [[1, 0, 0, 0, c, -s, 0, s, c], [c, 0, s, 0, 1, 0, -s, 0, c], [c, -s, 0, s, c, 0, 0, 0, 1]][axis]; // prettier-ignore
}

/** @param {Matrix} a @param {Matrix} b @returns {Matrix} */
function product(a, b) {
  return Array.from({ length: 9 }, (_, k) => [0, 1, 2].reduce((sum, i) => sum + a[3 * Math.floor(k / 3) + i] * b[3 * i + (k % 3)], 0));
}

/** @param {Matrix} m @param {number[]} v */
const turn = (m, v) => [0, 1, 2].map((k) => m[3 * k] * v[0] + m[3 * k + 1] * v[1] + m[3 * k + 2] * v[2]);

/** The rotation of each ring: Rz(yaw), Rz Ry(pitch), Rz Ry Rx(roll). @param {number[]} angles @returns {Matrix[]} */
function rings([yaw, pitch, roll]) {
  const first = about(2, yaw);
  const second = product(first, about(1, pitch));
  return [first, second, product(second, about(0, roll))];
}

/** The quaternion of the same rotation: qz(yaw) qy(pitch) qx(roll). @param {number[]} angles @returns {number[]} w, x, y, z */
function quaternion([yaw, pitch, roll]) {
  const [a, b, c] = [yaw / 2, pitch / 2, roll / 2];
  const [ca, cb, cc, sa, sb, sc] = [Math.cos(a), Math.cos(b), Math.cos(c), Math.sin(a), Math.sin(b), Math.sin(c)];
  return [ca * cb * cc + sa * sb * sc, ca * cb * sc - sa * sb * cc, ca * sb * cc + sa * cb * sc, sa * cb * cc - ca * sb * sc];
}

/** A fraction of a rotation about its own axis: slerp from rest. @param {number[]} q @param {number} t @returns {Matrix} */
function share(q, t) {
  const v = vectorOf(q).map((x) => t * x);
  const angle = Math.hypot(...v);
  const s = angle ? Math.sin(angle / 2) / angle : 0.5;
  return rotation([Math.cos(angle / 2), ...v.map((x) => s * x)]);
}

/** Points of ring k, whose plane contains its own axis and that of the next ring. @param {number} k @param {number} t */
const onRing = (k, t) => [[0, Math.cos(t), Math.sin(t)], [Math.cos(t), Math.sin(t), 0], [Math.cos(t), 0, Math.sin(t)]][k]; // prettier-ignore
const GRIPS = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]; // prettier-ignore
const AXES = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]; // prettier-ignore

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function gimbal(root, home) {
  const angles = home.numbers("angles", [30, 35, 20]).map((x) => x * DEGREE);
  let t = 1;

  const { stage, panel } = split(root);
  const space = new Space(stage, { size: 4.6, label: "A plane inside three rings", turned: draw, yaw: 0.9, pitch: 0.45 });
  const circles = COLORS.map((color, k) => ({ back: space.path({ color, width: 5 - k, faint: true }), front: space.path({ color, width: 5 - k, layer: "marks" }) }));
  const pins = COLORS.map((color) => space.path({ color, width: 9, layer: "arm" }));
  const trails = { angles: space.trail({ color: "red", width: 2.5, layer: "labels" }), turn: space.trail({ color: "green", width: 2.5, layer: "labels" }) };
  const body = PLANE.map(() => space.path({ color: "blue", fill: true, width: 2, layer: "arm" }));
  body.forEach((part) => part.node.classList.add("solid"));
  const noses = { angles: space.point({ color: "red" }), turn: space.point({ color: "green" }) };
  const grips = COLORS.map((color, k) => space.goal({ at: [0, 0], color, shape: "dot", name: ["yaw ring", "pitch ring", "roll ring"][k], hold: (p) => grab(k, p), moved: () => draw() }));

  const sliders = ["yaw", "pitch", "roll"].map((label, k) =>
    panel.slider({ label, min: -180, max: 180, step: 1, value: angles[k] / DEGREE, unit: "°", color: COLORS[k], moved: (angle) => ((angles[k] = angle * DEGREE), draw()) }),
  );
  panel.buttons({ "Pitch to 90°": () => ((angles[1] = Math.PI / 2), draw()), Level: () => (angles.fill(0), draw()) });
  const numbers = panel.matrix({ label: "q =", columns: ["w", "x", "y", "z"] });
  const table = panel.table({});
  const slider = panel.slider({ label: "fraction", min: 0, max: 100, step: 1, value: 100, unit: "%", moved: (value) => ((t = value / 100), draw()) });
  panel.note("Path of the nose from level to here: red by Euler angles, green by the quaternion.");
  panel.say("");

  /** Rotate ring k so that its grip is nearest to a position on the screen. @param {number} k @param {number[]} p @returns {[number, number]} */
  function grab(k, p) {
    /** @param {number} angle */
    const place = (angle) => space.flat(turn(rings(angles.map((old, i) => (i === k ? angle : old)))[k], GRIPS[k]).map((x) => RADII[k] * x));
    const far = (/** @type {number} */ angle) => Math.hypot(place(angle)[0] - p[0], place(angle)[1] - p[1]) + 0.02 * Math.abs(Math.sin((angle - angles[k]) / 2));
    for (let size = 0.5; size > 1e-3; size /= 2) {
      while (far(angles[k] + size) < far(angles[k])) angles[k] += size;
      while (far(angles[k] - size) < far(angles[k])) angles[k] -= size;
    }
    angles[k] -= 2 * Math.PI * Math.round(angles[k] / (2 * Math.PI));
    return place(angles[k]);
  }

  /** Draw a ring, with its rear part paler. @param {number} k @param {Matrix} m */
  function drawRing(k, m) {
    const points = Array.from({ length: 96 }, (_, i) => turn(m, onRing(k, (i * Math.PI) / 48)).map((x) => RADII[k] * x));
    const near = points.map((p) => space.depth(p) >= 0);
    const first = Math.max(0, near.findIndex((on, i) => on && !near[(i + 95) % 96]));
    const order = points.map((_, i) => points[(first + i) % 96]);
    const count = near.filter(Boolean).length;
    circles[k].front.show(order.slice(0, count + 1).map((p) => space.flat(p)));
    circles[k].back.show([...order.slice(count), order[0]].map((p) => space.flat(p)));
    const axis = turn(k ? rings(angles)[k - 1] : [1, 0, 0, 0, 1, 0, 0, 0, 1], AXES[k]);
    const outer = k ? RADII[k - 1] : RADII[0] + 0.5;
    pins[k].show([axis.map((x) => RADII[k] * x), axis.map((x) => outer * x)].map((p) => space.flat(p)));
  }

  function draw() {
    const turned = rings(angles);
    turned.forEach((m, k) => drawRing(k, m));
    PLANE.forEach((shape, k) => body[k].show(shape.map((p) => space.flat(turn(turned[2], p)))));
    grips.forEach((grip, k) => grip.put(space.flat(turn(turned[k], GRIPS[k]).map((x) => RADII[k] * x))));
    sliders.forEach((one, k) => one.put(angles[k] / DEGREE));
    const q = quaternion(angles);
    /** @param {Matrix} m */
    const nose = (m) => space.flat(turn(m, [3.6, 0, 0]));
    trails.angles.clear();
    trails.turn.clear();
    for (let k = 0; k <= 60; k++) {
      trails.angles.add(nose(rings(angles.map((x) => (x * k) / 60))[2]));
      trails.turn.add(nose(share(q, k / 60)));
    }
    noses.angles.show(nose(rings(angles.map((x) => x * t))[2]));
    noses.turn.show(nose(share(q, t)));
    const apart = Math.acos(Math.abs(Math.sin(angles[1]))) / DEGREE;
    numbers.show([q]);
    table.show([["axes of yaw and roll", `${number(apart, 0)}° apart`]]);
    if (apart < 2) panel.say("Locked: yaw and roll turn the plane about the same axis. Three sliders, but only two axes of rotation.", "red");
    else if (apart < 25) panel.say("Close to lock: for some rotations the outer rings must turn very fast.", "orange");
    else panel.say("All three rings help: the plane can turn about any axis.", "green");
  }

  draw();
  return {
    state: () => ({
      angles: angles.map((x) => x / DEGREE),
      matrix: rings(angles)[2],
      quaternion: quaternion(angles),
      way: slider.value / 100,
      byAngles: rings(angles.map((x) => x * t))[2],
      byTurn: share(quaternion(angles), t),
      axes: AXES.map((axis, k) => turn(k ? rings(angles)[k - 1] : about(2, 0), axis)),
    }),
  };
}

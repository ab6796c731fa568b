// @ts-check
/** Denavit-Hartenberg tables: each row of four numbers places the next frame. */

import { split } from "./controls.js";
import { DEGREE } from "./dom.js";
import { times } from "../rotations.js";
import { Space } from "./space.js";

const START = [
  [30, 2, 0, 90],
  [40, 0, 3, 0],
  [-50, 0, 2.4, 0],
]; // theta [deg], d, a, alpha [deg]
const NAMES = ["θ", "d", "a", "α"];
const LIMITS = [[-180, 180, 1], [-3, 3, 0.1], [-3, 3, 0.1], [-180, 180, 1]]; // prettier-ignore

/** Rotate about z and translate along it. @param {number} theta [rad] @param {number} d */
function screwZ(theta, d) {
  const [c, s] = [Math.cos(theta), Math.sin(theta)];
  return [c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, d, 0, 0, 0, 1];
}

/** Rotate about x and translate along it. @param {number} alpha [rad] @param {number} a */
function screwX(alpha, a) {
  const [c, s] = [Math.cos(alpha), Math.sin(alpha)];
  return [1, 0, 0, a, 0, c, -s, 0, 0, s, c, 0, 0, 0, 0, 1];
}

/** The two transforms of a row, in the order of a convention. @param {number[]} row @param {string} convention */
function moves([theta, d, a, alpha], convention) {
  const both = [screwZ(theta * DEGREE, d), screwX(alpha * DEGREE, a)];
  return convention === "standard" ? both : [both[1], both[0]];
}

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function dh(root, home) {
  const rows = START.map((row) => [...row]);
  let convention = home.option("convention", "standard");
  let chosen = 0;

  const { stage, panel } = split(root);
  const space = new Space(stage, { size: 6.4, label: "Frames placed by a Denavit-Hartenberg table", turned: draw, center: [1.2, 1, 1.4], yaw: -0.9 });
  const floor = [-4, -2, 0, 2, 4].flatMap((k) => [space.path({ faint: true, width: 1 }), space.path({ faint: true, width: 1 })].map((line, way) => ({ line, k, way })));
  const links = rows.map(() => ({ first: space.path({ color: "blue", width: 7 }), second: space.path({ color: "teal", width: 7 }) }));
  const axes = [0, 1, 2, 3].map(() => ["red", "green", "blue"].map((color) => space.vector({ color, width: 2.4, head: 9 })));
  const names = [0, 1, 2, 3].map(() => space.text({ color: "ink" }));

  panel.choice({ label: "Row", options: ["1", "2", "3"], chosen: (word) => pick(Number(word) - 1) });
  const sliders = NAMES.map((label, k) =>
    panel.slider({ label, min: LIMITS[k][0], max: LIMITS[k][1], step: LIMITS[k][2], value: rows[0][k], unit: k % 3 ? "" : "°", digits: k % 3 ? 1 : 0, color: k < 2 ? "blue" : "teal", moved: (value) => ((rows[chosen][k] = value), draw()) }),
  );
  panel.choice({ label: "Convention", options: ["standard", "modified"], value: convention, chosen: (word) => ((convention = word), draw()) });
  const table = panel.matrix({ columns: ["θ°", "d", "a", "α°"], rows: ["1", "2", "3"], colors: ["blue", "blue", "teal", "teal"], digits: 1 });
  const tip = panel.matrix({ label: "T =", digits: 2 });

  /** @param {number} row */
  function pick(row) {
    chosen = row;
    sliders.forEach((slider, k) => slider.put(rows[row][k]));
    draw();
  }

  /** @returns {{frames: ArrayLike<number>[], between: ArrayLike<number>[]}} the frames, and those halfway through each row */
  function chain() {
    /** @type {ArrayLike<number>[]} */ const all = [screwZ(0, 0)];
    /** @type {ArrayLike<number>[]} */ const between = [];
    for (const row of rows) {
      const [first, second] = moves(row, convention);
      between.push(times(all[all.length - 1], first));
      all.push(times(between[between.length - 1], second));
    }
    return { frames: all, between };
  }

  function draw() {
    const { frames, between } = chain();
    const at = (/** @type {ArrayLike<number>} */ m) => space.flat([m[3], m[7], m[11]]);
    for (const { line, k, way } of floor) {
      line.show(way ? [space.flat([k, -4, 0]), space.flat([k, 4, 0])] : [space.flat([-4, k, 0]), space.flat([4, k, 0])]);
    }
    links.forEach(({ first, second }, k) => {
      const z = convention === "standard";
      first.show([at(frames[k]), at(between[k])]).paint(z ? "blue" : "teal", k !== chosen);
      second.show([at(between[k]), at(frames[k + 1])]).paint(z ? "teal" : "blue", k !== chosen);
    });
    frames.forEach((m, k) => {
      axes[k].forEach((arrow, axis) => {
        const tipOf = [m[3] + 1.1 * m[axis], m[7] + 1.1 * m[4 + axis], m[11] + 1.1 * m[8 + axis]];
        arrow.show(at(m), space.flat(tipOf), k === chosen || k === chosen + 1 ? ["x", "y", "z"][axis] : "");
      });
      names[k].show(at(m), String(k), -12, 14);
    });
    table.show(rows);
    table.table.querySelectorAll("tbody tr").forEach((row, k) => row.classList.toggle("chosen", k === chosen));
    const last = frames[3];
    tip.show([0, 1, 2].map((row) => [last[4 * row], last[4 * row + 1], last[4 * row + 2], last[4 * row + 3]]));
    const order = convention === "standard" ? "first turns by θ about z and moves d along it, then turns by α about the new x and moves a along it" : "first turns by α about x and moves a along it, then turns by θ about the new z and moves d along it";
    panel.say(`T is the last frame. Row ${chosen + 1} leads from frame ${chosen} to frame ${chosen + 1}: it ${order}.`);
  }

  draw();
  return { state: () => ({ rows: rows.map((row) => [...row]), convention, row: chosen + 1, tip: Array.from(chain().frames[3]) }) };
}

// @ts-check
/** Display options: marks on the stage, overlays computed by Python, units, light and dark. */

import { TURN } from "../linkwork.js";
import { unit } from "../stage/algebra.js";
import { CAPSULE } from "../stage/shapes.js";
import { choice, node } from "./dom.js";
import { field } from "./goals.js";
import { heading } from "./room.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const AXES = ["x", "y", "z"];
const ROUND = 64; // number of rods of a circle
const THEMES = [["", "same as the system"], ["light", "light"], ["dark", "dark"]];
const OVERLAYS = /** @type {Record<string, string>} */ ({ workspace: "Where the frame can be", ellipsoid: "How fast it moves in each direction", mass: "Centre of mass and support" });

export class LooksPanel {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.page = studio.room.panel("View");
    /** @type {Set<string>} */ this.on = new Set();
    /** Overlays computed by Python. @type {Record<string, any>} */ this.found = {};
    this.frame = "";
    this.draws = (/** @type {any} */ layers) => this.write(layers);
    this.marks = node("div");
    this.page.append(heading("Stage"), this.marks, heading("Units"), this.units(), heading("Look"), this.theme());
  }

  units() {
    const { studio } = this;
    const set = (/** @type {"angle" | "length"} */ what) => (/** @type {string} */ value) => {
      studio.units[what] = value;
      studio.tell({ units: studio.units });
      studio.draw();
    };
    return node("div", {}, [field("Angles", choice("Angles", [["deg", "degrees"], ["rad", "radians"]], studio.units.angle, set("angle"))),
      field("Lengths", choice("Lengths", [["", "automatic"], ["m", "m"], ["cm", "cm"], ["mm", "mm"], ["in", "inch"]], studio.units.length, set("length")))]);
  }

  theme() {
    const { studio } = this;
    return field("Colours", choice("Colours", /** @type {any} */ (THEMES), "", (value) => {
      if (value) studio.dataset.theme = value;
      else delete studio.dataset.theme;
      studio.stage?.sendThings();
      studio.timeline.tick();
      studio.draw();
    }));
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    const { studio } = this;
    if (parts.stage && typeof parts.stage === "object") {
      studio.stage?.extras.add(this.draws);
      this.on.clear();
      this.found = {};
      this.frame = studio.state.goals?.[0]?.frame ?? studio.solving?.linkage.frames.at(-1) ?? "";
      this.build();
    }
    if ("pose" in parts && (this.on.has("ellipsoid") || this.on.has("mass"))) this.refresh();
  }

  build() {
    const { studio } = this;
    const { stage, solving } = studio;
    if (!stage || !solving) return;
    const check = (/** @type {string} */ text, /** @type {string} */ what, /** @type {(on: boolean) => void} */ act) => {
      const input = node("input", { type: "checkbox", checked: this.on.has(what), onchange: () => {
        if (input.checked) this.on.add(what);
        else this.on.delete(what);
        act(input.checked);
        stage.render();
      } });
      return node("label", { className: "check" }, [input, text]);
    };
    const frames = choice("Overlays of", solving.linkage.frames, this.frame, (name) => {
      this.frame = name;
      this.found = {};
      this.refresh();
    });
    this.marks.replaceChildren(
      node("button", { type: "button", textContent: "Show everything", onclick: () => stage.home() }),
      check("Axes of joints", "joints", (on) => (stage.joints = on)), check("Axes of frames", "frames", () => {}),
      field("Overlays of", frames), ...Object.entries(OVERLAYS).map(([what, text]) => check(text, what, () => this.refresh())),
    );
  }

  /** Request the overlays that are switched on. */
  refresh() {
    for (const what of Object.keys(OVERLAYS)) {
      if (!this.on.has(what) || (what === "workspace" && this.found.workspace)) continue;
      this.studio.link.ask({ do: "overlay", kind: what, frame: this.frame }).then((found) => {
        this.found[what] = found;
        this.studio.stage?.render();
      }).catch((error) => {
        this.on.delete(what);
        this.build();
        this.studio.status.trouble(error.message);
      });
    }
  }

  /** @param {any} layers */
  write({ marks, grips, color, camera }) {
    const { stage, solving, state } = this.studio;
    if (!stage || !solving) return;
    if (this.on.has("frames")) this.writeFrames(marks, color);
    const { workspace, ellipsoid, mass } = this.found;
    if (this.on.has("workspace") && workspace) {
      const size = 0.006 * stage.scene.own;
      for (const point of workspace.points) marks.batches[CAPSULE].push([1, 0, 0, 0], point, 0, [size, size, size], color("link"), 0.5);
    }
    if (this.on.has("ellipsoid") && ellipsoid) {
      for (const [k, axis] of ellipsoid.axes.entries()) marks.rod(ellipsoid.center.map((/** @type {number} */ x, /** @type {number} */ i) => x - axis[i]), ellipsoid.center.map((/** @type {number} */ x, /** @type {number} */ i) => x + axis[i]), 0.006 * stage.scene.own, color(AXES[k]));
      marks.batches[CAPSULE].push(ellipsoid.turn, ellipsoid.center, 0, ellipsoid.radii, color("goal"), 0.25);
    }
    if (this.on.has("mass") && mass) {
      const paint = color(mass.inside ? "good" : "bad");
      const size = 0.02 * stage.scene.own;
      grips.batches[CAPSULE].push([1, 0, 0, 0], mass.center, 0, [size, size, size], paint);
      marks.rod(mass.center, mass.foot, 0.003 * stage.scene.own, paint);
      for (let k = 0; k < mass.support.length; k++) marks.rod(mass.support[k], mass.support[(k + 1) % mass.support.length], 0.005 * stage.scene.own, paint);
    }
    const why = state.status;
    if (why && !why.success && why.center && !this.studio.holding.dragging) {
      for (const radius of why.radii) if (radius > 0 && Number.isFinite(radius)) this.writeReach(marks, color("bad"), camera, why.center, radius);
    }
    stage.guilty = new Set(why && !why.success && !this.studio.playing ? why.joints : []);
    return camera;
  }

  /**
   * Draw the reach of a limb as a sphere: outline and equator, filled only if the outline is visible; else all would be red.
   * @param {any} marks @param {any} paint @param {any} camera @param {number[]} center @param {number} radius
   */
  writeReach(marks, paint, camera, center, radius) {
    const { towards, width, height } = camera;
    const side = Math.abs(towards[2]) < 0.99 ? unit([-towards[1], towards[0], 0]) : [1, 0, 0];
    const up = [towards[1] * side[2] - towards[2] * side[1], towards[2] * side[0] - towards[0] * side[2], towards[0] * side[1] - towards[1] * side[0]];
    const circle = (/** @type {number[]} */ a, /** @type {number[]} */ b) => Array.from({ length: ROUND + 1 }, (_, k) => center.map((x, i) => x + radius * (Math.cos((k * TURN) / ROUND) * a[i] + Math.sin((k * TURN) / ROUND) * b[i])));
    const outline = circle(side, up);
    const seen = outline.some((point) => {
      const { x, y, depth } = camera.project(point);
      return depth > 0 && x > 0 && y > 0 && x < width && y < height;
    });
    if (seen) marks.batches[CAPSULE].push([1, 0, 0, 0], center, 0, [radius, radius, radius], paint, 0.12);
    const thick = 0.002 * /** @type {any} */ (this.studio.stage).scene.own;
    for (const points of [outline, circle([1, 0, 0], [0, 1, 0])]) for (let k = 0; k < ROUND; k++) marks.rod(points[k], points[k + 1], thick, paint, 0.7);
  }

  /** @param {any} marks @param {(name: string) => any} color */
  writeFrames(marks, color) {
    const { stage, solving } = this.studio;
    if (!stage || !solving) return;
    const all = solving.linkage.matrices(solving.q);
    const length = 0.05 * stage.scene.own;
    for (let k = 0; k < solving.linkage.frames.length; k++) {
      const at = [all[16 * k + 3], all[16 * k + 7], all[16 * k + 11]];
      AXES.forEach((name, axis) => marks.rod(at, at.map((x, i) => x + length * all[16 * k + 4 * i + axis]), 0.05 * length, color(name)));
    }
  }
}

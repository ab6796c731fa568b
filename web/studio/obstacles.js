// @ts-check
/** Obstacles: adding, dragging, resizing; the linkage keeps its distance, and the nearest pair is shown. */

import { quaternion, turnInto } from "../rotations.js";
import { BOX, CAPSULE, CYLINDER } from "../stage/shapes.js";
import { node, tool } from "./dom.js";
import { field } from "./goals.js";
import { origin } from "./holding.js";
import { heading } from "./room.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const WOOD = "#b59a6a";
const CHOSEN = "#d9a441";

export class ObstaclesPanel {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.page = studio.room.panel("Obstacles");
    this.add = node("div", { className: "buttons" });
    this.list = node("ul", { className: "goals" });
    this.keeping = node("div");
    this.page.append(heading("Add"), this.add, heading("Obstacles"), this.list, heading("Distance"), this.keeping);
    /** @type {string | null} */ this.chosen = null;
    /** @type {any} */ this.handle = null;
    this.held = false; // whether it is being dragged
    /** Present positions of dragged obstacles. @type {Map<string, number[]>} */ this.moved = new Map();
    this.line = (/** @type {any} */ layers) => this.drawNearest(layers);
  }

  /** @returns {any} */
  get around() {
    return this.studio.state.around ?? { obstacles: [], margin: 0, keeps: true, itself: false };
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if (parts.stage && typeof parts.stage === "object") {
      this.handle = null;
      this.held = false;
      this.studio.stage?.extras.add(this.line);
      this.buttons();
    }
    if (!("around" in parts) && !(parts.stage && typeof parts.stage === "object")) return;
    if (!this.held) this.moved.clear(); // during a drag, positions from Python are outdated
    if (!this.around.obstacles.some((/** @type {any} */ one) => one.name === this.chosen)) this.chosen = null;
    this.listAll();
    this.write();
    this.mark();
  }

  buttons() {
    const { studio } = this;
    const kinds = Object.keys(studio.choices.obstacles ?? {});
    const size = studio.stage?.scene.own ?? 1;
    this.add.replaceChildren(...kinds.map((kind) => node("button", { type: "button", textContent: kind, onclick: () =>
      studio.link.ask({ do: "add obstacle", kind, size }).then((name) => this.choose(name)).catch((error) => studio.status.trouble(error.message)) })));
  }

  listAll() {
    const { studio } = this;
    const { obstacles, margin, keeps, itself } = this.around;
    const none = node("p", { className: "soft", textContent: "None. The linkage keeps clear of obstacles that you add." });
    this.list.replaceChildren(...(obstacles.length ? obstacles.map((/** @type {any} */ one) => this.row(one)) : [none]));
    const distance = node("input", { type: "number", min: 0, step: "any", value: Number((1000 * margin).toPrecision(3)), onchange: () => studio.link.tell({ do: "surround", margin: distance.value / 1000 }) });
    const check = (/** @type {string} */ text, /** @type {boolean} */ on, /** @type {string} */ what) => {
      const input = node("input", { type: "checkbox", checked: on, onchange: () => studio.link.tell({ do: "surround", [what]: input.checked }) });
      return node("label", { className: "check" }, [input, text]);
    };
    this.keeping.replaceChildren(field("Margin [mm]", distance), check("Keep clear of obstacles", keeps, "keeps"), check("Keep clear of itself", itself, "itself"));
  }

  /** @param {any} one */
  row(one) {
    const { studio } = this;
    const open = one.name === this.chosen;
    const label = node("button", { type: "button", className: "name", "aria-pressed": String(open), onclick: () => this.choose(open ? null : one.name) }, [node("span", { textContent: one.name }), node("small", { textContent: one.kind })]);
    const row = node("li", { className: open ? "open" : "" }, [node("div", { className: "row" }, [label, tool("bin", `Remove ${one.name}`, () => studio.link.tell({ do: "remove obstacle", name: one.name }))])]);
    if (!open || !one.sizes.length) return row;
    const names = studio.choices.obstacles[one.kind]?.sizes ?? [];
    row.append(node("div", { className: "details" }, one.sizes.map((/** @type {number} */ value, /** @type {number} */ which) => {
      const input = node("input", { type: "number", min: 0.001, step: "any", value: Number(value.toPrecision(4)), onchange: () => studio.link.tell({ do: "resize obstacle", name: one.name, which, value: Number(input.value) }) });
      return field(`${names[which]} [m]`, input);
    })));
    return row;
  }

  /** @param {string | null} name */
  choose(name) {
    this.chosen = name;
    if (name) this.studio.choose(null);
    this.listAll();
    this.write();
    this.mark();
  }

  /** Update the handle of the selected obstacle. */
  mark() {
    const { stage } = this.studio;
    if (!stage || this.held) return;
    if (this.handle) stage.handles.remove(this.handle);
    this.handle = null;
    const one = this.around.obstacles.find((/** @type {any} */ other) => other.name === this.chosen);
    if (!one) return;
    const flat = stage.scene.flat;
    let goesOn = false; // whether this drag has moved it already, so that the whole drag is one step of undo
    this.handle = stage.handles.add({ position: origin(one.place), wxyz: quaternion(one.place), label: one.name, color: CHOSEN, axes: "own",
      grips: flat ? ["ball", "rings"] : ["ball", "arrows", "rings"],
      taken: () => {
        this.held = true;
        goesOn = false;
      },
      moved: (/** @type {any} */ handle) => {
        this.drag(one, handle, goesOn);
        goesOn = this.held;
      },
      dropped: () => (this.held = false) });
  }

  /** @param {any} one @param {any} handle @param {boolean} goesOn */
  drag(one, handle, goesOn) {
    const place = Float64Array.from(one.place);
    turnInto(place, handle.wxyz);
    handle.position.forEach((/** @type {number} */ x, /** @type {number} */ k) => (place[4 * k + 3] = x));
    this.moved.set(one.name, Array.from(place));
    this.write();
    this.studio.link.tell({ do: "move obstacle", name: one.name, place: Array.from(place), goes_on: goesOn });
  }

  /** Draw the obstacles on the stage. */
  write() {
    this.studio.stage?.things((layer, color) => {
      for (const one of this.around.obstacles) {
        const place = this.moved.get(one.name) ?? one.place;
        const [turn, at, paint] = [quaternion(place), origin(place), color(one.name === this.chosen ? CHOSEN : WOOD)];
        const [a, b, c] = one.sizes;
        if (one.kind === "box") layer.batches[BOX].push(turn, at, 0, [a / 2, b / 2, c / 2], paint);
        else if (one.kind === "sphere") layer.batches[CAPSULE].push(turn, at, 0, [a, a, a], paint);
        else if (one.kind === "capsule") layer.batches[CAPSULE].push(turn, at, b / 2, [a, a, a], paint);
        else if (one.kind === "cylinder") layer.batches[CYLINDER].push(turn, at, b / 2, [a, a, a], paint);
      }
    });
  }

  /** Draw a line between the nearest pair. @param {any} layers */
  drawNearest({ marks, grips, color, camera }) {
    const near = this.studio.state.near;
    if (!near) return;
    const paint = color(near.too_near ? "bad" : "goal");
    const [a, b] = near.points;
    marks.rod(a, b, 1.4 * camera.project(a).metres, paint);
    for (const end of [a, b]) {
      const size = 4 * camera.project(end).metres;
      grips.batches[CAPSULE].push([1, 0, 0, 0], end, 0, [size, size, size], paint);
    }
  }
}

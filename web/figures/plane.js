// @ts-check
/**
 * A plane to draw on, in world units, and marks on it. Everything is redrawn when the page's width changes, so that lines
 * and letters keep their size.
 *
 *     const plane = new Plane(root, { x: [-10, 32], y: [-10, 30], label: "An arm of three links" });
 *     const arm = plane.arm();
 *     const goal = plane.goal({ at: [5, 20], label: "goal", moved: (at) => draw(at) });
 *     arm.show(points);                     // every mark has show(...), hide()
 *     plane.vector({ color: "red" }).show([0, 0], [3, 4], "V_1");
 *
 * `Plot` is a plane with axes and two independent scales. Colours: blue for the linkage, orange for draggable things and
 * goals, green for reached, red for trouble; violet, teal and gold tell things apart, muted is for the background.
 */

import { number, svg } from "./dom.js";
import { Arc, Arm, Circle, Dot, Goal, Label, Path, Trail, Vector } from "./marks.js";

/** @typedef {[number, number] | number[] | Float64Array} Point */
/** @typedef {{color?: string, dashed?: boolean, faint?: boolean, width?: number, layer?: string, fill?: boolean}} Look */

const LAYERS = ["ground", "back", "arm", "marks", "labels", "handles"];
const WIDEST = 1600; // largest width before the first layout [pixel]

export class Plane {
  /**
   * @param {Element} root the parent element
   * @param {{x: [number, number], y: [number, number], label: string, height?: number, grid?: number, margin?: number[]}} options
   *   ranges of the world; a description; a fixed height [px], which makes the two scales independent; distance of grid
    *   lines, 0 for none; margins [px] at the left, right, top and bottom
   */
  constructor(root, { x, y, label, height, grid, margin = [8, 8, 8, 8] }) {
    this.x = x;
    this.y = y;
    this.height = height;
    this.grid = grid;
    this.margin = margin;
    /** @type {import("./marks.js").Mark[]} */ this.marks = [];
    this.node = svg("svg", { class: "plane", role: "group", "aria-label": label }, root);
    /** @type {Record<string, SVGElement>} */
    this.layers = Object.fromEntries(LAYERS.map((name) => [name, svg("g", { class: name }, this.node)]));
    this.width = 0;
    this.tall = 0;
    this.fit(this.node.parentElement?.clientWidth || 640);
    new ResizeObserver(([entry]) => this.fit(entry.contentRect.width)).observe(root);
  }

  /** Set the width in pixels. @param {number} width */
  fit(width) {
    if (!(width > 0) || width > WIDEST) return;
    if (Math.abs(width - this.width) < 0.5) return;
    this.width = width;
    this.draw();
  }

  /** Set the visible ranges of the world. @param {[number, number]} x @param {[number, number]} y */
  look(x, y) {
    this.x = x;
    this.y = y;
    this.draw();
  }

  /** Redraw everything. */
  draw() {
    const [left, right, top, bottom] = this.margin;
    const across = this.width - left - right;
    this.sx = across / (this.x[1] - this.x[0]);
    this.tall = this.height ?? this.sx * (this.y[1] - this.y[0]) + top + bottom;
    this.sy = (this.tall - top - bottom) / (this.y[1] - this.y[0]);
    this.node.setAttribute("viewBox", `0 0 ${this.width} ${this.tall}`);
    this.node.setAttribute("height", String(this.tall));
    this.layers.ground.replaceChildren();
    this.ground();
    for (const mark of this.marks) mark.redraw();
  }

  /** Draw the background. */
  ground() {
    if (this.grid === 0) return;
    const step = this.grid ?? nice((this.x[1] - this.x[0]) / 8);
    for (const k of [0, 1]) {
      for (const at of ticks(k ? this.y : this.x, step)) {
        const [from, to] = k ? [[this.x[0], at], [this.x[1], at]] : [[at, this.y[0]], [at, this.y[1]]];
        this.line(from, to, Math.abs(at) < 1e-9 * step ? "axis" : "grid");
      }
    }
  }

  /** @param {Point} from @param {Point} to @param {string} name */
  line(from, to, name) {
    const [[x1, y1], [x2, y2]] = [this.to(from), this.to(to)];
    svg("line", { x1, y1, x2, y2, class: name }, this.layers.ground);
  }

  /** @param {Point} p of the world @returns {[number, number]} of the drawing [px] */
  to(p) {
    const [left, , top] = this.margin;
    return [left + (p[0] - this.x[0]) * (this.sx ?? 1), top + (this.y[1] - p[1]) * (this.sy ?? 1)];
  }

  /** @param {PointerEvent} event @returns {[number, number]} of the world */
  from(event) {
    const box = this.node.getBoundingClientRect();
    const [left, , top] = this.margin;
    const scale = this.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale - left, (event.clientY - box.top) * scale - top];
    return [this.x[0] + x / (this.sx ?? 1), this.y[1] - y / (this.sy ?? 1)];
  }

  /** @param {Point} p @returns {[number, number]} the nearest point on the plane */
  inside(p) {
    return [Math.min(Math.max(p[0], this.x[0]), this.x[1]), Math.min(Math.max(p[1], this.y[0]), this.y[1])];
  }

  // Marks: each is created once, and may be shown repeatedly

  /** Links and joints of an arm: `show(points)`, from the base to the tip. @param {Look & {base?: boolean}} [look] */
  arm(look = {}) {
    return new Arm(this, look);
  }

  /**
   * A point to drag by mouse, finger, pen or arrow keys.
   * @param {{at: Point, label?: string, name?: string, color?: string, moved?: (at: [number, number]) => void,
   *   hold?: (at: [number, number]) => [number, number], ended?: () => void, shape?: "ring" | "dot" | "square"}} options
   *   a label beside it, a name for screen readers; a callback when it moves; a function that limits its position; a callback
    *   when the drag ends
   */
  goal(options) {
    return new Goal(this, options);
  }

  /** An arrow: `show(from, to, label)`. @param {Look & {head?: number}} [look] */
  vector(look = {}) {
    return new Vector(this, look);
  }

  /** An angle: `show(center, from, to, label, radius)` in radians, radius in pixels. @param {Look & {arrow?: boolean}} [look] */
  arc(look = {}) {
    return new Arc(this, look);
  }

  /** A polyline: `show(points)`; with `closed`, an area. @param {Look & {closed?: boolean}} [look] */
  path(look = {}) {
    return new Path(this, look);
  }

  /** The path of a point: `add(point)`, `clear()`. @param {Look & {limit?: number}} [look] */
  trail(look = {}) {
    return new Trail(this, look);
  }

  /** A dot: `show(point, label)`. @param {Look & {radius?: number}} [look] */
  point(look = {}) {
    return new Dot(this, look);
  }

  /** A circle in world units: `show(center, radius)`. @param {Look} [look] */
  circle(look = {}) {
    return new Circle(this, look);
  }

  /** A text: `show(point, text)`; dx, dy [px] beside the point. @param {Look & {dx?: number, dy?: number, anchor?: string}} [look] */
  text(look = {}) {
    return new Label(this, look);
  }
}

/** A plane with axes and two independent scales. */
export class Plot extends Plane {
  /**
   * @param {Element} root
   * @param {{x: [number, number], y: [number, number], label: string, height?: number, across?: string, up?: string,
   *   log?: boolean}} options names of the axes; log: y is a logarithm to base ten
   */
  constructor(root, { across = "", up = "", log = false, height = 170, ...options }) {
    super(root, { ...options, height, margin: [46, 12, up ? 26 : 10, across ? 38 : 24] });
    this.titles = [across, up];
    this.log = log;
    this.draw();
  }

  ground() {
    if (!this.titles) return;
    const [left, right, top, bottom] = this.margin;
    const [x0, x1, y0, y1] = [left, this.width - right, top, this.tall - bottom];
    for (const at of ticks(this.x, nice((this.x[1] - this.x[0]) / Math.max(2, Math.min(8, (x1 - x0) / 60))))) {
      const [x] = this.to([at, 0]);
      this.line([at, this.y[0]], [at, this.y[1]], "grid");
      this.word(x, y1 + 16, tick(at, this.x), "middle");
    }
    const step = Math.max(nice((this.y[1] - this.y[0]) / Math.max(2, (y1 - y0) / 34)), this.log ? 1 : 0);
    for (const at of ticks(this.y, step)) {
      const [, y] = this.to([0, at]);
      this.line([this.x[0], at], [this.x[1], at], "grid");
      if (this.log) this.power(x0 - 6, y + 4, at);
      else this.word(x0 - 6, y + 4, tick(at, this.y), "end");
    }
    svg("path", { d: `M${x0},${y0}V${y1}H${x1}`, class: "frame" }, this.layers.ground);
    this.word(x1, y1 + 32, this.titles[0], "end");
    this.word(4, 14, this.titles[1], "start");
  }

  /** @param {number} x @param {number} y @param {string} text @param {string} anchor */
  word(x, y, text, anchor) {
    const node = svg("text", { x, y, class: "tick", "text-anchor": anchor }, this.layers.ground);
    node.textContent = text;
    return node;
  }

  /** Write a power of ten. @param {number} x @param {number} y @param {number} exponent */
  power(x, y, exponent) {
    const node = this.word(x, y, "10", "end");
    const span = svg("tspan", { dy: "-0.45em", class: "high" }, node);
    span.textContent = number(exponent, 0);
  }
}

/** @param {number} rough @returns {number} the nearest 1, 2 or 5 times a power of ten */
export function nice(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= rough * 0.999) ?? 10 * power;
}

/** @param {[number, number]} range @param {number} step @returns {number[]} the multiples of the step in the range */
export function ticks([low, high], step) {
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => (first + k) * step);
}

/** @param {number} value @param {[number, number]} range */
function tick(value, range) {
  const span = Math.abs(range[1] - range[0]);
  return number(value, span > 8 ? 0 : span > 0.8 ? 1 : 2);
}

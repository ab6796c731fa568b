// @ts-check
/** Marks on a plane: arms, goals to drag, vectors, angles, paths, trails, dots, circles and words. */

import { svg, writeSvg } from "./dom.js";

/** @typedef {import("./plane.js").Plane} Plane */
/** @typedef {import("./plane.js").Point} Point */
/** @typedef {import("./plane.js").Look} Look */

const SHORT = 42; // [pixel]: the label of a shorter arrow would overlap others

/** A mark on a plane, redrawn when the plane changes. */
export class Mark {
  /** @param {Plane} plane @param {string} layer @param {Look} look @param {string} kind */
  constructor(plane, layer, { color = "muted", dashed, faint, width, layer: own }, kind) {
    this.plane = plane;
    const names = ["mark", kind, `c-${color}`, dashed ? "dashed" : "", faint ? "faint" : ""];
    this.node = svg("g", { class: names.filter(Boolean).join(" ") }, plane.layers[own ?? layer]);
    if (width) this.node.style.setProperty("--width", `${width}px`);
    /** @type {any[] | null} */ this.given = null;
    plane.marks.push(this);
  }

  /** Show it. @param {any[]} given the arguments of `draw` */
  show(...given) {
    this.given = given;
    this.node.removeAttribute("display");
    this.draw(...given);
    return this;
  }

  hide() {
    this.given = null;
    this.node.setAttribute("display", "none");
    return this;
  }

  /** Change its colour. @param {string} name @param {boolean} [faint] */
  paint(name, faint = false) {
    for (const old of [...this.node.classList]) if (old.startsWith("c-")) this.node.classList.remove(old);
    this.node.classList.add(`c-${name}`);
    this.node.classList.toggle("faint", faint);
    return this;
  }

  redraw() {
    if (this.given) this.draw(...this.given);
  }

  /** @param {any[]} _given */
  draw(..._given) {
    throw new Error("a mark says how it is drawn");
  }

  /** @param {(Point | null)[]} points null lifts the pen @param {boolean} [closed] @returns {string} the data of a path */
  data(points, closed = false) {
    let text = "";
    let pen = "M";
    for (const p of points) {
      if (p) text += `${pen}${this.plane.to(p).map((x) => x.toFixed(2))}`;
      else if (closed) text += "Z";
      pen = p ? "L" : "M";
    }
    return text && closed ? `${text}Z` : text;
  }
}

/** A polyline, open or closed. */
export class Path extends Mark {
  /** @param {Plane} plane @param {Look & {closed?: boolean}} look */
  constructor(plane, look) {
    super(plane, "back", look, look.fill ? "path area" : "path");
    this.closed = look.closed ?? look.fill ?? false;
    this.line = svg("path", {}, this.node);
  }

  /** @param {(Point | null)[]} points null begins another piece */
  show(points) {
    return super.show(points);
  }

  /** @param {(Point | null)[]} points */
  draw(points) {
    this.line.setAttribute("d", this.data(points, this.closed));
  }
}

/** The path of a moving point. */
export class Trail extends Path {
  /** @param {Plane} plane @param {Look & {limit?: number}} look */
  constructor(plane, look) {
    super(plane, { ...look });
    this.limit = look.limit ?? 2000;
    /** @type {Point[]} */ this.points = [];
  }

  /** @param {Point} point */
  add(point) {
    const last = this.points[this.points.length - 1];
    if (last && Math.hypot(last[0] - point[0], last[1] - point[1]) === 0) return this;
    this.points.push(Array.from(point).slice(0, 2));
    if (this.points.length > this.limit) this.points.shift();
    return this.show(this.points);
  }

  clear() {
    this.points = [];
    return this.show(this.points);
  }
}

/** A circle in world units. */
export class Circle extends Mark {
  /** @param {Plane} plane @param {Look} look */
  constructor(plane, look) {
    super(plane, "back", look, look.fill ? "path area" : "path");
    this.ring = svg("ellipse", {}, this.node);
  }

  /** @param {Point} center @param {number} radius */
  show(center, radius) {
    return super.show(center, radius);
  }

  /** @param {Point} center @param {number} radius */
  draw(center, radius) {
    const [cx, cy] = this.plane.to(center);
    const { sx = 1, sy = 1 } = this.plane;
    for (const [name, value] of Object.entries({ cx, cy, rx: radius * sx, ry: radius * sy })) {
      this.ring.setAttribute(name, String(value));
    }
  }
}

/** A text at a position, with a halo so that it is legible on any background. */
export class Label extends Mark {
  /** @param {Plane} plane @param {Look & {dx?: number, dy?: number, anchor?: string}} look */
  constructor(plane, { dx = 0, dy = 0, anchor = "middle", ...look }) {
    super(plane, "labels", { color: "ink", ...look }, "label");
    this.shift = [dx, dy];
    this.text = svg("text", { "text-anchor": anchor }, this.node);
  }

  /** @param {Point} at @param {string} text @param {number} [dx] @param {number} [dy] [px] */
  show(at, text, dx, dy) {
    return super.show(at, text, dx, dy);
  }

  /** @param {Point} at @param {string} text @param {number} [dx] @param {number} [dy] */
  draw(at, text, dx = this.shift[0], dy = this.shift[1]) {
    const [x, y] = this.plane.to(at);
    this.text.setAttribute("x", (x + dx).toFixed(2));
    this.text.setAttribute("y", (y + dy + 5).toFixed(2));
    writeSvg(this.text, text);
  }
}

/** A dot with a label. */
export class Dot extends Mark {
  /** @param {Plane} plane @param {Look & {radius?: number}} look */
  constructor(plane, { radius = 4.5, ...look }) {
    super(plane, "marks", look, "dot");
    this.dot = svg("circle", { r: radius }, this.node);
    this.text = svg("text", { class: "beside" }, this.node);
  }

  /** @param {Point} at @param {string} [label] @param {number} [dx] @param {number} [dy] offset of the label [px] */
  show(at, label = "", dx = 9, dy = -9) {
    return super.show(at, label, dx, dy);
  }

  /** @param {Point} at @param {string} label @param {number} dx @param {number} dy */
  draw(at, label, dx, dy) {
    const [x, y] = this.plane.to(at);
    this.dot.setAttribute("cx", x.toFixed(2));
    this.dot.setAttribute("cy", y.toFixed(2));
    this.text.setAttribute("x", (x + dx).toFixed(2));
    this.text.setAttribute("y", (y + dy + 5).toFixed(2));
    this.text.setAttribute("text-anchor", dx < -2 ? "end" : dx > 2 ? "start" : "middle");
    writeSvg(this.text, label);
  }
}

/** An arrow between two points, with its label beside the head. */
export class Vector extends Mark {
  /** @param {Plane} plane @param {Look & {head?: number}} look */
  constructor(plane, { head = 11, ...look }) {
    super(plane, "marks", look, "vector");
    this.head = head;
    this.shaft = svg("path", { class: "shaft" }, this.node);
    this.tip = svg("path", { class: "head" }, this.node);
    this.text = svg("text", { class: "beside" }, this.node);
  }

  /** @param {Point} from @param {Point} to @param {string} [label] @param {number} [along] position of the label along it, 1 at the head */
  show(from, to, label = "", along = 1) {
    return super.show(from, to, label, along);
  }

  /** @param {Point} from @param {Point} to @param {string} label @param {number} along */
  draw(from, to, label, along) {
    const [[x1, y1], [x2, y2]] = [this.plane.to(from), this.plane.to(to)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [ux, uy] = length > 1e-9 ? [(x2 - x1) / length, (y2 - y1) / length] : [1, 0];
    const head = Math.min(this.head, length);
    const [bx, by, half] = [x2 - ux * head, y2 - uy * head, head * 0.42];
    this.shaft.setAttribute("d", length > head ? `M${x1},${y1}L${bx},${by}` : "");
    const sides = `L${bx - uy * half},${by + ux * half}L${bx + uy * half},${by - ux * half}Z`;
    this.tip.setAttribute("d", length > 0.5 ? `M${x2},${y2}${sides}` : "");
    const [lx, ly] = along === 1 ? [x2 + ux * 14, y2 + uy * 14] : [x1 + (x2 - x1) * along + uy * 15, y1 + (y2 - y1) * along - ux * 15];
    this.text.setAttribute("x", lx.toFixed(2));
    this.text.setAttribute("y", (ly + 5).toFixed(2));
    this.text.setAttribute("text-anchor", Math.abs(ux) > 0.5 && along === 1 ? (ux > 0 ? "start" : "end") : "middle");
    writeSvg(this.text, length > (along === 1 ? 0.5 : SHORT) ? label : "");
  }
}

/** An angle about a center, positive counterclockwise. */
export class Arc extends Mark {
  /** @param {Plane} plane @param {Look & {arrow?: boolean}} look */
  constructor(plane, { arrow = true, ...look }) {
    super(plane, "marks", look, "arc");
    this.arrow = arrow;
    this.line = svg("path", { class: "shaft" }, this.node);
    this.tip = svg("path", { class: "head" }, this.node);
    this.text = svg("text", { class: "beside" }, this.node);
  }

  /** @param {Point} center @param {number} from @param {number} to [rad] @param {string} [label] @param {number} [radius] [px] */
  show(center, from, to, label = "", radius = 34) {
    return super.show(center, from, to, label, radius);
  }

  /** @param {Point} center @param {number} from @param {number} to @param {string} label @param {number} radius */
  draw(center, from, to, label, radius) {
    const [x, y] = this.plane.to(center);
    /** @param {number} angle @param {number} [r] */
    const at = (angle, r = radius) => [x + r * Math.cos(angle), y - r * Math.sin(angle)];
    const count = Math.max(2, Math.ceil(Math.abs(to - from) / 0.1));
    const points = Array.from({ length: count + 1 }, (_, k) => at(from + ((to - from) * k) / count));
    this.line.setAttribute("d", `M${points.map((p) => p.map((v) => v.toFixed(2)).join(",")).join("L")}`);
    const back = to - Math.sign(to - from) * Math.min(9 / radius, Math.abs(to - from));
    const [tip, inner, outer] = [at(to), at(back, radius - 4), at(back, radius + 4)];
    const large = this.arrow && Math.abs(to - from) * radius > 6;
    this.tip.setAttribute("d", large ? `M${tip}L${inner}L${outer}Z` : "");
    const [lx, ly] = at((from + to) / 2, radius + 15);
    this.text.setAttribute("x", lx.toFixed(2));
    this.text.setAttribute("y", (ly + 5).toFixed(2));
    this.text.setAttribute("text-anchor", "middle");
    writeSvg(this.text, label);
  }
}

/** Links and joints from the base to the tip. */
export class Arm extends Mark {
  /** @param {Plane} plane @param {Look & {base?: boolean}} look */
  constructor(plane, { base = true, ...look }) {
    super(plane, "arm", { color: "blue", ...look }, "arm");
    this.ground = svg("path", { class: "base" }, this.node);
    if (!base) this.ground.setAttribute("display", "none");
    /** @type {SVGElement[]} */ this.links = [];
    /** @type {SVGElement[]} */ this.joints = [];
  }

  /** @param {Point[]} points the joints in order, then the tip */
  show(points) {
    return super.show(points);
  }

  /** @param {Point[]} points */
  draw(points) {
    const places = points.map((p) => this.plane.to(p));
    const wide = Math.min(11, Math.max(6, this.plane.width / 62));
    while (this.links.length < places.length - 1) {
      this.links.push(svg("path", { class: "link" }, this.node));
      this.joints.forEach((joint) => this.node.append(joint));
      this.joints.push(svg("circle", { class: "joint" }, this.node));
    }
    this.links.forEach((link, k) => {
      link.setAttribute("d", k < places.length - 1 ? bone(places[k], places[k + 1], wide * 0.86 ** k, wide * 0.62 * 0.86 ** k) : "");
    });
    this.joints.forEach((joint, k) => {
      joint.setAttribute("display", k < places.length - 1 ? "inline" : "none");
      const [cx, cy] = places[k] ?? [0, 0];
      joint.setAttribute("cx", cx.toFixed(2));
      joint.setAttribute("cy", cy.toFixed(2));
      joint.setAttribute("r", (wide * 0.62 * 0.9 ** k).toFixed(2));
    });
    const [x, y] = places[0];
    const [b, h] = [wide * 1.6, wide * 1.9];
    this.ground.setAttribute("d", `M${x - b * 0.6},${y}L${x - b},${y + h}H${x + b}L${x + b * 0.6},${y}Z`);
  }
}

/** @param {number[]} a @param {number[]} b @param {number} r @param {number} s @returns {string} a link that tapers from a to b */
function bone([x1, y1], [x2, y2], r, s) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1e-9;
  const [nx, ny] = [-(y2 - y1) / length, (x2 - x1) / length];
  const side = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ k) => `${(x + nx * k).toFixed(2)},${(y + ny * k).toFixed(2)}`;
  return `M${side(x1, y1, r)}A${r},${r} 0 0 1 ${side(x1, y1, -r)}L${side(x2, y2, -s)}A${s},${s} 0 0 1 ${side(x2, y2, s)}Z`;
}

/** A draggable point. */
export class Goal extends Mark {
  /** @param {Plane} plane @param {any} options */
  constructor(plane, { at, label = "", name, color = "orange", moved, ended, hold, shape = "ring" }) {
    super(plane, "handles", { color }, `goal as-${shape}`);
    this.outline = SHAPES[/** @type {keyof typeof SHAPES} */ (shape)];
    /** @type {[number, number]} */ this.at = [at[0], at[1]];
    /** Its offset from the pointer during a drag. @type {number[] | null} */ this.grip = null;
    this.label = label;
    this.moved = moved;
    this.ended = ended;
    this.hold = hold ?? ((/** @type {[number, number]} */ p) => plane.inside(p));
    this.name = name ?? (label || "goal");
    this.node.setAttribute("tabindex", "0");
    this.node.setAttribute("role", "slider");
    this.node.setAttribute("aria-label", `${this.name}: drag it, or move it with the arrow keys`);
    this.area = svg("circle", { r: 24, class: "touch" }, this.node);
    this.focus = svg("circle", { r: 17, class: "focus" }, this.node);
    this.mark = svg("path", { class: "ring" }, this.node);
    this.text = svg("text", { class: "beside", "text-anchor": "start" }, this.node);
    this.listen();
    super.show();
  }

  /** Move it without a callback. @param {Point} at */
  put(at) {
    this.at = [at[0], at[1]];
    return super.show();
  }

  /** Move it as in a drag, with a callback. @param {[number, number]} at */
  move(at) {
    this.put(this.hold(at));
    this.moved?.(this.at);
  }

  /** Begin to drag it. @param {PointerEvent} event */
  take(event) {
    const node = /** @type {SVGGElement} */ (this.node);
    const [x, y] = this.plane.from(event);
    this.grip = [this.at[0] - x, this.at[1] - y];
    node.setPointerCapture(event.pointerId);
    node.classList.add("held");
    node.focus({ preventScroll: true });
  }

  /** @param {PointerEvent} event @returns {number} its distance from a pointer [px] */
  far(event) {
    const [[x, y], [u, v]] = [this.plane.to(this.at), this.plane.to(this.plane.from(event))];
    return Math.hypot(x - u, y - v);
  }

  listen() {
    const node = /** @type {SVGGElement} */ (this.node);
    node.addEventListener("pointerdown", (event) => {
      const all = /** @type {Goal[]} */ (this.plane.marks.filter((mark) => mark instanceof Goal && mark.given));
      all.reduce((a, b) => (b.far(event) < a.far(event) ? b : a), this).take(event); // touch areas overlap, so take the nearest
      event.preventDefault();
    });
    node.addEventListener("pointermove", (event) => {
      if (!this.grip) return;
      const [x, y] = this.plane.from(event);
      this.move([x + this.grip[0], y + this.grip[1]]);
    });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
      node.addEventListener(kind, () => {
        if (this.grip) this.ended?.();
        this.grip = null;
        node.classList.remove("held");
      });
    }
    node.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!way) return;
      const size = event.shiftKey ? 0.05 : 0.01;
      const { x, y } = this.plane;
      this.move([this.at[0] + way[0] * size * (x[1] - x[0]), this.at[1] + way[1] * size * (y[1] - y[0])]);
      this.ended?.();
      event.preventDefault();
    });
  }

  draw() {
    const [x, y] = this.plane.to(this.at);
    for (const circle of [this.area, this.focus]) {
      circle.setAttribute("cx", x.toFixed(2));
      circle.setAttribute("cy", y.toFixed(2));
    }
    this.mark.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    this.mark.setAttribute("d", this.outline);
    this.text.setAttribute("x", (x + 15).toFixed(2));
    this.text.setAttribute("y", (y - 9).toFixed(2));
    writeSvg(this.text, this.label);
    this.node.setAttribute("aria-valuetext", `${this.at[0].toFixed(2)}, ${this.at[1].toFixed(2)}`);
    this.node.setAttribute("aria-valuenow", this.at[0].toFixed(2));
  }
}

const SHAPES = {
  ring: "M0,-10A10,10 0 1 1 0,10A10,10 0 1 1 0,-10M-15,0H-5M5,0H15M0,-15V-5M0,5V15",
  dot: "M0,-7A7,7 0 1 1 0,7A7,7 0 1 1 0,-7Z",
  square: "M-6.5,-6.5H6.5V6.5H-6.5Z",
};

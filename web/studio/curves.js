// @ts-check
/** The curve editor: values of joints over time, and Bézier handles for the motion between two keys. */

import { unitOf } from "../theme.js";
import { node } from "./dom.js";
import { least, most } from "./plots.js";

/** @typedef {import("./timeline.js").Timeline} Timeline */

const HEIGHT = 150;
const MARGIN = 14;
const NEAR = 12; // radius around a handle that hits it [pixel]
const STEP = 0.05; // vertical step of a handle by an arrow key, over the difference between its keys
const LARGE = 5; // factor on steps with Shift
const MOST = 8; // largest number of curves: those that change most are shown
const HUES = ["#2f6fd6", "#c2367d", "#0f8a7e", "#a8641c", "#8158d6", "#3a7d1f", "#627386", "#cc3f3c"];

export class Curves {
  /** @param {Timeline} timeline */
  constructor(timeline) {
    this.timeline = timeline;
    this.open = false;
    this.canvas = node("canvas", { className: "curves", role: "img", "aria-label": "Curves of the joints that change most" });
    this.legend = node("ul", { className: "legend" });
    this.chip = node("button", { type: "button", className: "chip", textContent: "Curves", title: "Curves and handles (C)", "aria-pressed": "false", onclick: () => this.toggle() });
    this.field = node("div", { className: "curve-field" }, [this.canvas]);
    this.box = node("div", { className: "curves-box", hidden: true }, [this.field, this.legend]);
    /** A button for each handle, for keys and screen readers. @type {any[]} */ this.buttons = [];
    /** @type {{k: number, name: string, values: number[], unit: string}[]} */ this.list = [];
    /** @type {any} */ this.held = null;
    this.unit = 1;
    /** The joints to show, if only some are chosen. @type {Set<string>} */ this.only = new Set();
    this.canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.down(event));
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.move(event));
    this.canvas.addEventListener("pointerup", () => this.up());
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  toggle() {
    this.open = !this.open;
    this.box.hidden = !this.open;
    this.chip.setAttribute("aria-pressed", String(this.open));
    this.take();
  }

  /** Read the curves of the joints that change most from the motion. */
  take() {
    const { playing, studio } = this.timeline;
    if (!this.open) return;
    const { coordinates, data } = /** @type {any} */ (studio.solving).linkage;
    const all = !playing ? [] : coordinates.map((/** @type {string} */ name, /** @type {number} */ k) => {
      const values = playing.course(k);
      return { k, name, values, unit: data.units[k], change: most(values) - least(values) };
    });
    this.list = all.filter((/** @type {any} */ one) => one.change > 1e-6).sort((/** @type {any} */ a, /** @type {any} */ b) => b.change - a.change).slice(0, MOST);
    this.legend.replaceChildren(...this.list.map(({ name }, k) => {
      const dot = node("i", { className: "dot" });
      dot.style.background = HUES[k];
      return node("li", {}, [node("button", { type: "button", title: `Show only ${name}`, "aria-pressed": String(this.only.has(name)), onclick: () => {
        if (!this.only.delete(name)) this.only.add(name);
        this.take();
      } }, [dot, name])]);
    }));
    this.draw();
  }

  get shown() {
    const alone = this.list.filter(({ name }) => this.only.has(name));
    return alone.length ? alone : this.list;
  }

  draw() {
    const { canvas, box, timeline } = this;
    const { span, playing } = timeline;
    const unit = (this.unit = unitOf(box));
    const width = box.clientWidth / unit;
    if (!this.open || !width) return;
    const dots = unit * Math.min(devicePixelRatio || 1, 2);
    Object.assign(canvas, { width: Math.round(width * dots), height: Math.round(HEIGHT * dots) });
    canvas.style.height = `${HEIGHT * unit}px`;
    const g = canvas.getContext("2d");
    const css = getComputedStyle(canvas);
    const color = (/** @type {string} */ name) => css.getPropertyValue(`--lw-${name}`).trim();
    g.setTransform(dots, 0, 0, dots, 0, 0);
    g.font = `11px ${css.getPropertyValue("--lw-font") || "sans-serif"}`;
    const all = this.shown.flatMap(({ values }) => values);
    this.low = least(all);
    this.high = most(all);
    this.placeButtons();
    if (!playing || !all.length) {
      g.fillStyle = color("soft");
      return g.fillText("Set keys at two times to see curves.", 14, 30);
    }
    const { fps } = playing.head;
    for (const one of this.shown) {
      g.strokeStyle = HUES[this.list.indexOf(one)];
      g.lineWidth = 1.6;
      g.beginPath();
      one.values.forEach((value, n) => {
        const x = span.x(Math.min(n / fps, playing.head.duration));
        if (x > -width && x < 2 * width) g.lineTo(x, this.y(value));
      });
      g.stroke();
    }
    this.drawHandles(g, color);
    g.strokeStyle = color("goal");
    g.beginPath();
    g.moveTo(span.x(timeline.time), 0);
    g.lineTo(span.x(timeline.time), HEIGHT);
    return g.stroke();
  }

  /** @param {number} value @returns {number} */
  y(value) {
    const size = Math.max(/** @type {number} */ (this.high) - /** @type {number} */ (this.low), 1e-9);
    return HEIGHT - MARGIN - ((value - /** @type {number} */ (this.low)) / size) * (HEIGHT - 2 * MARGIN);
  }

  /**
   * The handles: two for each segment whose key is "bezier", on the curve that changes most there.
   * @returns {{key: number, which: number, x: number, y: number, pull: number[], from: number[], box: number[]}[]}
   */
  handles() {
    const { span, playing, clip } = this.timeline;
    if (!playing || !this.shown.length) return [];
    const [{ values }] = this.shown;
    const at = (/** @type {number} */ time) => values[Math.min(Math.round(time * playing.head.fps), values.length - 1)];
    const found = [];
    for (let n = 0; n + 1 < clip.keys.length; n++) {
      const [time, kind, , , pulls] = clip.keys[n];
      if (kind !== "bezier") continue;
      const [next] = clip.keys[n + 1];
      const [a, b] = [at(time), at(next)];
      const place = (/** @type {number} */ x, /** @type {number} */ y) => [span.x(time + x * (next - time)), this.y(a + y * (b - a))];
      const ends = [place(0, 0), place(1, 1)];
      for (const which of [0, 1]) {
        const now = this.held?.key === time ? this.held.pulls : pulls;
        const pull = now.slice(2 * which, 2 * which + 2);
        const [x, y] = place(pull[0], pull[1]);
        found.push({ key: time, which, x, y, pull, from: ends[which], box: [time, next, a, b] });
      }
    }
    return found;
  }

  /** @param {CanvasRenderingContext2D} g @param {(name: string) => string} color */
  drawHandles(g, color) {
    g.strokeStyle = g.fillStyle = color("ink");
    g.lineWidth = 1;
    for (const { x, y, from } of this.handles()) {
      g.beginPath();
      g.moveTo(from[0], from[1]);
      g.lineTo(x, y);
      g.stroke();
      g.beginPath();
      g.arc(x, y, 4.5, 0, 7);
      g.fill();
    }
  }

  /** Put a button at every handle: arrow keys move it. */
  placeButtons() {
    const handles = this.handles();
    for (const spare of this.buttons.splice(handles.length)) spare.remove();
    handles.forEach((one, n) => {
      const button = (this.buttons[n] ??= this.button(n));
      const at = `${Number((one.which ? one.box[1] : one.key).toFixed(3))} s`;
      const label = `Handle ${one.which ? "before" : "after"} the key at ${at}: ${percent(one.pull[0])} of the time, ${percent(one.pull[1])} of the way`;
      if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
      button.style.translate = `${one.x * this.unit}px ${one.y * this.unit}px`;
    });
  }

  /** @param {number} n */
  button(n) {
    const made = node("button", { type: "button", className: "pull", onblur: () => (this.held = null),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.nudge(n, event) });
    this.field.append(made);
    return made;
  }

  /** Move a handle by an arrow key: by a frame, or by a step up or down. @param {number} n @param {KeyboardEvent} event */
  nudge(n, event) {
    const [right, up] = /** @type {Record<string, number[]>} */ ({ ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] })[event.key] ?? [];
    const one = this.handles()[n];
    if (right === undefined || !one || event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key !== "Shift") this.held = null; // for example undo: show what Python sends
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const [time, next, a, b] = one.box;
    const far = event.shiftKey ? LARGE : 1;
    if (this.held?.key !== one.key || this.held.which !== one.which) this.hold(one);
    this.pull(one.pull[0] + (right * far) / (this.timeline.clip.fps * (next - time)), one.pull[1] + up * far * STEP * (b < a ? -1 : 1));
  }

  /** Take a handle. @param {any} handle */
  hold(handle) {
    const key = this.timeline.clip.keys.find(([time]) => time === handle.key);
    this.held = { ...handle, pulls: key?.[4].slice() };
  }

  /** Move the held handle, in fractions of the time and of the change between keys. @param {number} x @param {number} y */
  pull(x, y) {
    const { which, pulls, key, moved } = this.held;
    pulls[2 * which] = Math.min(Math.max(x, 0), 1);
    pulls[2 * which + 1] = Math.min(Math.max(y, -3), 4);
    this.timeline.studio.link.tell({ do: "change keys", times: [key], kind: "bezier", handles: pulls, goes_on: Boolean(moved) });
    this.held.moved = true;
    this.draw();
  }

  /** @param {PointerEvent} event @returns {[number, number]} */
  at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [(event.clientX - left) / this.unit, (event.clientY - top) / this.unit];
  }

  /** @param {PointerEvent} event */
  down(event) {
    const [x, y] = this.at(event);
    const hit = this.handles().find((one) => Math.hypot(one.x - x, one.y - y) < NEAR);
    this.canvas.setPointerCapture(event.pointerId);
    if (!hit) {
      this.held = { scrub: true };
      return this.timeline.scrub(this.timeline.tracks.pointed(x, event));
    }
    return this.hold(hit);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.held) return;
    const [px, py] = this.at(event);
    if (this.held.scrub) return this.timeline.scrub(this.timeline.tracks.pointed(px, event));
    const { box, which, pulls } = this.held;
    const [time, next, a, b] = box;
    const x = (this.timeline.span.at(px) - time) / (next - time);
    const size = Math.max(/** @type {number} */ (this.high) - /** @type {number} */ (this.low), 1e-9);
    const value = /** @type {number} */ (this.low) + ((HEIGHT - MARGIN - py) / (HEIGHT - 2 * MARGIN)) * size;
    return this.pull(x, Math.abs(b - a) > 1e-9 ? (value - a) / (b - a) : pulls[2 * which + 1]);
  }

  up() {
    if (this.held?.scrub) this.timeline.go(this.timeline.time);
    this.held = null;
  }
}

/** @param {number} share @returns {string} */
function percent(share) {
  return `${Math.round(100 * share)} %`;
}

// @ts-check
/**
 * The tracks of a clip on a canvas: a ruler, a row for the pose, a row for each goal with keys. Keys can be selected, moved
 * and copied; dragging beside them scrubs.
 */

import { unitOf } from "../theme.js";
import { node } from "./dom.js";

/** @typedef {import("./timeline.js").Timeline} Timeline */
/** A key as sent by Python: time, kind, whether it has a pose, names of its goals, handles. @typedef {[number, string, number, string[], number[]]} Key */

const RULER = 22; // height of the ruler [pixel]
const ROW = 24;
const HALF = 6; // half the width of a key's mark [pixel]
const NEAR = 9; // radius around a mark that hits it [pixel]
const SNAP = 6; // distance from another key, or from the current time, at which a key snaps to it [pixel]

export class Tracks {
  /** @param {Timeline} timeline */
  constructor(timeline) {
    this.timeline = timeline;
    this.canvas = node("canvas", { className: "tracks", tabIndex: 0, role: "application",
      "aria-label": "Timeline: arrow keys step by frames, comma and period go from key to key, Enter selects a key, Alt and arrow keys move the selected keys, Delete removes them" });
    this.box = node("div", { className: "tracks-box" }, [this.canvas]);
    /** Times of the selected keys. @type {Set<number>} */ this.chosen = new Set();
    /** The current drag. @type {any} */ this.held = null;
    this.unit = 1;
    new ResizeObserver(() => this.draw()).observe(this.box);
    const listen = (/** @type {string} */ name, /** @type {(event: any) => void} */ act) => this.canvas.addEventListener(name, act);
    listen("pointerdown", (event) => this.down(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.up(event));
    listen("pointercancel", () => this.drop());
    listen("wheel", (event) => this.wheel(event));
    listen("dblclick", (event) => this.twice(event));
  }

  /** @returns {Key[]} */
  get keys() {
    return this.timeline.studio.state.clip?.keys ?? [];
  }

  /** Names of the rows: the pose, and the goals that have keys. @returns {string[]} */
  get rows() {
    return ["Pose", ...new Set(this.keys.flatMap((key) => key[3]))];
  }

  /** Deselect keys that no longer exist. */
  keep() {
    const times = new Set(this.keys.map(([time]) => time));
    for (const time of this.chosen) if (!times.has(time)) this.chosen.delete(time);
  }

  // Drawing

  draw() {
    const { canvas, box, timeline } = this;
    const { span } = timeline;
    const { rows, keys } = this;
    const unit = (this.unit = unitOf(box));
    const width = box.clientWidth / unit;
    const height = RULER + ROW * rows.length + 2;
    if (!width) return;
    const dots = unit * Math.min(devicePixelRatio || 1, 2);
    canvas.style.height = `${height * unit}px`;
    if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) Object.assign(canvas, { width: Math.round(width * dots), height: Math.round(height * dots) });
    span.width = width;
    span.left = width < 600 ? 56 : 92;
    const g = canvas.getContext("2d");
    const css = getComputedStyle(canvas);
    const color = (/** @type {string} */ name) => css.getPropertyValue(`--lw-${name}`).trim();
    g.setTransform(dots, 0, 0, dots, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = `11px ${css.getPropertyValue("--lw-font") || "sans-serif"}`;
    this.drawRuler(g, color, width, height);
    const by = this.held?.kind === "keys" ? this.held.by : 0;
    rows.forEach((name, row) => {
      const y = RULER + ROW * (row + 0.5);
      for (const key of keys) {
        if (row ? !key[3].includes(name) : !key[2] && key[3].length) continue;
        const picked = this.chosen.has(key[0]);
        const x = span.x(key[0] + (picked ? by : 0));
        if (x < span.left - HALF || x > width + 10) continue;
        mark(g, x, y, picked ? color("goal") : color("link"), key[1] === "step");
      }
    });
    this.drawHead(g, color, height);
    this.drawNames(g, color, height);
    if (this.held?.kind === "box") {
      const { x, y, to } = this.held;
      g.strokeStyle = color("goal");
      g.strokeRect(Math.min(x, to[0]), Math.min(y, to[1]), Math.abs(to[0] - x), Math.abs(to[1] - y));
    }
  }

  /** The names of rows, before the tracks. @param {CanvasRenderingContext2D} g @param {(name: string) => string} color @param {number} height */
  drawNames(g, color, height) {
    const { left } = this.timeline.span;
    g.fillStyle = color("card");
    g.fillRect(0, 0, left - HALF - 1, height);
    g.fillStyle = color("soft");
    this.rows.forEach((name, row) => g.fillText(fitting(g, name, left - HALF - 16), 10, RULER + ROW * (row + 0.5) + 4));
  }

  /** @param {CanvasRenderingContext2D} g @param {(name: string) => string} color @param {number} width @param {number} height */
  drawRuler(g, color, width, height) {
    const { span, inFrames } = this.timeline;
    const { fps, duration } = this.timeline.clip;
    const { step, times } = span.ticks(64);
    g.fillStyle = color("page");
    g.fillRect(0, 0, width, height);
    if (duration > 0) {
      g.fillStyle = color("bar");
      g.fillRect(span.x(0), 0, span.x(duration) - span.x(0), height);
    }
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (const time of times) {
      const x = Math.round(span.x(time)) + 0.5;
      g.strokeStyle = color("line");
      g.beginPath();
      g.moveTo(x, RULER - 6);
      g.lineTo(x, height);
      g.stroke();
      g.fillStyle = color("soft");
      const text = inFrames ? String(Math.round(time * fps)) : `${time.toFixed(digits)} s`;
      if (x + 4 + g.measureText(text).width <= width) g.fillText(text, x + 4, 14); // a label that does not fit is left out
    }
  }

  /** @param {CanvasRenderingContext2D} g @param {(name: string) => string} color @param {number} height */
  drawHead(g, color, height) {
    const x = this.timeline.span.x(this.timeline.time);
    g.fillStyle = g.strokeStyle = color("goal");
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(x, 8);
    g.lineTo(x, height);
    g.stroke();
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x - 6, 0);
    g.lineTo(x + 6, 0);
    g.lineTo(x, 10);
    g.fill();
  }

  // Hands

  /** @param {MouseEvent} event @returns {[number, number]} */
  at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [(event.clientX - left) / this.unit, (event.clientY - top) / this.unit];
  }

  /** @param {number} x @param {number} y @returns {number | null} the time of the key there */
  hit(x, y) {
    const row = Math.floor((y - RULER) / ROW);
    const name = this.rows[row];
    if (row < 0 || name === undefined) return null;
    let [found, least] = [/** @type {number | null} */ (null), NEAR];
    for (const key of this.keys) {
      if (row && !key[3].includes(name)) continue;
      const away = Math.abs(this.timeline.span.x(key[0]) - x);
      if (away < least) [found, least] = [key[0], away];
    }
    return found;
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { timeline } = this;
    const [x, y] = this.at(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    const more = event.shiftKey || event.ctrlKey || event.metaKey;
    const key = this.hit(x, y);
    if (event.button === 1 || event.button === 2) this.held = { kind: "pan", x };
    else if (key !== null) {
      if (more || !this.chosen.has(key)) this.choose(key, more);
      this.held = { kind: "keys", x, key, by: 0, moved: false };
    } else if (more && y > RULER) this.held = { kind: "box", x, y, to: [x, y], before: new Set(this.chosen) };
    else {
      this.chosen.clear();
      this.held = { kind: "scrub" };
      timeline.scrub(this.pointed(x, event));
    }
    timeline.chose();
    this.draw();
  }

  /** Select a key, or toggle it if `more`. @param {number | undefined} key its time @param {boolean} more */
  choose(key, more) {
    if (key === undefined) return;
    if (more && this.chosen.delete(key)) return;
    this.chosen = more ? this.chosen.add(key) : new Set([key]);
  }

  /** The time at a position, snapped to a key nearby or to a frame unless Alt is down. @param {number} x @param {MouseEvent} event @returns {number} */
  pointed(x, event) {
    const { timeline, keys } = this;
    const time = timeline.span.time(x);
    return timeline.snap && !event.altKey ? timeline.span.snapped(time, timeline.clip.fps, keys.map(([key]) => key), SNAP) : time;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { held, timeline } = this;
    const [x, y] = this.at(event);
    if (!held) {
      this.canvas.style.cursor = this.hit(x, y) !== null ? "ew-resize" : "";
      return;
    }
    if (held.kind === "scrub") timeline.scrub(this.pointed(x, event));
    else if (held.kind === "pan") {
      timeline.span.pan(held.x - x);
      held.x = x;
    } else if (held.kind === "keys") this.drag(held, x, event);
    else this.sweep(held, x, y);
    this.draw();
    timeline.curves.draw();
  }

  /** @param {any} held @param {number} x @param {PointerEvent} event */
  drag(held, x, event) {
    const { span, clip, snap, time } = this.timeline;
    if (Math.abs(x - held.x) > 3) held.moved = true;
    if (!held.moved) return;
    const wanted = held.key + (x - held.x) * span.grain;
    const others = this.keys.map(([other]) => other).filter((other) => !this.chosen.has(other));
    const there = snap && !event.altKey ? span.snapped(wanted, clip.fps, [...others, time], SNAP) : wanted;
    held.by = Math.max(there - held.key, -Math.min(...this.chosen));
    held.copy = event.ctrlKey || event.metaKey;
  }

  /** @param {any} held @param {number} x @param {number} y */
  sweep(held, x, y) {
    held.to = [x, y];
    const [from, to] = [this.timeline.span.time(Math.min(held.x, x)), this.timeline.span.time(Math.max(held.x, x))];
    const rows = [held.y, y].map((at) => Math.floor((at - RULER) / ROW)).sort((a, b) => a - b);
    const names = this.rows.slice(Math.max(rows[0], 0), rows[1] + 1);
    const inside = this.keys.filter((key) => key[0] >= from && key[0] <= to && names.some((name) => name === "Pose" || key[3].includes(name)));
    this.chosen = new Set([...held.before, ...inside.map(([time]) => time)]);
  }

  /** @param {PointerEvent} _ */
  up(_) {
    const { held, timeline } = this;
    this.held = null;
    if (held?.kind === "keys" && held.moved) timeline.moveKeys(held.by, held.copy);
    else if (held?.kind === "keys") timeline.go(held.key);
    else if (held?.kind === "scrub") timeline.go(timeline.time);
    timeline.chose();
    this.draw();
  }

  drop() {
    this.held = null;
    this.draw();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const { span } = this.timeline;
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) span.pan(lines * (event.deltaX || event.deltaY));
    else span.zoom(Math.exp(0.002 * lines * event.deltaY), this.at(event)[0]);
    this.draw();
    this.timeline.curves.draw();
  }

  /** A double click sets a key. @param {MouseEvent} event */
  twice(event) {
    const [x, y] = this.at(event);
    if (y > RULER && this.hit(x, y) === null) this.timeline.key(this.pointed(x, event));
  }
}

/** @param {CanvasRenderingContext2D} g @param {string} text @param {number} width @returns {string} the text, truncated to fit */
function fitting(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let count = text.length;
  while (count > 1 && g.measureText(`${text.slice(0, count)}\u2026`).width > width) count -= 1;
  return `${text.slice(0, count)}\u2026`;
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {string} color @param {boolean} square */
function mark(g, x, y, color, square) {
  g.fillStyle = color;
  g.beginPath();
  if (square) g.rect(x - HALF + 1, y - HALF + 1, 2 * HALF - 2, 2 * HALF - 2);
  else [[0, -HALF], [HALF, 0], [0, HALF], [-HALF, 0]].forEach(([dx, dy], k) => (k ? g.lineTo(x + dx, y + dy) : g.moveTo(x + dx, y + dy)));
  g.fill();
}

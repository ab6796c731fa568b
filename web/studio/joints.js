// @ts-check
/** A slider for every joint. Only the visible rows exist, so that the list may be long. */

import { unitOf } from "../theme.js";
import { written } from "./units.js";
import { node } from "./dom.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */
/** @typedef {{k: number, name: string, unit: string, low: number, high: number}} Row */

const HEIGHT = 46; // height of a row [pixel]
const MORE = 4; // further rows above and below the visible ones
const STEPS = 1000; // steps of a slider

export class JointsPanel {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.page = studio.room.panel("Joints");
    this.page.classList.add("tall");
    this.find = node("input", { type: "search", placeholder: "Find a joint", "aria-label": "Find a joint", oninput: () => this.filter() });
    this.note = node("p", { className: "soft" });
    this.rows = node("div", { className: "rows" });
    this.space = node("div", { className: "space" }, [this.rows]);
    this.view = node("div", { className: "virtual", tabIndex: -1, onscroll: () => this.fill() }, [this.space]);
    this.page.append(this.find, this.note, this.view);
    this.height = HEIGHT;
    /** @type {Row[]} */ this.all = [];
    /** @type {Row[]} */ this.list = [];
    /** Existing rows by the index of their value. @type {Map<number, any>} */ this.there = new Map();
    new ResizeObserver(() => this.fill()).observe(this.view);
    studio.room.pages.addEventListener("opened", () => this.fill());
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if (parts.stage && typeof parts.stage === "object") this.begin();
    if ("units" in parts) this.follow();
  }

  begin() {
    const { linkage } = /** @type {any} */ (this.studio.solving);
    const { lower, upper, data } = linkage;
    const balls = new Set(Array.from(data.quaternions).filter((_, k) => k % 2 === 0).flatMap((/** @type {any} */ q) => [q, q + 1, q + 2, q + 3]));
    this.all = linkage.coordinates.flatMap((/** @type {string} */ name, /** @type {number} */ k) => {
      if (balls.has(k)) return [];
      const wide = data.units[k] === "rad" ? Math.PI : data.length || 1;
      const low = Number.isFinite(lower[k]) ? lower[k] : Number.isFinite(upper[k]) ? upper[k] - 2 * wide : -wide;
      return [{ k, name, unit: data.units[k], low, high: Number.isFinite(upper[k]) ? upper[k] : low + 2 * wide }];
    });
    const count = balls.size / 4;
    this.note.textContent = count ? `${count} ball joint${count > 1 ? "s" : ""}: drag links to turn.` : "";
    this.note.hidden = !count;
    this.find.hidden = this.all.length < 12;
    this.filter();
  }

  filter() {
    const words = this.find.value.toLowerCase();
    this.list = this.all.filter(({ name }) => name.toLowerCase().includes(words));
    this.height = HEIGHT * unitOf(this.view);
    this.space.style.height = `${this.list.length * this.height}px`;
    this.there.clear();
    this.rows.replaceChildren();
    this.fill();
  }

  /** Create the visible rows, and remove the others. */
  fill() {
    if (this.page.hidden) return;
    const first = Math.max(0, Math.floor(this.view.scrollTop / this.height) - MORE);
    const last = Math.min(this.list.length, Math.ceil((this.view.scrollTop + this.view.clientHeight) / this.height) + MORE);
    const wanted = new Set(this.list.slice(first, last).map(({ k }) => k));
    for (const [k, row] of this.there) {
      if (wanted.has(k)) continue;
      row.element.remove();
      this.there.delete(k);
    }
    for (let n = first; n < last; n++) {
      const row = this.list[n];
      if (this.there.has(row.k)) continue;
      const made = this.row(row);
      made.element.style.top = `${n * this.height}px`;
      const next = this.list.slice(n + 1, last).map(({ k }) => this.there.get(k)).find(Boolean);
      this.there.set(row.k, made);
      this.rows.insertBefore(made.element, next?.element ?? null); // keep the tab order equal to that of the list
    }
    this.follow();
  }

  /** @param {Row} row */
  row({ k, name, unit, low, high }) {
    const { studio } = this;
    const output = node("output");
    const input = node("input", { type: "range", min: 0, max: STEPS, step: "any", "aria-label": name,
      oninput: () => {
        studio.solving?.turn(k, low + (high - low) * (input.value / STEPS));
        studio.draw();
      },
      onchange: () => studio.solving && studio.link.tell({ do: "settle", q: Array.from(studio.solving.q), places: studio.solving.places(), what: `turn of ${name}` }) });
    const element = node("label", { className: "joint" }, [node("span", { textContent: name, title: name }), output, input]);
    return { element, input, output, unit, low, high };
  }

  /** Set the sliders to the pose. */
  follow() {
    if (this.page.hidden || !this.studio.solving) return;
    const { q, linkage } = this.studio.solving;
    for (const [k, row] of this.there) {
      const { unit, low, high } = row;
      const text = written(q[k], unit, this.studio.units);
      if (row.output.textContent === text) continue;
      row.output.textContent = text;
      row.input.value = String((STEPS * (q[k] - low)) / (high - low));
      row.input.setAttribute("aria-valuetext", text);
      const edge = linkage.lower[k] < linkage.upper[k] && (q[k] <= linkage.lower[k] + 1e-9 || q[k] >= linkage.upper[k] - 1e-9);
      row.element.classList.toggle("edge", edge);
    }
  }
}

// @ts-check
/** Details of the last solve: its iterations, and the null space of its goals. */

import { node, tool } from "./dom.js";
import { plot } from "./plots.js";
import { heading } from "./room.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const MOST_COLUMNS = 24; // largest number of columns of a matrix shown with numbers

export class InsidePanel {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.page = studio.room.panel("Inside");
    const look = node("button", { type: "button", textContent: "Inspect the last solve", onclick: () => this.look() });
    this.body = node("div");
    this.free = node("div");
    this.page.append(heading("Inside a solve"), node("p", { className: "soft", textContent: "Drag a goal, then inspect the iterations of the solve." }), look, this.body, heading("What the goals leave free"), this.free);
    /** @type {any} */ this.seen = null;
    this.at = 0;
    /** @type {any} */ this.ghost = null;
    /** The first and the present pose of a swing. @type {number[] | null | undefined} */ this.from = undefined;
    /** @type {number[] | undefined} */ this.swung = undefined;
    this.swinging();
    studio.commands.add({ title: "Inspect the last solve", keys: ["i"], act: () => {
      studio.room.open("Inside");
      this.look();
    } });
    studio.room.pages.addEventListener("opened", () => studio.room.shown !== "Inside" && this.end());
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if (parts.stage && typeof parts.stage === "object") {
      this.ghost = null;
      this.seen = null;
      this.body.replaceChildren();
    }
  }

  end() {
    this.ghost?.remove();
    this.ghost = null;
  }

  async look() {
    const { studio } = this;
    const begun = studio.solving?.begun;
    try {
      this.seen = await studio.link.ask({ do: "inside", start: begun ? Array.from(begun) : null });
    } catch (error) {
      return studio.status.trouble(/** @type {Error} */ (error).message);
    }
    this.at = 0;
    this.build();
    return this.step(0);
  }

  build() {
    const { moments, method, reason } = this.seen;
    this.slider = node("input", { type: "range", min: 0, max: moments.length - 1, value: 0, "aria-label": "Iteration", oninput: () => this.step(Number(this.slider.value)) });
    this.label = node("output");
    this.numbers = node("div", { className: "numbers" });
    this.matrix = node("div", { className: "matrix" });
    const errors = moments.map((/** @type {any} */ moment) => moment.residual);
    this.chart = plot([{ name: "error", color: "#de6c08", values: errors }], { log: true, height: 90, label: "Error at every iteration" });
    this.body.replaceChildren(
      node("p", { className: "soft", textContent: `${method}: ${reason}` }),
      node("div", { className: "row" }, [tool("first", "Previous iteration", () => this.step(this.at - 1)), this.slider, tool("last", "Next iteration", () => this.step(this.at + 1)), this.label]),
      this.chart, this.numbers, this.matrix,
    );
  }

  /** @param {number} at */
  step(at) {
    const { studio, seen } = this;
    if (!seen || !studio.stage || !studio.solving) return;
    this.at = Math.min(Math.max(at, 0), seen.moments.length - 1);
    this.slider.value = String(this.at);
    const moment = seen.moments[this.at];
    this.label.textContent = `${this.at * seen.every} of ${seen.count}`;
    this.ghost ??= studio.stage.ghost("goal", 0.45);
    this.ghost.pose(studio.solving.linkage.matrices(moment.q));
    const pairs = [["Error", moment.residual], ...Object.entries(moment.notes), ["Free directions", moment.free]];
    this.numbers.replaceChildren(...pairs.map(([name, value]) => node("div", {}, [node("span", { textContent: `${name[0].toUpperCase()}${name.slice(1)}` }), node("b", { textContent: Number(Number(value).toPrecision(3)) })])),
      this.values(moment));
    this.matrix.replaceChildren(this.table(moment));
  }

  /** The singular values as bars, with the fraction of each that the method keeps. @param {any} moment */
  values({ singular, filters }) {
    const most = Math.max(...singular, 1e-12);
    const bars = node("div", { className: "bars", role: "img", "aria-label": `Singular values ${singular.map((/** @type {number} */ x) => x.toPrecision(3)).join(", ")}` }, singular.slice(0, 30).map((/** @type {number} */ value, /** @type {number} */ k) => {
      const bar = node("i", { title: `${value.toPrecision(3)}${filters ? `, kept ${(100 * filters[k]).toFixed(0)} %` : ""}` }, [node("b")]);
      bar.style.height = `${Math.max((100 * value) / most, 2)}%`;
      bar.firstChild.style.height = `${filters ? 100 * filters[k] : 100}%`;
      return bar;
    }));
    return node("figure", { className: "values" }, [node("figcaption", { textContent: filters ? "Singular values, and the share that damping keeps" : "Singular values" }), bars]);
  }

  /** The Jacobian as a table. @param {any} moment */
  table({ jacobian, step }) {
    if (!jacobian) return node("p", { className: "soft", textContent: "The Jacobian is too large to show." });
    const names = this.seen.joints.slice(0, MOST_COLUMNS);
    const cut = this.seen.joints.length > MOST_COLUMNS ? `, the first ${MOST_COLUMNS} of ${this.seen.joints.length} columns` : "";
    const cell = (/** @type {number} */ x) => {
      const made = node("td", { textContent: x.toFixed(2) });
      made.style.setProperty("--share", String(Math.min(Math.abs(x), 1)));
      return made;
    };
    const head = node("tr", {}, [node("th"), ...names.map((/** @type {string} */ name) => node("th", { scope: "col", title: name }, [node("span", { textContent: name })]))]);
    const rows = jacobian.map((/** @type {number[]} */ row, /** @type {number} */ k) => node("tr", {}, [node("th", { scope: "row", textContent: `row ${k + 1}` }), ...row.slice(0, MOST_COLUMNS).map(cell)]));
    if (step) rows.push(node("tr", { className: "step" }, [node("th", { scope: "row", textContent: "step" }), ...step.slice(0, MOST_COLUMNS).map(cell)]));
    return node("table", {}, [node("caption", { textContent: `Jacobian, weighted${cut}` }), node("tbody", {}, [head, ...rows])]);
  }

  // Swinging along the null space

  swinging() {
    const { studio } = this;
    const direction = node("input", { type: "number", min: 1, max: 50, value: 1, "aria-label": "Direction", onchange: () => this.swing(0) });
    const amount = node("input", { type: "range", min: -2, max: 2, step: 0.02, value: 0, "aria-label": "Swing", oninput: () => this.swing(Number(amount.value)), onchange: () => {} });
    const keep = node("button", { type: "button", textContent: "Keep this pose", onclick: () => {
      if (this.swung) studio.link.tell({ do: "pose", q: this.swung, what: "swing" });
      this.from = this.swung = undefined;
      amount.value = 0;
    } });
    this.which = direction;
    this.free.replaceChildren(node("p", { className: "soft", textContent: "The elbow swings, the hand stays." }), node("div", { className: "row" }, [direction, amount]), keep);
    amount.addEventListener("pointerdown", () => (this.from ??= studio.solving && Array.from(studio.solving.q)));
    amount.addEventListener("keydown", () => (this.from ??= studio.solving && Array.from(studio.solving.q)));
  }

  /** @param {number} amount */
  swing(amount) {
    const { studio } = this;
    this.from ??= studio.solving && Array.from(studio.solving.q);
    if (!this.from) return;
    studio.link.ask({ do: "swing", q: this.from, direction: Number(this.which.value) - 1, amount, goes_on: true }).then((/** @type {number[]} */ q) => {
      if (!q) return;
      this.swung = q;
      if (studio.solving) studio.solving.q = Float64Array.from(q);
      studio.draw();
    }).catch((error) => studio.status.trouble(error.message));
  }
}

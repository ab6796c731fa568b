// @ts-check
/**
 * `<linkwork-figure name="jacobian-columns"></linkwork-figure>`: a live figure in any page.
 *
 * Attributes are the figure's options. `figure.ready` resolves when it can be used; `figure.state()` returns its numbers.
 */

import "../bodies.js";
import { load, refuse } from "../linkwork.js";
import { html } from "./dom.js";
import "./exercise.js";
import { FIGURES } from "./index.js";
import { LOOK } from "./look.js";

/** @typedef {import("../linkwork.js").Linkage} Linkage */
/** @typedef {{state(): Record<string, any>}} Figure */

/** @type {Promise<import("../linkwork.js").Linkwork> | undefined} */
let engine;

/** The environment of a figure: linkages, and the options of its element. */
export class Home {
  /** @param {import("../linkwork.js").Linkwork} linkwork @param {HTMLElement} element */
  constructor(linkwork, element) {
    this.linkwork = linkwork;
    this.element = element;
    /** Whether the user prefers reduced motion. */
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** @param {string} name one of the linkages packed for figures @returns {Linkage} */
  linkage(name) {
    const packs = /** @type {any} */ (globalThis).linkworkPacks ?? {};
    if (!packs[name]) refuse(`there is no linkage ${name} in this page; it has ${Object.keys(packs).join(", ") || "none"}.`);
    return this.linkwork.linkage(packs[name]);
  }

  /** @param {string} name @param {string} fallback @returns {string} an attribute of the element */
  option(name, fallback) {
    return this.element.getAttribute(name) ?? fallback;
  }

  /** @param {string} name @param {number[]} fallback @returns {number[]} numbers of an attribute, as in goal="5, 20" */
  numbers(name, fallback) {
    const text = this.element.getAttribute(name);
    if (text === null) return fallback;
    const values = text.split(/[\s,]+/).filter(Boolean).map(Number);
    if (!values.length || !values.every(Number.isFinite)) refuse(`${name} is a list of numbers, got "${text}".`);
    return values;
  }

  /**
   * Call a function before every picture, with the seconds since the last one, until it returns false or the figure is
   * removed.
   * @param {(seconds: number) => boolean | void} frame
   */
  loop(frame) {
    let last = performance.now();
    const next = (/** @type {number} */ now) => {
      const seconds = Math.min((now - last) / 1000, 0.1);
      last = now;
      if (this.element.isConnected && frame(seconds) !== false) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }
}

export class LinkworkFigure extends HTMLElement {
  /** @type {Promise<void> | undefined} */ ready = undefined;
  /** @type {Figure | undefined} */ figure = undefined;

  connectedCallback() {
    this.ready ??= this.make();
  }

  async make() {
    const root = this.attachShadow({ mode: "open" });
    const place = html("div", { class: "figure" });
    root.append(html("style", {}, LOOK), place);
    try {
      const name = this.getAttribute("name") ?? "";
      const draw = FIGURES[name] ?? refuse(`there is no figure ${name || "without a name"}; there are ${Object.keys(FIGURES).join(", ")}.`);
      engine ??= load();
      this.figure = draw(place, new Home(await engine, this));
    } catch (error) {
      place.replaceChildren(html("p", { class: "wrong", role: "alert" }, `This figure cannot be shown: ${error instanceof Error ? error.message : error}`));
      throw error;
    }
  }

  /** The displayed numbers. @returns {Record<string, any> | undefined} */
  state() {
    return this.figure?.state();
  }
}

customElements.define("linkwork-figure", LinkworkFigure);

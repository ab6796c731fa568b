// @ts-check
/**
 * `<linkwork-exercise answer="12.5" tolerance="0.05" unit="cm" hint="..." why="...">question</linkwork-exercise>`: an
 * exercise that checks its answer. Numbers may have units: 45deg, 1.2e-3. A comma separates numbers: 0,5 are two.
 */

import { html } from "./dom.js";
import { LOOK } from "./look.js";

/** Units in metres and radians. @type {Record<string, number>} */
const UNITS = {
  "": 1, rad: 1, deg: Math.PI / 180, "°": Math.PI / 180, m: 1, cm: 0.01, mm: 0.001, s: 1, ms: 0.001, "%": 0.01,
}; // prettier-ignore

/**
 * Read numbers, in the unit of the exercise unless another one is typed.
 * @param {string} text @param {string} unit @returns {number[] | null} null if the text is invalid
 */
export function readAnswer(text, unit) {
  const parts = text.replace(/−/g, "-").replace(/[()[\]{}]/g, " ").split(/[,;]|\s+(?=[-+.\d])/).map((part) => part.trim()).filter(Boolean);
  const values = parts.map((part) => {
    const found = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(\S*)$/i.exec(part);
    if (!found || (found[2] && !(found[2] in UNITS))) return NaN;
    return Number(found[1]) * (found[2] ? UNITS[found[2]] / (UNITS[unit] ?? 1) : 1);
  });
  return values.length && values.every(Number.isFinite) ? values : null;
}

export class LinkworkExercise extends HTMLElement {
  connectedCallback() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: "open" });
    const unit = this.getAttribute("unit") ?? "";
    const field = html("input", { type: "text", size: 12, inputmode: "text", "aria-label": `Your answer${unit ? ` in ${unit}` : ""}`, autocomplete: "off", spellcheck: "false" });
    const check = html("button", { type: "submit" }, "Check");
    const hint = html("button", { type: "button" }, "Hint");
    const says = html("p", { class: "say", role: "status", hidden: true });
    const form = html("form", { class: "row panel" }, field, ...(unit ? [html("span", {}, unit)] : []), check, hint);
    form.style.flexFlow = "row wrap";
    root.append(html("style", {}, LOOK), html("div", { class: "figure exercise" }, html("slot", {}), form, says));
    /** @param {string} text @param {string} color */
    const say = (text, color) => {
      says.hidden = false;
      says.className = `say c-${color}`;
      says.textContent = text;
    };
    hint.addEventListener("click", () => say(this.getAttribute("hint") ?? "", "muted"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [text, color] = this.judge(field.value);
      say(text, color);
    });
  }

  /** @param {string} text @returns {[string, string]} the response, and its colour */
  judge(text) {
    const unit = this.getAttribute("unit") ?? "";
    const answer = (this.getAttribute("answer") ?? "").split(",").map(Number);
    const given = readAnswer(text, unit);
    const count = answer.length === 1 ? "a number" : `${answer.length} numbers, separated by commas`;
    if (!given || given.length !== answer.length) return [`Please type ${count}${unit ? `, in ${unit}` : ""}.`, "muted"];
    const tolerance = Number(this.getAttribute("tolerance"));
    const right = given.every((value, k) => Math.abs(value - answer[k]) <= tolerance);
    return right ? [`Right. ${this.getAttribute("why") ?? ""}`, "green"] : [`Not yet. ${this.getAttribute("hint") ?? ""}`, "red"];
  }
}

customElements.define("linkwork-exercise", LinkworkExercise);

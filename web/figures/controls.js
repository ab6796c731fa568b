// @ts-check
/**
 * Controls beside a drawing: sliders, choices, buttons, tables of numbers, and a status sentence.
 *
 *     const { stage, panel } = split(root);
 *     panel.slider({ label: "θ_1", min: -180, max: 180, value: 22.5, unit: "°", moved: (value) => ... });
 *     panel.choice({ label: "Method", options: ["ccd", "damped"], chosen: (name) => ... });
 *     panel.buttons({ Reset: () => ... });
 *     const matrix = panel.matrix({ label: "J =" });  matrix.show([[1, 2], [3, 4]]);
 *     panel.say("The goal is reached.", "green");
 */

import { html, number, writeHtml } from "./dom.js";

/** @param {Element} root @returns {{stage: HTMLElement, panel: Panel}} elements for drawings, and for controls beside or below */
export function split(root) {
  const stage = html("div", { class: "stage" });
  const side = html("div", { class: "panel" });
  root.append(stage, side);
  root.classList.add("split");
  return { stage, panel: new Panel(side) };
}

/** @param {string} text @param {string} [name] */
function caption(text, name = "caption") {
  const node = html("span", { class: name });
  writeHtml(node, text);
  return node;
}

/** @typedef {{label: string, min: number, max: number, step?: number, value: number, unit?: string, digits?: number, color?: string, moved?: (value: number) => void}} Slider */

export class Panel {
  /** @param {HTMLElement} node */
  constructor(node) {
    this.node = node;
    /** @type {HTMLElement | undefined} */ this.sentence = undefined;
  }

  /**
   * A slider for a number. `put` sets it without a callback.
   * @param {Slider} options
   */
  slider({ label, min, max, step = (max - min) / 200, value, unit = "", digits = 0, color, moved }) {
    const input = html("input", { type: "range", min, max, step, value, "aria-label": label.replace(/[_{}]/g, "") });
    const shown = html("output", {});
    const say = () => {
      shown.textContent = `${number(Number(input.value), digits)}${unit === "°" || !unit ? unit : ` ${unit}`}`;
      input.setAttribute("aria-valuetext", shown.textContent);
    };
    input.addEventListener("input", () => {
      say();
      moved?.(Number(input.value));
    });
    const row = html("label", { class: `slider ${color ? `c-${color}` : ""}` }, caption(label), input, shown);
    this.node.append(row);
    say();
    return {
      row,
      get value() {
        return Number(input.value);
      },
      /** @param {number} next */
      put(next) {
        input.value = String(next);
        say();
      },
    };
  }

  /**
   * A choice: few options are buttons side by side, many a list.
   * @param {{label: string, options: string[] | Record<string, string>, value?: string, chosen?: (value: string) => void}} options
   *   words, or words by value
   */
  choice({ label, options, value, chosen }) {
    const entries = Array.isArray(options) ? options.map((word) => [word, word]) : Object.entries(options);
    let now = value ?? entries[0][0];
    const letters = entries.reduce((sum, [, word]) => sum + word.length + 3, 0);
    if (letters > 40) {
      const list = html("select", { "aria-label": label }, ...entries.map(([key, word]) => html("option", { value: key, selected: key === now }, word)));
      list.addEventListener("change", () => chosen?.((now = list.value)));
      this.node.append(html("label", { class: "choice" }, caption(label), list));
      return { get value() { return now; }, put(/** @type {string} */ next) { list.value = now = next; } }; // prettier-ignore
    }
    const buttons = entries.map(([key, word]) => {
      const button = html("button", { type: "button", "aria-pressed": String(key === now) });
      writeHtml(button, word);
      button.addEventListener("click", () => {
        put(key);
        chosen?.(key);
      });
      return button;
    });
    /** @param {string} next */
    const put = (next) => {
      now = next;
      buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(entries[k][0] === now)));
    };
    const group = html("div", { class: "options", role: "group", "aria-label": label }, ...buttons);
    this.node.append(html("div", { class: "choice" }, caption(label), group));
    return { get value() { return now; }, put }; // prettier-ignore
  }

  /** A checkbox. @param {{label: string, value?: boolean, changed?: (value: boolean) => void}} options */
  check({ label, value = false, changed }) {
    const box = html("input", { type: "checkbox", checked: value });
    box.addEventListener("change", () => changed?.(box.checked));
    this.node.append(html("label", { class: "check" }, box, caption(label)));
    return { get value() { return box.checked; }, put(/** @type {boolean} */ next) { box.checked = next; } }; // prettier-ignore
  }

  /** @param {Record<string, () => void>} actions by the words on the buttons @returns {Record<string, HTMLButtonElement>} */
  buttons(actions) {
    const made = Object.entries(actions).map(([word, action]) => {
      const button = html("button", { type: "button" }, word);
      button.addEventListener("click", action);
      return /** @type {[string, HTMLButtonElement]} */ ([word, button]);
    });
    this.node.append(html("div", { class: "buttons" }, ...made.map(([, button]) => button)));
    return Object.fromEntries(made);
  }

  /**
   * Buttons to play, step and reset. `step` returns false at the end.
   * @param {{step: () => boolean | void, back?: () => void, reset?: () => void, rate?: number}} options `rate` is in steps per second
   */
  player({ step, back, reset, rate = 4 }) {
    /** @type {ReturnType<typeof setInterval> | undefined} */ let clock;
    const stop = () => {
      clearInterval(clock);
      clock = undefined;
      made.Play.textContent = "Play";
    };
    const once = () => {
      if (step() === false || !this.node.isConnected) stop();
    };
    const made = this.buttons({
      Play: () => {
        if (clock) return stop();
        made.Play.textContent = "Pause";
        clock = setInterval(once, 1000 / rate);
        return once();
      },
      ...(back ? { Back: () => (stop(), back()) } : {}),
      Step: () => (stop(), step(), undefined),
      ...(reset ? { Reset: () => (stop(), reset()) } : {}),
    });
    return { stop, get playing() { return clock !== undefined; } }; // prettier-ignore
  }

  /**
   * A matrix in brackets: `show(rows, {columns, rows})`.
   * @param {{label?: string, columns?: string[], rows?: string[], colors?: string[], digits?: number}} [options] names of columns
   *   and rows, colours of columns
   */
  matrix({ label = "", columns, rows: names, colors = [], digits = 2 } = {}) {
    const body = html("tbody", {});
    const head = html("thead", {});
    if (columns) {
      const cells = columns.map((text, k) => html("th", { class: `c-${colors[k] ?? "ink"}` }, caption(text, "")));
      head.append(html("tr", {}, ...(names ? [html("td", {})] : []), ...cells));
    }
    const table = html("table", { class: "matrix" }, head, body);
    this.node.append(html("div", { class: "row" }, ...(label ? [caption(label)] : []), table));
    return {
      table,
      /** @param {ArrayLike<number>[]} values rows of numbers */
      show(values) {
        body.replaceChildren(
          ...values.map((row, i) => {
            const cells = Array.from(row, (value, k) => html("td", { class: `c-${colors[k] ?? "ink"}` }, number(value, digits)));
            return html("tr", {}, ...(names ? [html("th", {}, caption(names[i] ?? "", ""))] : []), ...cells);
          }),
        );
      },
    };
  }

  /** Values by name: `show({"θ_1": "45°"})`. @param {{label?: string}} [options] */
  table({ label = "" } = {}) {
    const body = html("tbody", {});
    this.node.append(html("div", { class: "row" }, ...(label ? [caption(label)] : []), html("table", { class: "values" }, body)));
    return {
      /** @param {Record<string, string> | string[][]} values by name, or pairs of name and value */
      show(values) {
        body.replaceChildren(
          ...(Array.isArray(values) ? values : Object.entries(values)).map(([name, value]) => html("tr", {}, html("th", {}, caption(name, "")), html("td", {}, value))),
        );
      },
    };
  }

  /** A paragraph. @param {string} text */
  note(text) {
    const node = html("p", { class: "note" }, text);
    this.node.append(node);
    return { node, show(/** @type {string} */ next) { node.textContent = next; } }; // prettier-ignore
  }

  /** Set the status sentence, which screen readers read out. @param {string} text @param {string} [color] */
  say(text, color = "ink") {
    if (!this.sentence) {
      this.sentence = html("p", { class: "say", role: "status" });
      this.node.append(this.sentence);
    }
    this.sentence.className = `say c-${color}`;
    if (this.sentence.textContent !== text) this.sentence.textContent = text;
  }
}

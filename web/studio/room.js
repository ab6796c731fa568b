// @ts-check
/** The layout: a bar on top, the stage, a panel with tabs at its side, and the timeline along the bottom. */

import { node } from "./dom.js";
import { CSS } from "./style.js";

export class Room {
  /** @param {ShadowRoot} root */
  constructor(root) {
    this.name = node("h1", { textContent: "linkwork" });
    this.status = node("div", { className: "told" });
    this.tools = node("div", { className: "tools" });
    this.stage = node("div", { className: "stage" });
    this.tabs = node("div", { className: "tabs", role: "tablist", "aria-label": "Panels" });
    this.pages = node("div", { className: "pages" });
    this.side = node("aside", { className: "side", "aria-label": "Panels" }, [this.tabs, this.pages]);
    this.bottom = node("section", { className: "bottom", "aria-label": "Timeline" });
    const bar = node("header", { className: "bar" }, [this.name, this.status, this.tools]);
    this.root = node("div", { className: "room" }, [bar, this.stage, this.side, this.bottom]);
    root.append(node("style", { textContent: CSS }), this.root);
    /** @type {Map<string, {tab: any, page: any}>} */ this.panels = new Map();
    this.tabs.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.steer(event));
  }

  /** Add a panel and return its element. @param {string} title @returns {HTMLElement} */
  panel(title) {
    const id = `panel-${this.panels.size}`;
    const tab = node("button", { type: "button", role: "tab", id: `${id}-tab`, "aria-controls": id, textContent: title, onclick: () => this.press(title) });
    const page = node("div", { className: "page", role: "tabpanel", id, "aria-labelledby": `${id}-tab` });
    this.tabs.append(tab);
    this.pages.append(page);
    this.panels.set(title, { tab, page });
    this.open([...this.panels.keys()][0]);
    return page;
  }

  /** Show a panel; on a small screen, pressing its tab once more closes it. @param {string} title */
  press(title) {
    this.root.classList.toggle("sheet", !(this.root.classList.contains("sheet") && this.shown === title));
    this.open(title);
  }

  /** @param {string} title */
  open(title) {
    this.shown = title;
    for (const [name, { tab, page }] of this.panels) {
      const on = name === title;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      page.hidden = !on;
    }
    this.pages.dispatchEvent(new CustomEvent("opened"));
  }

  /** @param {KeyboardEvent} event */
  steer(event) {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way) return;
    const names = [...this.panels.keys()];
    const next = names[(names.indexOf(/** @type {string} */ (this.shown)) + way + names.length) % names.length];
    this.open(next);
    this.panels.get(next)?.tab.focus();
    event.preventDefault();
  }

  /**
   * Show a question in a dialog. @param {string} title @param {any[]} inside @param {[string, () => void][]} buttons
   */
  ask(title, inside, buttons) {
    const dialog = node("dialog", { className: "ask", "aria-label": title, onclose: () => dialog.remove() }, [
      node("h2", { textContent: title, tabIndex: -1, autofocus: !buttons.length }), ...inside,
      node("div", { className: "buttons" }, [...buttons.map(([word, act], k) => node("button", { type: "button", className: k ? "" : "main", textContent: word, onclick: () => {
        dialog.close();
        act();
      } })), node("button", { type: "button", textContent: buttons.length ? "Cancel" : "Close", onclick: () => dialog.close() })]),
    ]);
    this.root.append(dialog);
    dialog.showModal();
    return dialog;
  }
}

/** A heading of a panel with a button to add something. @param {string} title @param {any[]} [tools] */
export function heading(title, tools = []) {
  return node("div", { className: "heading" }, [node("h2", { textContent: title }), ...tools]);
}

// @ts-check
/** A tour for beginners: a few tasks in order. It can be skipped, and is shown only once. */

import { node, tool } from "./dom.js";
import { shown } from "./commands.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */
/** @typedef {{text: string, done: (studio: Studio) => boolean}} Step */

const KEPT = "linkwork-studio-tour";

/** @param {Studio} studio @returns {string} the name of the last change */
const last = (studio) => studio.state.history?.undo ?? "";

/** @type {Step[]} */
const STEPS = [
  { text: "Drag the orange ball: the linkage follows.", done: (studio) => last(studio).startsWith("drag of") },
  { text: "You can drag any link. Try one.", done: (studio) => last(studio).startsWith("drag of") && last(studio) !== studio.tour?.first },
  { text: "Double-click a link to pin it; double-click again to release it.", done: (studio) => last(studio).startsWith("goal pin") || last(studio).startsWith("removal of pin") },
  { text: "Press K to set a key, move the time, drag, and press K again. Space plays.", done: (studio) => (studio.state.clip?.keys.length ?? 0) > 1 },
  { text: `${shown("ctrl+z")} undoes a change, ${shown("ctrl+k")} finds a command, ? lists all keys.`, done: (studio) => Boolean(studio.state.history?.redo) },
];

export class Tour {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.at = -1;
    /** The first drag, to tell the second one from it. */ this.first = "";
    this.text = node("p");
    this.count = node("small", { className: "soft" });
    this.card = node("div", { className: "tour", role: "status", hidden: true }, [this.text, node("div", { className: "row" }, [this.count, node("button", { type: "button", textContent: "Next", onclick: () => this.go(this.at + 1) }), tool("close", "Skip the tour", () => this.end())])]);
    studio.room.root.append(this.card);
    studio.commands.add({ title: "Show the tour again", act: () => this.go(0) });
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if (this.at < 0) {
      if ("goals" in parts && !remembered()) this.go(0);
      return;
    }
    if (STEPS[this.at]?.done(this.studio)) {
      if (this.at === 0) this.first = last(this.studio);
      this.go(this.at + 1);
    }
  }

  /** @param {number} at */
  go(at) {
    this.at = at;
    if (at >= STEPS.length) return this.end();
    this.card.hidden = false;
    this.text.textContent = STEPS[at].text;
    this.count.textContent = `${at + 1} of ${STEPS.length}`;
    return undefined;
  }

  end() {
    this.at = STEPS.length;
    this.card.hidden = true;
    try {
      localStorage.setItem(KEPT, "seen");
    } catch {
      this.at = STEPS.length; // without local storage, the tour is shown again
    }
  }
}

/** @returns {boolean} whether it was seen before */
function remembered() {
  try {
    return localStorage.getItem(KEPT) === "seen";
  } catch {
    return false;
  }
}

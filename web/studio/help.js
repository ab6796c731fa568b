// @ts-check
/** All keys on one sheet. */

import { shown } from "./commands.js";
import { node } from "./dom.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const HANDS = [
  ["Drag a ball", "move a goal; its rings turn it"], ["Drag a link", "the body follows"],
  ["R while dragging", "turn the goal, link or obstacle instead of moving it"], ["Double-click a link", "pin it, or release it"],
  ["Click a link", "select it"], ["Drag beside the linkage", "turn the view; with the right button or Shift, move it"], ["Wheel, pinch", "zoom"],
  ["Tab, arrow keys", "select the next ball, and move it; with Shift, turn it if it has rings"],
  ["Enter, Alt+arrows", "on the timeline: select a key, and move it"],
];

export class Help {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    studio.commands.add({ title: "All keys", keys: ["?"], act: () => this.open() });
  }

  show() {}

  open() {
    const row = (/** @type {string[]} */ keys, /** @type {string} */ what) => node("tr", {}, [node("th", { scope: "row" }, keys.map((one) => node("kbd", { textContent: one }))), node("td", { textContent: what })]);
    const commands = this.studio.commands.list.filter(({ keys }) => keys?.length).map(({ keys, title }) => row(/** @type {string[]} */ (keys).map(shown), title));
    this.studio.room.ask("Mouse, touch and keys", [node("table", { className: "help" }, [node("tbody", {}, [...HANDS.map(([keys, what]) => row([keys], what)), ...commands])])], []);
  }
}

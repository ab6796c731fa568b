// @ts-check
/**
 * All commands in one table, for buttons, shortcuts and the palette.
 *
 * A command has a title, keys such as "ctrl+z" (ctrl is the command key on a Mac), an action, and a test whether it applies.
 */

import { node, tool } from "./dom.js";
import { KINDS } from "./goals.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */
/** @typedef {{title: string, keys?: string[], act: () => void, can?: () => boolean, hidden?: boolean}} Command */

const MAC = navigator.platform.startsWith("Mac");
const MOST = 12; // largest number of commands listed by the palette

/** @param {string} keys @returns {string} the keys as text for users */
export function shown(keys) {
  const names = /** @type {Record<string, string>} */ ({ ctrl: MAC ? "\u2318" : "Ctrl", shift: MAC ? "\u21e7" : "Shift", " ": "Space", delete: "Del" });
  return keys.split("+").map((key) => names[key] ?? `${key[0].toUpperCase()}${key.slice(1)}`).join(MAC ? "" : "+");
}

export class Commands {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    /** @type {Command[]} */ this.list = [];
    this.undo = tool("undo", "Undo", () => studio.link.tell({ do: "undo" }));
    this.redo = tool("redo", "Redo", () => studio.link.tell({ do: "redo" }));
    this.find = tool("search", `Find a command (${shown("ctrl+k")})`, () => this.open());
    studio.room.tools.append(this.undo, this.redo, this.find);
    this.build();
    this.palette();
    studio.root.addEventListener("keydown", (event) => this.key(/** @type {KeyboardEvent} */ (event)));
    window.addEventListener("keydown", (event) => event.target === document.body && this.key(event));
  }

  build() {
    const { studio } = this;
    const { link } = studio;
    const goal = () => studio.chosen;
    const frame = () => studio.selected ?? studio.state.goals?.find((/** @type {any} */ one) => one.name === goal())?.frame;
    this.add({ title: "Undo", keys: ["ctrl+z"], act: () => link.tell({ do: "undo" }), can: () => Boolean(studio.state.history?.undo) });
    this.add({ title: "Redo", keys: ["ctrl+shift+z", "ctrl+y"], act: () => link.tell({ do: "redo" }), can: () => Boolean(studio.state.history?.redo) });
    this.add({ title: "Find a command", keys: ["ctrl+k"], act: () => this.open(), hidden: true });
    this.add({ title: "Show everything", keys: ["f"], act: () => studio.stage?.home() });
    this.add({ title: "Remove the selected goal", keys: ["delete", "backspace"], can: () => Boolean(goal()), act: () => link.tell({ do: "remove goal", name: goal() }) });
    this.add({ title: "Pin the selection", keys: ["p"], can: () => Boolean(frame()), act: () => link.tell({ do: "add goal", kind: "pin", frame: frame() }) });
    this.add({ title: "Add a goal for the selection", keys: ["a"], can: () => Boolean(frame()), act: () => link.tell({ do: "add goal", kind: "reach", frame: frame() }) });
    for (const kind of ["look at", "pole", "balance"]) {
      this.add({ title: `Add a goal: ${KINDS[kind]}`, can: () => Boolean(frame()), act: () => link.tell({ do: "add goal", kind, frame: frame() }) });
    }
    for (const name of ["Goals", "Joints", "Obstacles", "Inside", "Race", "View", "Files"]) this.add({ title: `Panel: ${name}`, act: () => studio.room.open(name) });
    this.add({ title: "Clear the selection", keys: ["escape"], act: () => studio.select(null), hidden: true });
  }

  /** @param {Command} command */
  add(command) {
    this.list.push(command);
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if (!parts.history) return;
    for (const [button, what, word] of /** @type {[any, string, string][]} */ ([[this.undo, parts.history.undo, "Undo"], [this.redo, parts.history.redo, "Redo"]])) {
      button.disabled = !what;
      button.title = what ? `${word}: ${what}` : `${word}: nothing`;
      button.setAttribute("aria-label", button.title);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {any} */ (event.composedPath()[0]);
    const writes = target.matches?.("input:not([type=range]):not([type=checkbox]), textarea, select");
    const control = MAC ? event.metaKey : event.ctrlKey;
    const name = `${control ? "ctrl+" : ""}${event.shiftKey && control ? "shift+" : ""}${event.key.toLowerCase()}`;
    if (event.altKey || event.defaultPrevented || (writes && !control) || target.closest?.("dialog")) return; // dialogs have their own keys
    if (name === " " && target.matches?.("button, summary, input, [role=option]")) return;
    const command = this.list.find((one) => one.keys?.includes(name));
    if (!command || (command.can && !command.can())) return;
    event.preventDefault();
    command.act();
  }

  // The palette

  palette() {
    this.input = node("input", { type: "text", placeholder: "What would you like to do?", "aria-label": "Find a command", role: "combobox",
      "aria-expanded": "true", "aria-controls": "commands", autocomplete: "off", spellcheck: false, oninput: () => this.search(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.steer(event) });
    this.found = node("ul", { role: "listbox", id: "commands", "aria-label": "Commands" });
    this.dialog = node("dialog", { className: "palette", "aria-label": "Commands", onclick: (/** @type {Event} */ event) => event.target === this.dialog && this.dialog.close() }, [this.input, this.found]);
    this.studio.root.append(this.dialog);
    this.at = 0;
  }

  open() {
    if (this.dialog.open) return this.dialog.close();
    this.input.value = "";
    this.dialog.showModal();
    this.search();
    return this.input.focus();
  }

  search() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { choices, state, link } = this.studio;
    /** @type {Command[]} */ const named = [
      ...(choices.models ?? []).map((/** @type {string} */ name) => ({ title: `Open ${name}`, act: () => link.tell({ do: "open model", name }) })),
      ...(state.poses ?? []).map((/** @type {string} */ name) => ({ title: `Pose ${name}`, act: () => link.tell({ do: "pose", q: name, what: `pose ${name}` }) })),
      ...(choices.methods ?? []).map((/** @type {string} */ name) => ({ title: `Method ${name}`, act: () => link.tell({ do: "method", name }) })),
      ...(state.clips ?? []).map((/** @type {string} */ name) => ({ title: `Clip ${name}`, act: () => link.tell({ do: "choose clip", name }) })),
    ];
    const fits = (/** @type {Command} */ one) => !one.hidden && (!one.can || one.can()) && words.every((/** @type {string} */ word) => one.title.toLowerCase().includes(word));
    this.fitting = [...this.list, ...(words.length ? named : [])].filter(fits).slice(0, MOST);
    this.at = 0;
    this.listFound();
  }

  listFound() {
    this.found.replaceChildren(...(this.fitting ?? []).map((one, k) => node("li", { role: "option", id: `command-${k}`, "aria-selected": String(k === this.at), onclick: () => this.run(one) }, [
      node("span", { textContent: one.title }), one.keys ? node("kbd", { textContent: shown(one.keys[0]) }) : "",
    ])));
    if (!this.fitting?.length) this.found.replaceChildren(node("li", { className: "none", role: "option", "aria-disabled": "true", textContent: "There is no such command." }));
    this.input.setAttribute("aria-activedescendant", this.fitting?.length ? `command-${this.at}` : "");
  }

  /** @param {KeyboardEvent} event */
  steer(event) {
    const count = this.fitting?.length ?? 0;
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way && count) {
      this.at = (this.at + way + count) % count;
      this.listFound();
      event.preventDefault();
    } else if (event.key === "Enter" && count) {
      event.preventDefault();
      this.run(/** @type {Command[]} */ (this.fitting)[this.at]);
    }
    event.stopPropagation();
  }

  /** @param {Command} command */
  run(command) {
    this.dialog.close();
    command.act();
  }
}

// @ts-check
/** The list of goals, with controls to change them. */

import { choice, node, tool } from "./dom.js";
import { heading } from "./room.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

/** Names of kinds of goals for users. */
export const KINDS = /** @type {Record<string, string>} */ ({ reach: "reach", pin: "pin", "look at": "look at", pole: "bend towards", balance: "balance" });

export class GoalsPanel {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.page = studio.room.panel("Goals");
    this.list = node("ul", { className: "goals" });
    this.link = node("div", { className: "card", hidden: true });
    this.settings = node("div", { className: "settings" });
    this.page.append(heading("Goals"), this.list, this.link, this.settings);
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if ("goals" in parts || "chosen" in parts) this.listGoals();
    if ("selected" in parts || "chosen" in parts) this.showLink();
    if ("method" in parts || "poses" in parts || "stage" in parts) this.showSettings();
  }

  listGoals() {
    const { studio } = this;
    const goals = studio.state.goals ?? [];
    const none = node("li", { className: "soft", textContent: "No goals. Drag a link, double-click it to pin it, or select it and add a goal." });
    this.list.replaceChildren(...(goals.length ? goals.map((/** @type {any} */ goal) => this.row(goal)) : [none]));
  }

  /** @param {any} goal */
  row(goal) {
    const { studio } = this;
    const { link } = studio;
    const { name } = goal;
    const change = (/** @type {any} */ values) => link.tell({ do: "change goal", name, ...values });
    const open = studio.chosen === name;
    const dot = node("i", { className: "dot" });
    dot.style.background = studio.holding.color(name);
    const label = node("button", { type: "button", className: "name", "aria-pressed": String(open), title: name, onclick: () => studio.choose(open ? null : name) }, [dot, node("span", { textContent: name }), node("small", { textContent: KINDS[goal.kind] ?? goal.kind })]);
    const eye = node("input", { type: "checkbox", checked: goal.active, title: "Active", "aria-label": `${name} is active`, onchange: () => change({ active: eye.checked }) });
    const row = node("li", { className: open ? "open" : "" }, [node("div", { className: "row" }, [label, eye, tool("bin", `Remove ${name}`, () => link.tell({ do: "remove goal", name }))])]);
    if (open) row.append(this.details(goal, change));
    return row;
  }

  /** @param {any} goal @param {(values: any) => void} change */
  details(goal, change) {
    const rename = node("input", { type: "text", value: goal.name, maxLength: 60, "aria-label": "Name", onchange: () => {
      if (rename.value && rename.value !== goal.name) {
        this.studio.chosen = rename.value;
        change({ rename: rename.value });
      }
    } });
    const weight = node("input", { type: "range", min: -2, max: 2, step: 0.05, value: Math.log10(goal.weight), onchange: () => change({ weight: Number((10 ** weight.value).toPrecision(3)) }) });
    const priority = choice("Level", ["0", "1", "2", "3"], String(goal.priority), (value) => change({ priority: Number(value) }));
    const rows = [field("Name", rename), field(`Weight ${Number(goal.weight.toPrecision(2))}`, weight), field("Level", priority)];
    if (goal.kind === "reach" && !this.studio.solving?.scene.flat) {
      const turn = node("input", { type: "checkbox", checked: goal.turn, onchange: () => change({ turn: turn.checked }) });
      rows.push(node("label", { className: "check" }, [turn, "Keep its orientation too"]));
    }
    return node("div", { className: "details" }, rows);
  }

  /** Controls for the selected link. */
  showLink() {
    const { studio } = this;
    const { selected, link } = studio;
    this.link.hidden = !selected;
    if (!selected) return;
    const add = (/** @type {string} */ kind) => link.tell({ do: "add goal", kind, frame: selected });
    const button = (/** @type {string} */ text, /** @type {string} */ kind) => node("button", { type: "button", textContent: text, onclick: () => add(kind) });
    this.link.replaceChildren(
      node("h3", { textContent: selected }),
      node("div", { className: "buttons" }, [button("Pin", "pin"), button("Reach", "reach"), button("Look at", "look at"), button("Bend", "pole"), button("Balance", "balance")]),
    );
  }

  showSettings() {
    const { studio } = this;
    const { choices, state, link } = studio;
    const names = state.poses ?? [];
    const poses = choice("Pose", [["", names.length ? "choose a pose" : "no stored poses"], ...names.map((/** @type {string} */ name) => [name, name])], "", (name) => name && link.tell({ do: "pose", q: name, what: `pose ${name}` }));
    const store = node("button", { type: "button", textContent: "Store", title: "Store this pose under a name", onclick: () => {
      const input = node("input", { type: "text", maxLength: 60, placeholder: "Name of the pose", "aria-label": "Name of the pose" });
      studio.room.ask("Store this pose", [input], [["Store", () => input.value && link.tell({ do: "store pose", name: input.value })]]);
    } });
    const method = choice("Method", choices.methods ?? ["robust"], state.method ?? "robust", (name) => link.tell({ do: "method", name }));
    this.settings.replaceChildren(heading("Solving"), field("Method", method), heading("Poses"), node("div", { className: "row" }, [poses, store]));
  }
}

/** @param {string} label @param {any} input */
export function field(label, input) {
  return node("label", { className: "field" }, [node("span", { textContent: label }), input]);
}

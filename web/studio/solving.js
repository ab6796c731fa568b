// @ts-check
/**
 * The linkage in the studio's page: its pose, its goals, and the current drag. Every picture is solved here by the same
 * machine code as in Python; Python receives the result when the drag ends.
 *
 * Solvers for goals that only reach or hold are built here. For others (looking, bending, balance, keeping clear) Python
 * sends a packed solver for all goals together.
 */

import { Session } from "../view/session.js";
import { makeSolver } from "../linkwork.js";

/** @typedef {import("../linkwork.js").Linkage} Linkage */
/** A goal as sent by Python.
 * @typedef {{name: string, kind: string, frame: string, place: number[], turn: boolean, weight: number, priority: number, active: boolean}} Target */

const PLAIN = ["reach", "pin"]; // kinds of goals for which the page builds solvers
export const HAND = "\u0000hand"; // the name of the goal for a held link

export class Solving extends Session {
  /** @param {Linkage} linkage @param {any} scene @param {number} [columns] largest number of velocities that the page solves by itself */
  constructor(linkage, scene, columns = Infinity) {
    super(linkage, { ...scene, handles: [], pins: [] });
    this.large = linkage.nv > columns; // then Python solves, and the page stays responsive
    this.turns = false; // whether a joint is being turned
    /** @type {Target[]} */ this.list = [];
    /** The solver packed by Python for all goals. @type {any} */ this.packed = null;
    /** @type {any} */ this.whole = null;
    this.clear = false; // whether the linkage keeps clear of something
    /** The first pose of a drag, for the details of the solve. @type {Float64Array | null} */ this.begun = null;
  }

  /** Set the goals from Python; a held one keeps its dragged position. @param {Target[]} targets */
  takeGoals(targets) {
    const held = this.hand;
    this.list = targets;
    const before = this.pins;
    this.pins = new Map();
    for (const target of targets) {
      if (!target.active) continue;
      const old = before.get(target.name);
      const goal = this.goal(target);
      if (held && old === held) {
        goal.target.set(held.target);
        [goal.turn, goal.turned] = [held.turn, /** @type {any} */ (held).turned];
        this.hand = goal;
      }
      this.pins.set(target.name, goal);
    }
    if (held && held.pinned && ![...this.pins.values()].includes(/** @type {any} */ (this.hand))) this.rest();
  }

  /** @param {Target} target @returns {any} */
  goal({ name, kind, frame, place, turn, weight, priority }) {
    const whole = kind === "pin" || (kind === "reach" && turn);
    return { name, kind, frame, point: null, turn: whole, weight, priority, target: Float64Array.from(place), pinned: true, turned: false };
  }

  /** Set the solver packed by Python for all goals. @param {any} packed */
  takeSolver(packed) {
    this.packed = packed;
    this.whole?.linkage.free();
    this.whole = null;
    this.clear = Boolean(packed?.names.includes(null));
  }

  /** Whether the page can solve for the held goal; Python solves for goals that differ from its packed solver. @param {any} goal */
  moves(goal) {
    if (goal.kind === "balance" || this.large) return false;
    return this.plain(this.goals()) || (this.packed !== null && goal.name !== HAND && !goal.turned);
  }

  /** The request to Python to move the held goal. @param {boolean} goesOn whether it continues the last step of undo @returns {Record<string, any>} */
  asked(goesOn) {
    const { name, frame, point, turn, turned, target } = /** @type {any} */ (this.hand);
    const place = Array.from(target);
    return name === HAND ? { do: "pull", link: frame, point: point ?? [0, 0, 0], turn, place, goes_on: goesOn } : { do: "drag", name, place, turn: turned, goes_on: goesOn };
  }

  /** Make the held goal include its orientation, which is that of its frame at first. @returns {boolean} whether it can */
  roll() {
    const goal = /** @type {any} */ (this.hand);
    if (!goal || !PLAIN.includes(goal.kind)) return false;
    if (goal.turn) return true;
    const at = [3, 7, 11].map((k) => goal.target[k]);
    goal.target.set(this.place(goal.frame));
    [3, 7, 11].forEach((k, n) => (goal.target[k] = at[n]));
    goal.turn = goal.turned = true;
    return true;
  }

  /** The goals that include their orientation since they were rotated by hand, for Python. @returns {string[]} */
  turned() {
    return [...this.pins].filter(([, goal]) => /** @type {any} */ (goal).turned).map(([name]) => name);
  }

  /** Whether the page can build a solver for goals. @param {any[]} goals */
  plain(goals) {
    return !this.clear && goals.every((goal) => PLAIN.includes(goal.kind ?? "reach") && (goal.priority ?? 0) === 0);
  }

  /** Hold a goal by its name. @param {string} name */
  takeGoal(name) {
    const goal = this.pins.get(name);
    if (!goal) return null;
    this.hand = goal;
    this.held = true;
    this.steps = 0;
    this.begun = this.q;
    return goal;
  }

  /** Hold a point of a link, or its orientation; goals that reach are ignored meanwhile. @param {string} link @param {number[] | null} point in the link */
  takeLink(link, point) {
    this.hand = /** @type {any} */ ({ name: HAND, kind: "reach", frame: link, point, turn: !point, target: this.place(link, point), pinned: false });
    this.held = true;
    this.steps = 0;
    this.begun = this.q;
    return this.hand;
  }

  /** The goals of a solve, the held one first. While a link is held, goals that reach follow; pins stay. @returns {any[]} */
  goals() {
    const all = [...this.pins.values()].filter((goal) => goal !== this.hand);
    if (this.turns) return this.large ? [] : all.filter((goal) => /** @type {any} */ (goal).kind !== "reach");
    if (!this.hand) return all;
    const loose = /** @type {any} */ (this.hand).name === HAND;
    return [this.hand, ...all.filter((goal) => !loose || /** @type {any} */ (goal).kind !== "reach")];
  }

  /** @param {any[]} goals @param {string[]} [stays] */
  solver(goals, stays = []) {
    if (this.plain(goals) || stays.length || !this.packed) return super.solver(goals, stays);
    this.whole ??= Object.assign(makeSolver(this.linkage.apart(), this.packed.data), { order: this.packed.names });
    return this.whole;
  }

  /** @param {any[]} goals @param {any} solver */
  targets(goals, solver) {
    if (!solver.order) return super.targets(goals, solver);
    const by = new Map(goals.map((goal) => [goal.name, goal]));
    return solver.order.map((/** @type {string | null} */ name) => {
      const goal = name === null ? undefined : by.get(name);
      if (!goal || goal.kind === "balance") return undefined; // its position is in the packed solver
      return PLAIN.includes(goal.kind) ? goal.target : { point: [goal.target[3], goal.target[7], goal.target[11]] };
    });
  }

  /** Set a value of the pose; goals that reach follow, as while a link is held. @param {number} k @param {number} value */
  turn(k, value) {
    this.turns = true;
    try {
      return super.turn(k, value);
    } finally {
      this.turns = false;
      this.bring();
    }
  }

  /** Move goals that reach to their frames, after a link was dragged or a joint turned. */
  bring() {
    for (const goal of this.pins.values()) {
      if (/** @type {any} */ (goal).kind === "reach") goal.target.set(this.place(goal.frame));
    }
  }

  /** Positions of all goals, for Python. @returns {Record<string, number[]>} */
  places() {
    return Object.fromEntries([...this.pins].map(([name, goal]) => [name, Array.from(goal.target)]));
  }

  /** Free all memory. */
  free() {
    for (const solver of [...this.solvers.values(), this.whole]) solver?.linkage.free();
    this.linkage.free();
  }
}

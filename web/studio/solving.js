// @ts-check
/**
 * The linkage at work in the studio's page: its pose, its goals, and the hand that pulls. Solves are those of Python, by
 * the same machine code, at every picture; Python is told when the hand lets go.
 *
 * Goals that only reach or hold are put together here. For others (looking, bending, balance, keeping clear) Python has
 * packed a solver for all goals together, which came with them.
 */

import { Session } from "../view/session.js";
import { makeSolver } from "../linkwork.js";

/** @typedef {import("../linkwork.js").Linkage} Linkage */
/** A goal as Python tells it.
 * @typedef {{name: string, kind: string, frame: string, place: number[], turn: boolean, weight: number, priority: number, active: boolean}} Target */

const PLAIN = ["reach", "pin"]; // goals that are put together in the page
export const HAND = "\u0000hand"; // the name of what is held without a goal of its own

export class Solving extends Session {
  /** @param {Linkage} linkage @param {any} scene @param {number} [columns] directions in which a pose may change for the page to solve by itself */
  constructor(linkage, scene, columns = Infinity) {
    super(linkage, { ...scene, handles: [], pins: [] });
    this.large = linkage.nv > columns; // Python moves it, and the page goes on meanwhile
    this.turns = false; // whether a joint is turned
    /** @type {Target[]} */ this.list = [];
    /** What Python has packed for all goals. @type {any} */ this.packed = null;
    /** @type {any} */ this.whole = null;
    this.clear = false; // whether the linkage keeps clear of something
    /** Where a drag began, to look into it later. @type {Float64Array | null} */ this.begun = null;
  }

  /** Take the goals that Python tells; one that is held stays where the hand has it. @param {Target[]} targets */
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

  /** Take the solver that Python has packed for all goals. @param {any} packed */
  takeSolver(packed) {
    this.packed = packed;
    this.whole?.linkage.free();
    this.whole = null;
    this.clear = Boolean(packed?.names.includes(null));
  }

  /** Whether the page can move what is held by itself; Python moves what its solver does not know as it is. @param {any} goal */
  moves(goal) {
    if (goal.kind === "balance" || this.large) return false;
    return this.plain(this.goals()) || (this.packed !== null && goal.name !== HAND && !goal.turned);
  }

  /** What Python is asked for to move what is held. @param {boolean} goesOn whether it is no new step to undo @returns {Record<string, any>} */
  asked(goesOn) {
    const { name, frame, point, turn, turned, target } = /** @type {any} */ (this.hand);
    const place = Array.from(target);
    return name === HAND ? { do: "pull", link: frame, point: point ?? [0, 0, 0], turn, place, goes_on: goesOn } : { do: "drag", name, place, turn: turned, goes_on: goesOn };
  }

  /** The goal that is held keeps its turn from now on, which begins as its frame is turned. @returns {boolean} whether it can */
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

  /** The goals that keep their turn since they were turned by hand, for Python. @returns {string[]} */
  turned() {
    return [...this.pins].filter(([, goal]) => /** @type {any} */ (goal).turned).map(([name]) => name);
  }

  /** Whether goals can be put together here. @param {any[]} goals */
  plain(goals) {
    return !this.clear && goals.every((goal) => PLAIN.includes(goal.kind ?? "reach") && (goal.priority ?? 0) === 0);
  }

  /** Take hold of a goal by its name. @param {string} name */
  takeGoal(name) {
    const goal = this.pins.get(name);
    if (!goal) return null;
    this.hand = goal;
    this.held = true;
    this.steps = 0;
    this.begun = this.q;
    return goal;
  }

  /** Take hold of a point of a link, or of its turn; goals that reach let go meanwhile. @param {string} link @param {number[] | null} point in the link */
  takeLink(link, point) {
    this.hand = /** @type {any} */ ({ name: HAND, kind: "reach", frame: link, point, turn: !point, target: this.place(link, point), pinned: false });
    this.held = true;
    this.steps = 0;
    this.begun = this.q;
    return this.hand;
  }

  /** The goals of a solve: what is held first. While a link is held, goals that reach follow; pins stay. @returns {any[]} */
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
      if (!goal || goal.kind === "balance") return undefined; // whose place was packed
      return PLAIN.includes(goal.kind) ? goal.target : { point: [goal.target[3], goal.target[7], goal.target[11]] };
    });
  }

  /** Give a value of the pose: goals that reach go along, as when a link is held. @param {number} k @param {number} value */
  turn(k, value) {
    this.turns = true;
    try {
      return super.turn(k, value);
    } finally {
      this.turns = false;
      this.bring();
    }
  }

  /** Put goals that reach where their frames are now: after a link was dragged, or a joint turned. */
  bring() {
    for (const goal of this.pins.values()) {
      if (/** @type {any} */ (goal).kind === "reach") goal.target.set(this.place(goal.frame));
    }
  }

  /** Places of all goals, for Python. @returns {Record<string, number[]>} */
  places() {
    return Object.fromEntries([...this.pins].map(([name, goal]) => [name, Array.from(goal.target)]));
  }

  /** Give all memory back. */
  free() {
    for (const solver of [...this.solvers.values(), this.whole]) solver?.linkage.free();
    this.linkage.free();
  }
}

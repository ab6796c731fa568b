// @ts-check
/**
 * The state of an interactive linkage, independent of a page: pose, current drag, pins, method. `view.js` shows it.
 *
 *     const session = new Session(linkwork.linkage(scene.pack), scene);
 *     session.take("tip");                  // hold a frame, or a point of a link
 *     session.pull([0.4, 0.1, 0.5]);        // set its target
 *     while (session.work()) draw(session.q);
 *     session.drop();
 *
 * A drag never jumps: every solve continues from the pose before (`stay` in Python). If the frame is released at a target
 * that it did not reach, one search from other starts follows.
 */

import { goalSolver } from "../goals.js";
import { refuse } from "../linkwork.js";
import { METHODS, step, whyNot } from "../textbook.js";
import { atLimits } from "./words.js";

/** @typedef {import("../linkwork.js").Linkage} Linkage */
/** @typedef {ArrayLike<number>} Numbers */
/**
 * Data from Python: the start pose, frames to drag, pinned frames, whether the linkage is planar, the reach of frames, and
 * whether the linkage tends back to its last chosen pose.
 * @typedef {{start: number[], handles: {frame: string, turn: boolean}[], pins: {frame: string, turn: boolean}[], flat: boolean,
 *   reach: Record<string, {numbers: number[], joint: string} | null>, leans?: boolean}} Scene
 */
/** A goal for a frame or a point of a link, dragged or pinned, with or without orientation; `weight` is 1 by default.
 * @typedef {{frame: string, point: number[] | null, turn: boolean, target: Float64Array, pinned: boolean, weight?: number}} Goal */
/** The report on a solve: all values at a limit, those of joints that move the goals, `alone` for one goal without loops.
 * @typedef {{status: string, success: boolean, iterations: number, limits: string[], blocking: string[], tolerance: number, alone: boolean,
 *   endings: Record<string, string>, blocks: {value: number, unit: string, goal: string}[],
 *   goals: {frame: string, target: Numbers, position: number, reach: {numbers: number[], joint: string} | null}[]}} Told */

export const ROBUST = "robust";
const RESTARTS = 24; // other starts when a frame is released; few enough that the largest body takes only a moment
const MOST_STEPS = 600; // largest number of steps of a textbook method for one target
const STRIDE = 0.1; // step of a slider between solves of pins and loops [rad, or lengths of the linkage]
const MOST_CYCLES = 20;
const MOST_SOLVERS = 12; // largest number of cached solvers
const STILL = 1e-12; // a step that changes the pose by less is the last

export class Session {
  /** @param {Linkage} linkage @param {Scene} scene */
  constructor(linkage, scene) {
    this.linkage = linkage;
    this.scene = scene;
    /** @type {Float64Array} */ this.q = linkage.read(scene.start);
    /** The pose that it tends back to. */ this.home = this.q;
    /** @type {Map<string, Goal>} */ this.pins = new Map();
    /** @type {Goal | null} */ this.hand = null;
    this.held = false; // whether the drag still goes on
    this.method = ROBUST;
    /** @type {Told | null} */ this.told = null;
    /** The last solve: start, goals and solution. @type {any} */ this.last = null;
    this.waiting = false; // whether there is something to solve
    this.steps = 0;
    /** @type {Map<string, any>} */ this.solvers = new Map();
    this.pinFirst();
  }

  /** Set the initial pins. */
  pinFirst() {
    this.pins.clear();
    for (const { frame, turn } of this.scene.pins) this.pin(frame, turn);
  }

  /** The available methods; of the textbook's, those that support one of the frames. @returns {string[]} */
  get methods() {
    const frames = this.scene.handles.map(({ frame }) => frame);
    return [ROBUST, ...METHODS.filter((method) => frames.some((frame) => this.serves(frame, method)))];
  }

  /** The loops that stay closed. @returns {{frames: string[], kind: string}[]} */
  get loops() {
    return this.linkage.data.assembly?.loops ?? [];
  }

  /** Number of coordinates of a position. */
  get coordinates() {
    return this.scene.flat ? 2 : 3;
  }

  /**
   * Whether a method supports a frame; the textbook's methods only support single frames that were packed for them.
   * @param {string} frame @param {string} [method]
   */
  serves(frame, method = this.method) {
    if (method === ROBUST) return true;
    const turn = this.scene.handles.find((handle) => handle.frame === frame)?.turn ?? false;
    const name = turn ? `${frame}, turned` : frame;
    return name in this.linkage.data.solvers && !whyNot(this.linkage, method, name);
  }

  /** The transform of a frame, or of a point of it. @param {string} frame @param {number[] | null} [point] @returns {Float64Array} */
  place(frame, point = null) {
    const m = this.linkage.forward(this.q, frame);
    if (point) for (const k of [0, 4, 8]) m[k + 3] += m[k] * point[0] + m[k + 1] * point[1] + m[k + 2] * point[2];
    return m;
  }

  // Dragging

  /**
   * Hold a frame, or a point of a link; for a pinned frame, its pin.
   * @param {string} frame @param {{point?: number[] | null, turn?: boolean}} [options]
   */
  take(frame, { point = null, turn } = {}) {
    const pin = this.pins.get(frame);
    const own = turn ?? this.scene.handles.find((handle) => handle.frame === frame)?.turn ?? false;
    this.hand = pin ?? { frame, point, turn: own && !point, target: this.place(frame, point), pinned: false };
    this.held = true;
    this.steps = 0;
    return this.hand;
  }

  /** Set the target of the held frame: a position, or a matrix of 16 numbers. @param {Numbers} place */
  pull(place) {
    const { hand } = this;
    if (!hand) return;
    if (place.length === 16) hand.target.set(place);
    else Array.from(place).forEach((x, k) => (hand.target[4 * k + 3] = x));
    this.waiting = true;
    this.steps = 0;
  }

  /** End a drag; if the frame has not reached its target, search from other starts too. */
  drop() {
    const { hand } = this;
    this.held = false;
    if (!hand || this.waiting) return;
    if (this.method === ROBUST && this.told && !this.told.success) this.search();
    this.hand = null;
  }

  /** Pin a frame where it is, with or without its orientation. @param {string} frame @param {boolean} [turn] */
  pin(frame, turn = true) {
    this.pins.set(frame, { frame, point: null, turn, target: this.place(frame), pinned: true });
  }

  /** @param {string} frame */
  unpin(frame) {
    this.pins.delete(frame);
  }

  // Solving

  /** The goals: the dragged one first, then pins. @returns {Goal[]} */
  goals() {
    const pins = [...this.pins.values()].filter((pin) => pin !== this.hand);
    return this.hand ? [this.hand, ...pins] : pins;
  }

  /** @param {Goal[]} goals @param {string[]} [stays] joints that are held @returns {any} the solver for the goals */
  solver(goals, stays = []) {
    const { linkage } = this;
    const name = solverName(goals[0]);
    const leans = this.scene.leans && !stays.length;
    const alone = goals.length === 1 && !goals[0].point && !this.loops.length && !stays.length && !leans;
    if (alone && name in linkage.data.solvers) return linkage.solver(name);
    /** @type {any[]} */ const wishes = goals.map(({ frame, point, turn, weight }, k) => ({
      frame, name: `goal ${k}`, at: point !== null, position: this.coordinates, orientation: turn, weight,
    }));
    if (leans) wishes.push({ rest: true });
    const key = JSON.stringify([wishes, stays]);
    const solver = this.solvers.get(key) ?? goalSolver(linkage.apart(), wishes, { stays, restarts: RESTARTS });
    this.keep(key, solver);
    goals.forEach(({ point }, k) => point && solver.hold(`goal ${k}`, point));
    return solver;
  }

  /** Cache the solvers used last, and free the others. @param {string} key @param {any} solver */
  keep(key, solver) {
    this.solvers.delete(key);
    this.solvers.set(key, solver);
    if (this.solvers.size <= MOST_SOLVERS) return;
    const [oldest, old] = /** @type {[string, any]} */ (this.solvers.entries().next().value);
    this.solvers.delete(oldest);
    old.linkage.free();
  }

  /** @param {Goal[]} goals @param {any} solver @returns {any} their targets in the solver's form */
  targets(goals, solver) {
    if (solver.goals) {
      const places = goals.map(({ target }, k) => [`goal ${k}`, target]);
      return Object.fromEntries(solver.goals.includes("rest") ? [...places, ["rest", this.home]] : places);
    }
    return goals[0].turn ? goals[0].target : this.position(goals[0]);
  }

  /** @param {Goal} goal @returns {number[]} */
  position({ target }) {
    return [target[3], target[7], target[11]].slice(0, this.coordinates);
  }

  /** Solve for one picture; return whether the pose has changed. @returns {boolean} */
  work() {
    if (!this.waiting) return false;
    const goals = this.goals();
    this.waiting = false;
    if (!goals.length) return false;
    if (this.method !== ROBUST && this.hand && this.serves(this.hand.frame)) this.advance(this.hand);
    else this.follow(goals);
    if (!this.held && !this.waiting) this.drop();
    return true;
  }

  /** Move towards the goals without a jump. @param {Goal[]} goals @param {string[]} [stays] */
  follow(goals, stays = []) {
    const [start, solver] = [this.q, this.solver(goals, stays)];
    const found = solver.solve(this.targets(goals, solver), { start, stay: true });
    this.q = found.q;
    this.waiting = found.status === "following";
    this.tell(goals, start, found, solver);
    return found;
  }

  /** Search for a pose from other starts, and use it if it meets the goals. */
  search() {
    const goals = this.goals();
    const [start, solver] = [this.q, this.solver(goals)];
    const found = solver.solve(this.targets(goals, solver), { start });
    if (!found.success) return;
    this.q = found.q;
    this.tell(goals, start, found, solver);
  }

  /** Take one step of a textbook method. @param {Goal} goal */
  advance(goal) {
    const { linkage, method } = this;
    const [start, name] = [this.q, solverName(goal)];
    const target = goal.turn ? goal.target : this.position(goal);
    const taken = step(linkage, /** @type {any} */ (method), target, start, { solver: name });
    const { tolerance, rotation_tolerance: turned } = linkage.data.solvers[name];
    const units = goal.turn ? ["m", "rad"] : ["m"];
    const success = taken.residuals.every((x, k) => x <= (units[k] === "rad" ? turned : tolerance));
    const still = !success && taken.velocity.every((x) => Math.abs(x) < STILL);
    if (!success) this.q = taken.q;
    this.waiting = !success && !still && this.steps < MOST_STEPS;
    const status = success ? "reached" : still ? "stalled" : this.waiting ? "following" : "iterations";
    this.tell([goal], start, { q: this.q, success, status, residuals: taken.residuals, units, iterations: this.steps });
    this.steps += 1;
  }

  /**
   * Store the result of a solve and the report on it, which covers goals and loops but not rest goals.
   * @param {Goal[]} goals @param {Float64Array} start @param {any} found @param {any} [solver]
   */
  tell(goals, start, found, solver) {
    const { linkage, scene } = this;
    const names = goals.flatMap(({ frame, turn, pinned }) => {
      const name = `${pinned ? "Hold" : "Reach"} '${frame}'`;
      return turn ? [name, name] : [name];
    });
    for (const { frames, kind } of this.loops) {
      const name = `the loop of '${frames[0]}' and '${frames[1]}'`;
      names.push(name, ...(kind === "point" ? [] : [name]));
    }
    const kept = goals.map((goal) => ({ ...goal, target: goal.target.slice() }));
    const leans = Boolean(solver?.goals?.includes("rest"));
    this.last = { start, goals: kept, found, method: this.method, home: leans ? this.home : null };
    const judged = Array.from(found.residuals, (value, k) => ({ value, unit: found.units[k], tolerance: solver?.data.tolerances?.[k] }));
    const limits = atLimits(linkage, found.q);
    const moving = new Set(goals.flatMap(({ frame }) => this.joints(frame)));
    this.told = {
      status: found.status, success: found.success, iterations: found.iterations, limits: limits.map(({ text }) => text),
      blocking: limits.filter(({ k }) => moving.has(linkage.data.joints[k])).map(({ name }) => name),
      alone: goals.length + this.loops.length === 1, endings: linkage.data.layouts.endings, tolerance: linkage.data.assembly.tolerance.m,
      blocks: judged.filter(({ tolerance }) => tolerance !== Infinity).map(({ value, unit }, k) => ({ value, unit, goal: names[k] })),
      goals: kept.map(({ frame, point, target }) => ({ frame, target, position: this.coordinates,
        reach: point ? null : (scene.reach[frame] ?? null) })),
    };
  }

  /** @param {string} frame @returns {string[]} the joints that move it */
  joints(frame) {
    const { data, frames, parents } = this.linkage;
    const { owned, rates } = data.tree;
    const found = [];
    for (let k = frames.indexOf(frame); k >= 0; k = parents[k]) {
      for (let i = owned[k]; i < owned[k + 1]; i++) found.push(data.velocity_joints[rates[i]]);
    }
    return found;
  }

  // Posing by hand

  /**
   * Set a value of the pose in small steps, keeping pins and loops if possible; return whether the value was reached.
   * @param {number} k @param {number} value
   */
  turn(k, value) {
    const { linkage } = this;
    const wanted = Math.min(Math.max(value, linkage.lower[k]), linkage.upper[k]);
    this.hand = null;
    const [goals, first] = [this.goals(), this.q[k]];
    const alone = !goals.length && !this.loops.length;
    const stride = STRIDE * (linkage.data.units[k] === "rad" ? 1 : linkage.data.length || 1);
    const count = alone ? 1 : Math.max(1, Math.ceil(Math.abs(wanted - first) / stride));
    for (let n = 1; n <= count; n++) {
      const before = this.q;
      this.q = Float64Array.from(before);
      this.q[k] = n === count ? wanted : first + ((wanted - first) * n) / count;
      if (alone) this.told = this.last = null;
      else if (!this.kept(goals, linkage.data.joints[k])) {
        this.q = before; // a loop cannot be closed with this value
        return false;
      }
    }
    return true;
  }

  /** Solve for pins and loops with a joint held; return whether all loops are closed. @param {Goal[]} goals @param {string} joint */
  kept(goals, joint) {
    let found;
    for (let n = 0; n < MOST_CYCLES && (n === 0 || this.waiting); n++) found = this.follow(goals, [joint]);
    this.waiting = false;
    return !this.loops.length || found.success || goals.length > 0;
  }

  /** Set a pose, by name or as numbers; pins move to their frames in it. @param {import("../linkwork.js").Pose} pose */
  pose(pose) {
    this.q = this.home = this.linkage.read(pose);
    this.rest();
    for (const pin of this.pins.values()) pin.target.set(this.place(pin.frame));
  }

  /** Reset to the start. */
  reset() {
    this.q = this.home = this.linkage.read(this.scene.start);
    this.rest();
    this.pinFirst();
  }

  /** End the drag, and clear the last solve. */
  rest() {
    this.hand = this.told = this.last = null;
    this.held = this.waiting = false;
  }

  /** @param {string} method */
  choose(method) {
    if (!this.methods.includes(method)) refuse(`methods are ${this.methods.join(", ")}, got ${method}.`);
    this.method = method;
    this.rest();
  }
}

/** @param {Goal | undefined} goal @returns {string} the packed solver for it, if there is one */
function solverName(goal) {
  return !goal || goal.point ? "" : goal.turn ? `${goal.frame}, turned` : goal.frame;
}

// @ts-check
/**
 * The textbook's methods, one step at a time or until they end, for pages that show their motion.
 *
 *     const { q, velocity, residuals } = step(arm, "damped", [-20, 5], q, { damping: 5 });
 *     const { status, trace } = run(arm, "transpose", [-20, 5], q, { trace: true });
 *
 * The machine code is that of Python's loop, so steps, limits and statuses are the same.
 */

import { ChainSolver, readTarget, refuse } from "./linkwork.js";
import { turned } from "./rotations.js";

/** @typedef {import("./linkwork.js").Numbers} Numbers */
/** @typedef {import("./linkwork.js").Linkage} Linkage */
/** @typedef {import("./linkwork.js").Target} Target */
/** @typedef {import("./linkwork.js").Pose} Pose */
/**
 * Options of the methods, as in Python: `damping` of damped (a number or "adaptive"), `scale` of transpose, `gamma` of
 * selectively-damped, `singular` of inverse, `form` of pseudoinverse ("auto", "rows", "columns") and of control
 * ("gradient", "printed"), `gains` and `desired` of control, `ranking` of ranked-ccd ("usefulness", "recency", "limits"),
 * `foresight` and `overshoot` of fabrik, `elbow` and `direction` of analytic. `maxStep` is for all methods that move all
 * joints together. `solver` names the solver whose frame is moved, if there are several.
 * @typedef {{solver?: string, damping?: number | "adaptive", scale?: number, gamma?: number, singular?: number,
 *   form?: string, gains?: number | Numbers, desired?: Pose, ranking?: string, foresight?: number | number[],
 *   overshoot?: number | number[], elbow?: string, direction?: number, maxStep?: number}} Options
 */
/**
 * A step: the pose before it, the errors of that pose, the velocity, and the method's notes.
 * @typedef {{q: Float64Array, residuals: number[], velocity: Float64Array, notes: Record<string, number>}} Record_
 */

/** The methods' names. */
export const METHODS = [
  "inverse", "pseudoinverse", "damped", "selectively-damped", "control", "alternative", "transpose", "ccd", "ranked-ccd",
  "fabrik", "analytic",
]; // prettier-ignore

/** @type {WeakMap<ChainSolver, Map<string, Walk>>} */
const known = new WeakMap();

/** A method for a solver's frame, in the layout of the kernel. */
class Walk {
  /** @param {ChainSolver} solver @param {string} method */
  constructor(solver, method) {
    const { desk } = solver.linkage;
    const { textbook } = solver.data;
    this.solver = solver;
    this.method = method;
    this.names = solver.linkage.data.layouts.textbook;
    this.own = textbook.methods[method];
    this.wholes = desk.wholes([...textbook.wholes, ...this.own.places]);
    this.shared = Float64Array.from(textbook.reals);
    this.reals = desk.room([textbook.reals.length + this.own.figures.length + 64]); // 64 for other trials
    this.memory = desk.room([textbook.memory + this.own.head.work]);
    this.start = desk.room([1, solver.linkage.nq]);
    /** @type {Map<string, any>} */ this.calls = new Map();
  }

  /** Write a method's options into its plan. @param {Options} options */
  set(options) {
    const { solver, method, own, names } = this;
    const { linkage, data } = solver;
    const { textbook } = data;
    const head = { ...own.head };
    const numbers = { ...own.options };
    const [places, figures] = [Array.from(own.places), Array.from(own.figures)];
    const reals = this.shared;
    if (method === "damped") numbers.amount = amount(options.damping, names.adaptive, "damping");
    if (method === "transpose") numbers.amount = options.scale ?? 0;
    if (method === "transpose" && options.scale) [head.overshoots, head.halvings] = [1, 0];
    if (method === "selectively-damped") numbers.amount = options.gamma ?? own.options.amount;
    if (method === "inverse") numbers.amount = options.singular ?? own.options.amount;
    if (method === "pseudoinverse") head.method = choice(names.forms, options.form ?? "auto", "form");
    if (method === "control") head.choice = choice({ gradient: 0, printed: 1 }, options.form ?? "gradient", "form");
    if (method === "ranked-ccd") head.choice = choice(names.rankings, options.ranking ?? "usefulness", "ranking");
    if (method === "control") {
      const desired = linkage.read(options.desired ?? linkage.data.neutral, "desired");
      desired.forEach((x, k) => (reals[textbook.values + names.value.size * k + names.value.desired] = x));
      const gains = options.gains ?? own.gains;
      for (let v = 0; v < linkage.nv; v++) reals[textbook.gains + v] = typeof gains === "number" ? gains : gains[v];
    }
    if (method === "analytic") {
      const elbow = names.elbows.indexOf(options.elbow ?? "nearest");
      if (elbow < 0) refuse(`elbow is one of ${names.elbows.join(", ")}, got ${options.elbow}.`);
      places[names.arm.elbow] = elbow;
      places[names.arm.directed] = options.direction === undefined ? 0 : 1;
      figures[names.arm.direction] = options.direction ?? 0;
    }
    if (method === "fabrik" && (options.foresight !== undefined || options.overshoot !== undefined)) {
      const before = places[names.trials];
      const given = figures.splice(figures.length - 2 * before);
      const trials = pairs(options.foresight ?? column(given, 0), options.overshoot ?? column(given, 1));
      if (trials.length > 64) refuse("foresight and overshoot make 32 trials at most.");
      places[names.trials] = trials.length / 2;
      figures.push(...trials);
    }
    if (options.maxStep !== undefined) numbers.max_step = options.maxStep;
    head.places = places.length;
    head.figures = figures.length;
    this.write(head, numbers, places, figures);
  }

  /** @param {Record<string, number>} head @param {Record<string, number>} numbers @param {number[]} places @param {number[]} figures */
  write(head, numbers, places, figures) {
    const { names, shared } = this;
    const { home } = this.solver.linkage.desk;
    const [whole, real] = [this.wholes.at / 8, this.reals.at / 8];
    for (const [name, value] of Object.entries(head)) home.i64[whole + names.head.indexOf(name)] = BigInt(value);
    for (const [name, value] of Object.entries(numbers)) shared[names.options.indexOf(name)] = value;
    const { length } = this.solver.data.textbook.wholes;
    places.forEach((value, k) => (home.i64[whole + length + k] = BigInt(value)));
    home.f64.set(shared, real);
    home.f64.set(figures, real + shared.length);
  }

  /**
   * Run the kernel.
   * @param {ArrayLike<number>[]} targets @param {number} steps of each frame; 0 solves @param {Float64Array} q
   * @param {number} rows number of poses to return @param {number} most largest number of records
   */
  run(targets, steps, q, rows, most) {
    const { desk } = this.solver.linkage;
    const { record } = this.solver.data.textbook;
    const key = `${targets.length} ${steps > 0} ${rows} ${most}`;
    if (!this.calls.has(key)) {
      const aims = desk.room([targets.length, 1, 4, 4]);
      const poses = desk.room([rows, q.length]);
      const report = desk.room([rows, this.names.report.length + this.solver.units.length]);
      const trace = desk.room([most, record.size]);
      const given = [this.wholes, this.reals, aims, steps, this.start, this.memory, poses, report, trace];
      this.calls.set(key, { call: desk.call("walk", given), aims, poses, report, trace });
    }
    const own = this.calls.get(key);
    desk.view(this.start).set(q);
    targets.forEach((target, k) => desk.view(own.aims, 16 * k, 16).set(target));
    own.call.set(3, steps);
    if (own.call.run()) refuse(`${this.method} meets a matrix without an inverse here; use another form.`);
    return own;
  }

  /** Return a pose. @param {any} own the kernel's arrays @param {number} row */
  pose({ poses }, row) {
    const { nq, desk } = this.solver.linkage;
    return Float64Array.from(desk.view(poses, nq * row, nq));
  }

  /** @param {any} own the kernel's arrays @param {number} row @returns {Record<string, any>} its report */
  told({ report }, row) {
    const { names, solver } = this;
    const width = report.shape[1];
    const values = solver.linkage.desk.view(report, width * row, width);
    const named = Object.fromEntries(names.report.map((/** @type {string} */ name, /** @type {number} */ k) => [name, values[k]]));
    return { ...named, residuals: Array.from(values.subarray(names.report.length)) };
  }

  /** @param {any} own the kernel's arrays @param {number} count @returns {Record_[]} the steps */
  steps({ trace }, count) {
    const { solver, names, method } = this;
    const { note, q, residuals, velocity, size } = solver.data.textbook.record;
    return Array.from({ length: count }, (_, k) => {
      const values = solver.linkage.desk.view(trace, size * k, size);
      const noted = names.notes[method];
      return {
        q: values.slice(q, residuals),
        residuals: Array.from(values.subarray(residuals, velocity)),
        velocity: values.slice(velocity),
        notes: noted ? { [noted]: values[note] } : {},
      };
    });
  }
}

/** @param {number | string | undefined} given @param {number} adaptive @param {string} what */
function amount(given, adaptive, what) {
  if (given === undefined || given === "adaptive") return adaptive;
  return typeof given === "number" && given >= 0 ? given : refuse(`${what} is "adaptive" or a number, zero or more, got ${given}.`);
}

/** @param {Record<string, number>} codes @param {string} given @param {string} what */
function choice(codes, given, what) {
  return codes[given] ?? refuse(`${what} is one of ${Object.keys(codes).join(", ")}, got ${given}.`);
}

/** @param {number[]} given pairs @param {number} k @returns {number[]} their distinct first or second numbers */
function column(given, k) {
  return [...new Set(given.filter((_, i) => i % 2 === k))];
}

/** @param {number | number[]} foresight @param {number | number[]} overshoot @returns {number[]} all pairs of both */
function pairs(foresight, overshoot) {
  const [near, far] = [[foresight].flat(), [overshoot].flat()];
  return far.flatMap((o) => near.flatMap((f) => [f, o]));
}

/** @param {Linkage} linkage @param {string} method @param {Options} options @returns {Walk} */
function walkOf(linkage, method, options) {
  const solver = linkage.solver(options.solver);
  if (!(solver instanceof ChainSolver)) refuse("textbook methods are for a solver of one frame.");
  const { methods, refused } = solver.data.textbook;
  if (!methods[method]) refuse(refused[method] ?? `method is one of ${METHODS.join(", ")}, got ${method}.`);
  if (!known.has(solver)) known.set(solver, new Map());
  const kept = /** @type {Map<string, Walk>} */ (known.get(solver));
  if (!kept.has(method)) kept.set(method, new Walk(solver, method));
  const walk = /** @type {Walk} */ (kept.get(method));
  walk.set(options);
  return walk;
}

/**
 * Return why a method does not support the frame of a solver, as a sentence; empty if it does.
 * @param {Linkage} linkage @param {string} method @param {string} [solver]
 */
export function whyNot(linkage, method, solver) {
  const own = linkage.solver(solver);
  if (!(own instanceof ChainSolver)) return "textbook methods are for a solver of one frame.";
  const { methods, refused } = own.data.textbook;
  return methods[method] ? "" : refused[method] ?? `there is no method ${method}.`;
}

/**
 * Take one step of a method: return the pose after it, the velocity that led there, and the errors of the pose before.
 * @param {Linkage} linkage @param {string} method one of METHODS @param {Target} target @param {Pose} pose
 * @param {Options} [options]
 */
export function step(linkage, method, target, pose, options = {}) {
  const walk = walkOf(linkage, method, options);
  const aim = readTarget(target, walk.solver.frame, walk.solver.asks);
  const found = walk.run([aim, aim], 1, linkage.read(pose), 2, 1);
  const [{ velocity, residuals, notes }] = walk.steps(found, 1);
  return { q: walk.pose(found, 1), velocity, residuals, notes };
}

/**
 * Step until the target is reached or no progress is possible, like Python's `solve`: steps that increase the error are
 * halved, and the best pose is returned. With `trace`, all steps are returned too.
 * @param {Linkage} linkage @param {string} method one of METHODS @param {Target} target @param {Pose} pose
 * @param {Options & {trace?: boolean}} [options]
 */
export function run(linkage, method, target, pose, { trace = false, ...options } = {}) {
  const walk = walkOf(linkage, method, options);
  const aim = readTarget(target, walk.solver.frame, walk.solver.asks);
  const found = walk.run([aim], 0, linkage.read(pose, "the start"), 1, trace ? walk.own.head.iterations : 0);
  const { status: code, iterations, residuals } = walk.told(found, 0);
  const [status, success] = [walk.names.status[code], code === walk.names.reached];
  const steps = trace ? walk.steps(found, iterations) : [];
  return { q: walk.pose(found, 0), success, status, residuals, units: walk.solver.units, iterations, trace: steps };
}

/**
 * Follow targets, one per frame, by plain steps, like Python's `track(..., steps=1)`; the first frame is the pose.
 * @param {Linkage} linkage @param {string} method one of METHODS @param {Target[]} targets @param {Pose} pose
 * @param {Options & {steps?: number}} [options]
 * @returns {{q: Float64Array, residuals: number[]}[]} of every frame
 */
export function follow(linkage, method, targets, pose, { steps = 1, ...options } = {}) {
  if (!(Number.isInteger(steps) && steps > 0)) refuse(`steps is a whole number, at least one, got ${steps}.`);
  const walk = walkOf(linkage, method, options);
  const aims = targets.map((target) => readTarget(target, walk.solver.frame, walk.solver.asks));
  const found = walk.run(aims, steps, linkage.read(pose), aims.length, 0);
  return aims.map((_, k) => ({ q: walk.pose(found, k), residuals: walk.told(found, k).residuals }));
}

/**
 * Return the pose after a constant velocity for unit time.
 * @param {Linkage} linkage @param {Numbers} q @param {Numbers} velocity nv numbers
 */
export function integrate(linkage, q, velocity) {
  const { pose_index: places, quaternions } = linkage.data;
  const result = Float64Array.from(q);
  Array.from(places).forEach((place, v) => {
    if (place >= 0) result[place] += velocity[v];
  });
  for (let k = 0; k < quaternions.length; k += 2) {
    const [at, v] = [quaternions[k], quaternions[k + 1]];
    result.set(turned(result.subarray(at, at + 4), [velocity[v], velocity[v + 1], velocity[v + 2]]), at);
  }
  return result;
}

// @ts-check
/**
 * Solvers for goals that are chosen in the page: frames that reach or are held. Python packs the numbers of a linkage;
 * this module builds the arrays of a body's solver from them, exactly as `BodyProgram` does in Python.
 *
 *     const solver = goalSolver(arm, [{ frame: "hand" }, { frame: "foot", orientation: true }]);
 *     solver.solve({ hand: [0.4, 0.1, 0.5], foot: matrix }, { start: q });
 *
 * Loops of the linkage are closed together with the goals, at a level of higher priority.
 */

import { BodySolver } from "./bodies.js";
import { TURN, refuse } from "./linkwork.js";

/** @typedef {import("./linkwork.js").Linkage} Linkage */
/**
 * A goal for a frame: a point of it (its origin by default), the number of coordinates that count (3, or 2 in the
 * plane, or 0), and whether its orientation counts.
 * @typedef {{frame: string, name?: string, at?: boolean, position?: number, orientation?: boolean, weight?: number}} Wish
 */
/** A goal for the whole pose to stay near another one, at a level of lower priority.
 * @typedef {{rest: true, name?: string}} Leaning */
/** Joints to hold, and the largest number of other starts. @typedef {{stays?: string[], restarts?: number}} Staying */

const LOOP = -1; // level of loops, before that of goals at 0
const REST = 1; // level of rest goals, after it

/**
 * Return a solver of goals for a linkage. A goal with `at` is for a point of its link, which `hold` sets.
 * @param {Linkage} linkage @param {(Wish | Leaning)[]} wishes @param {Staying} [staying]
 */
export function goalSolver(linkage, wishes, staying) {
  return new GoalSolver(linkage, new Assembly(linkage, wishes, staying).data());
}

/** A solver of goals whose points on links can be set. */
export class GoalSolver extends BodySolver {
  /** Set the point of its link that a goal is for. @param {string} name @param {ArrayLike<number>} point in the link */
  hold(name, point) {
    const first = this.data.points[name] ?? refuse(`goal ${name} has no point that can be set; build it with at: true.`);
    this.linkage.desk.view(this.constants, first, 3).set(point);
  }
}

/** @param {string[]} names @param {Record<string, number>} values @returns {number[]} a record, 0 for missing values */
function record(names, values) {
  return names.map((name) => values[name] ?? 0);
}

/** Builds the arrays of a body's solver for some goals. */
class Assembly {
  /** Rows of the tree that goals depend on, frame by frame: codes, numbers, velocities, and the start of each. */
  /** @type {number[]} */ codes = [];
  /** @type {number[]} */ rowNumbers = [];
  /** @type {number[]} */ velocities = [];
  starts = [0];
  owned = [0];
  /** The parent of each frame; the motion before each motion; the last motion of each frame. */
  /** @type {number[]} */ parents = [];
  /** @type {number[]} */ before = [];
  /** @type {number[]} */ last = [];
  /** Indices of frames in these arrays, by name; and indices of points on links in the numbers of rows. */
  /** @type {Map<string, number>} */ index = new Map();
  /** @type {Map<string, number>} */ points = new Map();
  /** The velocities that are columns, and the column of each; for columns: motions, pose indices, held ones. */
  /** @type {number[]} */ of = [];
  /** @type {Map<number, number>} */ column = new Map();
  /** @type {number[]} */ rates = [];
  /** @type {number[]} */ places = [];
  /** @type {number[]} */ stays = [];
  /** Ball joints with limits and without; the columns that each goal depends on. */
  /** @type {any[]} */ cones = [];
  /** @type {number[][]} */ balls = [];
  /** @type {number[][]} */ support = [];

  /** @param {Linkage} linkage @param {(Wish | Leaning)[]} wishes @param {Staying} [staying] */
  constructor(linkage, wishes, { stays = [], restarts = Infinity } = {}) {
    const own = linkage.data.assembly ?? refuse(`nothing moves in ${linkage.name}, so there is nothing to solve for.`);
    this.linkage = linkage;
    this.own = own;
    this.layout = linkage.data.layouts.assembly;
    this.fixed = new Set(stays);
    this.restarts = Math.min(own.restarts, restarts);
    this.wishes = wishes;
    /** @type {any[]} */ this.goals = wishes.map((wish) => ("rest" in wish ? this.leaning(wish) : this.goal(wish)));
    for (const loop of own.loops) this.goals.push(this.closing(loop));
    const levels = [...new Set(this.goals.map((goal) => goal.level))].sort((a, b) => a - b);
    for (const goal of this.goals) goal.level = levels.indexOf(goal.level);
    this.levels = levels.length;
    let number = 0;
    for (const goal of this.goals) {
      goal.number = number;
      number += goal.size;
    }
    this.size = number; // count of the numbers of all goals
    this.frames();
    this.columns();
  }

  /** @param {Wish} wish */
  goal({ frame, name = frame, at = false, position = 3, orientation = false, weight = 1 }) {
    const { m, rad } = this.own.tolerance;
    const rows = [...Array(position).keys(), ...(orientation ? [3, 4, 5] : [])];
    if (!rows.length) refuse(`a goal of ${frame} asks for a position, an orientation, or both.`);
    const blocks = [...(position ? [["m", position, m]] : []), ...(orientation ? [["rad", 3, rad]] : [])];
    return { name, kind: "Reach", frames: [at ? `${frame} at ${name}` : frame], on: at ? frame : "", rows, blocks, weight,
      mask: rows.reduce((sum, k) => sum + (1 << k), 0), explicit: 0, level: 0, free: [0, 0, 0], size: this.layout.place.size };
  }

  /** @param {Leaning} wish */
  leaning({ name = "rest" }) {
    const { items, turning, rows } = this.own.rest;
    const { item, numbers } = this.layout.rest;
    const count = items.length / item.length;
    const blocks = [["rad", turning, Infinity], ["m", rows - turning, Infinity]].filter(([, size]) => size);
    return { name, kind: "Rest", frames: [], on: "", blocks, weight: 1, mask: turning, explicit: 0, level: REST, wish: true,
      count, size: this.layout.aim.size + count * numbers };
  }

  /** The items of a rest goal: kind, pose index, first velocity and first error row of each joint. */
  restItems() {
    const { item: names } = this.layout.rest;
    const { items } = this.own.rest;
    return Array.from({ length: items.length / names.length }, (_, k) =>
      Object.fromEntries(names.map((/** @type {string} */ name, /** @type {number} */ i) => [name, items[names.length * k + i]])));
  }

  /** @param {any} loop */
  closing({ frames, kind, tolerance }) {
    const rows = kind === "point" ? [0, 1, 2] : [0, 1, 2, 3, 4, 5];
    const blocks = [["m", 3, tolerance[0]], ...(kind === "point" ? [] : [["rad", 3, tolerance[1]]])];
    const spin = kind === "axis" ? this.layout.place.any_spin : 0;
    const mask = rows.reduce((sum, k) => sum + (1 << k), 0) + spin;
    return { name: frames[0], kind: "Close", frames, on: "", rows, blocks, weight: 1, mask, explicit: rows.length,
      level: LOOP, free: [0, 0, 1], size: this.layout.place.size };
  }

  /** Pack the links that goals depend on, and the frames on them. */
  frames() {
    const { linkage, layout } = this;
    const { starts, codes, numbers, owned, rates } = linkage.data.tree;
    const count = starts[starts.length - 1];
    const [wide, long] = [codes.length / count, numbers.length / count];
    const wanted = [...new Set(this.goals.flatMap((goal) => goal.frames))];
    const points = new Map(this.goals.filter((goal) => goal.on).map((goal) => [goal.frames[0], goal.on]));
    /** @param {string} name */
    const place = (name) => {
      const k = linkage.frames.indexOf(points.get(name) ?? name);
      return k >= 0 ? k : refuse(`${linkage.name} has no frame ${name}; it has ${linkage.frames.join(", ")}.`);
    };
    const links = new Set();
    for (const name of wanted) {
      for (let k = place(name); k >= 0; k = linkage.parents[k]) if (k < linkage.data.links) links.add(k);
    }
    const order = [...links].sort((a, b) => a - b);
    const local = new Map(order.map((link, k) => [link, k]));
    order.forEach((link, k) => this.index.set(linkage.frames[link], k));
    this.parents = order.map((link) => local.get(linkage.parents[link]) ?? -1);
    /** @type {any[]} */ const runs = order.map((link) => ({ of: link }));
    for (const name of wanted) {
      if (this.index.has(name)) continue;
      const k = place(name);
      this.index.set(name, this.parents.length);
      this.parents.push(local.get(points.has(name) ? k : linkage.parents[k]) ?? -1);
      runs.push(points.has(name) ? { point: name } : { of: k });
    }
    for (const { of, point } of runs) {
      if (point) {
        this.points.set(point, this.rowNumbers.length + layout.shift.origin);
        this.codes.push(...layout.shift.codes);
        this.rowNumbers.push(...layout.shift.numbers);
      } else {
        this.codes.push(...Array.from(codes).slice(wide * starts[of], wide * starts[of + 1]));
        this.rowNumbers.push(...Array.from(numbers).slice(long * starts[of], long * starts[of + 1]));
        this.velocities.push(...Array.from(rates).slice(owned[of], owned[of + 1]));
      }
      this.starts.push(this.codes.length / wide);
      this.owned.push(this.velocities.length);
    }
    this.parents.forEach((parent, frame) => {
      let latest = parent >= 0 ? this.last[parent] : -1;
      for (let motion = this.owned[frame]; motion < this.owned[frame + 1]; motion++) {
        this.before.push(latest);
        latest = motion;
      }
      this.last.push(latest);
    });
  }

  /** Number the velocities that goals depend on as columns, and list the columns of each goal. */
  columns() {
    const { linkage } = this;
    const { quaternions, cones, pose_index, velocity_joints } = linkage.data;
    const leans = this.goals.some((goal) => goal.wish);
    const used = new Set(leans ? Array(linkage.nv).keys() : this.velocities); // a rest goal depends on all of them
    const balls = Array.from({ length: quaternions.length / 2 }, (_, k) => [quaternions[2 * k], quaternions[2 * k + 1]]);
    for (const [, v] of balls) if ([0, 1, 2].some((k) => used.has(v + k))) [0, 1, 2].forEach((k) => used.add(v + k));
    this.of = [...used].sort((a, b) => a - b);
    this.column = new Map(this.of.map((v, k) => [v, k]));
    this.rates = this.velocities.map((v) => this.columnOf(v));
    this.places = this.of.map((v) => pose_index[v]);
    this.stays = this.of.map((v) => (this.fixed.has(velocity_joints[v]) ? 1 : 0));
    /** @param {number} v */
    const free = (v) => this.column.has(v) && !this.stays[this.columnOf(v)];
    const limited = this.own.keeps_limits ? cones : [];
    this.cones = limited.filter((/** @type {any} */ cone) => free(this.velocityOf(cone.q)));
    const held = new Set(this.cones.map((cone) => cone.q));
    this.balls = balls.filter(([q, v]) => free(v) && !held.has(q));
    this.support = this.goals.map((goal) => {
      const row = Array(this.of.length).fill(goal.wish ? 1 : 0);
      for (const name of goal.frames) {
        for (const motion of this.motionsAbove(this.last[this.frameOf(name)])) row[this.rates[motion]] = 1;
      }
      return row;
    });
  }

  /** @param {number} v a velocity @returns {number} its column */
  columnOf(v) {
    return this.column.get(v) ?? refuse(`no goal depends on velocity ${v}.`);
  }

  /** @param {string} name @returns {number} the index of a frame in these arrays */
  frameOf(name) {
    return this.index.get(name) ?? refuse(`no goal is about ${name}.`);
  }

  /** @param {number} q pose index of a ball joint @returns {number} its first velocity */
  velocityOf(q) {
    const { quaternions } = this.linkage.data;
    for (let k = 0; k < quaternions.length; k += 2) if (quaternions[k] === q) return quaternions[k + 1];
    return refuse(`value ${q} does not belong to a ball joint.`);
  }

  /** @param {number} motion @returns {number[]} it and those before it, up to the root */
  motionsAbove(motion) {
    const found = [];
    for (; motion >= 0; motion = this.before[motion]) found.push(motion);
    return found;
  }

  /** The earlier columns coupled to each one in the normal matrix or its factors, nearest first. */
  coupling() {
    const n = this.of.length;
    const meets = Array.from({ length: n }, () => new Uint8Array(n));
    this.goals.forEach((goal, k) => {
      const touched = goal.explicit ? this.of.map((_, c) => c).filter((c) => this.support[k][c]) : [];
      for (const a of touched) for (const b of touched) meets[a][b] = 1;
    });
    for (const cone of this.cones) {
      const first = this.columnOf(this.velocityOf(cone.q));
      for (let a = first; a < first + 3; a++) meets[a].fill(1, first, first + 3);
    }
    this.rates.forEach((a, motion) => {
      for (const other of this.motionsAbove(motion)) {
        const b = this.rates[other];
        meets[Math.max(a, b)][Math.min(a, b)] = 1;
      }
    });
    /** @type {number[][]} */ const earlier = Array(n);
    for (let k = n - 1; k >= 0; k--) {
      const met = [];
      for (let c = 0; c < k; c++) if (meets[k][c]) met.push(c);
      for (const a of met) for (const b of met) meets[a][b] = 1;
      earlier[k] = met.reverse();
    }
    const from = [0];
    for (const met of earlier) from.push(from[from.length - 1] + met.length);
    return { coupled_from: from, coupled: earlier.flat() };
  }

  /** @param {number[][]} pairs of pose indices and velocities */
  quaternions(pairs) {
    const { quaternion } = this.layout;
    return pairs.flatMap(([value, v]) => record(quaternion, { value, column: this.columnOf(v) }));
  }

  /** The rows; for ball joints, they have the cone in place of the axis. */
  rowCodes() {
    const { codes: names, ball, first_cone: first } = this.layout.row;
    const [motion, axis, value] = ["motion", "axis", "value"].map((name) => names.indexOf(name));
    const codes = Array.from(this.codes);
    this.cones.forEach((cone, k) => {
      for (let at = 0; at < codes.length; at += names.length) {
        if (codes[at + motion] === ball && codes[at + value] === cone.q) codes[at + axis] = first + k;
      }
    });
    return codes;
  }

  /** Codes of goals and of blocks of error rows; the start of the numbers of each goal. */
  goalTables() {
    const { layout } = this;
    const { fields } = layout.aim;
    /** @type {any} */ const tables = { goal_codes: [], goal_items: [], block_codes: [], tolerances: [], units: [], ranks: [] };
    let [row, error] = [0, 0];
    this.goals.forEach((goal, k) => {
      const [frame = -1, other = -1] = goal.frames.map((/** @type {string} */ name) => this.frameOf(name));
      const { level, number, wish, count = 0 } = goal;
      const { kind } = wish ? layout.rest : layout.place;
      const mask = goal.mask + (wish ? error : 0);
      const item = tables.goal_items.length;
      const values = { kind, frame, other, third: -1, fourth: -1, mask, error, row, number, item, count, level };
      if (wish) tables.goal_items.push(...this.itemCodes(error));
      tables.goal_codes.push(...record(layout.goal, values));
      for (const [unit, rows, tolerance] of goal.blocks) {
        const weight = number + fields[unit === "rad" ? "radians" : "metres"][0];
        tables.block_codes.push(...record(layout.block, { first: error, end: error + rows, weight, level, goal: k }));
        tables.tolerances.push(tolerance);
        tables.units.push(unit);
        tables.ranks.push(level);
        error += rows;
      }
      row += goal.explicit;
    });
    return { ...tables, errors: error, explicit: row };
  }

  /** @param {number} error the first error row of a rest goal @returns {number[]} its items, with indices of these arrays */
  itemCodes(error) {
    const { item, first_cone: first } = this.layout.rest;
    return this.restItems().flatMap(({ kind, value, column, error: own }) => {
      const cone = this.cones.findIndex(({ q }) => q === value);
      return record(item, { kind: cone >= 0 ? first + cone : kind, value, column: this.columnOf(column), error: own + error });
    });
  }

  /** @param {number[]} all a number for each velocity @returns {number[]} one for each column */
  each(all) {
    return this.of.map((v) => all[v]);
  }

  /** Concatenate tables, preceded by the start of each in the codes. @param {any} counts @param {any} given */
  packed(counts, given) {
    const { layout } = this;
    /** @type {Record<string, number>} */ const header = { ...counts };
    /** @param {string[]} names @param {number} at */
    const joined = (names, at) => names.flatMap((name) => {
      const table = this.known(given, name, []);
      header[name] = at;
      at += table.length;
      return Array.from(table);
    });
    const names = [...layout.counts, ...layout.code_tables, ...layout.number_tables];
    const codes = joined(layout.code_tables, names.length);
    const numbers = joined(layout.number_tables, 0);
    const first = names.map((name) => this.known(header, name, 0));
    return { codes: [...first, ...codes], numbers, rowNumbers: header.row_numbers };
  }

  /**
   * Return a value by its name in Python, or `nothing` if Python lists it among those that pages do not have.
   * @param {Record<string, any>} values @param {string} name @param {any} nothing
   */
  known(values, name, nothing) {
    return values[name] ?? (this.layout.empty.includes(name) ? nothing : refuse(`a page has no ${name} of a body.`));
  }

  /** The factor on a goal's errors: by its level, or `alike` for all but rest goals. @param {any} goal @param {boolean} alike */
  emphasis({ level, wish }, alike) {
    const { emphasis, rest } = this.layout;
    return !alike ? emphasis[level] : wish ? Math.max(emphasis[level], rest.wish) : 1;
  }

  /** Return the numbers of goals: in each set, the weights of a metre and a radian, and the targets. */
  aims() {
    const { own, layout } = this;
    const { fields } = layout.place;
    const sets = this.levels === 1 ? [false] : [false, true];
    const aims = new Float64Array(sets.length * this.size);
    sets.forEach((alike, s) => this.goals.forEach((goal) => {
      const at = s * this.size + goal.number;
      const weight = this.emphasis(goal, alike) * goal.weight;
      aims.set([weight], at + fields.metres[0]);
      aims.set([weight * own.arm], at + fields.radians[0]);
      if (goal.wish) aims.set(own.rest.numbers, at + layout.aim.size);
      else {
        aims.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], at + fields.target[0]);
        aims.set(goal.free, at + fields.free[0]);
      }
    }));
    return aims;
  }

  /** @param {number[]} settings @returns {number[]} with those that depend on levels and on rest goals */
  steered(settings) {
    const { settings: names } = this.layout;
    const result = Array.from(settings);
    const differ = this.levels > 1 && this.goals.some((goal) => this.emphasis(goal, true) !== this.emphasis(goal, false));
    result[names.indexOf("two_weights")] = Number(differ);
    result[names.indexOf("has_wishes")] = Number(this.goals.some((goal) => goal.wish));
    return result;
  }

  /** Names of goals; equal names are numbered. */
  names() {
    const seen = new Map();
    return this.goals.map(({ name }) => {
      seen.set(name, (seen.get(name) ?? 0) + 1);
      return seen.get(name) === 1 ? name : `${name} ${seen.get(name)}`;
    });
  }

  /** Everything that a `BodySolver` reads. @returns {Record<string, any>} */
  data() {
    const { own, layout, linkage } = this;
    const { units, ranks, errors, explicit, ...goals } = this.goalTables();
    const { size } = this;
    const counts = {
      frames: this.parents.length, motions: this.rates.length, columns: this.of.length, balls: this.balls.length,
      cones: this.cones.length, goals: this.goals.length, blocks: units.length, errors, explicit, values: linkage.nq,
      levels: this.levels, aims: size,
    };
    /** @param {string} name @param {number} end */
    const bounds = (name, end) => this.of.map((v, k) => (this.places[k] >= 0 && !this.stays[k] ? own[name][v] : end));
    const tables = {
      ...goals, ...this.coupling(), starts: this.starts, parents: this.parents, row_codes: this.rowCodes(), rates: this.rates,
      owned: this.owned, before: this.before, last: this.last, pose_index: this.places, stays: this.stays,
      ball_codes: this.quaternions(this.balls), support: this.support.flat(),
      cone_codes: this.quaternions(this.cones.map((cone) => [cone.q, this.velocityOf(cone.q)])),
      row_numbers: this.rowNumbers, lower: bounds("lower", -Infinity), upper: bounds("upper", Infinity),
      start_lower: this.each(own.start_lower), start_upper: this.each(own.start_upper), metric: this.each(own.metric),
      masses: Array(this.parents.length * layout.mass).fill(0),
      cone_numbers: this.cones.flatMap((cone) => [...cone.axis, cone.swing, cone.low, cone.high]),
    };
    const { codes, numbers, rowNumbers } = this.packed(counts, tables);
    const scratch = layout.scratch.reduce((/** @type {number} */ sum, /** @type {any[]} */ [factor, ...names]) =>
      sum + names.reduce((product, name) => product * this.known(counts, name, 0), factor), 0);
    const named = this.names();
    const { target, free } = layout.place.fields;
    const sets = this.levels === 1 ? [0] : [0, 1];
    const pointed = this.goals.filter((goal) => goal.on);
    const points = pointed.map(({ name, frames }) => [name, rowNumbers + (this.points.get(frames[0]) ?? 0)]);
    return {
      kind: "body", codes, numbers, units, ranks, tolerances: goals.tolerances, size, scratch, aims: this.aims(),
      points: Object.fromEntries(points),
      goals: this.goals.map((goal, k) => ({
        name: named[k], kind: goal.kind, frames: goal.frames, fields: goal.wish ? {} : { target, free }, size: goal.size,
        weights: layout.aim.size, at: sets.map((s) => s * size + goal.number), items: goal.wish ? this.restPlaces() : [], from_start: "",
      })),
      keeps_limits: own.keeps_limits, restarts: this.restarts, seed: own.seed, settings: this.steered(own.settings),
      follow_settings: this.steered(own.follow_settings), joints: this.each(linkage.data.velocity_joints),
      turning: this.turning(), above: this.above(), carried: null,
      pace: this.pace(units, goals.tolerances),
    };
  }

  /** For the joints of a rest goal: pose index, count of values, and index in the goal's numbers. */
  restPlaces() {
    const { ball, numbers, pose } = this.layout.rest;
    const first = this.layout.aim.size + pose;
    return this.restItems().map(({ kind, value }, k) => [value, kind === ball ? 4 : 1, first + k * numbers]);
  }

  /** Pose indices of angles whose range contains a whole turn. */
  turning() {
    if (this.goals.some((goal) => goal.wish)) return []; // for a rest goal, whole turns matter
    const { lower, upper, data } = this.linkage;
    const room = (/** @type {number} */ q) => !this.own.keeps_limits || upper[q] - lower[q] >= TURN;
    return this.places.filter((q) => q >= 0 && data.periodic[q] && room(q));
  }

  /** The solver of all levels except the last, with which solutions that miss a goal are compared. */
  above() {
    if (this.levels === 1) return null;
    const last = this.levels - 1;
    const wishes = this.wishes.filter((_, k) => this.goals[k].level < last);
    const alone = new Assembly(this.linkage, wishes, { stays: [...this.fixed], restarts: this.restarts });
    const which = this.goals.map((_, k) => k).filter((k) => this.goals[k].level < last);
    return { ...alone.data(), which };
  }

  /** @param {string[]} units of blocks @param {number[]} tolerances */
  pace(units, tolerances) {
    const { own, layout } = this;
    const staying = this.of.flatMap((v) => Array.from(own.staying).slice(layout.rate * v, layout.rate * (v + 1)));
    return {
      ...own.pace, unit: this.each(own.unit), balls: this.places.map((q) => (q < 0 ? 1 : 0)), rates: this.of,
      stride: layout.rate, calm: units.map((unit, k) => (tolerances[k] === Infinity ? own.calm_wished : own.calm)[unit]),
      staying: [...staying, ...units.map(() => Infinity)],
    };
  }
}

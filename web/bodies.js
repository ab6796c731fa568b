// @ts-check
/** Whole bodies: inverse kinematics of a list of goals. Importing this module lets `Linkage.solver` make such solvers. */

import { ChainSolver, KINDS, TURN, named, readTarget, refuse } from "./linkwork.js";
import { inverse, times } from "./rotations.js";

/** @typedef {import("./linkwork.js").Numbers} Numbers */
/** Targets by the names of goals, or in order. @typedef {Record<string, any> | any[]} Goals */

/** Inverse kinematics of a list of goals, for a whole body. */
export class BodySolver {
  /** @param {import("./linkwork.js").Linkage} linkage @param {Record<string, any>} data */
  constructor(linkage, data) {
    const { desk } = linkage;
    const { body_report: report, body_cycle: cycle } = linkage.data.layouts;
    this.linkage = linkage;
    this.data = data;
    /** Names of the goals, in order. @type {string[]} */
    this.goals = data.goals.map((/** @type {any} */ goal) => goal.name);
    this.aims = desk.room([data.aims.length]);
    this.out = desk.room([linkage.nq]);
    this.report = desk.room([report.length + data.units.length]);
    this.cycled = desk.room([cycle.length + data.units.length]);
    this.status = desk.room([1]);
    this.rates = desk.room([data.pace.staying.length]);
    this.constants = desk.floats(data.numbers);
    const program = [desk.wholes(data.codes), this.constants];
    const scratch = desk.room([data.scratch]);
    const counts = [data.size, 0, 0, BigInt(data.seed), data.restarts];
    const found = [scratch, this.out, this.report, this.status];
    this.search = desk.call("search_bodies", [...program, desk.floats(data.settings), this.aims, ...counts, ...found]);
    const steering = [desk.floats(data.follow_settings), this.aims, this.rates];
    this.following = desk.call("step_body", [...program, ...steering, 1, { float: 1 }, scratch, this.out, this.cycled]);
    /** The solver of all levels except the last. @type {BodySolver | undefined} */
    this.above = data.above ? new BodySolver(linkage, data.above) : undefined;
    /** The solver that brings a moving base near a goal. @type {ChainSolver | undefined} */
    this.carrier = data.carried ? new ChainSolver(linkage, data.carried.chain) : undefined;
  }

  /**
   * Return the numbers of goals. Goals without a target keep their packed numbers; goals that hold a frame take them
   * from the start pose.
   * @param {Goals} goals @param {Float64Array} start
   */
  numbers(goals, start) {
    const { data } = this;
    const aims = Float64Array.from(data.aims);
    const pairs = Array.isArray(goals) ? goals.map((goal, k) => [this.goals[k], goal]) : Object.entries(goals ?? {});
    const odd = pairs.find(([name]) => !this.goals.includes(name));
    if (odd) refuse(`there is no goal ${odd[0]}; there are ${this.goals.join(", ")}.`);
    const given = Object.fromEntries(pairs);
    for (const goal of data.goals) {
      const { pose, ...fields } = this.fields(goal, given[goal.name], start);
      for (const at of goal.at) {
        for (const [name, numbers] of Object.entries(fields)) aims.set(numbers, at + goal.fields[name][0]);
        for (const [place, width, first] of pose ? goal.items : []) {
          for (let k = 0; k < width; k++) aims[at + first + k] = pose[place + k];
        }
      }
    }
    return aims;
  }

  /** @param {any} goal @param {any} value @param {Float64Array} start @returns {Record<string, Numbers>} the values to write, by name */
  fields({ fields, items, name, frames, from_start: from }, value, start) {
    const { linkage } = this;
    if (value === undefined || value === null) {
      if (!from) return {};
      const place = linkage.forward(start, frames[0]);
      const whole = from === "place" ? place : times(inverse(linkage.forward(start, frames[1])), place);
      return { target: whole.subarray(0, 12) };
    }
    if (items.length) return { pose: linkage.read(value, `the pose of ${name}`) };
    if (fields.target && !fields.low) {
      return { target: readTarget(value, name, { position: 0, orientation: false }).subarray(0, 12) };
    }
    const bare = typeof value === "number" || value.length !== undefined;
    const all = Object.entries(bare ? { [Object.keys(fields)[0]]: value } : value).map(([field, given]) => {
      const count = fields[field]?.[1] ?? refuse(`goal ${name} has ${Object.keys(fields).join(", ")}, not ${field}.`);
      const numbers = typeof given === "number" ? [given] : Array.from(given);
      const good = numbers.length === count && !numbers.some(Number.isNaN);
      if (!good) refuse(`${field} of ${name} is ${count} numbers, got ${given}.`);
      return [field, numbers];
    });
    return Object.fromEntries(all);
  }

  /** @param {Float64Array} q @returns {Float64Array} a start pose for a search */
  begun(q) {
    return this.data.keeps_limits ? this.linkage.clamp(q) : q;
  }

  /** @param {number[]} residuals @param {string} missed @param {any} found @returns {import("./linkwork.js").Solution} */
  solution(residuals, missed, { q, success, iterations }) {
    return { q, success, status: success ? "reached" : missed, residuals, units: this.data.units, iterations };
  }

  /** @param {Float64Array} aims @param {Float64Array} start @param {number} tries */
  find(aims, start, tries) {
    const { linkage, data } = this;
    const { desk } = linkage;
    const { body_report: names } = linkage.data.layouts;
    desk.view(this.aims).set(aims);
    desk.view(this.out).set(this.begun(start));
    desk.view(this.report).fill(0);
    this.search.set(8, tries);
    this.search.run();
    const q = desk.view(this.out).slice();
    const report = desk.view(this.report);
    const turning = Array.from(data.turning);
    const far = turning.some((k) => Math.abs(q[k] - start[k]) > Math.PI);
    if (far) turning.forEach((k) => (q[k] = this.turned(k, q[k], start[k])));
    const success = desk.home.i64[this.status.at / 8] === 1n;
    const { steps: iterations } = named(report, 0, names);
    return this.solution(Array.from(report.subarray(names.length)), "closest", { q, success, iterations });
  }

  /** @param {number} k @param {number} x @param {number} start @returns {number} the copy of an angle nearest to a start */
  turned(k, x, start) {
    const { lower, upper } = this.linkage;
    const [low, high] = this.data.keeps_limits ? [lower[k], upper[k]] : [-Infinity, Infinity];
    let found = x + TURN * Math.floor((start - x) / TURN + 0.5);
    found += TURN * Math.ceil(Math.max(low - found, 0) / TURN);
    found -= TURN * Math.ceil(Math.max(found - high, 0) / TURN);
    return found >= low && found <= high ? found : x;
  }

  /**
   * Return the solution for goals. A goal without a target keeps its packed one. A goal that holds a frame holds it as it
   * is in the start pose, the neutral pose by default.
   * @param {Goals} goals
   * @param {import("./linkwork.js").Begin} [options]
   */
  solve(goals, { start, stay = false } = {}) {
    const { linkage, data } = this;
    if (stay && start === undefined) refuse("stay: true continues on the branch of a start pose; pass start.");
    const begin = linkage.read(start ?? linkage.neutral, "the start");
    const aims = this.numbers(goals, begin);
    if (!stay) return this.answer(aims, begin);
    const { staying, leap, cycles } = data.pace;
    const { q, success, residuals, report } = this.cycle(aims, begin, staying, cycles, leap);
    const far = report.bound === linkage.data.layouts.body_speed;
    return this.solution(residuals, far ? "following" : "held", { q, success, iterations: report.steps });
  }

  /** @param {Float64Array} aims @param {Float64Array} start @returns {import("./linkwork.js").Solution} */
  answer(aims, start) {
    const begin = this.carried(aims, start);
    return this.firm(aims, begin, this.find(aims, begin, this.data.restarts));
  }

  /** @param {Float64Array} aims @param {Float64Array} start @returns {Float64Array} the start, its base near its goal */
  carried(aims, start) {
    if (!this.carrier) return start;
    const goal = this.data.goals[this.data.carried.goal];
    const at = goal.at[0] + goal.fields.target[0];
    const there = [aims[at + 3], aims[at + 7], aims[at + 11]];
    const world = this.linkage.forward(start, this.carrier.frame);
    const away = Math.hypot(world[3] - there[0], world[7] - there[1], world[11] - there[2]);
    return away <= this.linkage.data.length ? start : this.carrier.solve(there, { start }).q;
  }

  /**
   * Return a solution in which no level is worse than without the last one, which may have led the search elsewhere.
   * @param {Float64Array} aims @param {Float64Array} start @param {import("./linkwork.js").Solution} found
   * @returns {import("./linkwork.js").Solution}
   */
  firm(aims, start, found) {
    const { above, data } = this;
    if (!above || found.success) return found;
    const alone = above.answer(above.taken(aims, data), start);
    const other = this.cycle(aims, alone.q, data.pace.staying, 0, 1).residuals;
    if (!this.better(other, found.residuals)) return found;
    const again = this.find(aims, alone.q, 0);
    const { q, residuals } = this.better(other, again.residuals) ? { q: alone.q, residuals: other } : again;
    const success = residuals.every((x, k) => x <= data.tolerances[k]);
    return this.solution(residuals, "closest", { q, success, iterations: found.iterations });
  }

  /** Copy the numbers of goals of a solver with more levels. @param {Float64Array} aims @param {Record<string, any>} more */
  taken(aims, more) {
    const result = Float64Array.from(this.data.aims);
    this.data.goals.forEach((/** @type {any} */ goal, /** @type {number} */ k) => {
      const { at, size, weights } = more.goals[this.data.which[k]];
      for (const place of goal.at) result.set(aims.subarray(at[0] + weights, at[0] + size), place + weights);
    });
    return result;
  }

  /** @param {number[]} one @param {number[]} two @returns {boolean} whether the first is better above the last level */
  better(one, two) {
    /** @type {{ranks: number[]}} */ const { ranks } = /** @type {any} */ (this.data);
    for (const rank of [...new Set(ranks)].sort((a, b) => a - b).slice(0, -1)) {
      const [less, more] = [one, two].map((all) => Math.hypot(...all.filter((_, k) => ranks[k] === rank)));
      if (Math.abs(more - less) > 1e-9) return more > less;
    }
    return false;
  }

  /**
   * Run control cycles, without computing the errors of poses.
   * @param {Float64Array} aims @param {Float64Array} q @param {Numbers} rates @param {number} cycles @param {number} leap
   */
  cycle(aims, q, rates, cycles, leap) {
    const { desk, data } = this.linkage;
    desk.view(this.aims).set(aims);
    desk.view(this.rates).set(rates);
    desk.view(this.out).set(this.begun(q));
    this.following.set(5, cycles);
    this.following.set(6, { float: leap });
    const success = this.following.run() === 1;
    const out = desk.view(this.cycled).slice();
    const report = named(out, 0, data.layouts.body_cycle);
    const residuals = Array.from(out.subarray(data.layouts.body_cycle.length));
    return { q: desk.view(this.out).slice(), success, report, residuals };
  }

  /** @param {import("./linkwork.js").Pace} pace @returns {Float64Array} the largest speeds of columns */
  paced(pace) {
    const speeds = this.linkage.speeds(pace);
    return Float64Array.from(this.data.pace.rates, (v) => speeds[v]);
  }

  /**
   * Run one control cycle from a pose; see `Linkage.follow`.
   * @param {Goals} goals @param {Float64Array} q @param {Numbers} speeds @param {number} dt
   * @returns {import("./linkwork.js").Step}
   */
  run(goals, q, speeds, dt) {
    const { data, linkage } = this;
    const { unit, balls, calm, most, staying, stride, reach: first } = data.pace;
    const { body_limits: limits, body_speed: fast, body_slowed: slowed } = linkage.data.layouts;
    const rates = Float64Array.from(staying);
    Array.from(speeds).forEach((speed, k) => {
      const reach = Math.min(speed * dt, most * unit[k]);
      rates[stride * k + first] = balls[k] ? reach * (1 - 2 * reach) : reach; // rotations about several axes add up
    });
    rates.set(calm, stride * speeds.length);
    const { report, ...found } = this.cycle(this.numbers(goals, q), q, rates, 1, 1);
    let { column, bound } = report;
    let status = found.success ? "reached" : bound ? "limited" : "held";
    if (bound === slowed || (bound === fast && speeds[column] * dt > most * unit[column])) {
      [column, bound, status] = [-1, 0, "following"]; // only the duration of the cycle limits the step
    }
    const share = report.before > 0 ? Math.max(1 - Math.sqrt(report.after / report.before), 0) : 1;
    const said = { joint: data.joints[column] ?? "", limit: limits[bound], share, iterations: report.steps };
    return { ...found, status, units: data.units, ...said };
  }
}
KINDS.body = BodySolver;

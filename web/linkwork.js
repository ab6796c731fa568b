// @ts-check
/**
 * linkwork in a web page: frames, Jacobians and inverse kinematics of linkages packed by Python.
 *
 *     import { load } from "linkwork";
 *     const linkwork = await load();                          // the machine code, linkwork.wasm
 *     const arm = linkwork.linkage(await (await fetch("panda.linkwork.json")).text());
 *     const found = arm.solve({ position: [0.4, 0.1, 0.5], wxyz: [0, 1, 0, 0] }, { start: "ready" });
 *
 * The kernels are those of the Python library. Metres, radians; matrices are 16 numbers row by row. Whole bodies need
 * bodies.js, textbook steps textbook.js. docs/web.md has the rest.
 */

import { code } from "./code.js";
import { anglesOf, quaternionOf, rotation, withinCone } from "./rotations.js";
import { startTable } from "./starts.js";

const HERE = import.meta.url;
export const VERSION = "0.1.0";
const FORMAT = 1; // version of packed linkages
const PAGE = 65536; // page of WebAssembly memory [bytes]
export const TURN = 2 * Math.PI;

/** @typedef {ArrayLike<number>} Numbers */
/** A pose: nq numbers, or the name of a stored one. @typedef {Numbers | string} Pose */
/**
 * The target of a frame: a 4x4 matrix; only a position, or only a rotation of 9 numbers, if the solver needs no more;
 * or both by name, with the rotation as a quaternion (wxyz or xyzw) or as 9 numbers.
 * @typedef {Numbers | {position?: Numbers, wxyz?: Numbers, xyzw?: Numbers, rotation?: Numbers}} Target
 */
/**
 * A solution: the pose, whether it meets the goals within limits, the status, the errors with their units, and the
 * number of iterations.
 * @typedef {{q: Float64Array, success: boolean, status: string, residuals: number[], units: string[],
 *   iterations: number}} Solution
 */
/**
 * The result of a control cycle: a solution, the limiting joint, its kind of limit, and the fraction of the step made.
 * @typedef {Solution & {joint: string, limit: string, share: number}} Step
 */
/**
 * Largest speeds, one for all joints or one for each velocity, and a factor on them.
 * @typedef {{velocity?: number | Numbers, scale?: number}} Pace
 */
/** The start pose, and whether to stay on its branch without jumps. @typedef {{start?: Pose, stay?: boolean}} Begin */
/** An array in the memory of the kernels. @typedef {{at: number, size: number, shape: number[]}} Room */

/** An error in the arguments of a call. */
export class LinkworkError extends Error {
  name = "LinkworkError";
}

/** @param {string} message @returns {never} */
export function refuse(message) {
  throw new LinkworkError(message);
}

/**
 * Load the machine code.
 * @param {string | URL | Response | BufferSource | WebAssembly.Module} [source] location of linkwork.wasm, or its content;
 *   by default the file beside this one
 */
export async function load(source = code()) {
  /** @type {any} */ let module = source;
  if (typeof module === "string" || module instanceof URL) {
    const url = new URL(module, HERE || location.href);
    const local = url.protocol === "file:" && typeof process !== "undefined";
    module = await (local ? (await import("node:fs/promises")).readFile(url) : fetch(url));
  }
  if (typeof Response !== "undefined" && module instanceof Response) {
    if (!module.ok) refuse(`${module.url} could not be loaded: ${module.status} ${module.statusText}.`);
    const streams = module.headers.get("Content-Type") === "application/wasm"; // can be compiled while it loads
    module = await (streams ? WebAssembly.compileStreaming(module) : module.arrayBuffer());
  }
  if (!(module instanceof WebAssembly.Module)) module = await WebAssembly.compile(module);
  /** @type {Record<string, any>} */ const env = {};
  for (const { name } of WebAssembly.Module.imports(module)) {
    const same = /** @type {any} */ (Math)[name.replace(/f$/, "")]; // sinf is sin in single precision
    env[name] = same ?? refuse(`linkwork.wasm asks for ${name}, which is not a function of Math.`);
  }
  return new Linkwork(await WebAssembly.instantiate(/** @type {WebAssembly.Module} */ (module), { env }));
}

/** The machine code and its memory: makes linkages. */
export class Linkwork {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    /** @type {Record<string, any>} */ this.kernels = instance.exports;
    /** @type {{at: number, bytes: number}[]} */ this.unused = [];
    this.f64 = new Float64Array();
    this.f32 = new Float32Array();
    this.i64 = new BigInt64Array();
    this.look();
  }

  /** Renew the views of memory, which are invalid after it has grown. */
  look() {
    const { buffer } = this.kernels.memory;
    this.f64 = new Float64Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.i64 = new BigInt64Array(buffer);
  }

  /** @param {number} bytes @returns {{at: number, bytes: number}} a free piece of memory */
  take(bytes) {
    const k = this.unused.findIndex((part) => part.bytes >= bytes);
    if (k >= 0) return this.unused.splice(k, 1)[0];
    const pages = Math.ceil(bytes / PAGE);
    const at = this.kernels.memory.grow(pages) * PAGE;
    this.look();
    return { at, bytes: pages * PAGE };
  }

  /**
   * Return a linkage packed by Python.
   * @param {string | ArrayBuffer | Uint8Array | Record<string, any>} pack its text or bytes, or its JSON parsed
   */
  linkage(pack) {
    return new Linkage(this, decode(pack));
  }
}

/** @param {any} pack @returns {Record<string, any>} */
function decode(pack) {
  let data = typeof pack === "string" ? JSON.parse(pack) : pack;
  if (pack instanceof ArrayBuffer || pack instanceof Uint8Array) {
    const bytes = new Uint8Array(/** @type {any} */ (pack)).slice(); // a copy, so that arrays are aligned to eight bytes
    const text = new TextDecoder();
    if (text.decode(bytes.subarray(0, 8)) !== "LINKWORK") refuse("these bytes are not a packed linkage.");
    const length = new DataView(bytes.buffer).getUint32(12, true);
    const kinds = /** @type {any} */ ({ f8: Float64Array, f4: Float32Array, i4: Int32Array, u1: Uint8Array });
    data = JSON.parse(text.decode(bytes.subarray(16, 16 + length)), (_, value) => {
      if (!Array.isArray(value?.array)) return value;
      const [kind, at, count] = value.array;
      return new kinds[kind](bytes.buffer, 16 + length + at, count);
    });
  }
  if (data?.format !== "linkwork") refuse("this is not a packed linkage; Python's linkage.pack() makes one.");
  if (data.version !== FORMAT || data.linkwork !== VERSION) {
    refuse(
      `${data.name} was packed by linkwork ${data.linkwork} in format ${data.version}; this is linkwork ${VERSION}, ` +
        `format ${FORMAT}. Pack it again.`,
    );
  }
  return data;
}

/** The memory of one linkage, and calls of kernels on it. */
class Desk {
  /** @param {Linkwork} home */
  constructor(home) {
    this.home = home;
    /** @type {{at: number, bytes: number}[]} */ this.parts = [];
    this.next = this.end = 0;
  }

  /** @param {number[]} shape @param {number} [bytes] size of each number @returns {Room} */
  room(shape, bytes = 8) {
    const size = shape.reduce((a, b) => a * b, 1);
    const wanted = Math.ceil((size * bytes) / 64) * 64;
    if (this.next + wanted > this.end) {
      const part = this.home.take(Math.max(wanted, PAGE));
      this.parts.push(part);
      this.next = part.at;
      this.end = part.at + part.bytes;
    }
    this.next += wanted;
    return { at: this.next - wanted, size, shape };
  }

  /** @param {Numbers} values */
  floats(values) {
    const room = this.room([values.length]);
    this.view(room).set(values);
    return room;
  }

  /** @param {Numbers} values */
  wholes(values) {
    const room = this.room([values.length]);
    for (let k = 0; k < values.length; k++) this.home.i64[room.at / 8 + k] = BigInt(values[k]);
    return room;
  }

  /** @param {Room} room @param {number} [first] @param {number} [count] its numbers, valid until memory grows */
  view({ at, size }, first = 0, count = size - first) {
    return this.home.f64.subarray(at / 8 + first, at / 8 + first + count);
  }

  /**
   * Return a prepared call of a kernel: `set` changes its arguments, and `run` may be repeated.
   * @param {string} name
   * @param {(Room | number | bigint | {float: number})[]} given arrays, integers and booleans, floats
   */
  call(name, given) {
    const { home } = this;
    const kernel = home.kernels[name] ?? refuse(`linkwork.wasm has no kernel ${name}: it is of another version.`);
    const places = [0];
    for (const value of given) places.push(places[places.length - 1] + (/** @type {any} */ (value).shape?.length ?? 0) + 1);
    const block = this.room([places[given.length]]).at;
    /** @param {number} k @param {Room | number | bigint | boolean | {float: number}} value */
    const set = (k, value) => {
      const at = block / 8 + places[k];
      if (typeof value !== "object") home.i64[at] = BigInt(value);
      else if ("float" in value) home.f64[at] = value.float;
      else [value.at, ...value.shape].forEach((x, i) => (home.i64[at + i] = BigInt(x)));
    };
    given.forEach((value, k) => set(k, value));
    return { set, run: () => Number(kernel(block)) };
  }
}

/** @param {Room} room @param {number} first @param {number} count @returns {Room} a part of it */
export function part({ at }, first, count) {
  return { at: at + 8 * first, size: count, shape: [count] };
}

/** @param {Float64Array} values @param {number} at @param {string[]} names @returns {Record<string, number>} a record */
export function named(values, at, names) {
  return Object.fromEntries(names.map((name, k) => [name, values[at + k]]));
}

/** A linkage: transforms of its frames, Jacobians, and its solvers. */
export class Linkage {
  /** @param {Linkwork} home @param {Record<string, any>} data */
  constructor(home, data) {
    const { tree } = data;
    const desk = new Desk(home);
    this.data = data;
    this.desk = desk;
    /** @type {string} */ this.name = data.name;
    /** @type {number} */ this.nq = data.nq;
    /** @type {number} */ this.nv = data.nv;
    /** @type {string[]} */ this.coordinates = data.coordinates;
    /** @type {string[]} */ this.frames = data.frames;
    this.lower = Float64Array.from(data.lower);
    this.upper = Float64Array.from(data.upper);
    this.neutral = Float64Array.from(data.neutral);
    /** @type {Record<string, Numbers>} */ this.poses = data.poses;
    /** The parent of each frame, -1 for none. @type {number[]} */ this.parents = Array.from(tree.parents);
    this.pose = desk.room([this.nq]);
    this.everything = desk.room([16 * this.frames.length]);
    const program = [tree.starts, tree.parents, tree.codes].map((values) => desk.wholes(values));
    this.sweep = desk.call("frames_one", [...program, desk.floats(tree.numbers), this.pose, this.everything]);
    /** @type {Map<string, any>} */ this.chains = new Map();
    /** @type {Map<string, any>} */ this.known = new Map();
  }

  /** Free its memory; the linkage cannot be used any more. */
  free() {
    this.desk.home.unused.push(...this.desk.parts.splice(0));
  }

  /**
   * Return the same linkage with separate memory for new solvers, which its `free` releases: for short-lived solvers.
   * @returns {Linkage}
   */
  apart() {
    const other = Object.create(this);
    return Object.assign(other, { desk: new Desk(this.desk.home), chains: new Map(), known: new Map() });
  }

  /** @param {Pose} q @param {string} [what] @returns {Float64Array} a checked copy of a pose */
  read(q, what = "the pose") {
    const values = typeof q === "string" ? this.poses[q] : q;
    if (values?.length !== this.nq) {
      const got = typeof q === "string" ? q : `${values?.length} numbers`;
      refuse(`${what} of ${this.name} has ${this.nq} numbers or is one of ${Object.keys(this.poses)}; got ${got}.`);
    }
    const result = Float64Array.from(values);
    const k = result.findIndex((x) => !Number.isFinite(x));
    if (k >= 0) refuse(`${what} of ${this.name} has ${result[k]} for ${this.coordinates[k]}.`);
    return result;
  }

  /**
   * Return the transforms of all frames: 16 numbers for each, in order. Read them before any other call, which may
   * overwrite them.
   * @param {Pose} q @returns {Float64Array}
   */
  matrices(q) {
    this.desk.view(this.pose).set(this.read(q));
    if (!this.sweep.run()) refuse(`the pose takes ${this.name} beyond the largest number.`);
    return this.desk.view(this.everything);
  }

  /**
   * Return world_from_frame of a frame, or of all by name: 16 numbers, row-major.
   * @overload @param {Pose} q @param {string} frame @returns {Float64Array}
   */
  /** @overload @param {Pose} q @returns {Record<string, Float64Array>} */
  /** @param {Pose} q @param {string} [frame] @returns {any} */
  forward(q, frame) {
    if (frame !== undefined) {
      const { tip, world } = this.chain(frame);
      this.desk.view(this.pose).set(this.read(q));
      if (!tip.run()) refuse(`the pose takes ${this.name} beyond the largest number.`);
      return this.desk.view(world).slice();
    }
    const all = this.matrices(q);
    return Object.fromEntries(this.frames.map((name, k) => [name, all.slice(16 * k, 16 * k + 16)]));
  }

  /**
   * Return the Jacobian of a frame, 6 x nv, row-major: linear velocity rows above angular ones.
   * @param {Pose} q
   * @param {string} frame
   * @param {{axes?: "world" | "local"}} [options] the axes of the world, or of the frame itself
   */
  jacobian(q, frame, { axes = "world" } = {}) {
    if (axes !== "world" && axes !== "local") refuse(`axes are "world" or "local", got ${axes}.`);
    const chain = this.chain(frame);
    this.desk.view(this.pose).set(this.read(q));
    chain.jacobian.set(4, axes === "local");
    if (!chain.jacobian.run()) refuse(`the pose takes ${this.name} beyond the largest number.`);
    return this.desk.view(chain.rows).slice();
  }

  /** @param {string} frame @returns {any} the rows of the tree on the path to a frame, and kernel calls with them */
  chain(frame) {
    if (this.chains.has(frame)) return this.chains.get(frame);
    const { desk, data } = this;
    const { starts, codes, numbers, rates, owned } = data.tree;
    const path = [this.frames.indexOf(frame)];
    if (path[0] < 0) refuse(`${this.name} has no frame ${frame}; it has ${this.frames.join(", ")}.`);
    while (this.parents[path[0]] >= 0) path.unshift(this.parents[path[0]]);
    const count = starts[starts.length - 1];
    /** @param {Numbers} all @param {Numbers} from @param {number} size */
    const along = (all, from, size) => path.flatMap((k) => Array.from(all).slice(size * from[k], size * from[k + 1]));
    const program = [desk.wholes(along(codes, starts, codes.length / count))];
    program.push(desk.floats(along(numbers, starts, numbers.length / count)));
    const moved = desk.wholes(along(rates, owned, 1));
    const [world, rows, work] = [desk.room([4, 4]), desk.room([6, this.nv]), desk.room([6 * moved.size])];
    const tip = desk.call("tip_one", [...program, this.pose, world]);
    const jacobian = desk.call("jacobian_one", [...program, moved, this.pose, 0, work, rows]);
    this.chains.set(frame, { world, rows, tip, jacobian });
    return this.chains.get(frame);
  }

  /** @param {Numbers} q @returns {Float64Array} the pose, clamped to the limits of its joints */
  clamp(q) {
    const result = Float64Array.from(q, (x, k) => Math.min(Math.max(x, this.lower[k]), this.upper[k]));
    for (const cone of this.data.cones) result.set(withinCone(result.subarray(cone.q, cone.q + 4), cone), cone.q);
    return result;
  }

  /** Names of its packed solvers. @returns {string[]} */
  get solvers() {
    return Object.keys(this.data.solvers);
  }

  /** @param {string} [name] @returns {any} a solver by name; by default the only one */
  solver(name = this.solvers.length === 1 ? this.solvers[0] : "") {
    const data = this.data.solvers[name];
    if (!data) refuse(`${this.name} has the solvers ${this.solvers.join(", ") || "(none)"}; name one of them, got "${name}".`);
    if (!this.known.has(name)) this.known.set(name, makeSolver(this, data));
    return this.known.get(name);
  }

  /**
   * Solve with the only solver or a named one: for a target of its frame, or for goals of a whole body by name.
   * @param {any} target @param {Begin & {solver?: string}} [options] @returns {Solution}
   */
  solve(target, { solver, ...options } = {}) {
    return this.solver(solver).solve(target, options);
  }

  /**
   * Follow targets, starting from a pose: `const hand = arm.follow(q); hand.step(target, 0.01)`.
   * @param {Pose} q @param {Pace & {solver?: string}} [options]
   */
  follow(q, { solver, ...options } = {}) {
    return new Follower(this.solver(solver), q, options);
  }

  /** @param {Pace} pace @returns {Float64Array} the largest speeds of all velocities */
  speeds({ velocity = this.data.velocity, scale = 1 }) {
    const given = typeof velocity === "number" ? Array(this.nv).fill(velocity) : velocity;
    const each = Float64Array.from(given, (x) => x * scale);
    if (each.length !== this.nv || !each.every((x) => x >= 0) || !(scale > 0 && scale < Infinity)) {
      refuse(`velocity is one speed or ${this.nv} speeds, none negative, and scale is a positive number; got ${velocity} and ${scale}.`);
    }
    return each;
  }
}

/** Classes of solvers by their kind; bodies.js adds its own. @type {Record<string, any>} */
export const KINDS = {};

/** @param {Linkage} linkage @param {any} data */
export function makeSolver(linkage, data) {
  const Kind = KINDS[data.kind] ?? refuse(`a solver of kind ${data.kind} needs its module: import "linkwork/bodies.js".`);
  return new Kind(linkage, data);
}

/**
 * Return a target as 16 numbers.
 * @param {any} target
 * @param {string} frame
 * @param {{position: number, orientation: boolean}} asks whether position and orientation are used
 */
export function readTarget(target, frame, asks) {
  const result = Float64Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1);
  const size = target?.length;
  let { position, wxyz, xyzw, rotation: turn } = target ?? {};
  if (size === 2 || size === 3) position = target;
  if (size === 9) turn = target;
  if (xyzw) wxyz = [xyzw[3], xyzw[0], xyzw[1], xyzw[2]];
  if (wxyz) turn = rotation(wxyz);
  if (size === 16) {
    result.set(target);
    if (target[12] || target[13] || target[14]) {
      refuse(`a matrix of ${frame} is read row by row, and its last row is not 0, 0, 0, 1: transpose it (three.js).`);
    }
  } else if ((asks.position && !position) || (asks.orientation && !turn) || !(position || turn)) {
    const wanted = [...(asks.position ? ["position"] : []), ...(asks.orientation ? ["wxyz, xyzw or rotation"] : [])];
    const got = JSON.stringify(target);
    refuse(`the target of ${frame} is a matrix of 16 numbers or has ${wanted.join(" and ")}; got ${got}.`);
  } else {
    if (position) Array.from(position).forEach((x, k) => (result[4 * k + 3] = x));
    if (turn) Array.from(turn).forEach((x, k) => (result[4 * Math.floor(k / 3) + (k % 3)] = x));
  }
  if (!result.every(Number.isFinite)) refuse(`the target of ${frame} has numbers that are not finite: ${result}.`);
  return result;
}

/** Inverse kinematics of one frame. */
export class ChainSolver {
  /** @param {Linkage} linkage @param {Record<string, any>} data */
  constructor(linkage, data) {
    const { desk } = linkage;
    const { answer, follow } = data;
    this.linkage = linkage;
    this.data = data;
    /** @type {string} */ this.frame = data.frame;
    this.asks = { position: data.axes.filter(Boolean).length, orientation: data.orientation };
    this.units = [...(this.asks.position ? ["m"] : []), ...(data.orientation ? ["rad"] : [])];
    this.codes = desk.wholes(data.codes);
    const table = startTable(data, (values) => linkage.forward(this.put(values, data.rest), data.frame));
    const head = 8 * Math.ceil(data.numbers.length / 8);
    const packed = desk.room([(head + table.length) / 8, 8]);
    desk.view(packed).set(data.numbers);
    desk.view(packed, head).set(table);
    this.numbers = part(packed, 0, data.numbers.length);
    this.tables = { ...part(packed, head, table.length), shape: [table.length / 8, 8] };
    this.target = desk.room([4, 4]);
    this.out = desk.room([answer.size]);
    const given = [this.codes, packed, desk.room(answer.room), this.target, BigInt(data.seed), data.restarts, 0, this.out];
    this.search = desk.call("search_one", given);
    this.pace = desk.floats(follow.own);
    this.cycle = desk.room([follow.size]);
    this.last = desk.room([follow.size]);
    const room = desk.room([follow.room]);
    const rest = [this.target, this.pace, { float: 0 }, 1, 0, this.last, this.cycle];
    this.following = desk.call("follow_one", [this.codes, packed, room, ...rest]);
    /** @type {any} */ this.closest = undefined;
    /** @type {Follower | undefined} */ this.follower = undefined;
  }

  /** @param {Float64Array} q @returns {Float64Array} the values of the chain's joints */
  values(q) {
    const { plain, balls, values } = this.data;
    const [result, half] = [new Float64Array(values), plain.length / 2];
    for (let k = 0; k < half; k++) result[plain[k]] = q[plain[half + k]];
    for (let k = 0; k < balls.length; k += 2) result.set(anglesOf(q.subarray(balls[k + 1], balls[k + 1] + 4)), balls[k]);
    return result;
  }

  /** @param {Numbers} values of the chain @param {Numbers} base pose for all other joints @returns {Float64Array} a pose */
  put(values, base) {
    const { plain, balls, strays } = this.data;
    const [q, half] = [Float64Array.from(base), plain.length / 2];
    for (let k = 0; k < half; k++) q[plain[half + k]] = values[plain[k]];
    for (let k = 0; k < balls.length; k += 2) {
      q.set(quaternionOf([0, 1, 2].map((i) => values[balls[k] + i])), balls[k + 1]);
    }
    return strays ? this.linkage.clamp(q) : q;
  }

  /** Write a target to the kernels' memory, rotated so that a free axis is z. @param {Target} target */
  aim(target) {
    const { turn } = this.data;
    const m = readTarget(target, this.frame, this.asks);
    for (const i of [0, 4, 8]) {
      m.set([0, 1, 2].map((k) => m[i] * turn[k] + m[i + 1] * turn[3 + k] + m[i + 2] * turn[6 + k]), i);
    }
    this.linkage.desk.view(this.target).set(m);
  }

  /** @param {Record<string, number>} report squared errors @returns {number[]} in metres and radians */
  residuals({ position_error: position, rotation_error: turn }) {
    const both = [Math.sqrt(position), 2 * Math.asin(Math.min(Math.sqrt(turn) / 2, 1))];
    return both.filter((_, k) => (k ? this.asks.orientation : this.asks.position));
  }

  /**
   * Return the solution that brings the frame to a target, or the closest pose found; with a start, the nearest solution.
   * @param {Target} target
   * @param {Begin} [options]
   * @returns {Solution}
   */
  solve(target, { start, stay = false } = {}) {
    const { linkage, data } = this;
    const { desk } = linkage;
    const { answer, open, rest } = data;
    const { search_report: names, search_status: ends, search_errors: errors } = linkage.data.layouts;
    if (stay) return this.stay(target, start);
    this.aim(target);
    const given = start !== undefined;
    const base = given ? linkage.read(start, "the start") : rest;
    if (given) desk.view(this.out, answer.start).set(this.values(base));
    this.search.set(6, given);
    let ended = this.search.run();
    if (ended === errors.target) refuse(`the target of ${this.frame} is not a rigid transform.`);
    if (ends[ended] !== "reached") ended = this.closer(ended, given);
    const out = desk.view(this.out);
    const q = this.put(out.subarray(answer.values), base);
    for (const k of open) q[k] -= TURN * even((q[k] - base[k]) / TURN);
    const report = named(out, answer.report, names);
    const success = ends[ended] === "reached";
    const { steps: iterations } = report;
    return { q, success, status: ends[ended], residuals: this.residuals(report), units: this.units, iterations };
  }

  /** Move a pose that missed its target as close to it as possible. @param {number} ended @param {boolean} given */
  closer(ended, given) {
    const { data } = this;
    const { desk } = this.linkage;
    const { answer, values: n, closest } = data;
    if (!this.closest) {
      const [rows, width] = closest.memory;
      const lanes = desk.room([rows, width]);
      const [rough, single] = [desk.room([data.rough.length], 4), desk.room([rows, 2 * width], 4)];
      desk.home.f32.set(data.rough, rough.at / 4);
      const status = desk.room([1]);
      const program = [this.codes, this.numbers, rough, this.tables, part(this.target, 0, 16), part(this.out, 0, 0)];
      const work = [desk.wholes(closest.stages), lanes, single, desk.room([closest.books]), desk.room([closest.notes])];
      const found = [part(this.out, answer.values, n), part(this.out, answer.report, answer.start - answer.report), status];
      this.closest = { call: desk.call("closest_many", [...program, ...work, ...found]), lanes, single, status };
    }
    const { call, lanes, single, status } = this.closest;
    desk.view(lanes).fill(0);
    desk.home.f32.fill(0, single.at / 4, single.at / 4 + single.size);
    desk.home.i64[status.at / 8] = BigInt(ended);
    call.set(5, part(this.out, answer.start, given ? n : 0));
    call.run();
    return Number(desk.home.i64[status.at / 8]);
  }

  /** @param {Target} target @param {Pose | undefined} start @returns {Solution} */
  stay(target, start) {
    const { staying, cycles } = this.data.follow;
    if (start === undefined) refuse("stay: true continues on the branch of a start pose; pass start.");
    const found = this.run(target, this.linkage.read(start, "the start"), staying, 1, false, cycles);
    const stuck = found.status === "held" || (found.status === "limited" && found.limit === "position");
    return { ...found, status: found.success ? "reached" : stuck ? "held" : "following" };
  }

  /** @param {Pace} pace the speeds, which are returned as the kernels read them */
  paced(pace) {
    const { own, rates, speeds: first, stride } = this.data.follow;
    const speeds = this.linkage.speeds(pace);
    const result = Float64Array.from(own);
    Array.from(rates).forEach((v, k) => (result[first + stride * k] = v >= 0 ? speeds[v] : Infinity));
    return result;
  }

  /**
   * Run control cycles from a pose.
   * @param {Target} target @param {Float64Array} q @param {Numbers} pace @param {number} dt
   * @param {boolean} moving whether the pose is the result of the last cycle
   * @returns {Step}
   */
  run(target, q, pace, dt, moving, cycles = 1) {
    const { linkage, data, following } = this;
    const { desk } = linkage;
    const { cycle_report: names, cycle_status: ends, cycle_errors: errors, cycle_limits: limits } = linkage.data.layouts;
    const { follow, joints } = data;
    this.aim(target);
    desk.view(this.pace).set(pace);
    if (moving) desk.view(this.last).set(desk.view(this.cycle));
    desk.view(this.cycle, follow.start).set(this.values(q));
    following.set(5, { float: dt });
    following.set(6, cycles);
    following.set(7, moving);
    const ended = following.run();
    if (ended === errors.target) refuse(`the target of ${this.frame} is not a rigid transform.`);
    const out = desk.view(this.cycle);
    const report = named(out, follow.report, names);
    const { asked, left, value, limit, steps: iterations } = report;
    const share = asked > 0 ? Math.max(1 - left / asked, 0) : 1;
    const said = { joint: joints[value] ?? "", limit: limits[limit], share, iterations, units: this.units };
    const [status, success] = [ends[ended], ends[ended] === "reached"];
    return { q: this.put(out.subarray(follow.values), q), success, status, residuals: this.residuals(report), ...said };
  }
}
KINDS.chain = ChainSolver;

/** @param {number} x @returns {number} the nearest integer; halves are rounded to even, as in NumPy */
function even(x) {
  const r = Math.round(x);
  return Math.abs(x % 1) === 0.5 && r % 2 ? r - 1 : r;
}

/** A linkage that follows targets without jumps, one control cycle at a time: for control loops and dragging. */
export class Follower {
  /** @type {Float64Array} */ #q;
  #moving = false;

  /** @param {any} solver @param {Pose} q @param {Pace} [pace] */
  constructor(solver, q, pace = {}) {
    this.solver = solver;
    this.#q = solver.linkage.read(q);
    this.pace = solver.paced(pace);
  }

  /** The present pose; set it to continue from another pose. */
  get q() {
    return this.#q;
  }

  set q(pose) {
    this.#q = this.solver.linkage.read(pose);
    this.#moving = false;
  }

  /**
   * Move towards a target, or goals, for one cycle, as fast as the joints can; if out of reach, as near as possible.
   * @param {any} target @param {number} dt duration of the cycle [s]
   * @returns {Step}
   */
  step(target, dt) {
    const { solver } = this;
    if (!(dt > 0)) refuse(`dt, how long a cycle lasts, is a positive number of seconds, got ${dt}.`);
    const found = solver.run(target, this.#q, this.pace, dt, this.#moving && solver.follower === this);
    solver.follower = this; // the state of the last cycle is that of this follower
    this.#q = found.q;
    this.#moving = true;
    return found;
  }
}

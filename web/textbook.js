// @ts-check
/** One step of the textbook's methods, for pages that show how they move: transpose, pseudoinverse, damped and ccd. */

import { ChainSolver, part, readTarget, refuse } from "./linkwork.js";
import { quaternionOf, turned, vectorOf } from "./rotations.js";

/** @typedef {import("./linkwork.js").Numbers} Numbers */
/** Names of the methods that `step` knows. */
export const METHODS = ["pseudoinverse", "damped", "transpose", "ccd"];
/** @type {WeakMap<ChainSolver, any>} */
const rooms = new WeakMap();

/** @param {ChainSolver} solver @returns {any} memory to work in */
function room(solver) {
  const { desk, nv: n } = solver.linkage;
  const { textbook, orientation } = solver.data;
  const m = textbook.rows.length;
  if (!rooms.has(solver)) {
    const own = {
      target: [4, 4], world: [1, 1, 4, 4], moving: [1, 1, 6, n], way: [1, 6], J: [m, n], V: [m], weight: [1],
      work: [Math.min(m, n) * (m + n)], change: [1, n], gain: [1, n], low: [1, n], high: [1, n],
    };
    const made = Object.fromEntries(Object.entries(own).map(([name, shape]) => [name, desk.room(shape)]));
    const goal = desk.wholes([textbook.coordinates, orientation ? 1 : 0]);
    desk.view(made.weight).fill(1);
    rooms.set(solver, { ...made, goal, kinds: desk.wholes(textbook.kinds) });
  }
  return rooms.get(solver);
}

/**
 * Take one step of a method: the pose after it, the velocity that led there, and how far off the pose before was.
 * @param {import("./linkwork.js").Linkage} linkage
 * @param {"transpose" | "pseudoinverse" | "damped" | "ccd"} method
 * @param {import("./linkwork.js").Target} target
 * @param {import("./linkwork.js").Pose} pose
 * @param {{solver?: string, damping?: number, scale?: number}} [options] lambda of "damped", adaptive by default; alpha of
 *   "transpose", the one that fits best by default
 */
export function step(linkage, method, target, pose, { solver: name, damping, scale = 0 } = {}) {
  const solver = linkage.solver(name);
  if (!(solver instanceof ChainSolver)) refuse("textbook steps are for a solver of one frame.");
  const { desk, data } = { desk: linkage.desk, data: solver.data };
  const { rows, scale: weights, rank } = data.textbook;
  if (data.free) refuse("textbook steps know no free axis; use solve.");
  const q = linkage.read(pose);
  const aim = readTarget(target, solver.frame, solver.asks);
  const [own, n] = [room(solver), linkage.nv];
  const jacobian = linkage.jacobian(q, solver.frame);
  const world = linkage.forward(q, solver.frame);
  desk.view(own.target).set(aim);
  desk.view(own.world).set(world);
  run(solver, "pose_errors", [{ ...own.world, shape: [1, 4, 4] }, own.target, own.way]);
  const way = desk.view(own.way).slice();
  const [J, V] = [desk.view(own.J), desk.view(own.V)];
  Array.from(rows).forEach((row, k) => {
    V[k] = way[row] * weights[k];
    for (let v = 0; v < n; v++) J[n * k + v] = jacobian[n * row + v] * weights[k];
  });
  const change = { ...own.change, shape: [n] };
  if (method === "transpose") run(solver, "transpose_step", [own.J, own.V, { float: scale }, change]);
  else if (method === "pseudoinverse") run(solver, "pseudoinverse_step", [own.J, own.V, { float: rank }, own.work, change]);
  else if (method === "damped") {
    const adaptive = 0.05 * V.reduce((sum, x) => sum + x * x, 0) + 1e-9 * linkage.data.length ** 2;
    const squared = (damping === undefined ? adaptive : damping * damping) + 1e-300;
    run(solver, "damped_step", [own.J, own.V, { float: squared }, own.work, change]);
  } else if (method === "ccd") descend(solver, own, q, jacobian);
  else refuse(`method is transpose, pseudoinverse, damped or ccd, got ${method}.`);
  const velocity = desk.view(own.change).slice();
  const moved = integrate(linkage, q, velocity);
  const sizes = [way.subarray(0, 3).filter((_, k) => data.axes[k]), way.subarray(3)].map((part) => Math.hypot(...part));
  const residuals = sizes.filter((_, k) => (k ? data.orientation : solver.asks.position));
  return { q: data.keeps_limits ? linkage.clamp(moved) : moved, velocity, residuals };
}

/** Run a kernel; the call is made once. @param {ChainSolver} solver @param {string} name @param {any[]} given */
function run(solver, name, given) {
  const own = room(solver);
  own.calls ??= {};
  const call = (own.calls[name] ??= solver.linkage.desk.call(name, given));
  given.forEach((value, k) => "float" in Object(value) && call.set(k, value));
  call.run();
}

/**
 * Put every joint at its best, the outermost first.
 * @param {ChainSolver} solver @param {any} own @param {Float64Array} q @param {Numbers} jacobian
 */
function descend(solver, own, q, jacobian) {
  const { linkage, data } = solver;
  const { desk, lower, upper } = linkage;
  const { radius, no_descent: why } = data.textbook;
  if (why) refuse(`ccd turns and slides joints one by one; ${linkage.name} has ${why}.`);
  desk.view(own.moving).set(jacobian);
  const [low, high] = [desk.view(own.low), desk.view(own.high)];
  Array.from(linkage.data.pose_index).forEach((place, v) => {
    const bounded = data.keeps_limits && place >= 0;
    low[v] = bounded ? lower[place] - q[place] : -Infinity;
    high[v] = bounded ? upper[place] - q[place] : Infinity;
  });
  const goal = [1, { ...own.target, shape: [1, 4, 4] }, part(own.goal, 0, 1), part(own.goal, 1, 1), own.weight];
  const found = [own.kinds, own.low, own.high, 1, own.change, own.gain];
  run(solver, "sweep_inward", [...goal, { float: radius }, own.world, own.moving, ...found]);
  const change = desk.view(own.change);
  const balls = linkage.data.quaternions;
  for (let k = 1; k < balls.length; k += 2) {
    change.set(vectorOf(quaternionOf(change.subarray(balls[k], balls[k] + 3))), balls[k]);
  }
}

/**
 * Return the pose that a velocity, kept for unit time, leads to.
 * @param {import("./linkwork.js").Linkage} linkage @param {Numbers} q @param {Numbers} velocity nv numbers
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

// @ts-check
/**
 * Things to take hold of: a ball that moves in the plane of the screen, arrows along three axes, squares in three planes,
 * rings to turn. They are as large on the screen wherever they stand. What is hit and how it moves is numbers only.
 */

import { about, cross, dot, fromZ, minus, plus, product, turned, unit } from "./algebra.js";
import { BOX, CAPSULE, CONE, CYLINDER, RING } from "./shapes.js";

/** @typedef {import("./algebra.js").Numbers} Numbers */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./camera.js").Ray} Ray */
/** A handle's part: "ball"; "x", "y", "z"; "yz", "zx", "xy"; "turn x", "turn y", "turn z"; "turn" while a key turns it. @typedef {string} Grip */
/**
 * What a handle is made with. `grips` are any of "ball", "arrows", "planes", "rings"; `tie` is a point that a line goes to,
 * such as the end of a limb; `axes` are those of the world or its own; `color` is a name of the palette. `turning` is asked
 * when a key turns what is held, or moves it again: whether that can be; where it has rings by default.
 * @typedef {{position: Numbers, wxyz?: Numbers, label?: string, grips?: string[], color?: string, tie?: Numbers | null,
 *   axes?: "world" | "own", visible?: boolean, size?: number, taken?: (handle: Handle) => void, turning?: (handle: Handle, on: boolean) => boolean,
 *   moved?: (handle: Handle) => void, dropped?: (handle: Handle) => void}} HandleOptions
 */

const BALL = 9; // sizes in CSS pixels: the ball's radius
const START = 16; // where arrows begin
const TIP = 58; // where their tips begin
const CONE_LENGTH = 15;
const SQUARE = 30; // where the middle of a plane's square is, along both of its axes
const SQUARE_HALF = 7;
const RADIUS = 84; // of rings
const SLACK = { mouse: 5, pen: 8, touch: 16 }; // how far beside a grip still takes it
const EDGE_ON = 0.12; // a ring or plane seen at a slope below that is no plane to move in
const TURN = "turn"; // the grip while a key turns what is held
const NAMES = ["x", "y", "z"];
const PLANES = ["yz", "zx", "xy"];

export class Handle {
  /** @param {HandleOptions} options */
  constructor(options) {
    this.position = Array.from(options.position);
    this.wxyz = Array.from(options.wxyz ?? [1, 0, 0, 0]);
    this.label = options.label ?? "handle";
    this.grips = new Set(options.grips ?? ["ball"]);
    this.color = options.color ?? "goal";
    /** @type {number[] | null} */ this.tie = options.tie ? Array.from(options.tie) : null;
    this.axes = options.axes ?? "world";
    this.visible = options.visible ?? true;
    this.size = options.size ?? 1;
    this.taken = options.taken ?? (() => {});
    this.turning = options.turning ?? (() => this.grips.has("rings"));
    this.moved = options.moved ?? (() => {});
    this.dropped = options.dropped ?? (() => {});
  }

  /** @param {number} k @returns {number[]} one of its axes */
  axis(k) {
    const axis = [0, 0, 0];
    axis[k] = 1;
    return this.axes === "own" ? turned(this.wxyz, axis) : axis;
  }
}

/** @param {Ray} ray @param {Numbers} point @param {Numbers} normal @returns {number[] | null} where it meets a plane */
export function onPlane({ from, along }, point, normal) {
  const speed = dot(along, normal);
  if (Math.abs(speed) < 1e-9) return null;
  const t = dot(minus(point, from), normal) / speed;
  return t < 0 ? null : plus(from, along, t);
}

/** @param {Ray} ray @param {Numbers} point @param {Numbers} axis @returns {number} how far along a line it comes nearest */
export function alongLine({ from, along }, point, axis) {
  const [b, between] = [dot(along, axis), minus(from, point)];
  const rest = 1 - b * b;
  return rest < 1e-9 ? 0 : (dot(between, axis) - b * dot(between, along)) / rest;
}

/** @param {number} x @param {number} y @param {{x: number, y: number}} a @param {{x: number, y: number}} b how far from a line's piece */
function awayFrom(x, y, a, b) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const t = Math.min(Math.max(((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(x - a.x - t * dx, y - a.y - t * dy);
}

/** A grip that is held: where all began. */
class Hold {
  /** @param {Handle} handle @param {Grip} grip @param {Camera} camera @param {number} x @param {number} y @param {Grip} [first] what was taken hold of */
  constructor(handle, grip, camera, x, y, first = grip) {
    this.handle = handle;
    this.grip = grip;
    this.first = first;
    this.camera = camera;
    this.position = handle.position.slice();
    this.wxyz = handle.wxyz.slice();
    const k = NAMES.indexOf(grip.at(-1) ?? "");
    this.axis = grip === "ball" || grip === TURN ? camera.towards.slice() : handle.axis(PLANES.includes(grip) ? PLANES.indexOf(grip) : k);
    this.straight = grip.length === 1; // along an arrow
    this.turns = grip.startsWith(TURN);
    this.pixel = [x, y];
    this.now = [x, y];
    this.begun = this.read(x, y);
  }

  /** @param {number} x @param {number} y @returns {any} where the pointer is, in what the grip moves in */
  read(x, y) {
    const ray = this.camera.ray(x, y);
    if (this.straight) return alongLine(ray, this.position, this.axis);
    return onPlane(ray, this.position, this.axis);
  }

  /** Move the handle to a point of the screen. @param {number} x @param {number} y */
  move(x, y) {
    const now = this.read(x, y);
    this.now = [x, y];
    if (this.grip === TURN) {
      this.handle.wxyz = product(this.rolled(x - this.pixel[0], y - this.pixel[1]), this.wxyz);
    } else if (this.turns) {
      this.handle.wxyz = product(about(this.axis, this.angle(x, y, now)), this.wxyz);
    } else if (this.straight) {
      this.handle.position = plus(this.position, this.axis, now - this.begun);
    } else if (now && this.begun) {
      this.handle.position = plus(this.position, minus(now, this.begun));
    }
  }

  /** @param {number} right @param {number} down of the pointer @returns {Numbers} a turn as of a ball under it; flat, about the line of sight */
  rolled(right, down) {
    const { right: aside, up, towards, flat } = this.camera;
    if (flat) return about(towards, -right / RADIUS);
    return product(about(up, right / RADIUS), about(aside, down / RADIUS));
  }

  /** @param {number} x @param {number} y @param {number[] | null} now @returns {number} how far a ring is turned */
  angle(x, y, now) {
    const { axis, position, begun, camera } = this;
    if (!now || !begun || Math.abs(dot(camera.towards, axis)) < EDGE_ON) {
      const side = cross(axis, camera.towards); // edge on: the way of the pointer along the ring, in radii
      const along = (x - this.pixel[0]) * dot(side, camera.right) - (y - this.pixel[1]) * dot(side, camera.up);
      return along / (RADIUS * this.handle.size);
    }
    const [a, b] = [unit(minus(begun, position)), unit(minus(now, position))];
    return Math.atan2(dot(cross(a, b), axis), dot(a, b));
  }
}

/** All handles of a stage. */
export class Handles {
  constructor() {
    /** @type {Handle[]} */ this.list = [];
    /** @type {Hold | null} */ this.held = null;
    /** What the pointer is over. @type {{handle: Handle, grip: Grip} | null} */ this.under = null;
    this.changed = () => {};
  }

  /** @param {HandleOptions} options @returns {Handle} */
  add(options) {
    const handle = new Handle(options);
    this.list.push(handle);
    this.changed();
    return handle;
  }

  /** @param {Handle} handle */
  remove(handle) {
    this.list = this.list.filter((other) => other !== handle);
    if (this.held?.handle === handle) this.held = null;
    if (this.under?.handle === handle) this.under = null;
    this.changed();
  }

  /**
   * Return the grip at a point of the screen.
   * @param {Camera} camera @param {number} x @param {number} y @param {"mouse" | "pen" | "touch"} [pointer]
   * @returns {{handle: Handle, grip: Grip} | null}
   */
  hit(camera, x, y, pointer = "mouse") {
    let best = null;
    let least = SLACK[pointer] ?? SLACK.mouse;
    for (const handle of this.list) {
      if (!handle.visible) continue;
      for (const [grip, away] of distances(handle, camera, x, y)) {
        if (away < least || (grip === "ball" && away <= 0)) [best, least] = [{ handle, grip }, away];
      }
    }
    return best;
  }

  /** Take hold. @param {Handle} handle @param {Grip} grip @param {Camera} camera @param {number} x @param {number} y */
  take(handle, grip, camera, x, y) {
    this.held = new Hold(handle, grip, camera, x, y);
    handle.taken(handle);
    this.changed();
  }

  /** @param {number} x @param {number} y */
  drag(x, y) {
    if (!this.held) return;
    this.held.move(x, y);
    this.held.handle.moved(this.held.handle);
    this.changed();
  }

  /** Turn what is held by the way of the pointer from here on, or move it again. @param {boolean} on */
  turn(on) {
    const { held } = this;
    if (!held || on === (held.grip === TURN) || !held.handle.turning(held.handle, on)) return;
    const [x, y] = held.now;
    this.held = new Hold(held.handle, on ? TURN : held.first, held.camera, x, y, held.first);
    this.changed();
  }

  drop() {
    const held = this.held;
    this.held = null;
    held?.handle.dropped(held.handle);
    this.changed();
  }

  /**
   * Write all handles as shapes.
   * @param {import("./painter.js").Layer} grips @param {import("./painter.js").Layer} marks @param {Camera} camera
   * @param {(name: string) => Numbers} color
   */
  write(grips, marks, camera, color) {
    for (const handle of this.list) {
      if (!handle.visible) continue;
      const metres = camera.project(handle.position).metres;
      if (handle.tie) marks.rod(handle.tie, handle.position, 1.1 * metres, color(handle.color), 0.8);
      const active = this.held?.handle === handle ? this.held.grip : this.under?.handle === handle ? this.under.grip : "";
      writeHandle(grips, handle, camera, metres * handle.size * camera.unit, color, active);
    }
  }
}

/** @param {Handle} handle @param {Camera} camera @returns {number[]} numbers of the axes that it has: two for something flat */
const axesOf = (handle, camera) => (camera.flat ? [0, 1] : [0, 1, 2]);

/** @param {Handle} handle @param {Camera} camera @param {number} k @returns {boolean} whether an arrow points at the eye */
const headOn = (handle, camera, k) => Math.abs(dot(handle.axis(k), camera.towards)) > 0.97;

/**
 * @param {Handle} handle @param {Camera} camera @param {number} x @param {number} y
 * @returns {[Grip, number][]} how far a point of the screen is outside each grip, in pixels
 */
function distances(handle, camera, x, y) {
  const [at, size] = [camera.project(handle.position), handle.size * camera.unit];
  const grain = at.metres * size;
  /** @type {[Grip, number][]} */ const found = [];
  /** @param {number[]} v in pixels */
  const spot = (v) => camera.project(plus(handle.position, v, grain));
  if (handle.grips.has("ball")) found.push(["ball", Math.hypot(x - at.x, y - at.y) - BALL * size]);
  for (const k of axesOf(handle, camera)) {
    const axis = handle.axis(k);
    if (handle.grips.has("arrows") && !headOn(handle, camera, k)) {
      const ends = [START, TIP + CONE_LENGTH].map((length) => spot(axis.map((v) => v * length)));
      found.push([NAMES[k], awayFrom(x, y, ends[0], ends[1]) - 4]);
    }
  }
  for (const k of camera.flat ? [] : [0, 1, 2]) {
    if (!handle.grips.has("planes") || Math.abs(dot(handle.axis(k), camera.towards)) < EDGE_ON) continue;
    const middle = spot(plus(handle.axis((k + 1) % 3), handle.axis((k + 2) % 3)).map((v) => v * SQUARE));
    found.push([PLANES[k], Math.hypot(x - middle.x, y - middle.y) - 1.2 * SQUARE_HALF]);
  }
  for (const k of camera.flat ? [2] : [0, 1, 2]) {
    if (!handle.grips.has("rings")) continue;
    const [u, v] = [handle.axis((k + 1) % 3), handle.axis((k + 2) % 3)];
    const spots = Array.from({ length: 33 }, (_, i) => {
      const [c, s] = [Math.cos((Math.PI * i) / 16) * RADIUS, Math.sin((Math.PI * i) / 16) * RADIUS];
      return spot([0, 1, 2].map((n) => c * u[n] + s * v[n]));
    });
    const near = spots.slice(1).map((end, i) => awayFrom(x, y, spots[i], end));
    found.push([`turn ${NAMES[k]}`, Math.min(...near) - 2]);
  }
  return found;
}

/**
 * @param {import("./painter.js").Layer} layer @param {Handle} handle @param {Camera} camera @param {number} metres a pixel
 * @param {(name: string) => Numbers} color @param {Grip} active
 */
function writeHandle({ batches }, handle, camera, metres, color, active) {
  const { position: p, grips } = handle;
  /** @param {Grip} grip @param {string} name */
  const shade = (grip, name) => (grip === active ? color("goal") : color(name));
  if (grips.has("rings") || active === TURN) {
    for (const k of camera.flat ? [2] : [0, 1, 2]) {
      const radius = RADIUS * metres;
      const name = NAMES[k];
      batches[RING].push(fromZ(handle.axis(k)), p, 0, [radius, radius, radius], shade(`turn ${name}`, name));
    }
  }
  for (const k of axesOf(handle, camera)) {
    if (!grips.has("arrows") || headOn(handle, camera, k)) continue;
    const [axis, paint, name] = [handle.axis(k), shade(NAMES[k], NAMES[k]), NAMES[k]];
    const wide = (name === active ? 2.4 : 1.7) * metres;
    const middle = plus(p, axis, ((START + TIP) / 2) * metres);
    batches[CYLINDER].push(fromZ(axis), middle, ((TIP - START) / 2) * metres, [wide, wide, wide], paint);
    batches[CONE].push(fromZ(axis), plus(p, axis, TIP * metres), 0, [5.5 * metres, 5.5 * metres, CONE_LENGTH * metres], paint);
  }
  for (const k of camera.flat ? [] : [0, 1, 2]) {
    if (!grips.has("planes") || Math.abs(dot(handle.axis(k), camera.towards)) < EDGE_ON) continue;
    const side = plus(handle.axis((k + 1) % 3), handle.axis((k + 2) % 3));
    const half = SQUARE_HALF * metres;
    const turn = product(handle.axes === "own" ? handle.wxyz : [1, 0, 0, 0], fromZ(NAMES.map((_, i) => Number(i === k))));
    batches[BOX].push(turn, plus(p, side, SQUARE * metres), 0, [half, half, 0.6 * metres], shade(PLANES[k], NAMES[k]), 0.75);
  }
  if (grips.has("ball")) {
    const radius = (active === "ball" ? 1.15 : 1) * BALL * metres;
    batches[CAPSULE].push([1, 0, 0, 0], p, 0, [radius, radius, radius], color(handle.color), 0.92);
  }
}

// @ts-check
/**
 * Handles to drag: a ball that moves in the plane of the screen, arrows along three axes, squares in three planes, rings
 * for rotation. Their size on the screen is constant. Hit tests and motions do not depend on a page.
 */

import { about, cross, dot, fromZ, minus, plus, product, turned, unit } from "./algebra.js";
import { BOX, CAPSULE, CONE, CYLINDER, RING } from "./shapes.js";

/** @typedef {import("./algebra.js").Numbers} Numbers */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./camera.js").Ray} Ray */
/** A handle's part: "ball"; "x", "y", "z"; "yz", "zx", "xy"; "turn x", "turn y", "turn z"; "turn" while a key is down for rotation. @typedef {string} Grip */
/**
 * Options of a handle. `grips` are any of "ball", "arrows", "planes", "rings"; `tie` is the end of a line from the handle,
 * such as the end of a limb; `axes` are those of the world or its own; `color` is a name of the palette. `turning` is
 * called when a key starts or ends rotation of the held handle, and returns whether that is possible; by default it is for
 * handles with rings.
 * @typedef {{position: Numbers, wxyz?: Numbers, label?: string, grips?: string[], color?: string, tie?: Numbers | null,
 *   axes?: "world" | "own", visible?: boolean, size?: number, taken?: (handle: Handle) => void, turning?: (handle: Handle, on: boolean) => boolean,
 *   moved?: (handle: Handle) => void, dropped?: (handle: Handle) => void}} HandleOptions
 */

const BALL = 9; // sizes in CSS pixels: the ball's radius
const START = 16; // start of an arrow
const TIP = 58; // start of its tip
const CONE_LENGTH = 15;
const SQUARE = 30; // centre of a plane's square along both of its axes
const SQUARE_HALF = 7;
const RADIUS = 84; // of rings
const SLACK = { mouse: 5, pen: 8, touch: 16 }; // largest distance from a grip that still hits it
const EDGE_ON = 0.12; // sine of the slope below which a ring or plane is too edge-on to drag in its plane
const TURN = "turn"; // the grip while a key is down for rotation
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

/** @param {Ray} ray @param {Numbers} point @param {Numbers} normal @returns {number[] | null} its intersection with a plane */
export function onPlane({ from, along }, point, normal) {
  const speed = dot(along, normal);
  if (Math.abs(speed) < 1e-9) return null;
  const t = dot(minus(point, from), normal) / speed;
  return t < 0 ? null : plus(from, along, t);
}

/** @param {Ray} ray @param {Numbers} point @param {Numbers} axis @returns {number} the parameter of the nearest point on a line */
export function alongLine({ from, along }, point, axis) {
  const [b, between] = [dot(along, axis), minus(from, point)];
  const rest = 1 - b * b;
  return rest < 1e-9 ? 0 : (dot(between, axis) - b * dot(between, along)) / rest;
}

/** @param {number} x @param {number} y @param {{x: number, y: number}} a @param {{x: number, y: number}} b the distance from a line segment */
function awayFrom(x, y, a, b) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const t = Math.min(Math.max(((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(x - a.x - t * dx, y - a.y - t * dy);
}

/** A grip that is held, with the state at its start. */
class Hold {
  /** @param {Handle} handle @param {Grip} grip @param {Camera} camera @param {number} x @param {number} y @param {Grip} [first] the grip at first, before a key changed it */
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

  /** @param {number} x @param {number} y @returns {any} where pointer position in the coordinates of the grip */
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

  /** @param {number} right @param {number} down of the pointer @returns {Numbers} the rotation of a trackball; for a flat linkage, about the line of sight */
  rolled(right, down) {
    const { right: aside, up, towards, flat } = this.camera;
    if (flat) return about(towards, -right / RADIUS);
    return product(about(up, right / RADIUS), about(aside, down / RADIUS));
  }

  /** @param {number} x @param {number} y @param {number[] | null} now @returns {number} the angle of a ring */
  angle(x, y, now) {
    const { axis, position, begun, camera } = this;
    if (!now || !begun || Math.abs(dot(camera.towards, axis)) < EDGE_ON) {
      const side = cross(axis, camera.towards); // edge-on: the distance along the ring, in radii
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
    /** The grip under the pointer. @type {{handle: Handle, grip: Grip} | null} */ this.under = null;
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

  /** Take a grip. @param {Handle} handle @param {Grip} grip @param {Camera} camera @param {number} x @param {number} y */
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

  /** Switch what the pointer does to the held handle from here on: rotate or move. @param {boolean} on */
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
   * Add the shapes of all handles to layers.
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

/** @param {Handle} handle @param {Camera} camera @returns {number[]} indices of its axes; two for a flat linkage */
const axesOf = (handle, camera) => (camera.flat ? [0, 1] : [0, 1, 2]);

/** @param {Handle} handle @param {Camera} camera @param {number} k @returns {boolean} whether an arrow points at the eye */
const headOn = (handle, camera, k) => Math.abs(dot(handle.axis(k), camera.towards)) > 0.97;

/**
 * @param {Handle} handle @param {Camera} camera @param {number} x @param {number} y
 * @returns {[Grip, number][]} distance of a screen point from each grip, in pixels
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

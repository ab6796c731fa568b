// @ts-check
/** Mouse, touch, pen and keyboard input on a stage: drags handles and links, or moves the camera. */

import { about, plus, product } from "./algebra.js";

/** @typedef {import("./stage.js").Stage} Stage */

const STEP = 12; // CSS pixels per key press
const LONG = 600; // duration of a long press, which acts like a double click [ms]
const STEADY = 3; // largest move between two events of a long press [CSS pixels]
const TURN = "r"; // key for rotation of the held handle; alone, it shows everything
const KEYS = /** @type {Record<string, number[]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

export class Hands {
  /** @param {Stage} stage @param {{keys: boolean}} options whether arrow keys turn the camera */
  constructor(stage, { keys }) {
    this.stage = stage;
    /** @type {Map<number, PointerEvent>} */ this.fingers = new Map();
    /** The finger that holds a handle. @type {number | null} */ this.holder = null;
    this.turns = false; // whether the key for rotation is down
    this.used = false; // whether something was held while it was down
    /** The timer of a long press, which acts like a double click. @type {ReturnType<typeof setTimeout> | undefined} */ this.long = undefined;
    const { canvas } = stage;
    const listen = (/** @type {string} */ name, /** @type {(event: any) => void} */ act, options = {}) =>
      canvas.addEventListener(name, act, { signal: stage.end.signal, ...options });
    listen("pointerdown", (event) => this.down(event));
    listen("pointermove", (event) => this.move(event));
    for (const ending of ["pointerup", "pointercancel"]) listen(ending, (event) => this.up(event));
    listen("pointerleave", () => stage.hover(null, null));
    listen("wheel", (event) => this.wheel(event), { passive: false });
    listen("contextmenu", (event) => event.preventDefault());
    listen("dblclick", (event) => (stage.twice ? stage.twice(stage.pick(...this.at(event), 4)) : stage.home()));
    listen("keydown", () => this.holder === null && canvas.classList.remove("held"));
    listen("focusout", () => canvas.classList.remove("held"));
    if (keys) listen("keydown", (event) => this.key(event));
    if (keys) listen("keyup", (event) => event.key.toLowerCase() === TURN && !this.used && stage.home());
    const { signal } = stage.end;
    window.addEventListener("keydown", (event) => event.key.toLowerCase() === TURN && !event.ctrlKey && !event.metaKey && this.turn(true), { signal });
    window.addEventListener("keyup", (event) => event.key.toLowerCase() === TURN && this.turn(false), { signal });
    window.addEventListener("blur", () => this.turn(false), { signal });
  }

  /** @param {MouseEvent} event @returns {[number, number]} */
  at(event) {
    const { left, top } = this.stage.canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { stage } = this;
    stage.canvas.classList.add("held"); // no focus ring after a pointer
    this.fingers.set(event.pointerId, event);
    stage.canvas.setPointerCapture(event.pointerId);
    clearTimeout(this.long);
    if (this.fingers.size > 1 || event.button !== 0) return;
    const [x, y] = this.at(event);
    if (event.pointerType === "touch" && stage.twice) this.long = setTimeout(() => this.stayed(event, x, y), LONG);
    const hit = stage.handles.hit(stage.camera, x, y, /** @type {any} */ (event.pointerType));
    if (hit) stage.handles.take(hit.handle, hit.grip, stage.camera, x, y);
    else {
      const picked = stage.grab ? stage.pick(x, y, event.pointerType === "touch" ? undefined : 4) : null;
      const handle = picked && stage.grab ? stage.grab(picked) : null;
      if (handle) stage.handles.take(handle, "ball", stage.camera, x, y);
    }
    if (stage.handles.held) {
      this.holder = event.pointerId;
      stage.hover(null, null);
      this.used = true;
      stage.handles.turn(this.turns);
      event.preventDefault();
      stage.canvas.focus({ preventScroll: true });
    }
  }

  /** The key for rotation goes down or up. @param {boolean} on */
  turn(on) {
    if (on === this.turns) return;
    this.turns = on;
    if (on) this.used = this.holder !== null;
    this.stage.handles.turn(on);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { stage } = this;
    const [x, y] = this.at(event);
    const old = this.fingers.get(event.pointerId);
    if (!old) {
      if (event.pointerType !== "touch" && !event.buttons) stage.hover(x, y); // a pen can hover
      return;
    }
    if (Math.hypot(event.clientX - old.clientX, event.clientY - old.clientY) > STEADY) clearTimeout(this.long);
    if (event.pointerId === this.holder) stage.handles.drag(x, y);
    else if (this.holder === null) this.look(event, old);
    this.fingers.set(event.pointerId, event);
  }

  /** Handle a long press. @param {PointerEvent} event @param {number} x @param {number} y */
  stayed(event, x, y) {
    this.up(event);
    this.stage.twice?.(this.stage.pick(x, y));
  }

  /** Orbit, move or zoom the camera. @param {PointerEvent} event @param {PointerEvent} old */
  look(event, old) {
    const { camera } = this.stage;
    const [dx, dy] = [event.clientX - old.clientX, event.clientY - old.clientY];
    const other = [...this.fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    if (other) {
      const gap = (/** @type {PointerEvent} */ finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY) + 1;
      camera.zoom(gap(old) / gap(event), ...this.at(other));
      camera.pan(dx / 2, dy / 2);
    } else if (camera.flat || event.shiftKey || event.buttons & 6) camera.pan(dx, dy);
    else camera.orbit(dx, dy);
    this.stage.looked();
  }

  /** @param {PointerEvent} event */
  up(event) {
    clearTimeout(this.long);
    this.fingers.delete(event.pointerId);
    if (event.pointerId !== this.holder) return;
    this.holder = null;
    this.stage.handles.drop();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (this.stage.quietWheel && !event.ctrlKey && document.activeElement !== this.stage.canvas) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.stage.camera.zoom(Math.exp(0.0012 * lines * event.deltaY), ...this.at(event));
    this.stage.looked();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { stage } = this;
    const way = KEYS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (way && (event.shiftKey || stage.camera.flat)) stage.camera.pan(-STEP * way[0], -STEP * way[1]);
    else if (way) stage.camera.orbit(-STEP * way[0], -STEP * way[1]);
    else if (event.key === "+" || event.key === "=") stage.camera.zoom(0.85);
    else if (event.key === "-") stage.camera.zoom(1.18);
    else return;
    event.preventDefault();
    stage.looked();
  }
}

/**
 * Move a handle by a key: arrows in the plane of the screen, page up and down along the line of sight; with shift, rotate.
 * @param {Stage} stage @param {import("./handles.js").Handle} handle @param {KeyboardEvent} event
 * @returns {boolean} whether the key means something
 */
export function nudge(stage, handle, event) {
  const { camera } = stage;
  const way = KEYS[event.key];
  const deep = { PageUp: -1, PageDown: 1 }[event.key] ?? 0;
  if (!(way || deep) || event.ctrlKey || event.metaKey || event.altKey) return false;
  const [right, down] = way ?? [0, 0];
  if (event.shiftKey && handle.grips.has("rings")) {
    const turn = (/** @type {number[]} */ axis, /** @type {number} */ way) => (handle.wxyz = product(about(axis, way * 0.06), handle.wxyz));
    if (right) turn(camera.up, right);
    if (down) turn(camera.right, down);
    if (deep) turn(camera.towards, deep);
  } else {
    const step = (event.shiftKey ? 1 : STEP / 2) * camera.project(handle.position).metres;
    handle.position = plus(plus(plus(handle.position, camera.right, right * step), camera.up, -down * step), camera.towards, camera.flat ? 0 : deep * step);
  }
  handle.moved(handle);
  stage.render();
  return true;
}

// @ts-check
/**
 * Dragging on the stage: goals by their handles, links at the point under the pointer. The linkage follows in every
 * picture, and Python receives the result when the drag ends.
 */

import { HAND } from "./solving.js";
import { quaternion, turnInto } from "../rotations.js";
import { headline } from "../view/words.js";

/** @typedef {import("../stage/handles.js").Handle} Handle */
/** @typedef {import("./studio.js").LinkworkStudio} Studio */

/** @param {ArrayLike<number>} m a matrix of 16 numbers @returns {number[]} its origin */
export const origin = (m) => [m[3], m[7], m[11]];

/** Colours of goals, in the list and on the stage; they are distinct for colour-blind users too. */
export const COLORS = ["#de6c08", "#8158d6", "#0f8a7e", "#c2367d", "#3a7d1f", "#2f6fd6", "#a8641c", "#627386"];

const MOST_CYCLES = 300; // largest number of cycles after the end of a drag

export class Holding {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    /** @type {Map<string, Handle>} */ this.handles = new Map();
    /** The handle of a link held without a goal. @type {Handle | null} */ this.grip = null;
    this.dragging = false;
    this.moved = false;
    this.rolled = false; // whether it was rotated with the key
    this.far = false; // whether Python solves for the held link or goal
  }

  /** @param {string} name @returns {string} the colour of a goal */
  color(name) {
    const k = this.studio.state.goals?.findIndex((/** @type {any} */ goal) => goal.name === name) ?? 0;
    return COLORS[Math.max(k, 0) % COLORS.length];
  }

  /** Reset, since another linkage is shown. */
  clear() {
    for (const handle of this.handles.values()) this.studio.stage?.handles.remove(handle);
    this.handles.clear();
    this.grip = null;
    this.dragging = false;
  }

  /** Update the handles, one for every goal. */
  mark() {
    const { stage, solving, chosen } = this.studio;
    if (!stage || !solving) return;
    for (const [name, handle] of this.handles) {
      if (solving.pins.has(name)) continue;
      stage.handles.remove(handle);
      this.handles.delete(name);
    }
    for (const [name, goal] of solving.pins) {
      let handle = this.handles.get(name);
      if (!handle) {
        handle = stage.handles.add({ position: origin(goal.target), label: name, ...this.acts(name) });
        this.handles.set(name, handle);
      }
      const full = name === chosen && !solving.scene.flat;
      handle.grips = new Set(full ? (goal.turn ? ["ball", "arrows", "rings"] : ["ball", "arrows"]) : ["ball"]);
      handle.color = this.color(name);
      handle.size = name === chosen ? 1.15 : 1;
    }
    this.settle();
  }

  /** @param {string} name @returns {any} callbacks for the handle of a goal */
  acts(name) {
    const { studio } = this;
    const take = () => {
      studio.choose(name);
      studio.solving?.takeGoal(name);
      this.dragging = true;
      this.moved = this.rolled = false;
    };
    return {
      taken: take,
      turning: (/** @type {Handle} */ handle, /** @type {boolean} */ on) => !on || this.roll(handle),
      moved: (/** @type {Handle} */ handle) => {
        const key = !this.dragging; // moved by a key: a small step that ends at once
        if (key) take();
        this.pull(handle);
        if (key) this.release(name);
      },
      dropped: () => this.release(name),
    };
  }

  /** Rotate the held goal with the key; from then on the goal includes its orientation. @param {Handle} handle @returns {boolean} */
  roll(handle) {
    const { solving, status } = this.studio;
    const goal = /** @type {any} */ (solving?.hand);
    if (!solving?.roll()) {
      status.trouble(`${goal?.name} has no orientation: its goal is a point.`);
      return false;
    }
    handle.wxyz = quaternion(goal.target);
    this.rolled = true;
    return true;
  }

  /** A link was pressed: hold it at the point under the pointer. @param {any} picked */
  grab({ name, point }) {
    const { stage, solving } = this.studio;
    if (!stage || !solving || !solving.linkage.data.assembly || this.studio.playing || !solving.joints(name).length) return null;
    const m = solving.place(name);
    const away = point.map((/** @type {number} */ x, /** @type {number} */ k) => x - m[4 * k + 3]);
    const local = [0, 1, 2].map((k) => m[k] * away[0] + m[4 + k] * away[1] + m[8 + k] * away[2]);
    if (this.grip) stage.handles.remove(this.grip);
    this.moved = this.rolled = false;
    const position = solving.scene.flat ? origin(solving.place(name, local)) : point;
    const take = () => solving.takeLink(name, this.rolled ? null : local);
    this.grip = stage.handles.add({ position, label: name, color: "goal", visible: false, taken: () => {},
      turning: (/** @type {Handle} */ handle, /** @type {boolean} */ on) => {
        this.rolled = on; // a link rotates about its origin, which is its joint
        const place = solving.place(name, on ? null : local);
        [handle.position, handle.wxyz] = [origin(place), quaternion(place)];
        if (this.dragging) take();
        return true;
      },
      moved: (/** @type {Handle} */ handle) => {
        if (!this.dragging) {
          take();
          this.dragging = true;
          handle.visible = true;
        }
        this.pull(handle);
      },
      dropped: (/** @type {Handle} */ handle) => {
        stage.handles.remove(handle);
        this.grip = null;
        if (this.dragging) this.release(name);
        else this.studio.select(name);
      } });
    return this.grip;
  }

  /** @param {Handle} handle */
  pull(handle) {
    const { solving } = this.studio;
    if (!solving?.hand) return;
    const target = solving.hand.target.slice();
    if (solving.hand.turn) turnInto(target, handle.wxyz);
    handle.position.forEach((x, k) => (target[4 * k + 3] = x));
    this.moved = true;
    if (solving.moves(solving.hand)) solving.pull(target);
    else {
      solving.hand.target.set(target);
      this.studio.link.tell(solving.asked(this.far));
      this.far = true;
    }
    this.studio.draw();
  }

  /** End a drag: send the pose that the page has found to Python. @param {string} name of the goal or link */
  release(name) {
    const { solving, link } = this.studio;
    if (!solving) return;
    const loose = /** @type {any} */ (solving.hand)?.name === HAND;
    this.dragging = false;
    solving.drop();
    for (let n = 0; n < MOST_CYCLES && solving.waiting; n++) solving.work(); // finish the motion
    if (this.moved && solving.told) this.studio.status.live(headline(solving.told), solving.told);
    solving.hand = null;
    solving.waiting = false;
    if (loose) solving.bring();
    const what = `${this.rolled ? "turn" : "drag"} of ${name}`;
    if (this.moved && !this.far) link.tell({ do: "settle", q: Array.from(solving.q), places: solving.places(), turned: solving.turned(), what });
    if (this.moved && this.studio.timeline.autokey) this.studio.timeline.key();
    this.moved = this.far = false;
    this.studio.draw();
  }

  /** Move handles to their goals, with a line to a limb that has not reached its goal. */
  settle() {
    const { stage, solving } = this.studio;
    if (!stage || !solving) return;
    for (const [name, handle] of this.handles) {
      const goal = solving.pins.get(name);
      if (!goal) continue;
      const held = this.dragging && solving.hand === goal;
      if (!held) {
        handle.position = origin(goal.target);
        handle.wxyz = quaternion(goal.target);
      }
      const m = solving.place(goal.frame);
      const off = Math.hypot(...origin(m).map((x, k) => x - handle.position[k]));
      handle.tie = off > 1e-3 * solving.linkage.data.length ? origin(m) : null;
    }
    const { hand } = solving;
    if (this.grip && hand) this.grip.tie = origin(solving.place(hand.frame, hand.point));
    stage.render();
  }
}

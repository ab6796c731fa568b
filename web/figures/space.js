// @ts-check
/** A plane that shows space: drag its ground, or use the arrow keys on it, to change the view. */

import { Plane } from "./plane.js";

/** @typedef {import("./plane.js").Point} Point */

export class Space extends Plane {
  /**
   * @param {Element} root
   * @param {{size: number, label: string, turned: () => void, yaw?: number, pitch?: number, center?: number[], wide?: number}} options
   *   half the visible width; a callback when the view changes; angles of the camera [rad];
    *   the centre; aspect ratio
   */
  constructor(root, { size, label, turned, yaw = -0.6, pitch = 0.42, center = [0, 0, 0], wide = 1.25 }) {
    super(root, { x: [-size, size], y: [-size / wide, size / wide], label: `${label}. Drag it, or use the arrow keys, to change the view`, grid: 0 });
    this.yaw = yaw;
    this.pitch = pitch;
    this.center = center;
    this.turned = turned;
    this.node.setAttribute("tabindex", "0");
    this.node.classList.add("space");
    this.listen();
  }

  /** @param {ArrayLike<number>} p in space, z up @returns {[number, number]} on the plane */
  flat(p) {
    const [x, y, z] = [p[0] - this.center[0], p[1] - this.center[1], p[2] - this.center[2]];
    const [c, s, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    return [c * y - s * x, cp * z - sp * (c * x + s * y)];
  }

  /** @param {ArrayLike<number>} p @returns {number} its depth: larger is nearer to the eye */
  depth(p) {
    const [x, y, z] = [p[0] - this.center[0], p[1] - this.center[1], p[2] - this.center[2]];
    const along = Math.cos(this.yaw) * x + Math.sin(this.yaw) * y;
    return Math.cos(this.pitch) * along + Math.sin(this.pitch) * z;
  }

  /** @param {number} right @param {number} up [rad] */
  turn(right, up) {
    this.yaw -= right;
    this.pitch = Math.min(1.5, Math.max(-1.5, this.pitch + up));
    this.turned();
  }

  listen() {
    /** @type {PointerEvent | null} */ let last = null;
    const node = /** @type {SVGSVGElement} */ (this.node);
    node.addEventListener("pointerdown", (event) => {
      if (/** @type {Element} */ (event.target).closest(".goal")) return;
      last = event;
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      if (!last) return;
      this.turn((event.clientX - last.clientX) / 120, (event.clientY - last.clientY) / 120);
      last = event;
    });
    for (const kind of ["pointerup", "pointercancel"]) node.addEventListener(kind, () => (last = null));
    node.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (!way || /** @type {Element} */ (event.target).closest(".goal")) return;
      this.turn(way[0], way[1]);
      event.preventDefault();
    });
  }
}

// @ts-check
/**
 * A camera that orbits a point; it does not depend on a page. A flat linkage is seen from above without perspective, and
 * `distance` is then the size of the visible region.
 */

import { between, cross, dot, minus, plus } from "./algebra.js";

/** @typedef {import("./algebra.js").Numbers} Numbers */
/** A ray: its origin and direction. @typedef {{from: number[], along: number[]}} Ray */

export const HALF = Math.tan((15 * Math.PI) / 180); // tangent of half the vertical field of view
const NEAREST = 0.02; // smallest distance over the size of the scene
const FURTHEST = 60;

export class Camera {
  constructor() {
    this.azimuth = this.elevation = 0;
    this.distance = 1;
    this.scale = 1; // size of the scene
    this.flat = false;
    /** The point that it orbits. */ this.at = [0, 0, 0];
    /** Its displacement while it follows something. */ this.gone = [0, 0, 0];
    /** CSS pixels. */ this.width = this.height = 1;
    /** CSS pixels per pixel of handle sizes: more on large screens with small pixels. */ this.unit = 1;
    /** Pixels covered by panels at each side. */ this.margins = { top: 0, right: 0, bottom: 0, left: 0 };
    this.towards = [1, 0, 0]; // axes of the screen: towards the eye, to the right, up
    this.right = [0, 1, 0];
    this.up = [0, 0, 1];
    this.matrix = new Float32Array(16); // clip_from_world, column-major as in WebGL
    this.shift = [0, 0]; // of the centre, in halves of the screen
    this.changed();
  }

  /** Compute the derived values. Call it after any change. */
  changed() {
    const { azimuth: a, elevation: e } = this;
    this.towards = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    this.right = [-Math.sin(a), Math.cos(a), 0];
    this.up = cross(this.towards, this.right);
    const { left, right, top, bottom } = this.margins;
    this.shift = [(left - right) / this.width, (bottom - top) / this.height];
    this.write();
  }

  write() {
    const { towards, right, up, distance: d, flat, matrix, shift } = this;
    const x = (this.height / this.width) / HALF;
    const y = 1 / HALF;
    const middle = this.middle();
    const [near, far] = this.range();
    const depth = (far + near) / (far - near);
    for (let k = 0; k < 3; k++) {
      matrix[4 * k] = flat ? (right[k] * x) / d : right[k] * x - shift[0] * towards[k];
      matrix[4 * k + 1] = flat ? (up[k] * y) / d : up[k] * y - shift[1] * towards[k];
      matrix[4 * k + 2] = flat ? -towards[k] / far : -towards[k] * depth;
      matrix[4 * k + 3] = flat ? 0 : -towards[k];
    }
    for (let row = 0; row < 4; row++) {
      matrix[12 + row] = -(matrix[row] * middle[0] + matrix[4 + row] * middle[1] + matrix[8 + row] * middle[2]);
    }
    if (flat) {
      matrix[12] += shift[0];
      matrix[13] += shift[1];
      matrix[15] = 1;
    } else {
      matrix[12] += shift[0] * d;
      matrix[13] += shift[1] * d;
      matrix[14] += depth * d - (2 * far * near) / (far - near);
      matrix[15] += d;
    }
  }

  /** @returns {number[]} the nearest and the furthest visible depth */
  range() {
    return [Math.max(0.02 * this.distance, this.distance - 3 * this.scale), this.distance + 4 * this.scale];
  }

  /** @returns {number[]} the point that it orbits, with the displacement */
  middle() {
    return plus(this.at, this.gone);
  }

  /** @returns {number[]} the eye; for a flat linkage, a point far above it */
  eye() {
    return plus(this.middle(), this.towards, this.flat ? this.distance + 4 * this.scale : this.distance);
  }

  /**
   * @param {Numbers} point
   * @returns {{x: number, y: number, depth: number, metres: number}} position in CSS pixels from the upper left, depth, and
    *   metres per pixel there
   */
  project(point) {
    const m = this.matrix;
    const [x, y, w] = [0, 1, 3].map((r) => m[r] * point[0] + m[4 + r] * point[1] + m[8 + r] * point[2] + m[12 + r]);
    const depth = dot(minus(this.eye(), point), this.towards);
    const metres = (2 * HALF * (this.flat ? this.distance : Math.max(depth, 1e-9))) / this.height;
    return { x: ((x / w + 1) / 2) * this.width, y: ((1 - y / w) / 2) * this.height, depth, metres };
  }

  /** @param {number} x @param {number} y in CSS pixels @returns {number[]} offset to the right and up at distance one */
  slopes(x, y) {
    const right = (2 * x) / this.width - 1 - this.shift[0];
    const up = 1 - (2 * y) / this.height - this.shift[1];
    return [(right * HALF * this.width) / this.height, up * HALF];
  }

  /** @param {number} x @param {number} y in CSS pixels @returns {Ray} the ray of all points that appear there */
  ray(x, y) {
    const [across, up] = this.slopes(x, y);
    const side = plus(this.right.map((r) => r * across), this.up, up);
    if (this.flat) return { from: plus(this.eye(), side, this.distance), along: this.towards.map((t) => -t) };
    const along = minus(side, this.towards);
    const length = Math.hypot(...along);
    return { from: this.eye(), along: along.map((v) => v / length) };
  }

  /**
   * @param {number} x @param {number} y in CSS pixels @param {number} z from the depth buffer, 0 to 1
   * @returns {number[]} the point that was drawn there
   */
  unproject(x, y, z) {
    const [near, far] = this.range();
    const { from, along } = this.ray(x, y);
    if (this.flat) return plus(from, along, far + (2 * z - 1) * far);
    const depth = (2 * far * near) / (far + near - (2 * z - 1) * (far - near));
    return plus(from, along, -depth / dot(along, this.towards));
  }

  /** @param {number} dx @param {number} dy in CSS pixels; 125 pixels are one radian */
  orbit(dx, dy) {
    this.azimuth -= 0.008 * dx;
    this.elevation = between(-Math.PI / 2, this.elevation + 0.008 * dy, Math.PI / 2);
    this.changed();
  }

  /** Move the picture by a number of pixels. @param {number} dx @param {number} dy */
  pan(dx, dy) {
    const metres = (2 * HALF * this.distance) / this.height;
    this.at = plus(plus(this.at, this.right, -dx * metres), this.up, dy * metres);
    this.changed();
  }

  /**
   * Zoom; the scene point under a point of the screen stays there.
   * @param {number} factor of the distance @param {number} [x] @param {number} [y] in CSS pixels
   */
  zoom(factor, x, y) {
    const distance = between(NEAREST * this.scale, this.distance * factor, FURTHEST * this.scale);
    if (x !== undefined && y !== undefined) {
      const [across, up] = this.slopes(x, y).map((slope) => slope * (this.distance - distance));
      this.at = plus(plus(this.at, this.right, across), this.up, up);
    }
    this.distance = distance;
    this.changed();
  }

  /**
   * Fit the whole scene, seen from a direction.
   * @param {Numbers} points x, y, z of its outermost points @param {Numbers} middle @param {Numbers} view elevation and
   *   azimuth [deg]
   */
  frame(points, middle, view) {
    [this.elevation, this.azimuth] = [(view[0] * Math.PI) / 180, (view[1] * Math.PI) / 180];
    this.at = Array.from(middle);
    this.distance = 0.05 * this.scale;
    this.changed();
    const { left, right, top, bottom } = this.margins;
    const tall = (0.94 * HALF * Math.max(this.height - top - bottom, 0.4 * this.height)) / this.height;
    const wide = (0.94 * HALF * Math.max(this.width - left - right, 0.4 * this.width)) / this.height;
    let distance = this.distance;
    for (let k = 0; k < points.length; k += 3) {
      const point = [points[k] - middle[0], points[k + 1] - middle[1], points[k + 2] - middle[2]];
      const away = this.flat ? 0 : dot(point, this.towards);
      const needed = Math.max(Math.abs(dot(point, this.right)) / wide, Math.abs(dot(point, this.up)) / tall);
      distance = Math.max(distance, away + needed);
    }
    this.distance = distance;
    this.changed();
  }
}

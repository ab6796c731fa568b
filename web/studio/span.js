// @ts-check
/** The time range that the timeline shows: conversion of seconds and pixels, round numbers for its ruler, snapping. */

const STEPS = [1, 2, 5];
const LONGEST = 3600; // s
const SHORTEST = 0.05;
const EMPTY = 4; // time shown of a clip without keys [s]

export class Span {
  constructor() {
    this.from = 0;
    this.to = EMPTY;
    this.width = 1; // pixels
    this.left = 0; // pixels before the start of the range
  }

  /** @param {number} time @returns {number} */
  x(time) {
    return this.left + ((time - this.from) / (this.to - this.from)) * (this.width - this.left);
  }

  /** @param {number} x @returns {number} seconds, never before the beginning */
  time(x) {
    return Math.min(Math.max(this.at(x), 0), LONGEST);
  }

  /** @param {number} x @returns {number} seconds, also before the beginning */
  at(x) {
    return this.from + (x - this.left) * this.grain;
  }

  /** Seconds of a pixel. */
  get grain() {
    return (this.to - this.from) / Math.max(this.width - this.left, 1);
  }

  /** Zoom around a pixel. @param {number} factor @param {number} x */
  zoom(factor, x) {
    const [at, share] = [this.at(x), (x - this.left) / Math.max(this.width - this.left, 1)];
    const size = Math.min(Math.max((this.to - this.from) * factor, SHORTEST), LONGEST);
    this.set(at - share * size, at + (1 - share) * size);
  }

  /** @param {number} pixels */
  pan(pixels) {
    const by = pixels * this.grain;
    this.set(this.from + by, this.to + by);
  }

  /** @param {number} from @param {number} to */
  set(from, to) {
    const size = to - from;
    this.from = Math.max(-0.03 * size, from);
    this.to = this.from + size;
  }

  /** Show a whole clip, with room for the next key. @param {number} duration */
  fit(duration) {
    const size = Math.max(duration || EMPTY, 1) * 1.12;
    this.set(-0.03 * size, 0.97 * size);
  }

  /** Round times for the ruler, at least `apart` pixels from each other. @param {number} apart @returns {{step: number, times: number[]}} */
  ticks(apart) {
    const least = apart * this.grain;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = (STEPS.find((k) => k * power >= least) ?? 10) * power;
    const times = [];
    for (let k = Math.max(0, Math.ceil(this.from / step)); k * step <= this.to; k++) times.push(k * step);
    return { step, times };
  }

  /**
   * Snap a time to one of `others` within reach, else to the nearest frame.
   * @param {number} time @param {number} fps @param {number[]} others @param {number} reach pixels
   */
  snapped(time, fps, others, reach) {
    const near = reach * this.grain;
    const best = others.reduce((found, other) => (Math.abs(other - time) < Math.abs(found - time) ? other : found), Infinity);
    if (Math.abs(best - time) <= near) return best;
    return Math.round(time * fps) / fps;
  }
}

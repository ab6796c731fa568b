// @ts-check
/** Several numbers over steps, plotted as lines; with `decades` on a logarithmic scale. Only the last steps are visible. */

import { Plot } from "./plane.js";

export class History {
  /**
   * @param {Element} root
   * @param {{lines: Record<string, string>, label: string, across?: string, up?: string, decades?: [number, number],
   *   range?: [number, number], most?: number, height?: number}} options colours by name; a description; powers of ten
    *   at the bottom and the top, or the range of a linear scale; number of visible steps
   */
  constructor(root, { lines, label, across, up, decades, range = [0, 1], most = 120, height = 150 }) {
    this.log = decades !== undefined;
    this.most = most;
    this.plot = new Plot(root, { x: [0, 12], y: decades ?? range, log: this.log, label, across, up, height });
    this.lines = Object.values(lines).map((color) => this.plot.path({ color, width: 2 }));
    /** @type {number[][]} */ this.rows = [];
    this.first = 0;
  }

  /** The number of rows added since the last `clear`. */
  get length() {
    return this.first + this.rows.length;
  }

  clear() {
    this.rows = [];
    this.first = 0;
    return this;
  }

  /** Add a step: one number for each line, NaN for none. @param {number[]} values */
  add(values) {
    this.rows.push(values);
    if (this.rows.length > this.most) {
      this.rows.shift();
      this.first++;
    }
    const { x } = this.plot;
    const end = this.first + Math.max(12, Math.min(this.most, 10 * Math.ceil(this.rows.length / 10) + 2));
    if (x[0] !== this.first || x[1] !== end) this.plot.look([this.first, end], this.plot.y);
    this.draw();
    return this;
  }

  draw() {
    const [low, high] = this.plot.y;
    this.lines.forEach((line, k) => {
      /** @type {[number, number][]} */ const points = [];
      this.rows.forEach((row, i) => {
        const value = this.log ? Math.log10(Math.max(row[k], 1e-300)) : row[k];
        if (Number.isFinite(value)) points.push([this.first + i, Math.min(Math.max(value, low), high)]);
      });
      if (points.length) line.show(points);
      else line.hide();
    });
  }
}

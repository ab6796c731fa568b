// @ts-check
/** A film as numbers: where every link is at any time. No page. */

import { between, bytes, mix, writeMatrix } from "../stage/algebra.js";

const POSE = 7; // numbers of a link's transform: turn w, x, y, z and place

/** Between two frames: the one at or before, the one after, and the share of the second. @typedef {{low: number, high: number, share: number}} Moment */

export class Motion {
  /** @param {any} film what Python's draw/player.py wrote */
  constructor(film) {
    /** When each frame is shown [s], from 0. */ this.times = new Float32Array(bytes(film.times));
    /** The number of each in the clip. */ this.numbers = new Uint32Array(bytes(film.numbers));
    /** The links that move. */ this.links = new Uint16Array(bytes(film.links));
    this.tracks = new Float32Array(bytes(film.tracks));
    /** Where the camera has gone to, or nothing. */ this.way = new Float32Array(bytes(film.way));
    this.duration = this.times[this.times.length - 1];
    this.turn = [1, 0, 0, 0];
    this.place = [0, 0, 0];
  }

  /** @param {number} time @returns {Moment} */
  moment(time) {
    let [low, high] = [0, this.times.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle;
    }
    const gap = this.times[high] - this.times[low];
    return { low, high, share: gap > 0 ? between(0, (time - this.times[low]) / gap, 1) : 0 };
  }

  /** Write where links are. @param {Moment} now @param {Float64Array} matrices 16 numbers for each link of the linkage */
  write({ low, high, share }, matrices) {
    const { links, tracks, turn, place } = this;
    for (let k = 0; k < links.length; k++) {
      const [a, b] = [POSE * (low * links.length + k), POSE * (high * links.length + k)];
      let same = 0;
      for (let i = 0; i < 4; i++) same += tracks[a + i] * tracks[b + i];
      let square = 0;
      for (let i = 0; i < 4; i++) {
        turn[i] = mix(tracks[a + i], same < 0 ? -tracks[b + i] : tracks[b + i], share);
        square += turn[i] * turn[i];
      }
      for (let i = 0; i < 4; i++) turn[i] /= Math.sqrt(square);
      for (let i = 0; i < 3; i++) place[i] = mix(tracks[a + 4 + i], tracks[b + 4 + i], share);
      writeMatrix(matrices, 16 * links[k], turn, place);
    }
  }

  /** @param {Moment} now @returns {number[]} where the camera has gone to */
  gone({ low, high, share }) {
    return [0, 1, 2].map((k) => (this.way.length ? mix(this.way[3 * low + k], this.way[3 * high + k], share) : 0));
  }

  /**
   * Return the time of whole frames further on or back; between two frames the next or the one before is the first step.
   * @param {number} time @param {number} count
   */
  stepped(time, count) {
    const { low, share } = this.moment(time);
    const whole = count < 0 ? Math.ceil(low + share - 0.001) : Math.floor(low + share + 0.001);
    return this.times[between(0, whole + count, this.times.length - 1)];
  }
}

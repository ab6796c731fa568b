// @ts-check
/**
 * The motion of the current clip as baked by Python: poses at a constant rate, interpolated at any time.
 * It is played and scrubbed here, at the rate of the screen.
 */

/** The header of a motion: its id, number of frames, numbers per frame, frames per second, and duration [s].
 * @typedef {{id: number, frames: number, nq: number, fps: number, duration: number}} Head */

export class Playing {
  /** @param {Head} head @param {ArrayBuffer} frames @param {import("../linkwork.js").Linkage} linkage */
  constructor(head, frames, linkage) {
    this.head = head;
    this.poses = new Float32Array(frames);
    /** Indices of quaternions in a pose. @type {number[]} */
    this.turns = Array.from(linkage.data.quaternions).filter((_, k) => k % 2 === 0);
  }

  /** @param {number} time [s] @returns {Float64Array} the pose at that time */
  at(time) {
    const { fps, frames, nq } = this.head;
    const k = Math.min(Math.max(time * fps, 0), frames - 1);
    const low = Math.floor(k);
    const share = k - low;
    const [a, b] = [nq * low, nq * Math.min(low + 1, frames - 1)];
    const q = Float64Array.from({ length: nq }, (_, i) => this.poses[a + i] + share * (this.poses[b + i] - this.poses[a + i]));
    for (const first of this.turns) this.turn(q, first, a, b, share);
    return q;
  }

  /** Interpolate two quaternions linearly, since frames are close to each other. @param {Float64Array} q @param {number} first @param {number} a @param {number} b @param {number} share */
  turn(q, first, a, b, share) {
    let same = 0;
    for (let i = first; i < first + 4; i++) same += this.poses[a + i] * this.poses[b + i];
    let square = 0;
    for (let i = first; i < first + 4; i++) {
      q[i] = (1 - share) * this.poses[a + i] + (same < 0 ? -share : share) * this.poses[b + i];
      square += q[i] * q[i];
    }
    for (let i = first; i < first + 4; i++) q[i] /= Math.sqrt(square);
  }

  /** @param {number} k a value of the pose @returns {number[]} its value in every frame */
  course(k) {
    const { frames, nq } = this.head;
    return Array.from({ length: frames }, (_, n) => this.poses[n * nq + k]);
  }
}

// @ts-check
/** The table of start poses of a search. It is generated here: as packed data it would be hundreds of times the rest. */

/** @typedef {ArrayLike<number>} Numbers */

/** Random numbers equal to those of NumPy's PCG-64. @param {string} state @param {string} increment */
function random(state, increment) {
  const [mask, half, inc] = [(1n << 128n) - 1n, (1n << 64n) - 1n, BigInt(increment)];
  let now = BigInt(state);
  return () => {
    now = (now * 47026247687942121848144207491837523525n + inc) & mask;
    const [mixed, turn] = [(now >> 64n) ^ (now & half), now >> 122n];
    return Number((((mixed >> turn) | (mixed << (64n - turn))) & half) >> 11n) / 2 ** 53;
  };
}

/**
 * Return the frames that start poses reach, weighted and interleaved by eight, followed by the poses.
 * @param {Record<string, any>} solver as packed
 * @param {(values: Float64Array) => Float64Array} forward transform of its frame
 */
export function startTable({ starts, values: n }, forward) {
  const { shares, counts, low, high, size } = starts;
  const draw = random(starts.state, starts.increment);
  const count = counts[0] + counts[1];
  const result = new Float64Array(count * (size + n));
  for (let k = 0; k < count; k++) {
    const share = shares[k < counts[0] ? 0 : 1];
    const values = Float64Array.from({ length: n }, (_, i) => low[i] + (high[i] - low[i]) * (0.5 + share * (draw() - 0.5)));
    result.set(values, count * size + n * k);
    weighted(starts, forward(values)).forEach((x, i) => (result[8 * (size * Math.floor(k / 8) + i) + (k % 8)] = x));
  }
  return result;
}

/**
 * Return the entry of a frame in the table: its axes and origin, weighted for the goals of the solver.
 * @param {Record<string, Numbers>} starts @param {Float64Array} m
 * @returns {number[]}
 */
function weighted({ rotation: r, travel, asked, weights }, m) {
  const numbers = [];
  for (const c of [0, 1, 2]) {
    for (const i of [0, 4, 8]) numbers.push(m[i] * r[c] + m[i + 1] * r[3 + c] + m[i + 2] * r[6 + c]);
  }
  const [x, y, z] = [m[3], m[7], m[11]];
  const origin = [x, y, z];
  for (let k = 0; k < travel.length; k += 3) {
    const along = x * travel[k] + y * travel[k + 1] + z * travel[k + 2];
    origin.forEach((_, i) => (origin[i] -= along * travel[k + i]));
  }
  const constant = origin.reduce((sum, o, i) => sum + asked[i] * o * o, 0);
  return [constant, ...[...numbers, ...origin].map((number, k) => number * weights[k])];
}

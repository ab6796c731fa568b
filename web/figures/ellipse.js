// @ts-check
/** Analysis of a planar Jacobian of two rows: the ellipse of velocities, damped rates, and the null space. */

import { singularValues } from "./spectrum.js";

/** @typedef {number[][]} Rows two of them, a column for each joint */
/**
 * σ_1 and σ_2; for each, the unit vector u of the plane and the unit vector w of joint rates with J w = σ u; and their product.
 * @typedef {{values: number[], axes: number[][], rates: number[][], measure: number}} Singular
 */

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b @returns {number} */
export function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

/** @param {Rows} J @param {ArrayLike<number>} rates @returns {number[]} J θ', the velocity of the tip */
export function times(J, rates) {
  return J.map((row) => dot(row, rates));
}

/**
 * The singular value decomposition of two rows, J = Σ σ u wᵀ: u are the eigenvectors of J Jᵀ = [[a, b], [b, c]], the first turned
 * from x by half the angle of (a - c, 2 b).
 * @param {Rows} J @returns {Singular}
 */
export function singular([x, y]) {
  const turn = Math.atan2(2 * dot(x, y), dot(x, x) - dot(y, y)) / 2;
  const axes = [[Math.cos(turn), Math.sin(turn)], [-Math.sin(turn), Math.cos(turn)]];
  const values = singularValues([...x, ...y], x.length);
  const rates = axes.map((u, k) => x.map((_, i) => (values[k] > 0 ? (u[0] * x[i] + u[1] * y[i]) / values[k] : 0)));
  return { values, axes, rates, measure: values[0] * values[1] };
}

/** @param {number} sigma @param {number} lambda @returns {number} the filter factor of a direction */
export function filterFactor(sigma, lambda) {
  return sigma > 0 ? sigma ** 2 / (sigma ** 2 + lambda ** 2) : 0;
}

/**
 * The joint rates of damped least squares, direction by direction: θ' = Σ f(σ) / σ (u . V) w. λ = 0 is the pseudoinverse.
 * @param {Singular} found @param {ArrayLike<number>} V @param {number} lambda @returns {number[]}
 */
export function dampedRates({ values, axes, rates }, V, lambda) {
  const parts = values.map((sigma, k) => (sigma > 0 ? (filterFactor(sigma, lambda) / sigma) * dot(axes[k], V) : 0));
  return rates[0].map((_, i) => parts[0] * rates[0][i] + parts[1] * rates[1][i]);
}

/** @param {Rows} J of three joints @returns {number[]} the unit vector of the null space: the rows' cross product */
export function nullVector([x, y]) {
  const way = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
  const length = Math.hypot(...way);
  return length > 0 ? way.map((value) => value / length) : [0, 0, 0];
}

/**
 * Points of the ellipse of tip velocities for unit joint rates.
 * @param {Singular} found @param {ArrayLike<number>} center @param {number} scale @returns {number[][]}
 */
export function outline({ values, axes }, center, scale) {
  return Array.from({ length: 73 }, (_, k) => {
    const [c, s] = [scale * values[0] * Math.cos((k * Math.PI) / 36), scale * values[1] * Math.sin((k * Math.PI) / 36)];
    return [center[0] + c * axes[0][0] + s * axes[1][0], center[1] + c * axes[0][1] + s * axes[1][1]];
  });
}

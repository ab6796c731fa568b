// @ts-check
/** What the two rows of a planar Jacobian say: its singular values, the ellipse of its velocities, and its null space. */

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
 * The singular value decomposition of two rows, J = Σ σ u w^T.
 *
 * u are the eigenvectors of J J^T = [[a, b], [b, c]]: the first is turned from x by half the angle of (a - c, 2 b). The product
 * of both values is sqrt(det J J^T), a sum over pairs of columns (Cauchy and Binet) that loses no digits where it is small.
 * @param {Rows} J @returns {Singular}
 */
export function singular(J) {
  const [x, y] = J;
  const [a, b, c] = [dot(x, x), dot(x, y), dot(y, y)];
  const turn = Math.atan2(2 * b, a - c) / 2;
  const axes = [[Math.cos(turn), Math.sin(turn)], [-Math.sin(turn), Math.cos(turn)]];
  let squares = 0;
  for (let i = 0; i < x.length; i++) for (let k = 0; k < i; k++) squares += (x[i] * y[k] - x[k] * y[i]) ** 2;
  const measure = Math.sqrt(squares);
  const first = Math.sqrt((a + c) / 2 + Math.hypot((a - c) / 2, b));
  const values = [first, first > 0 ? measure / first : 0];
  const rates = axes.map((u, k) => x.map((_, i) => (values[k] > 0 ? (u[0] * x[i] + u[1] * y[i]) / values[k] : 0)));
  return { values, axes, rates, measure };
}

/** @param {number} sigma @param {number} lambda @returns {number} how much of a direction damping lets through */
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

/** @param {Rows} J of three joints @returns {number[]} the unit vector of joint rates that the tip does not feel: the rows' cross product */
export function nullVector([x, y]) {
  const way = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
  const length = Math.hypot(...way);
  return length > 0 ? way.map((value) => value / length) : [0, 0, 0];
}

/**
 * Points of the ellipse that unit joint rates give the tip.
 * @param {Singular} found @param {ArrayLike<number>} center @param {number} scale @returns {number[][]}
 */
export function outline({ values, axes }, center, scale) {
  return Array.from({ length: 73 }, (_, k) => {
    const [c, s] = [scale * values[0] * Math.cos((k * Math.PI) / 36), scale * values[1] * Math.sin((k * Math.PI) / 36)];
    return [center[0] + c * axes[0][0] + s * axes[1][0], center[1] + c * axes[0][1] + s * axes[1][1]];
  });
}

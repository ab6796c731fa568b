// @ts-check
/** Singular values of a Jacobian's rows x and y, in closed form. */

/**
 * The square roots of the eigenvalues of the 2 x 2 matrix J Jᵀ, which are half its trace plus and minus a radical.
 * @param {ArrayLike<number>} J row by row; its first two rows count @param {number} n columns
 * @returns {[number, number]} the larger, the smaller
 */
export function singularValues(J, n) {
  let [a, b, c] = [0, 0, 0]; // J Jᵀ = [[a, b], [b, c]]
  for (let k = 0; k < n; k++) {
    a += J[k] * J[k];
    b += J[k] * J[n + k];
    c += J[n + k] * J[n + k];
  }
  const large = (a + c) / 2 + Math.hypot((a - c) / 2, b);
  // their product is the determinant, summed over pairs of columns, which avoids cancellation near a singularity
  let determinant = 0;
  for (let i = 0; i < n; i++) for (let k = i + 1; k < n; k++) determinant += (J[i] * J[n + k] - J[k] * J[n + i]) ** 2;
  return [Math.sqrt(large), large > 0 ? Math.sqrt(determinant / large) : 0];
}

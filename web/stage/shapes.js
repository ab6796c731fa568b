// @ts-check
/**
 * Shapes of unit size for instances: a vertex is corner 3, normal 3, end 1, and its position is
 * corner * size + (0, 0, end * half).
 */

/** @typedef {{vertices: number[], indices: number[]}} Geometry */

export const CAPSULE = 0; // the first three have Python's codes
export const CYLINDER = 1;
export const BOX = 2;
export const CONE = 3;
export const RING = 4;
const PIPE = 0.022; // radius of the tube of a ring, over the ring's radius

/** @param {number[][]} profile of radius, z, normal's radius, normal's z, end @param {number} sides @returns {Geometry} */
function revolved(profile, sides) {
  const vertices = [];
  const indices = [];
  for (const [r, z, nr, nz, end] of profile) {
    for (let k = 0; k <= sides; k++) {
      const [c, s] = [Math.cos((2 * Math.PI * k) / sides), Math.sin((2 * Math.PI * k) / sides)];
      vertices.push(r * c, r * s, z, nr * c, nr * s, nz, end);
    }
  }
  for (let i = 0; i + 1 < profile.length; i++) {
    for (let k = 0; k < sides; k++) {
      const [a, b] = [i * (sides + 1) + k, (i + 1) * (sides + 1) + k];
      indices.push(a, a + 1, b, b, a + 1, b + 1);
    }
  }
  return { vertices, indices };
}

/** @param {number} sides @param {number} rings of each half */
export function capsule(sides, rings) {
  const profile = [];
  for (const end of [-1, 1]) {
    for (let k = 0; k <= rings; k++) {
      const latitude = (Math.PI / 2) * (end < 0 ? k / rings - 1 : k / rings);
      const [c, s] = [Math.cos(latitude), Math.sin(latitude)];
      profile.push([c, s, c, s, end]);
    }
  }
  return revolved(profile, sides);
}

/** @param {number} sides */
export function cylinder(sides) {
  const ends = [[0, 0, 0, -1, -1], [1, 0, 0, -1, -1], [1, 0, 1, 0, -1], [1, 0, 1, 0, 1], [1, 0, 0, 1, 1], [0, 0, 0, 1, 1]];
  return revolved(ends, sides);
}

/** A cone from a circle at z = 0 to a point at z = 1. @param {number} sides */
export function cone(sides) {
  return revolved([[0, 0, 0, -1, 0], [1, 0, 0, -1, 0], [1, 0, 0.8, 0.6, 0], [0, 1, 0.8, 0.6, 0]], sides);
}

/** About z. @param {number} sides @param {number} around */
export function ring(sides, around) {
  const profile = Array.from({ length: around + 1 }, (_, k) => {
    const [c, s] = [Math.cos((2 * Math.PI * k) / around), Math.sin((2 * Math.PI * k) / around)];
    return [1 + PIPE * c, PIPE * s, c, s, 0];
  });
  return revolved(profile, sides);
}

/** From -1 to 1. */
export function box() {
  const vertices = [];
  const indices = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const sign of [-1, 1]) {
      const first = vertices.length / 7;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const corner = [0, 0, 0];
        const normal = [0, 0, 0];
        corner[axis] = normal[axis] = sign;
        corner[(axis + 1) % 3] = u * sign;
        corner[(axis + 2) % 3] = v;
        vertices.push(...corner, ...normal, 0);
      }
      indices.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
  }
  return { vertices, indices };
}

/** All shapes in the order of their codes. @param {number} count number of instances; with very many, shapes are coarser */
export function allShapes(count) {
  const [sides, rings] = count > 4000 ? [6, 2] : count > 1500 ? [10, 3] : [24, 6];
  return [capsule(sides, rings), cylinder(2 * sides - 4), box(), cone(24), ring(72, 8)];
}

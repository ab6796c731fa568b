// @ts-check
/** Forward kinematics as a traversal of the tree: down an arc, push and multiply; back up, pop. */

import { split } from "./controls.js";
import { DEGREE } from "./dom.js";
import { Plane } from "./plane.js";

/** A link in the tree: its parent, the name of its arc, the position of its node, its length. */
const NODES = [
  { name: "link0", label: "link 0", parent: "", arc: "T_0", at: [0, 2.1], long: 0 },
  { name: "link1", label: "link 1", parent: "link0", arc: "T_1 R_1(θ_1)", at: [1.9, 1.05], long: 7 },
  { name: "link11", label: "link 1.1", parent: "link1", arc: "T_{1,1} R_{1,1}(θ_{1,1})", at: [1.9, 0], long: 5 },
  { name: "link2", label: "link 2", parent: "link0", arc: "T_2 R_2(θ_2)", at: [-1.9, 1.05], long: 7 },
  { name: "link21", label: "link 2.1", parent: "link2", arc: "T_{2,1} R_{2,1}(θ_{2,1})", at: [-1.9, 0], long: 5 },
];
const TRUNK = [[-3, 0], [3, 0], [3, 6], [-3, 6]]; // prettier-ignore
const START = [0, 0, 0, 0.7, 0.6, -0.5, -0.8];

/** @param {string} name @returns {any} */
const node = (name) => NODES.find((one) => one.name === name);

/** The steps of the traversal, depth first: each goes down an arc or back up. @returns {{down: boolean, name: string}[]} */
function walk(name = "link0") {
  const below = NODES.filter((one) => one.parent === name).flatMap((child) => walk(child.name));
  return [{ down: true, name }, ...below, { down: false, name }];
}
const STEPS = walk();

/** @param {number} count @returns {string[]} the links on the path to the present node after a number of steps */
function wayAfter(count) {
  /** @type {string[]} */ const way = [];
  for (const { down, name } of STEPS.slice(0, count)) down ? way.push(name) : way.pop();
  return way;
}

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function treeWalk(root, home) {
  const linkage = home.linkage("two-arms");
  const q = Float64Array.from(home.numbers("pose", START));
  let count = 0;

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-16, 16], y: [-3, 17], label: "A trunk with two arms of two links" });
  const trunk = plane.path({ fill: true, width: 2 });
  const limbs = new Map(NODES.slice(1).map(({ name }) => [name, plane.arm({ base: false })]));
  const names = new Map(NODES.map(({ name }) => [name, plane.text({})]));
  const handle = plane.goal({ at: [0, 0], label: "T_0", name: "root", moved: ([x, y]) => ((q[0] = x), (q[1] = y), draw()), hold: (p) => [Math.max(-6, Math.min(6, p[0])), Math.max(-2, Math.min(4, p[1]))] });
  const tree = new Plane(stage, { x: [-3.6, 3.6], y: [-0.45, 3.1], label: "The tree: nodes are links, arcs are joints", grid: 0 });
  const arcs = new Map(NODES.map(({ name, parent, at }) => [name, { line: tree.vector({ width: 2 }), words: tree.text({}), at, parent }]));
  const dots = new Map(NODES.map(({ name }) => [name, { dot: tree.point({ radius: 9 }), words: tree.text({}) }]));

  const player = panel.player({ step, reset: () => go(0), back: () => go(Math.max(0, count - 1)), rate: 1 });
  panel.say("");
  const matrix = panel.matrix({ label: "M =" });
  const stack = panel.table({ label: "Stack" });
  const angles = ["θ_1", "θ_{1,1}", "θ_2", "θ_{2,1}"];
  angles.forEach((label, k) => panel.slider({ label, min: -120, max: 120, step: 1, value: q[3 + k] / DEGREE, unit: "°", moved: (angle) => ((q[3 + k] = angle * DEGREE), draw()) }));

  function step() {
    if (count === STEPS.length) return false;
    go(count + 1);
    return count < STEPS.length;
  }

  /** @param {number} next */
  function go(next) {
    count = next;
    draw();
  }

  function draw() {
    const all = linkage.forward(q);
    const way = wayAfter(count);
    const here = way[way.length - 1];
    const seen = new Set(STEPS.slice(0, count).filter(({ down }) => down).map(({ name }) => name));
    /** @param {string} name */
    const color = (name) => (name === here ? "orange" : seen.has(name) ? "blue" : "muted");
    /** @param {string} name @param {number[]} p a point of a link, in the world */
    const place = (name, [x, y]) => [all[name][0] * x + all[name][1] * y + all[name][3], all[name][4] * x + all[name][5] * y + all[name][7]];
    handle.put([q[0], q[1]]);
    trunk.show(TRUNK.map((p) => place("link0", p))).paint(color("link0"), !seen.has("link0"));
    for (const { name, label, long } of NODES) {
      limbs.get(name)?.show([place(name, [0, 0]), place(name, [long, 0])]).paint(color(name), !seen.has(name));
      names.get(name)?.show(place(name, long ? [long / 2, name < "link2" ? 1.9 : -1.9] : [0, 3]), label).paint(color(name));
      drawNode(name, label, color(name), way.includes(name));
    }
    const M = here ? planar(all[here]) : [[1, 0, 0], [0, 1, 0], [0, 0, 1]]; // prettier-ignore
    matrix.show(M);
    const kept = way.length ? ["I", ...way.slice(0, -1).map((_, k) => product(way.slice(0, k + 1)))] : [];
    stack.show(kept.length ? kept.map((text, k) => [k === kept.length - 1 ? "top" : "", plain(text)]).reverse() : [["", "empty"]]);
    panel.say(sentence(way), count === STEPS.length ? "green" : "orange");
  }

  /** @param {string} name @param {string} label @param {string} color @param {boolean} onWay */
  function drawNode(name, label, color, onWay) {
    const { line, words, at, parent } = /** @type {any} */ (arcs.get(name));
    const from = parent ? node(parent).at : [at[0], at[1] + 0.75];
    const [dx, dy] = [at[0] - from[0], at[1] - from[1]];
    const long = Math.hypot(dx, dy);
    line.show([from[0] + (0.2 * dx) / long, from[1] + (0.2 * dy) / long], [at[0] - (0.2 * dx) / long, at[1] - (0.2 * dy) / long]).paint(onWay ? "orange" : color, color === "muted");
    const side = at[0] < 0 ? -1 : 1;
    const middle = [(from[0] + at[0]) / 2, (from[1] + at[1]) / 2];
    const narrow = tree.width < 460;
    const shift = name === "link0" ? [26, 0] : parent === "link0" ? [side * (narrow ? 46 : 40), -12] : [side * (narrow ? 38 : 56), 0];
    const { arc } = node(name);
    words.show(middle, narrow ? arc.replace(/\(.*?\)/, "") : arc, ...shift).paint(onWay ? "orange" : color);
    const { dot, words: own } = /** @type {any} */ (dots.get(name));
    dot.show(at).paint(color);
    own.show(at, label, name !== "link0" ? side * -44 : narrow ? 0 : -42, narrow && name === "link0" ? 24 : 0).paint(color);
  }

  /** @param {string[]} way @returns {string} */
  function sentence(way) {
    if (count === 0) return "Press Step. The walk begins at the root arc; M is the identity and the stack is empty.";
    const { down, name } = STEPS[count - 1];
    const { label, arc } = node(name);
    if (down) return `Down to ${label}: push M, multiply M by ${plain(arc)}, draw ${label}.`;
    return way.length ? `Nothing is left below ${label}: back up to ${node(way[way.length - 1]).label}, pop M.` : "Every link is drawn. The last pop leaves the stack empty.";
  }

  draw();
  return {
    state() {
      const way = wayAfter(count);
      const here = way[way.length - 1];
      return { q: [...q], steps: count, here: here ?? "", stack: way.slice(0, -1), matrix: here ? [...linkage.forward(q, here)] : null, playing: player.playing };
    },
  };
}

/** @param {ArrayLike<number>} m a matrix of 16 numbers @returns {number[][]} its part in the plane */
function planar(m) {
  return [[m[0], m[1], m[3]], [m[4], m[5], m[7]], [0, 0, 1]]; // prettier-ignore
}

/** @param {string[]} way @returns {string} the product of its arcs */
function product(way) {
  return way.map((name) => node(name).arc.replace(/\(.*?\)/g, "")).join(" ");
}

/** A label as plain text in one line. @param {string} text */
function plain(text) {
  const low = "₀₁₂₃₄₅₆₇₈₉";
  return text.replace(/_\{([^}]*)\}|_(\d)/g, (_, many, one) => (many ?? one).replace(/\d/g, (/** @type {string} */ d) => low[Number(d)]));
}

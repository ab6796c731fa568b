// @ts-check
/** FABRIK, one pull at a time. */

import { places } from "./arms.js";
import { split } from "./controls.js";
import { counted, number } from "./dom.js";
import { Plane } from "./plane.js";

const START = [Math.PI / 8, Math.PI / 4, Math.PI / 4];
const NEAR = 1e-4; // distance that counts as reached

/** @typedef {number[]} Point */

/**
 * Pull a point along the line to its neighbour until their distance is right: p = n + L (p - n) / |p - n|.
 * @param {Point} point @param {Point} neighbour @param {number} length @returns {Point}
 */
export function pulled([x, y], [nx, ny], length) {
  const far = Math.hypot(x - nx, y - ny) || 1;
  return [nx + (length * (x - nx)) / far, ny + (length * (y - ny)) / far];
}

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function fabrikPasses(root, home) {
  const arm = home.linkage(home.option("linkage", "planar-3"));
  const size = arm.data.length;
  const first = places(arm, home.numbers("pose", START));
  const n = first.length - 1;
  const lengths = first.slice(1).map((p, k) => Math.hypot(p[0] - first[k][0], p[1] - first[k][1]));
  const base = first[0];
  let p = first.map((point) => [...point]);
  let whole = p; // the chain at the start of this iteration
  let before = p; // the chain at the start of this pass
  let moment = 0; // step, 0 to 2 n + 1: tip to the goal, n pulls inward, base put back, n pulls outward
  let round = 0;

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-1.1 * size, 1.1 * size], y: [-0.6 * size, 1.0 * size], label: "A chain of points whose link lengths are corrected one by one" });
  plane.circle({ color: "muted", dashed: true }).show(base, size);
  const ghost = plane.arm({ color: "muted", faint: true, base: false });
  plane.arm({ color: "muted" }).show([base, base]); // the ground does not move
  const body = [plane.arm({ base: false }), plane.arm({ base: false })]; // the parts before and after a link with a wrong length
  const broken = plane.path({ color: "red", dashed: true, width: 3, layer: "marks" });
  const way = plane.path({ color: "teal", dashed: true, width: 2, layer: "marks" });
  const moved = plane.vector({ color: "teal", width: 3 });
  const ring = plane.point({ color: "teal", radius: 6 });
  const goal = plane.goal({ at: home.numbers("goal", [-20, 5]), label: "goal", moved: anew });
  const player = panel.player({ step: pull, reset, rate: 2 });
  panel.buttons({ "Whole pass": pass, "Whole round": circuit });
  const table = panel.matrix({ columns: lengths.map((_, k) => `L_${k + 1}`), rows: ["should be", "is"], digits: 2 });
  const values = panel.table();

  /** @returns {number} the point that this step moves, and its neighbour */
  const moving = (/** @type {number} */ m) => (m <= n ? n - m : m - n - 1);

  function pull() {
    const k = moving(moment);
    if (moment === 0 || moment === n + 1) before = p.map((point) => [...point]);
    const old = p[k];
    const next = p.map((point) => [...point]);
    if (moment === 0) next[k] = [...goal.at];
    else if (moment === n + 1) next[k] = [...base];
    else next[k] = moment <= n ? pulled(p[k], p[k + 1], lengths[k]) : pulled(p[k], p[k - 1], lengths[k - 1]);
    p = next;
    const neighbour = moment === 0 || moment === n + 1 ? old : moment <= n ? p[k + 1] : p[k - 1];
    moment++;
    if (moment === 2 * n + 2) [moment, round, whole] = [0, round + 1, p];
    draw(k, old, neighbour);
    return moment > 0 || (error() > NEAR && round < 200);
  }

  function pass() {
    player.stop();
    do pull();
    while (moment !== 0 && moment !== n + 1);
  }

  function circuit() {
    player.stop();
    do pull();
    while (moment !== 0);
  }

  /** @returns {number} distance of the last point from the goal */
  function error() {
    return Math.hypot(p[n][0] - goal.at[0], p[n][1] - goal.at[1]);
  }

  /** The goal has moved: restart this iteration. */
  function anew() {
    [p, before, moment, round] = [whole, whole, 0, 0];
    draw();
  }

  function reset() {
    goal.put(home.numbers("goal", [-20, 5]));
    whole = first.map((point) => [...point]);
    anew();
  }

  /** @param {number} [k] the moved point @param {Point} [old] its previous position @param {Point} [neighbour] */
  function draw(k, old, neighbour) {
    const now = lengths.map((_, i) => Math.hypot(p[i + 1][0] - p[i][0], p[i + 1][1] - p[i][1]));
    const wrong = now.findIndex((length, i) => Math.abs(length - lengths[i]) > 1e-9);
    body[0].show(wrong < 0 ? p : p.slice(0, wrong + 1));
    body[1].show(wrong < 0 ? [p[n]] : p.slice(wrong + 1));
    if (moment) ghost.show(before);
    else ghost.hide();
    if (wrong >= 0) broken.show([p[wrong], p[wrong + 1]]);
    else broken.hide();
    if (k === undefined || !old || !neighbour) [way, moved, ring].forEach((mark) => mark.hide());
    else {
      way.show([neighbour, old]);
      moved.show(old, p[k]);
      ring.show(p[k]);
    }
    table.show([lengths, now]);
    const gap = Math.hypot(p[0][0] - base[0], p[0][1] - base[1]);
    values.show({ round: String(round + (moment ? 1 : 0)), "tip to goal": number(error(), 4), "first point to base": number(gap, 2) });
    say(k);
  }

  /** @param {number} [k] */
  function say(k) {
    if (moment === 0 && error() <= NEAR) return panel.say(`Reached after ${counted(round, "round")}.`, "green");
    if (k === undefined) return panel.say("Press Step: the end effector is put on the goal first.");
    const link = moment === 0 ? n : moment <= n + 1 ? k + 1 : k;
    const text =
      moment === 1 ? "The end effector is on the goal. Its link has the wrong length now." :
      moment === n + 2 ? "The first point is back on the base. Now link 1 has the wrong length." :
      moment === n + 1 ? "Backward pass done: all lengths are right, but the first point is no longer on the base." :
      moment === 0 ? `Round ${round} is done: ${number(error(), 4)} from the goal.` :
      `${moment <= n ? "Backward" : "Forward"}: point ${k + 1} was pulled until link ${link} had the right length.`; // prettier-ignore
    return panel.say(text);
  }

  draw();
  return { state: () => ({ points: p.map((point) => [...point]), goal: [...goal.at], round, moment, error: error(), lengths }) };
}

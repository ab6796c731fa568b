// @ts-check
/** Key poses as draggable points on curves, one for each joint; the arm plays the interpolated motion. */

import { places } from "./arms.js";
import { split } from "./controls.js";
import { DEGREE } from "./dom.js";
import { Plane, Plot } from "./plane.js";

const COLORS = ["violet", "teal", "gold"];
const TIMES = [0, 1.2, 2.6, 4];
const KEYS = [[25, 100, 60, 25], [60, 20, 90, 60], [40, 70, -60, 40]]; // prettier-ignore

/** The second derivatives of a natural cubic spline at its keys, by Thomas's algorithm. @param {number[]} times @param {number[]} values */
function bends(times, values) {
  const n = times.length;
  const [upper, right] = [new Array(n).fill(0), new Array(n).fill(0)];
  for (let k = 1; k < n - 1; k++) {
    const [before, after] = [times[k] - times[k - 1], times[k + 1] - times[k]];
    const jump = (values[k + 1] - values[k]) / after - (values[k] - values[k - 1]) / before;
    const pivot = 2 * (before + after) - before * upper[k - 1];
    upper[k] = after / pivot;
    right[k] = (6 * jump - before * right[k - 1]) / pivot;
  }
  const result = new Array(n).fill(0);
  for (let k = n - 2; k > 0; k--) result[k] = right[k] - upper[k] * result[k + 1];
  return result;
}

/** A curve through keys. @param {string} kind @param {number[]} times @param {number[]} values @returns {(t: number) => number} */
export function curve(kind, times, values) {
  const bend = bends(times, values);
  return (t) => {
    const k = Math.max(0, Math.min(times.length - 2, times.findIndex((time) => time > t) - 1 + (t >= times[times.length - 1] ? times.length : 0)));
    const [h, a, b] = [times[k + 1] - times[k], values[k], values[k + 1]];
    const u = Math.min(1, Math.max(0, (t - times[k]) / h));
    if (kind === "step") return u >= 1 ? b : a;
    if (kind === "linear") return a + (b - a) * u;
    if (kind === "ease") return a + (b - a) * u * u * (3 - 2 * u); // zero slope at both keys
    const v = 1 - u;
    return v * a + u * b + (h * h * ((v * v * v - v) * bend[k] + (u * u * u - u) * bend[k + 1])) / 6;
  };
}

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function keys(root, home) {
  const arm = home.linkage("planar-3");
  const times = [...TIMES];
  const values = KEYS.map((row) => [...row]);
  let kind = home.option("kind", "linear");
  let now = 0;
  let playing = false;

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-24, 30], y: [-4, 31], label: "An arm that plays from key pose to key pose" });
  const ghosts = times.map(() => plane.arm({ faint: true, base: false, color: "muted" }));
  const trail = plane.path({ color: "orange", width: 2 });
  const body = plane.arm();
  const plot = new Plot(stage, { x: [0, 4], y: [-150, 150], height: 230, label: "The angle of each joint over time, with its keys", up: "angle [°]" });
  const rule = plot.path({ color: "muted", width: 1.5 });
  const lines = COLORS.map((color) => plot.path({ color, width: 2.4, layer: "arm" }));
  const handles = values.map((row, j) => row.map((value, k) => plot.goal({ at: [times[k], value], color: COLORS[j], shape: "dot", name: `key ${k + 1} of joint ${j + 1}`, hold: (p) => held(k, p), moved: (at) => ((times[k] = at[0]), (values[j][k] = at[1]), draw()) })));
  const speeds = new Plot(stage, { x: [0, 4], y: [-300, 300], height: 150, label: "How fast each joint turns", across: "time [s]", up: "speed [°/s]" });
  const rates = COLORS.map((color) => speeds.path({ color, width: 2, layer: "arm" }));

  panel.choice({ label: "Between keys", options: ["step", "linear", "ease", "cubic"], value: kind, chosen: (word) => ((kind = word), draw()) });
  const slider = panel.slider({ label: "time", min: 0, max: 4, step: 0.02, value: 0, unit: "s", digits: 2, moved: (value) => ((now = value), draw()) });
  const { Play } = panel.buttons({ Play: play, Reset: reset });
  const table = panel.table({ label: "Pose" });
  panel.say("");

  /** Limit the drag of a key: keys keep their order, the first and the last keep their time. @param {number} k @param {number[]} p @returns {[number, number]} */
  function held(k, [t, value]) {
    const inner = k > 0 && k < times.length - 1;
    const at = inner ? Math.min(times[k + 1] - 0.2, Math.max(times[k - 1] + 0.2, t)) : times[k];
    return [at, Math.min(145, Math.max(-145, value))];
  }

  function play() {
    playing = !playing;
    Play.textContent = playing ? "Pause" : "Play";
    if (playing) home.loop((seconds) => (playing ? ((now = (now + seconds) % 4), draw()) : undefined, playing));
  }

  function reset() {
    times.splice(0, 4, ...TIMES);
    values.forEach((row, j) => row.splice(0, 4, ...KEYS[j]));
    now = 0;
    draw();
  }

  /** @param {number} t @returns {number[]} the pose at a time [rad] */
  const poseAt = (t) => values.map((row) => curve(kind, times, row)(t) * DEGREE);

  function draw() {
    const samples = Array.from({ length: 161 }, (_, k) => k / 40);
    const curves = values.map((row) => curve(kind, times, row));
    let fastest = 90;
    curves.forEach((f, j) => {
      lines[j].show(samples.map((t) => [t, f(t)]));
      const slope = samples.slice(1).map((t, k) => [t - 1 / 80, 40 * (f(t) - f(samples[k]))]);
      fastest = Math.max(fastest, ...slope.map(([, rate]) => Math.min(1000, 1.1 * Math.abs(rate))));
      rates[j].show(slope.map(([t, rate]) => [t, Math.max(-1000, Math.min(1000, rate))]));
      handles[j].forEach((handle, k) => handle.put([times[k], values[j][k]]));
    });
    if (Math.abs(speeds.y[1] - fastest) > 1) speeds.look([0, 4], [-fastest, fastest]);
    ghosts.forEach((ghost, k) => ghost.show(places(arm, values.map((row) => row[k] * DEGREE))));
    trail.show(samples.map((t) => places(arm, poseAt(t), ["tip"])[0]));
    body.show(places(arm, poseAt(now)));
    rule.show([[now, -150], [now, 150]]);
    slider.put(now);
    table.show(poseAt(now).map((angle, j) => [`θ_${j + 1}`, `${(angle / DEGREE).toFixed(1)}°`]));
    panel.say(SAYS[/** @type {keyof typeof SAYS} */ (kind)]);
  }

  draw();
  return { state: () => ({ times: [...times], keys: values.map((row) => [...row]), kind, now, pose: poseAt(now) }) };
}

const SAYS = {
  step: "Step: the arm jumps at every key.",
  linear: "Linear: speeds jump at every key, and the path has corners.",
  ease: "Ease: the arm comes to rest at every key.",
  cubic: "Cubic: speeds change smoothly, and the arm passes through its keys without stopping.",
};

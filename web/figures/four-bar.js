// @ts-check
/** A four-bar linkage, driven by its crank, and how its loop is closed. */

import { split } from "./controls.js";
import { DEGREE, counted, html, number } from "./dom.js";
import { Plane } from "./plane.js";

const GROUND = 0.4;
const LENGTHS = { crank: 0.15, coupler: 0.35, rocker: 0.3 };
const CLOSED = 1e-10;
const FINE = DEGREE / 4; // largest step of the crank, so that it does not jump over a dead centre

/** @typedef {[number, number]} Point */
/** Angles as in Python: crank and rocker from the ground, the coupler from the crank. @typedef {[number, number, number]} Angles */

/** @param {Point} from @param {number} angle @param {number} length @returns {Point} */
const along = (from, angle, length) => [from[0] + length * Math.cos(angle), from[1] + length * Math.sin(angle)];

/**
 * The intersection of two circles to the left (side 1) or right (-1) of the line between their centres; null if none.
 * @param {Point} a @param {Point} b @param {number} r @param {number} s their radii @param {number} side @returns {Point | null}
 */
export function meeting(a, b, r, s, side) {
  const [x, y] = [b[0] - a[0], b[1] - a[1]];
  const d = Math.hypot(x, y);
  const far = (d * d + r * r - s * s) / (2 * d);
  const square = r * r - far * far;
  if (!(square >= 0)) return null;
  const h = side * Math.sqrt(square);
  return [a[0] + (far * x - h * y) / d, a[1] + (far * y + h * x) / d];
}

/**
 * The closed pose for an angle of the crank, or null if there is none.
 * @param {{crank: number, coupler: number, rocker: number}} bars @param {number} crank @param {number} side @returns {Angles | null}
 */
export function closedPose(bars, crank, side) {
  const pin = along([0, 0], crank, bars.crank);
  const at = meeting(pin, [GROUND, 0], bars.coupler, bars.rocker, side);
  if (!at) return null;
  return [crank, wrap(Math.atan2(at[1] - pin[1], at[0] - pin[0]) - crank), Math.atan2(at[1], at[0] - GROUND)];
}

/** @param {number} angle @returns {number} the same angle between minus and plus half a turn */
function wrap(angle) {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/** @param {HTMLElement} root @param {import("./element.js").Home} home */
export function fourBar(root, home) {
  const given = home.numbers("lengths", [LENGTHS.crank, LENGTHS.coupler, LENGTHS.rocker]);
  const bars = { crank: given[0], coupler: given[1], rocker: given[2] };
  let side = 1;
  let open = false;
  let stopped = false;
  let steps = 0;
  /** @type {Angles} */ let q = closedPose(bars, 1.2, side) ?? [0, 0, 0];

  const { stage, panel } = split(root);
  const plane = new Plane(stage, { x: [-0.42, 0.72], y: [-0.36, 0.52], label: "A four-bar linkage: crank, coupler and rocker on the ground" });
  const curve = plane.path({ color: "muted", dashed: true, width: 1.6 });
  const ground = plane.path({ color: "muted", width: 3 });
  const pivot = plane.arm({ color: "muted" });
  const rocker = plane.arm({ color: "green" });
  const plate = plane.path({ color: "violet", fill: true });
  const coupler = plane.arm({ color: "violet", base: false });
  const crank = plane.arm({ color: "blue" });
  const point = plane.point({ color: "violet" });
  const gap = plane.vector({ color: "red", width: 3 });
  const hold = plane.goal({ at: [0, 0], name: "end of the crank", shape: "dot", moved: drag, hold: (at) => at });

  const sliders = Object.keys(bars).map((name) => {
    const key = /** @type {keyof typeof bars} */ (name);
    return panel.slider({ label: name, min: 0.05, max: 0.5, step: 0.01, value: bars[key], digits: 2, unit: "m", moved: (value) => resize(key, value) });
  });
  const made = panel.buttons({ Open: cut, Newton: newton, Close: close, Mirror: mirror, Reset: reset });
  const table = panel.table();
  const rule = html("p", { class: "note" });
  panel.node.append(rule);

  /** @param {Angles} pose */
  function places([a, b, c]) {
    const pin = along([0, 0], a, bars.crank);
    const end = along(pin, a + b, bars.coupler);
    const beside = along(along(pin, a + b, 0.5 * bars.coupler), a + b + Math.PI / 2, 0.35 * bars.coupler);
    return { pin, end, beside, other: along([GROUND, 0], c, bars.rocker) };
  }

  /** @returns {Point} from the end of the rocker to the end of the coupler: zero when the loop is closed */
  function opening() {
    const { end, other } = places(q);
    return [end[0] - other[0], end[1] - other[1]];
  }

  /** Drag the end of the crank. @param {Point} at */
  function drag(at) {
    const wanted = q[0] + wrap(Math.atan2(at[1], at[0]) - q[0]);
    stopped = false;
    if (open) q[0] = wanted;
    while (!open && Math.abs(wanted - q[0]) > 1e-12 && !stopped) {
      const next = q[0] + Math.max(-FINE, Math.min(FINE, wanted - q[0]));
      const pose = closedPose(bars, next, side);
      if (pose) q = pose;
      else stopped = true;
    }
    draw();
  }

  /** @param {keyof typeof bars} name @param {number} value */
  function resize(name, value) {
    bars[name] = value;
    stopped = false;
    if (!open) {
      const angles = Array.from({ length: 721 }, (_, k) => q[0] + (k % 2 ? 1 : -1) * Math.ceil(k / 2) * 2 * FINE); // nearest first
      q = angles.map((angle) => closedPose(bars, angle, side)).find((pose) => pose !== null) ?? q;
    }
    draw();
  }

  function cut() {
    [open, steps] = [!open, 0];
    if (!open) return close();
    return draw();
  }

  /** One step of Newton's method for coupler and rocker: C_f Δθ_f = -c, two equations for two angles. */
  function newton() {
    const [cx, cy] = opening();
    const { pin, end, other } = places(q);
    const [a, b] = [end[0] - pin[0], end[1] - pin[1]]; // the coupler's column is (-b, a)
    const [x, y] = [other[0] - GROUND, other[1]]; // the rocker's is (y, -x): it moves the other end
    const determinant = b * x - a * y;
    if (Math.abs(determinant) < 1e-9) return panel.say("Coupler and rocker are in line: the two columns have no inverse here.", "red");
    q[1] += (cx * x + cy * y) / determinant;
    q[2] += (a * cx + b * cy) / determinant;
    steps++;
    return draw();
  }

  function close() {
    const pose = closedPose(bars, q[0], side);
    open = false;
    stopped = !pose;
    if (pose) q = pose;
    else resize("crank", bars.crank);
    draw();
  }

  function mirror() {
    side = -side;
    close();
  }

  function reset() {
    Object.assign(bars, { crank: given[0], coupler: given[1], rocker: given[2] });
    sliders.forEach((slider, k) => slider.put(given[k]));
    [side, open, stopped, steps] = [1, false, false, 0];
    q = closedPose(bars, 1.2, side) ?? q;
    draw();
  }

  function draw() {
    const { pin, end, beside, other } = places(q);
    const c = opening();
    const wide = Math.hypot(c[0], c[1]);
    const path = Array.from({ length: 361 }, (_, k) => closedPose(bars, k * DEGREE, side)).map((pose) => (pose ? places(pose).beside : null));
    const first = Math.max(path.indexOf(null), 0); // start at a gap, so that the curve is in one piece
    const whole = [...path.slice(first), ...path.slice(first ? 1 : 0, first)].filter((p) => p !== null);
    curve.show(/** @type {Point[]} */ (whole));
    ground.show([[0, 0], [GROUND, 0]]);
    pivot.show([[GROUND, 0], [GROUND, 0]]);
    crank.show([[0, 0], pin]);
    coupler.show([pin, end]);
    plate.show([pin, end, beside]);
    rocker.show([[GROUND, 0], other]);
    point.show(beside);
    hold.put(pin);
    if (wide > 1e-6) gap.show(other, end, "c", 0.5);
    else gap.hide();
    made.Open.setAttribute("aria-pressed", String(open));
    made.Newton.disabled = !open;
    made.Close.disabled = !open;
    const degrees = (/** @type {number} */ x) => `${number(wrap(x) / DEGREE, 1)}°`;
    table.show({ crank: degrees(q[0]), coupler: degrees(q[1]), rocker: degrees(q[2]), gap: wide < CLOSED ? "0" : wide < 1e-3 ? wide.toExponential(1) : number(wide, 4) });
    rule.textContent = grashof();
    if (open) panel.say(wide < CLOSED ? `Closed after ${counted(steps, "step")} of Newton's method.` : "The loop is open. Turn the crank, then press Newton.", wide < CLOSED ? "green" : "orange");
    else if (stopped) panel.say("A dead centre: coupler and rocker are in one line, and the crank goes no further.", "red");
    else panel.say("Closed. Drag the end of the crank.");
  }

  /** @returns {string} a sentence on whether the shortest bar can turn fully */
  function grashof() {
    const all = [GROUND, ...Object.values(bars)].sort((a, b) => a - b);
    if (all[3] >= all[0] + all[1] + all[2]) return "The longest bar is too long: these bars cannot form a loop.";
    const [two, others] = [all[0] + all[3], all[1] + all[2]];
    const holds = two <= others + 1e-12;
    return `Grashof: shortest and longest ${number(two, 2)} m, the other two ${number(others, 2)} m. The shortest bar ${holds ? "can" : "cannot"} make full turns.`;
  }

  draw();
  return { state: () => ({ q: [...q], lengths: [GROUND, bars.crank, bars.coupler, bars.rocker], gap: opening(), open, stopped, steps, side, point: places(q).beside }) };
}

// @ts-check
/** The race: methods follow the same goals, step by step, each as a ghost of its own colour; curves show their errors. */

import { node } from "./dom.js";
import { origin } from "./holding.js";
import { plot } from "./plots.js";
import { heading } from "./room.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const HUES = ["#de6c08", "#2f6fd6", "#3a7d1f", "#c2367d", "#8158d6", "#0f8a7e", "#a8641c", "#627386", "#cc3f3c", "#1b7fa8", "#6d7f13", "#a352c2", "#6672cf"];
const FIRST = ["pseudoinverse", "damped", "transpose", "ccd"];
const CURVES = [["error", true], ["joint speed", true], ["smallest singular value", true]];
const PACE = 60; // time between steps [ms]
const ROUND = 9000; // duration of the path through a singularity [ms]
const LANE = 0.06; // distance of coinciding ghosts, over the linkage's size
const WIDEST = 0.4; // largest width of all ghosts, over the linkage's size

export class RacePanel {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.page = studio.room.panel("Race");
    this.methods = node("ul", { className: "racers" });
    this.start = node("button", { type: "button", className: "main", textContent: "Start", onclick: () => (this.running ? this.stop() : this.begin()) });
    this.through = node("input", { type: "checkbox" });
    this.plots = node("div", { className: "plots" });
    this.page.append(heading("Methods"), this.methods, node("div", { className: "row" }, [this.start, node("label", { className: "check" }, [this.through, "through a singularity"])]),
      node("p", { className: "soft", textContent: "Drag a goal while they run. “Through a singularity” moves the goal out of reach and back. Ghosts at the same position are drawn side by side. Stop restores the pose." }), this.plots);
    /** @type {Set<string>} */ this.chosen = new Set(FIRST);
    /** @type {Map<string, any>} */ this.ghosts = new Map();
    this.running = false;
    studio.commands.add({ title: "Race: start or stop", act: () => {
      studio.room.open("Race");
      if (this.running) this.stop();
      else this.begin();
    } });
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if (parts.stage && typeof parts.stage === "object") {
      this.ghosts.clear();
      if (this.running) this.stop();
      this.list();
    }
    if ("goals" in parts && this.running && !parts.goals.some((/** @type {any} */ goal) => goal.active)) this.stop();
  }

  /** @param {string} name */
  color(name) {
    return HUES[Math.max(0, (this.studio.choices.methods ?? []).indexOf(name)) % HUES.length];
  }

  /** @param {Record<string, string>} [refused] */
  list(refused = {}) {
    this.methods.replaceChildren(...(this.studio.choices.methods ?? []).map((/** @type {string} */ name) => {
      const dot = node("i", { className: "dot" });
      dot.style.background = this.color(name);
      const input = node("input", { type: "checkbox", checked: this.chosen.has(name), onchange: () => {
        if (input.checked) this.chosen.add(name);
        else this.chosen.delete(name);
        this.fresh = true;
      } });
      return node("li", {}, [node("label", { className: "check", title: refused[name] ?? "" }, [input, dot, node("span", { textContent: name }), refused[name] ? node("small", { className: "soft", textContent: "not supported" }) : ""])]);
    }));
  }

  begin() {
    const { studio } = this;
    if (!(studio.state.goals ?? []).some((/** @type {any} */ goal) => goal.active)) return studio.status.trouble("A race needs a goal: add one.");
    this.running = true;
    this.fresh = true;
    this.begun = performance.now();
    this.start.textContent = "Stop";
    return this.step();
  }

  async step() {
    const { studio } = this;
    if (!this.running || !studio.solving || !studio.stage) return;
    const places = studio.solving.places();
    const lead = this.through.checked && this.way();
    if (lead) places[lead.name] = lead.place;
    try {
      const { racers, refused } = await studio.link.ask({ do: "race", methods: [...this.chosen], begin: Boolean(this.fresh), places });
      if (!this.running) return;
      if (this.fresh) this.list(refused);
      this.fresh = false;
      this.draw(racers, lead);
    } catch (error) {
      this.stop();
      studio.status.trouble(/** @type {Error} */ (error).message);
      return;
    }
    setTimeout(() => this.step(), PACE);
  }

  /** Move the first goal along its path, out beyond the reach and back. */
  way() {
    const { solving } = this.studio;
    const goal = solving && [...solving.pins.values()].find((/** @type {any} */ one) => one.kind === "reach");
    const reach = goal && solving?.scene.reach[goal.frame];
    if (!goal || !reach) return null;
    const share = ((performance.now() - (this.begun ?? 0)) % ROUND) / ROUND;
    const [x, y, z, , most] = reach.numbers;
    const out = origin(goal.target).map((v, k) => v - [x, y, z][k]);
    const length = Math.hypot(...out) || 1;
    const far = length + (1.15 * most - length) * Math.sin(Math.PI * share) ** 2;
    const place = Array.from(goal.target);
    const aside = 0.3 * Math.sin(2 * Math.PI * share);
    const [c, s] = [Math.cos(aside), Math.sin(aside)];
    const turned = [c * out[0] - s * out[1], s * out[0] + c * out[1], out[2]];
    turned.forEach((v, k) => (place[4 * k + 3] = [x, y, z][k] + (v / length) * far));
    return { name: /** @type {any} */ (goal).name, place };
  }

  /** @param {Record<string, any>} racers @param {any} lead */
  draw(racers, lead) {
    const { stage, solving, holding } = this.studio;
    if (!stage || !solving) return;
    for (const [name, ghost] of this.ghosts) {
      if (name in racers) continue;
      ghost.remove();
      this.ghosts.delete(name);
    }
    const names = Object.keys(racers);
    const places = names.map((name) => Float64Array.from(solving.linkage.matrices(racers[name].q)));
    const shifts = this.aside([Float64Array.from(solving.linkage.matrices(solving.q)), ...places]);
    names.forEach((name, k) => {
      if (!this.ghosts.has(name)) this.ghosts.set(name, stage.ghost(this.color(name), 0.5));
      for (let at = 3; at < places[k].length; at += 16) shifts[k].forEach((by, axis) => (places[k][at + 4 * axis] += by));
      this.ghosts.get(name).pose(places[k]);
    });
    const handle = lead && holding.handles.get(lead.name);
    if (handle) handle.position = origin(lead.place);
    const curves = CURVES.map(([what, log]) => node("figure", {}, [node("figcaption", { textContent: what }),
      plot(Object.entries(racers).map(([name, racer]) => ({ name, color: this.color(name), values: racer.curves[/** @type {string} */ (what)] })), { log: Boolean(log), label: String(what) })]));
    this.plots.replaceChildren(...curves);
    stage.render();
  }

  /**
   * The sideways shift of each ghost: coinciding ghosts are drawn side by side, to tell them apart.
   * @param {Float64Array[]} all matrices of the linkage, and of the ghosts @returns {number[][]}
   */
  aside(all) {
    const { camera, scene } = /** @type {import("../stage/stage.js").Stage} */ (this.studio.stage);
    const lane = Math.min(LANE, WIDEST / all.length) * scene.own;
    return all.slice(1).map((own, k) => {
      const away = Math.min(...all.filter((other) => other !== own).map((other) => apart(own, other)));
      const number = (k % 2 ? -1 : 1) * (Math.floor(k / 2) + 1); // right, left, further right ...
      return camera.right.map((/** @type {number} */ x) => x * number * lane * Math.max(0, 1 - away / LANE / scene.own));
    });
  }

  stop() {
    this.running = false;
    this.start.textContent = "Start";
    for (const ghost of this.ghosts.values()) ghost.remove();
    this.ghosts.clear();
    this.studio.link.tell({ do: "end race" });
    this.studio.holding.settle();
    this.studio.draw();
  }
}

/** The largest distance between the links of two poses. @param {Float64Array} a matrices @param {Float64Array} b @returns {number} */
function apart(a, b) {
  let most = 0;
  for (let at = 3; at < a.length; at += 16) most = Math.max(most, Math.hypot(a[at] - b[at], a[at + 4] - b[at + 4], a[at + 8] - b[at + 8]));
  return most;
}

// @ts-check
/** The timeline along the bottom: play, scrub, clips, keys, curves, onion skins. Motions come from Python and play here. */

import { Curves } from "./curves.js";
import { choice, icon, node, tool } from "./dom.js";
import { Playing } from "./playing.js";
import { Span } from "./span.js";
import { Tracks } from "./tracks.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const SPEEDS = ["0.1", "0.25", "0.5", "1", "2", "4"];
const SKINS = 3; // onion skins on either side
const EMPTY = { name: "motion", fps: 24, loop: true, duration: 0, keys: [] };

export class Timeline {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.time = 0;
    this.span = new Span();
    /** @type {Playing | null} */ this.playing = null;
    this.going = 0; // number of times sent to Python that are not yet confirmed
    this.waiting = false; // whether to play as soon as the motion arrives
    this.wrong = ""; // why the motion cannot be made
    /** Ends the display of pending work when the motion arrives. @type {(() => void) | null} */ this.made = null;
    this.snap = true;
    this.inFrames = false;
    this.autokey = false;
    this.skins = false;
    this.follows = false;
    this.speed = 1;
    /** @type {any[]} */ this.ghosts = [];
    /** The time of the last picture [ms]. @type {number | null} */ this.last = null;
    this.tracks = new Tracks(this);
    this.curves = new Curves(this);
    this.build();
    this.name();
  }

  /** The current clip, as sent by Python. @returns {{name: string, fps: number, loop: boolean, duration: number, keys: any[]}} */
  get clip() {
    return this.studio.state.clip ?? EMPTY;
  }

  /** Whether the motion in the page belongs to the present keys. */
  get fresh() {
    return this.playing !== null && this.playing.head.id === this.studio.state.motion;
  }

  build() {
    const { studio } = this;
    this.play = tool("play", "Play (Space)", () => this.toggle());
    this.clock = node("output", { className: "clock" });
    this.clips = node("span", { className: "clips" });
    this.ways = node("span", { className: "ways", hidden: true });
    const onOff = (/** @type {string} */ label, /** @type {string} */ title, /** @type {"autokey" | "skins" | "follows" | "snap" | "inFrames"} */ what, /** @type {() => void} */ act = () => {}) => {
      const button = node("button", { type: "button", className: "chip", textContent: label, title, "aria-pressed": String(this[what]), onclick: () => {
        this[what] = !this[what];
        button.setAttribute("aria-pressed", String(this[what]));
        act();
      } });
      return button;
    };
    const speed = choice("Speed", /** @type {[string, string][]} */ (SPEEDS.map((one) => [one, `${one}\u00d7`])), "1", (value) => (this.speed = Number(value)));
    const more = node("div", { className: "more" }, [
      onOff("Auto key", "Every drag sets a key at this time", "autokey"), onOff("Skins", "Show poses before and after", "skins", () => this.showSkins()),
      onOff("Follow", "The camera follows the body", "follows", () => studio.draw()), onOff("Snap", "Keys and time snap to frames and keys; hold Alt to place them freely", "snap"),
      onOff("Frames", "Show frames instead of seconds", "inFrames", () => this.tracks.draw()),
      this.curves.chip,
    ]);
    this.bar = node("div", { className: "transport" }, [
      tool("first", "To the beginning (Home)", () => this.go(0)), this.play, tool("last", "To the end (End)", () => this.go(this.clip.duration)),
      tool("key", "Set a key (K)", () => this.key()), this.clock, speed, this.clips, this.ways, more,
    ]);
    studio.room.bottom.append(this.bar, this.tracks.box, this.curves.box);
    this.tracks.canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.steer(event));
  }

  /** Register the commands. */
  name() {
    const { commands, link } = this.studio;
    const chosen = () => this.tracks.chosen.size > 0;
    commands.add({ title: "Play or pause", keys: [" "], act: () => this.toggle() });
    commands.add({ title: "Set a key here", keys: ["k"], act: () => this.key() });
    commands.add({ title: "Set a key of the goals here", act: () => this.key(this.time, { places: true }) });
    commands.add({ title: "Remove the selected keys", can: chosen, act: () => this.removeKeys() });
    commands.add({ title: "To the beginning", keys: ["home"], act: () => this.go(0) });
    commands.add({ title: "To the end", keys: ["end"], act: () => this.go(this.clip.duration) });
    commands.add({ title: "To the previous key", keys: [","], act: () => this.jump(-1) });
    commands.add({ title: "To the next key", keys: ["."], act: () => this.jump(1) });
    commands.add({ title: "Show the whole clip", act: () => this.fit() });
    commands.add({ title: "Curves and handles", keys: ["c"], act: () => this.curves.toggle() });
    commands.add({ title: "A new clip", act: () => link.tell({ do: "add clip", name: this.free() }) });
    commands.add({ title: "A copy of this clip", act: () => link.tell({ do: "add clip", name: this.free(), copy: true }) });
    commands.add({ title: "Remove this clip", act: () => link.tell({ do: "remove clip" }) });
  }

  /** An unused name for a clip. @returns {string} */
  free() {
    const names = this.studio.state.clips ?? [];
    for (let k = 2; ; k++) if (!names.includes(`motion ${k}`)) return `motion ${k}`;
  }

  // News from Python

  /** @param {Record<string, any>} parts */
  show(parts) {
    if ("clip" in parts || "clips" in parts) {
      this.tracks.keep();
      this.listClips();
      this.chose();
      if (this.clip.duration > this.span.to || this.shown !== this.clip.name) this.fit();
      this.shown = this.clip.name;
    }
    if ("pose" in parts) this.agree();
    if ("clip" in parts || "goals" in parts || "motion" in parts) this.wrong = "";
    if (parts.stage && typeof parts.stage === "object") {
      this.playing = null;
      this.stop(); // the motion of the previous clip is no longer needed
    }
    if ("motion" in parts || "clip" in parts) this.prepare();
    if ("motion" in parts && this.waiting && this.fresh) this.toggle();
    this.tick();
  }

  /** Show that a motion is being made. @param {boolean} [now] whether the user waits for it */
  prepare(now = false) {
    const due = this.clip.duration > 0 && !this.fresh;
    if (this.made && due && !now) return;
    this.made?.();
    this.made = due ? this.studio.status.preparing.begin("the motion", now ? 0 : undefined) : null;
  }

  /** The motion could not be made: stop waiting. @param {string} text */
  failed(text) {
    this.wrong = text;
    this.made?.();
    this.made = null;
    this.waiting = false;
  }

  /** Receive a motion. @param {any} head @param {ArrayBuffer} frames */
  take(head, frames) {
    if (!this.studio.solving) return;
    this.playing = head.frames ? new Playing(head, frames, this.studio.solving.linkage) : null;
    this.curves.take();
    this.showSkins();
    this.tick();
  }

  listClips() {
    const { link, state } = this.studio;
    const { name, fps, loop } = this.clip;
    const list = choice("Clip", [...(state.clips ?? [name]), ["+", "a new clip ..."]], name, (one) => (one === "+" ? link.tell({ do: "add clip", name: this.free() }) : link.tell({ do: "choose clip", name: one })));
    const rate = node("input", { type: "number", min: 1, max: 240, value: fps, title: "Frames per second", "aria-label": "Frames per second", onchange: () => link.tell({ do: "change clip", fps: Number(rate.value) }) });
    const again = tool("loop", "Loop", () => link.tell({ do: "change clip", loop: !loop }), { "aria-pressed": String(loop) });
    const named = tool("more", "Rename or remove this clip", () => this.edit(name));
    this.clips.replaceChildren(list, named, rate, again);
  }

  /** @param {string} name */
  edit(name) {
    const { link } = this.studio;
    const input = node("input", { type: "text", value: name, maxLength: 60, "aria-label": "Name of the clip" });
    this.studio.room.ask("Clip", [input], [
      ["Rename", () => input.value && input.value !== name && link.tell({ do: "change clip", rename: input.value })],
      ["Copy", () => link.tell({ do: "add clip", name: this.free(), copy: true })],
      ["Remove", () => link.tell({ do: "remove clip" })],
    ]);
  }

  /** Update the controls for the selected keys. */
  chose() {
    const { chosen } = this.tracks;
    const keys = this.clip.keys.filter(([time]) => chosen.has(time));
    this.ways.hidden = !keys.length;
    if (!keys.length) return;
    const { link, choices } = this.studio;
    const same = keys.every(([, kind]) => kind === keys[0][1]) ? keys[0][1] : "";
    const list = choice("Interpolation", [...(same ? [] : [["", "several"]]), ...(choices.ways ?? []).map((/** @type {string} */ one) => [one, one])], same, (kind) => kind && link.tell({ do: "change keys", times: [...chosen], kind }));
    this.ways.replaceChildren(list, tool("bin", "Remove the selected keys (Del)", () => this.removeKeys()));
  }

  // Actions

  /** @param {number} [time] @param {any} [more] */
  key(time = this.time, more = {}) {
    const places = (this.studio.state.clip?.keys ?? []).some((/** @type {any} */ key) => key[3].length);
    this.studio.link.tell({ do: "set key", time: Number(time.toFixed(6)), places, ...more });
  }

  removeKeys() {
    if (this.tracks.chosen.size) this.studio.link.tell({ do: "remove keys", times: [...this.tracks.chosen] });
    this.tracks.chosen.clear();
  }

  /** Shift the selected keys. @param {number} by [s] @param {boolean} [copy] */
  moveKeys(by, copy = false) {
    const times = [...this.tracks.chosen];
    if (!times.length || Math.abs(by) < 1e-9) return;
    this.tracks.chosen = new Set(times.map((time) => Number((time + by).toFixed(6))));
    this.studio.link.tell({ do: "move keys", times, by: Number(by.toFixed(6)), copy });
  }

  /** @param {number} way 1 for the next key, -1 for the one before */
  jump(way) {
    const times = this.clip.keys.map(([time]) => time);
    const next = way > 0 ? times.find((time) => time > this.time + 1e-6) : times.filter((time) => time < this.time - 1e-6).at(-1);
    if (next !== undefined) this.go(next);
  }

  fit() {
    this.span.fit(this.clip.duration);
    this.tracks.draw();
    this.curves.draw();
  }

  /** @param {KeyboardEvent} event */
  steer(event) {
    const { fps } = this.clip;
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (way && event.altKey) this.moveKeys(Math.max(way / fps, -Math.min(...this.tracks.chosen)));
    else if (way) this.go(Math.max(0, Math.round(this.time * fps + way * (event.shiftKey ? 10 : 1)) / fps));
    else if (event.key === "Enter") this.tracks.choose(this.clip.keys.find(([time]) => Math.abs(time - this.time) < 0.5 / fps)?.[0], event.shiftKey);
    else if (["Delete", "Backspace"].includes(event.key)) this.removeKeys();
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) this.tracks.chosen = new Set(this.clip.keys.map(([time]) => time));
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.chose();
    this.tick();
  }

  /** Show a time of the motion in the page, without waiting for Python. @param {number} time */
  scrub(time) {
    const { studio } = this;
    if (studio.playing) this.toggle();
    this.time = time;
    if (this.playing && studio.solving) {
      studio.solving.q = this.playing.at(Math.min(time, this.playing.head.duration));
      studio.solving.bring();
      studio.draw();
    } else studio.link.tell({ do: "time", time: Number(time.toFixed(6)), goes_on: true });
    this.tick();
  }

  /** Stop at a time. @param {number} time */
  go(time) {
    const { studio } = this;
    this.time = time;
    this.going += 1;
    studio.link.tell({ do: "time", time: Number(time.toFixed(6)) }).finally(() => studio.later(() => {
      this.going -= 1;
      this.agree();
      this.tick();
    }));
    this.tick();
  }

  /** Use the time from Python, unless a newer one was sent. */
  agree() {
    const { state, playing } = this.studio;
    if (state.pose && !playing && !this.tracks.held && !this.going) this.time = state.pose.time;
  }

  toggle() {
    const { studio } = this;
    if (studio.playing) {
      this.stop();
      return this.go(this.time);
    }
    if (!this.clip.keys.length || this.clip.duration <= 0) return studio.status.trouble("There is no motion yet: set keys at two times.");
    if (!this.fresh && this.wrong) return studio.status.trouble(this.wrong);
    if (!this.fresh) {
      this.waiting = true; // the motion of the present keys is being made
      return this.prepare(true);
    }
    this.waiting = false;
    studio.playing = true;
    this.last = null;
    if (this.time >= this.clip.duration - 1e-6) this.time = 0;
    this.play.replaceChildren(icon("pause"));
    return studio.draw();
  }

  stop() {
    this.studio.playing = false;
    this.waiting = false;
    this.play.replaceChildren(icon("play"));
  }

  /** @param {number} now [ms] */
  advance(now) {
    const { playing, studio } = this;
    if (!playing || !studio.solving) return;
    const { duration } = playing.head;
    if (this.last !== null) this.time += ((now - this.last) / 1000) * this.speed;
    this.last = now;
    if (this.time >= duration && this.clip.loop && duration > 0) this.time %= duration;
    else if (this.time >= duration) {
      this.time = duration;
      this.stop();
      this.go(duration);
    }
    studio.solving.q = playing.at(this.time);
    studio.solving.bring();
    this.tick();
  }

  tick() {
    const { fps, duration } = this.clip;
    this.clock.textContent = this.inFrames ? `${Math.round(this.time * fps)} of ${Math.round(duration * fps)}` : `${this.time.toFixed(2)} of ${duration.toFixed(2)} s`;
    this.tracks.draw();
    this.curves.draw();
  }

  // The motion on the stage

  /** For each picture: move the camera along, and place the onion skins around the time. */
  follow() {
    const { stage, solving } = this.studio;
    if (!stage || !solving) return;
    const root = solving.linkage.matrices(solving.q);
    const gone = this.follows && this.rest ? [0, 1, 2].map((k) => root[4 * k + 3] - /** @type {number[]} */ (this.rest)[k]) : [0, 0, 0];
    if (this.follows && !this.rest) this.rest = [root[3], root[7], root[11]];
    if (!this.follows) this.rest = undefined;
    if (stage.camera.gone.some((x, k) => Math.abs(x - gone[k]) > 1e-9)) {
      stage.camera.gone = gone;
      stage.camera.changed();
    }
    if (this.skins && this.ghosts.length && this.skinTime !== this.time) this.placeSkins();
  }

  /** Create or remove the onion skins. */
  showSkins() {
    for (const ghost of this.ghosts.splice(0)) ghost.remove();
    if (!this.skins || !this.playing || !this.studio.stage) return;
    for (let k = 1; k <= SKINS; k++) {
      for (const way of [-1, 1]) this.ghosts.push(Object.assign(this.studio.stage.ghost(way < 0 ? "#8158d6" : "#0f8a7e", 0.34 - 0.08 * k), { shift: way * k }));
    }
    this.placeSkins();
  }

  placeSkins() {
    const { playing, studio } = this;
    if (!playing || !studio.solving) return;
    const times = this.clip.keys.map(([time]) => time);
    const step = times.length > 1 ? Math.max((times[times.length - 1] - times[0]) / 12, 1 / this.clip.fps) : 0.1;
    this.skinTime = this.time;
    for (const ghost of this.ghosts) {
      const time = Math.min(Math.max(this.time + ghost.shift * step, 0), playing.head.duration);
      ghost.pose(studio.solving.linkage.matrices(playing.at(time)));
    }
  }
}

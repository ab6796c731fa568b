// @ts-check
/**
 * `<linkwork-film>`: plays a film that Python wrote, on the stage, with a bar to play, scrub, loop and change the speed.
 *
 *     <linkwork-film title="A walk"><script type="application/json">...</script></linkwork-film>
 *
 * `film.seek(seconds)`, `film.toggle()`, `film.time`; `film.show(data)` in place of the script inside.
 */

import { between, bytes } from "../stage/algebra.js";
import { Stage } from "../stage/stage.js";
import { adopt } from "../theme.js";
import { Motion } from "./motion.js";

const HTML = `
<div class="stage"></div>
<header>
  <div><h1></h1><p></p></div>
  <details><summary>Keys</summary><ul>
    <li>Space: play or pause</li>
    <li>Left, right: one frame; Home, End: first, last</li>
    <li>Up, down: faster, slower</li>
    <li>Drag: turn, or move a flat picture</li>
    <li>Shift, right button or two fingers: move</li>
    <li>Wheel, pinch, + and -: zoom</li>
    <li>R or double click: the first view</li>
  </ul></details>
</header>
<form aria-label="Playback">
  <button type="button" id="play" aria-label="Pause">&#10074;&#10074;</button>
  <input type="range" id="scrub" min="0" max="1" step="any" value="0" aria-label="Time">
  <output id="clock" aria-hidden="true"></output>
  <select id="speed" aria-label="Speed">
    <option value="0.1">0.1&times;</option><option value="0.25">&frac14;&times;</option>
    <option value="0.5">&frac12;&times;</option><option value="1" selected>1&times;</option>
    <option value="2">2&times;</option><option value="4">4&times;</option>
  </select>
  <label><input type="checkbox" id="loop" checked>Loop</label>
</form>`;

const CSS = `
* { box-sizing: border-box; }
:host { position: relative; display: block; container-type: inline-size; overflow: hidden; min-height: 12rem; background: var(--lw-page); color: var(--lw-ink);
  font: 15px/1.4 var(--lw-font); }
.stage { position: absolute; inset: 0; }
header { position: absolute; top: 0; left: 0; right: 0; padding: .8rem 1rem; display: flex; justify-content: space-between;
  align-items: flex-start; gap: 1rem; pointer-events: none; }
h1 { margin: 0; font-size: 1.1rem; font-weight: 600; overflow-wrap: anywhere; }
header p { margin: .1rem 0 0; color: var(--lw-soft); font-size: .85rem; }
details { pointer-events: auto; text-align: right; color: var(--lw-soft); font-size: .85rem; flex: none; }
summary { display: inline-block; padding: .3rem .8rem; border: 1px solid var(--lw-line); border-radius: 99px;
  background: var(--lw-bar); cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
details ul { margin: .4rem 0 0; padding: .6rem .9rem; list-style: none; background: var(--lw-bar);
  border: 1px solid var(--lw-line); border-radius: 10px; text-align: left; }
form { position: absolute; left: 0; right: 0; bottom: 0; padding: .5rem max(.8rem, env(safe-area-inset-left))
  max(.6rem, env(safe-area-inset-bottom)); display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .7rem;
  background: var(--lw-bar); border-top: 1px solid var(--lw-line); }
button, select, label { min-height: 2.75rem; font: inherit; color: var(--lw-ink); }
form button, select { padding: 0 .7rem; border: 1px solid var(--lw-line); border-radius: 10px; background: var(--lw-page);
  cursor: pointer; }
#play { min-width: 2.75rem; font-size: 1.05rem; }
label { display: flex; align-items: center; gap: .35rem; cursor: pointer; }
input { accent-color: var(--lw-goal-text); }
#scrub { flex: 1 1 12rem; min-width: 8rem; height: 2.75rem; margin: 0; cursor: pointer; }
output { color: var(--lw-soft); font-size: .9rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
@container (max-width: 40rem) { #scrub { order: -1; flex-basis: 100%; } form { column-gap: .5rem; } select { padding: 0 .3rem; }
  output { flex: 1 1 6rem; min-width: 6rem; white-space: normal; font-size: .8rem; line-height: 1.25; } }
#failure { position: absolute; inset: 0; display: grid; place-items: center; padding: 2rem; text-align: center; }
`;

const PLAY = "\u25B6\uFE0E";
const PAUSE = "\u275A\u275A";

/** A film, its stage and its bar, in a shadow root. */
class Player {
  /** @param {ShadowRoot} root @param {any} film what Python's draw/player.py wrote */
  constructor(root, film) {
    root.innerHTML = `<style>${CSS}</style>${HTML}`;
    const found = (/** @type {string} */ name) => /** @type {any} */ (root.querySelector(name));
    /** @type {HTMLButtonElement} */ this.play = found("#play");
    /** @type {HTMLInputElement} */ this.scrub = found("#scrub");
    /** @type {HTMLSelectElement} */ this.speed = found("#speed");
    /** @type {HTMLInputElement} */ this.loop = found("#loop");
    /** @type {HTMLElement} */ this.clock = found("#clock");
    /** @type {HTMLElement} */ this.heading = found("h1");
    /** @type {HTMLElement} */ this.bar = found("form");
    this.host = root.host;
    this.film = film;
    this.motion = new Motion(film);
    this.time = 0;
    /** When the picture before was drawn [ms]. @type {number | null} */ this.last = null;
    this.playing = this.motion.duration > 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.heading.textContent = film.title;
    found("header p").textContent = film.note;
    this.stage = new Stage(found(".stage"), { label: film.label, keys: false });
    this.stage.show(film.scene);
    this.matrices = this.stage.matrices.slice();
    const width = 0.0028 * Math.min(film.scene.scale / film.scene.own, 1.5);
    this.trail = film.trail ? this.stage.trail(new Float32Array(bytes(film.trail)), { width }) : null;
    this.scrub.max = String(this.motion.duration);
    this.scrub.disabled = this.play.disabled = this.motion.duration === 0;
    this.listen();
    this.cover();
    this.update();
    this.asked = requestAnimationFrame((now) => this.tick(now));
  }

  free() {
    cancelAnimationFrame(this.asked);
    this.stage.free();
  }

  listen() {
    const { signal } = this.stage.end;
    this.play.addEventListener("click", () => this.toggle(), { signal });
    this.scrub.addEventListener("input", () => this.scrubbed(), { signal });
    this.bar.addEventListener("submit", (event) => event.preventDefault(), { signal });
    const all = this.host.hasAttribute("keys"); // of the page
    (all ? window : this.host).addEventListener("keydown", (event) => this.key(/** @type {any} */ (event)), { signal });
    const sizes = new ResizeObserver(() => this.cover());
    sizes.observe(this.bar);
    signal.addEventListener("abort", () => sizes.disconnect());
  }

  /** Let the picture stand where title and bar do not cover it. */
  cover() {
    const { bottom } = this.heading.getBoundingClientRect();
    const top = bottom - this.host.getBoundingClientRect().top + 24;
    this.stage.margins({ top, bottom: this.bar.offsetHeight + 12 });
  }

  scrubbed() {
    this.playing = false;
    this.seek(Number(this.scrub.value));
  }

  /** @param {number} time [s] */
  seek(time) {
    this.time = between(0, time, this.motion.duration);
    this.update();
  }

  toggle() {
    const { duration } = this.motion;
    this.playing = !this.playing && duration > 0;
    if (this.playing && this.time >= duration) this.time = 0;
    this.update();
  }

  /** Go on by whole frames, or back. @param {number} count */
  step(count) {
    this.playing = false;
    this.seek(this.motion.stepped(this.time, count));
  }

  /** Show the pose, the path and the clock of the time. */
  update() {
    const { motion, stage, matrices, film, time, playing } = this;
    const now = motion.moment(time);
    motion.write(now, matrices);
    stage.camera.gone = motion.gone(now);
    stage.camera.changed();
    stage.pose(matrices);
    this.trail?.reached((now.low + now.share) / Math.max(motion.times.length - 1, 1));
    const number = motion.numbers[now.share > 0.999 ? now.high : now.low];
    this.clock.textContent = `frame ${number} of ${film.last} | ${time.toFixed(2)} of ${motion.duration.toFixed(2)} s`;
    this.scrub.value = String(time);
    this.scrub.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds, frame ${number}`);
    this.play.textContent = playing ? PAUSE : PLAY;
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  /** @param {number} now [ms] */
  tick(now) {
    const { last, motion } = this;
    if (this.playing && last !== null) {
      let next = this.time + ((now - last) / 1000) * Number(this.speed.value);
      if (next >= motion.duration) {
        this.playing = this.loop.checked;
        next = this.playing ? next % motion.duration : motion.duration;
      }
      this.seek(next);
    }
    this.last = now;
    this.asked = requestAnimationFrame((later) => this.tick(later));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {Element} */ (event.composedPath()[0]);
    const presses = event.key === " " && target.matches?.("button, summary, input[type=checkbox]");
    if (presses || target === this.speed || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.keys()[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @returns {Record<string, () => void>} */
  keys() {
    const count = this.motion.times.length;
    const { stage, speed } = this;
    const faster = (/** @type {number} */ way) => (speed.selectedIndex = between(0, speed.selectedIndex + way, speed.length - 1));
    const zoom = (/** @type {number} */ factor) => {
      stage.camera.zoom(factor);
      stage.looked();
    };
    const home = () => stage.home();
    return {
      " ": () => this.toggle(), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), ArrowUp: () => faster(1),
      ArrowDown: () => faster(-1), Home: () => this.step(-count), End: () => this.step(count), r: home, R: home,
      "+": () => zoom(0.85), "-": () => zoom(1.18),
    };
  }
}

export class LinkworkFilm extends HTMLElement {
  /** @type {Player | null} */ player = null;

  connectedCallback() {
    const data = this.querySelector('script[type="application/json"]');
    if (!this.player && data) this.show(JSON.parse(data.textContent ?? ""));
  }

  disconnectedCallback() {
    this.player?.free();
    this.player = null;
  }

  /** Play a film. @param {any} film what Python's draw/player.py wrote */
  show(film) {
    this.player?.free();
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    try {
      this.player = new Player(root, film);
    } catch (error) {
      root.innerHTML = `<style>${CSS}</style><div id="failure" role="alert"></div>`;
      adopt(root);
      /** @type {Element} */ (root.firstElementChild?.nextElementSibling).textContent = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  /** Go to a time. @param {number} seconds */
  seek(seconds) {
    this.player?.seek(seconds);
  }

  /** Play or pause. */
  toggle() {
    this.player?.toggle();
  }

  /** The time that is shown [s]. */
  get time() {
    return this.player?.time ?? 0;
  }
}

customElements.define("linkwork-film", LinkworkFilm);

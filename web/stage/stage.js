// @ts-check
/**
 * The stage: a linkage in three dimensions, or in two, in any element of a page.
 *
 *     const stage = new Stage(element);           // it fills the element, which needs a size of its own
 *     stage.show(scene);                          // what Python's draw/stage_scene.py wrote, parsed
 *     stage.pose(matrices);                       // 16 numbers row by row for each of scene.links; more are ignored
 *     stage.margins({ bottom: 60 });              // what panels cover, in CSS pixels
 *     stage.home();                               // see everything
 *
 *     stage.pick(x, y)                            // { link, name, point, depth } or null; CSS pixels in the element
 *     stage.handles.add({ position, label, grips: ["ball", "arrows", "planes", "rings"], moved(handle) {...} })
 *     stage.grab = (picked) => handle or null     // the handle for a press on a link
 *     stage.hovered = (link) => {}                // the name under the pointer has changed; null for none
 *     const trail = stage.trail(points);          // x, y, z ...; trail.points(points), trail.reached(share), trail.remove()
 *     stage.joints = true                         // glyphs at the axes of joints
 *     stage.guilty = new Set(["elbow"])           // joints drawn in red over everything
 *     stage.lit = "forearm"                       // a link that stays lit
 *     const ghost = stage.ghost("#3a7d1f", 0.4);  // another pose, transparent; ghost.pose(matrices), ghost.remove()
 *     stage.extras.add(({ marks, grips, color, camera }) => marks.rod(a, b, 0.01, color("bad")))  // at every picture
 *     stage.things((layer, color) => layer.batches[BOX].push(...))     // things in the world, until the next call
 *
 * Nothing is drawn until something changes: `render()` asks for a picture, which is drawn before the next frame of the
 * screen. Transforms are those of linkwork: matrices row by row, quaternions w, x, y, z, metres, z up.
 */

import { bytes, fromZ, turned } from "./algebra.js";
import { Camera } from "./camera.js";
import { Handles } from "./handles.js";
import { Hands, nudge } from "./hands.js";
import { Painter, paints } from "./painter.js";
import { Picker } from "./picking.js";
import { CAPSULE, CONE, CYLINDER, RING } from "./shapes.js";
import { adopt, paletteOf, rgb, unitOf, watch } from "../theme.js";

/** @typedef {import("./algebra.js").Numbers} Numbers */
/** @typedef {{link: number, name: string, point: number[], depth: number}} Picked */
/** Layers that are rewritten for every picture: marks in the scene, grips over everything, colours by name.
 * @typedef {{marks: import("./painter.js").Layer, grips: import("./painter.js").Layer, color: (name: string) => Numbers, camera: Camera}} Layers */

const FINGER = 18; // radius around a finger in which a link is found [CSS pixels]
const SHARPEST = 2; // largest number of screen pixels per CSS pixel

export const STAGE_CSS = `
:where(.lw-stage) { position: relative; overflow: hidden; background: var(--lw-page); }
.lw-stage canvas { position: absolute; inset: 0; width: 100%; height: 100%; display: block; touch-action: none; cursor: grab; }
.lw-stage canvas:active { cursor: grabbing; }
.lw-stage canvas:focus-visible { outline-offset: -3px; }
.lw-stage canvas.held { outline: none; }
.lw-stage .lw-name { position: absolute; z-index: 1; pointer-events: none; padding: .1rem .5rem; border-radius: 6px; font: calc(13 * var(--u, 1px))/1.5 var(--lw-font);
  color: var(--lw-ink); background: var(--lw-bar); border: 1px solid var(--lw-line); white-space: nowrap; }
.lw-stage .lw-grip { position: absolute; width: 30px; height: 30px; margin: -15px; padding: 0; border: 0; border-radius: 50%;
  background: none; pointer-events: none; }
.lw-stage [hidden] { display: none; }
`;

export class Stage {
  /**
   * @param {HTMLElement} root the element to fill
   * @param {{label?: string, keys?: boolean, quietWheel?: boolean, names?: boolean}} [options] what screen readers say;
   *   whether arrow keys turn the camera; whether the wheel scrolls the page until the stage has the focus; whether the
   *   name of the link under the mouse is shown
   */
  constructor(root, { label = "", keys = true, quietWheel = false, names = true } = {}) {
    this.root = root;
    this.end = new AbortController();
    this.camera = new Camera();
    this.handles = new Handles();
    this.quietWheel = quietWheel;
    this.names = names;
    this.joints = false;
    /** @type {((picked: Picked) => import("./handles.js").Handle | null) | null} */ this.grab = null;
    /** The action of a double click on a link, or null beside links; by default everything is shown. @type {((picked: Picked | null) => void) | null} */ this.twice = null;
    /** @type {(link: string | null) => void} */ this.hovered = () => {};
    /** @type {any} */ this.scene = null;
    this.matrices = new Float64Array();
    this.hull = new Float32Array();
    this.chosen = -1;
    /** @type {Trail[]} */ this.trails = [];
    /** @type {Set<string>} */ this.guilty = new Set();
    /** @type {string | null} */ this.lit = null;
    /** @type {Set<(layers: Layers) => void>} */ this.extras = new Set();
    /** @type {Set<StageGhost>} */ this.ghosts = new Set();
    /** @type {(layer: import("./painter.js").Layer, color: (name: string) => Numbers) => void} */ this.writeThings = () => {};
    /** @type {Painter | null} */ this.painter = null;
    this.asked = 0;
    /** Whether the camera is as set by `home`. */ this.atHome = true;
    this.canvas = document.createElement("canvas");
    this.tag = document.createElement("div");
    /** A button for each handle, for keys and screen readers. @type {Map<any, HTMLButtonElement>} */ this.buttons = new Map();
    /** The position of the mouse over the stage. @type {{x: number, y: number} | null} */ this.under = null;
    this.looking = 0;
    this.build(label);
    this.resized();
    this.fill(); // set the size before a buffer is allocated
    this.gl = this.canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!this.gl) throw new Error("This page needs WebGL 2, which this browser does not offer.");
    this.picker = new Picker(this.gl, 2 * FINGER + 1);
    this.paints = paints(this.gl);
    this.listen(keys);
  }

  /** @param {string} label */
  build(label) {
    const within = this.root.getRootNode();
    adopt(within instanceof ShadowRoot ? within : document);
    const style = document.createElement("style");
    style.textContent = STAGE_CSS;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    this.tag.className = "lw-name";
    this.tag.hidden = true;
    this.root.classList.add("lw-stage");
    this.root.prepend(style, this.canvas, this.tag);
  }

  /** @param {boolean} keys */
  listen(keys) {
    const { canvas } = this;
    const { signal } = this.end;
    this.hands = new Hands(this, { keys });
    this.handles.changed = () => this.render();
    const sizes = new ResizeObserver(() => this.resized());
    sizes.observe(this.root);
    const unwatch = watch(this.root, () => this.render());
    signal.addEventListener("abort", () => {
      sizes.disconnect();
      unwatch();
    });
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault(), { signal });
    canvas.addEventListener("webglcontextrestored", () => this.restore(), { signal });
  }

  /** Restore everything on the GPU after its context was lost. */
  restore() {
    this.picker = new Picker(/** @type {any} */ (this.gl), 2 * FINGER + 1);
    this.paints = paints(/** @type {any} */ (this.gl));
    if (this.scene) this.load();
  }

  load() {
    this.painter = new Painter(/** @type {any} */ (this.gl), this.scene, this.paints);
    this.painter.pose(this.matrices);
    for (const trail of this.trails) trail.load();
    for (const ghost of this.ghosts) ghost.load();
    this.sendThings();
    this.render();
  }

  /** Show a scene in its first pose. @param {any} scene */
  show(scene) {
    this.painter?.free();
    for (const trail of this.trails.splice(0)) trail.batch = null;
    this.ghosts.clear();
    this.guilty = new Set();
    this.lit = null;
    this.scene = scene;
    this.hull = new Float32Array(bytes(scene.hull));
    this.matrices = Float64Array.from(new Float32Array(bytes(scene.rest)));
    Object.assign(this.camera, { flat: scene.flat, scale: scene.scale, gone: [0, 0, 0] });
    this.load();
    this.resized();
    this.home();
  }

  /** Set the transforms of links. @param {Numbers} matrices 16 numbers for each of scene.links, row by row */
  pose(matrices) {
    const count = this.matrices.length;
    if (matrices.length < count) throw new Error(`a pose of ${this.scene.name} has ${count} numbers, got ${matrices.length}.`);
    for (let k = 0; k < count; k++) this.matrices[k] = matrices[k];
    this.painter?.pose(this.matrices);
    this.render();
  }

  /** Show everything, from the scene's initial direction. */
  home() {
    if (!this.scene) return;
    const { low, high, view } = this.scene;
    const middle = [0, 1, 2].map((k) => (low[k] + high[k]) / 2);
    this.camera.frame(this.hull, middle, view);
    this.atHome = true;
    this.render();
  }

  /** Called when the user has moved the camera. */
  looked() {
    this.atHome = false;
    this.render();
  }

  /** Set the margins covered by panels. @param {{top?: number, right?: number, bottom?: number, left?: number}} margins in CSS pixels */
  margins(margins) {
    this.camera.margins = { top: 0, right: 0, bottom: 0, left: 0, ...margins };
    if (this.atHome) this.home();
    else this.camera.changed();
    this.render();
  }

  resized() {
    const { clientWidth, clientHeight } = this.root;
    this.camera.width = Math.max(clientWidth, 1);
    this.camera.height = Math.max(clientHeight, 1);
    this.camera.unit = unitOf(this.root);
    if (this.atHome) this.home();
    else this.camera.changed();
    this.render();
  }

  /**
   * Return the link at a point, or near it.
   * @param {number} x @param {number} y in CSS pixels @param {number} [reach] largest distance of a link from it
   * @returns {Picked | null}
   */
  pick(x, y, reach = FINGER) {
    if (!this.painter) return null;
    const found = this.picker.pick(this.painter, this.camera, x, y, reach);
    return found && { ...found, name: this.scene.links[found.link] };
  }

  /** Highlight the link or handle under the mouse. @param {number | null} x @param {number | null} y */
  hover(x, y) {
    if (x === null || y === null) this.under = null;
    else this.under = { x, y };
    if (!this.looking) this.looking = requestAnimationFrame(() => this.lookUnder());
  }

  lookUnder() {
    this.looking = 0;
    const { under, handles } = this;
    const hit = under && handles.hit(this.camera, under.x, under.y);
    const picked = !under || hit || !this.names ? null : this.pick(under.x, under.y, 4);
    const changed = handles.under?.handle !== hit?.handle || handles.under?.grip !== hit?.grip;
    handles.under = hit ?? null;
    const link = picked?.link ?? -1;
    if (link !== this.chosen) this.hovered(picked?.name ?? null);
    if (link !== this.chosen || changed) this.render();
    this.chosen = link;
    const text = hit ? hit.handle.label : (picked?.name ?? "");
    this.tag.hidden = !text;
    this.tag.textContent = text;
    if (under) this.tag.style.translate = `${under.x + 14}px ${under.y + 14}px`;
    this.canvas.style.cursor = hit ? "pointer" : link >= 0 && this.grab ? "pointer" : "";
  }

  /**
   * Show a path.
   * @param {Numbers} points x, y, z of each @param {{color?: string, width?: number}} [options] a name of the palette; of
   *   the size of the linkage
   */
  trail(points, { color = "goal", width = 0.004 } = {}) {
    const trail = new Trail(this, points, color, width);
    this.trails.push(trail);
    this.render();
    return trail;
  }

  /**
   * Show another, transparent pose of the linkage.
   * @param {string} color a name of the palette or "#rrggbb" @param {number} [alpha]
   */
  ghost(color, alpha = 0.4) {
    const ghost = new StageGhost(this, color, alpha);
    this.ghosts.add(ghost);
    return ghost;
  }

  /** Set the things in the world besides the linkage. @param {(layer: import("./painter.js").Layer, color: (name: string) => Numbers) => void} write */
  things(write) {
    this.writeThings = write;
    this.sendThings();
    this.render();
  }

  sendThings() {
    const { painter } = this;
    if (!painter) return;
    const palette = paletteOf(this.root);
    painter.things.clear();
    this.writeThings(painter.things, (name) => rgb(palette[name] ?? name));
    painter.things.send();
    painter.posed = true;
  }

  /** Request a new picture. */
  render() {
    if (!this.asked && !this.end.signal.aborted) this.asked = requestAnimationFrame(() => this.draw());
  }

  /** Match the canvas to the pixels of the screen. */
  fill() {
    const { canvas, camera } = this;
    const pixels = Math.min(devicePixelRatio || 1, SHARPEST);
    const [width, height] = [Math.round(camera.width * pixels), Math.round(camera.height * pixels)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    return { width, height };
  }

  draw() {
    this.asked = 0;
    const { painter, camera } = this;
    if (!painter || this.gl?.isContextLost()) return;
    const { width, height } = this.fill();
    const palette = paletteOf(this.root);
    const color = (/** @type {string} */ name) => rgb(palette[name] ?? name);
    painter.marks.clear();
    painter.grips.clear();
    if (this.joints) this.writeJoints(color, "goal");
    if (this.guilty.size) this.writeJoints(color, "bad", this.guilty);
    for (const write of this.extras) write({ marks: painter.marks, grips: painter.grips, color, camera });
    this.handles.write(painter.grips, painter.marks, camera, color);
    painter.marks.send();
    painter.grips.send();
    for (const trail of this.trails) trail.tint(color);
    painter.draw(camera, palette, { width, height, chosen: this.chosen >= 0 || !this.lit ? this.chosen : this.scene.links.indexOf(this.lit) });
    this.placeButtons();
  }

  /**
   * Add glyphs at the axes of joints: ring and axle for a revolute joint, an arrow for a prismatic one.
   * @param {(name: string) => Numbers} color @param {string} paint @param {Set<string>} [only] their names; all by default
   */
  writeJoints(color, paint, only) {
    const { batches } = /** @type {Painter} */ (this.painter).grips;
    const size = 0.05 * this.scene.own;
    for (const { name, link, kind, axis } of this.scene.joints) {
      if (only && !only.has(name)) continue;
      const m = this.matrices.subarray(16 * link, 16 * link + 16);
      const at = [m[3], m[7], m[11]];
      const along = [0, 1, 2].map((r) => m[4 * r] * axis[0] + m[4 * r + 1] * axis[1] + m[4 * r + 2] * axis[2]);
      const turn = fromZ(along);
      const thin = [0.05 * size, 0.05 * size, 0.05 * size];
      batches[CYLINDER].push(turn, at, 0.8 * size, thin, color(paint));
      if (kind === "prismatic") {
        const tip = turned(turn, [0, 0, 0.8 * size]).map((x, k) => x + at[k]);
        batches[CONE].push(turn, tip, 0, [0.18 * size, 0.18 * size, 0.4 * size], color(paint));
      } else batches[RING].push(turn, at, 0, [0.5 * size, 0.5 * size, 0.5 * size], color(paint));
    }
  }

  /** Keep a button on every visible handle, for the keyboard. */
  placeButtons() {
    const shown = this.handles.list.filter((handle) => handle.visible);
    for (const [handle, button] of this.buttons) {
      if (shown.includes(handle)) continue;
      button.remove();
      this.buttons.delete(handle);
    }
    for (const handle of shown) {
      let button = this.buttons.get(handle);
      if (!button) {
        button = document.createElement("button");
        button.type = "button";
        button.className = "lw-grip";
        button.addEventListener("keydown", (event) => {
          if (nudge(this, handle, event)) event.preventDefault();
        });
        this.buttons.set(handle, button);
        this.root.append(button);
      }
      const label = `${handle.label}: arrow keys move it`;
      if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
      const { x, y } = this.camera.project(handle.position);
      button.style.translate = `${x}px ${y}px`;
    }
  }

  /** Remove everything. */
  free() {
    this.end.abort();
    cancelAnimationFrame(this.asked);
    this.painter?.free();
    this.picker.free();
    this.painter = null;
    this.gl?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers limit the number of contexts
    this.root.replaceChildren();
  }
}

/** Another pose on the stage; it is restored after the GPU context was lost. */
export class StageGhost {
  /** @param {Stage} stage @param {string} color @param {number} alpha */
  constructor(stage, color, alpha) {
    this.stage = stage;
    this.color = color;
    this.alpha = alpha;
    /** @type {Numbers} */ this.matrices = stage.matrices.slice();
    /** @type {import("./painter.js").Ghost | null} */ this.made = null;
    this.load();
  }

  load() {
    const { painter, root } = this.stage;
    this.made = painter?.ghost(rgb(paletteOf(root)[this.color] ?? this.color), this.alpha) ?? null;
    this.made?.pose(this.matrices);
  }

  /** @param {Numbers} matrices 16 numbers for each link, row by row */
  pose(matrices) {
    this.matrices = Float64Array.from(matrices);
    this.made?.pose(this.matrices);
    this.stage.render();
  }

  remove() {
    this.made?.remove();
    this.stage.ghosts.delete(this);
    this.stage.render();
  }
}

/** A path in space. */
export class Trail {
  /** @param {Stage} stage @param {Numbers} points @param {string} color @param {number} width */
  constructor(stage, points, color, width) {
    this.stage = stage;
    this.list = Float32Array.from(points);
    this.color = color;
    this.width = width;
    this.painted = "";
    /** The fraction that is drawn in full colour. */ this.share = 1;
    /** @type {any} */ this.batch = null;
    this.load();
  }

  load() {
    const { painter, scene } = this.stage;
    if (!painter) return;
    painter.paths = painter.paths.filter((path) => path !== this.batch);
    this.batch?.free();
    const color = rgb(paletteOf(this.stage.root)[this.color] ?? this.color);
    this.batch = painter.path(this.list, this.width * scene.own, color);
    this.painted = color.join();
    painter.paths.push(this.batch);
    this.reached(this.share);
  }

  /** Show other points. @param {Numbers} points */
  points(points) {
    this.list = Float32Array.from(points);
    this.load();
  }

  /** Set the fraction that is drawn in full colour. @param {number} share from 0 to 1 */
  reached(share) {
    this.share = share;
    if (this.batch) this.batch.reached = share * this.batch.count;
    this.stage.render();
  }

  /** Update the colours for the present scheme. @param {(name: string) => Numbers} color */
  tint(color) {
    if (Array.from(color(this.color)).join() !== this.painted) this.load();
  }

  remove() {
    const { painter, trails } = this.stage;
    this.stage.trails = trails.filter((other) => other !== this);
    if (painter) painter.paths = painter.paths.filter((path) => path !== this.batch);
    this.batch?.free();
    this.stage.render();
  }
}

// @ts-check
/** Draws a scene with WebGL 2: shadows, ground, links, marks. It holds only the resources on the GPU. */

import { bytes, fromZ, minus, moved, plus, unit } from "./algebra.js";
import { Batch, Movers, Programs } from "./gl.js";
import { Meshes } from "./meshes.js";
import { CORNERS, DEPTH, FLOOR, GROUND, IDENTITY, INSTANCES, LIT } from "./shaders.js";
import { allShapes, capsule, CAPSULE } from "./shapes.js";
import { rgb } from "../theme.js";

/** @typedef {import("./algebra.js").Numbers} Numbers */
/** @typedef {import("./camera.js").Camera} Camera */

const PART = 16; // numbers of a part: link, shape, size 3, half, colour 3, rotation 4, position 3
const RAIL = 8; // numbers of a rail: two links, and an end on each
const MAP = 2048; // texels along the shadow map
const SUN = unit([-0.35, -0.5, 1]); // direction to the sun, for an eye at azimuth -90 degrees
const RAIL_COLOR = [0.54, 0.58, 0.62];
const STILL = new Float32Array([1, 0, 0, 0]);

/** Instances of all shapes. */
export class Layer {
  /** @param {WebGL2RenderingContext} gl @param {import("./shapes.js").Geometry[]} shapes */
  constructor(gl, shapes) {
    this.batches = shapes.map((shape) => new Batch(gl, shape));
  }

  /** Add a rod with round ends. @param {Numbers} a @param {Numbers} b @param {number} radius @param {Numbers} color @param {number} [alpha] */
  rod(a, b, radius, color, alpha = 1) {
    const along = minus(b, a);
    const length = Math.hypot(...along);
    const turn = length > 0 ? fromZ(along.map((x) => x / length)) : STILL;
    this.batches[CAPSULE].push(turn, plus(a, along, 0.5), length / 2, [radius, radius, radius], color, alpha);
  }

  clear() {
    for (const batch of this.batches) batch.clear();
  }

  send() {
    for (const batch of this.batches) batch.send();
  }

  draw() {
    for (const batch of this.batches) batch.draw();
  }

  free() {
    for (const batch of this.batches) batch.free();
  }
}

/** The programs of a painter, shared by successive scenes; those that every scene needs are begun first. @param {WebGL2RenderingContext} gl */
export function paints(gl) {
  const made = new Programs(gl, {
    partDepths: [INSTANCES, DEPTH], floor: [GROUND, FLOOR], parts: [INSTANCES, LIT], partNames: [INSTANCES, IDENTITY],
    cornerDepths: [CORNERS, DEPTH], corners: [CORNERS, LIT], cornerNames: [CORNERS, IDENTITY],
  });
  made.begin("partDepths", "floor", "parts");
  return made;
}

export class Painter {
  /** @param {WebGL2RenderingContext} gl @param {any} scene as Python wrote it @param {Programs} made the result of `paints` */
  constructor(gl, scene, made) {
    this.gl = gl;
    this.scene = scene;
    this.programs = made;
    if (scene.mesh) made.begin("cornerDepths", "corners");
    const parts = new Float32Array(bytes(scene.parts));
    this.rails = new Float32Array(bytes(scene.rails));
    this.shapes = allShapes(parts.length / PART);
    this.parts = new Layer(gl, this.shapes);
    this.railRods = new Layer(gl, [this.shapes[CAPSULE]]);
    /** Things in the world besides the linkage, lit and with shadows; the caller uploads them. */ this.things = new Layer(gl, this.shapes);
    /** Transparent other poses. @type {Set<Ghost>} */ this.ghosts = new Set();
    /** Marks over the linkage, rewritten for every picture. */ this.marks = new Layer(gl, this.shapes);
    /** Handles, visible through the objects before them. */ this.grips = new Layer(gl, this.shapes);
    /** Paths, each a batch of rods. @type {Batch[]} */ this.paths = [];
    this.meshes = scene.mesh ? new Meshes(gl, scene.mesh) : null;
    this.links = scene.links.length;
    this.movers = new Movers(gl, 1 + this.links + (this.meshes?.links.length ?? 0));
    for (let k = 0; k < parts.length; k += PART) {
      const part = parts.subarray(k, k + PART);
      const batch = this.parts.batches[part[1]];
      batch.push(part.subarray(9), part.subarray(13), part[5], part.subarray(2), part.subarray(6), 1, 1 + part[0]);
    }
    this.parts.send();
    this.sun = new Float32Array(16);
    this.sunTexel = 1; // metres per texel of the shadow map
    this.light = this.direction();
    this.map = this.shadowMap();
    this.window = null; // the framebuffer for picking
    this.posed = true;
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** @returns {number[]} direction to the sun: left behind the first camera; for a flat linkage, at the upper left */
  direction() {
    if (this.scene.flat) return unit([-0.5, 0.6, 1.3]);
    const turn = ((this.scene.view[1] + 90) * Math.PI) / 180;
    const [c, s] = [Math.cos(turn), Math.sin(turn)];
    return [c * SUN[0] - s * SUN[1], s * SUN[0] + c * SUN[1], SUN[2]];
  }

  shadowMap() {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, MAP, MAP);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    for (const rule of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, rule, gl.LINEAR);
    for (const rule of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, rule, gl.CLAMP_TO_EDGE);
    const buffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { texture, buffer };
  }

  /** Set the transforms of links. @param {Numbers} matrices 16 numbers for each, row by row */
  pose(matrices) {
    const { rails } = this;
    this.place(this.movers, matrices);
    if (rails.length) {
      this.railRods.clear();
      for (let k = 0; k < rails.length; k += RAIL) {
        const a = moved(matrices, 16 * rails[k], rails.subarray(k + 2, k + 5));
        const b = moved(matrices, 16 * rails[k + 1], rails.subarray(k + 5, k + 8));
        this.railRods.rod(a, b, 0.007 * this.scene.own, RAIL_COLOR);
      }
      this.railRods.send();
    }
    this.posed = true;
  }

  /** Write the transforms of links and of bones on them. @param {Movers} movers @param {Numbers} matrices */
  place(movers, matrices) {
    const { meshes } = this;
    for (let k = 0; k < this.links; k++) movers.set(1 + k, matrices, 16 * k);
    if (meshes) {
      const { links, binds } = meshes;
      for (let k = 0; k < links.length; k++) movers.setProduct(1 + this.links + k, 1 + links[k], binds, 12 * k);
    }
    movers.send();
  }

  /** Add another pose of the linkage, drawn faintly. @param {Numbers} color @param {number} alpha @returns {Ghost} */
  ghost(color, alpha) {
    const ghost = new Ghost(this, color, alpha);
    this.ghosts.add(ghost);
    return ghost;
  }

  /** Add a path of rods. @param {Numbers} points @param {number} radius @param {Numbers} color @returns {Batch} */
  path(points, radius, color) {
    const layer = new Layer(this.gl, [capsule(8, 2)]);
    for (let k = 3; k < points.length; k += 3) {
      layer.rod([points[k - 3], points[k - 2], points[k - 1]], [points[k], points[k + 1], points[k + 2]], radius, color);
    }
    layer.send();
    return layer.batches[0];
  }

  /** Fit the shadow map to the links: to a box that changes in steps, so that shadows do not flicker. */
  aim() {
    const { numbers } = this.movers;
    const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    for (let k = 1; k <= this.links; k++) {
      for (let i = 0; i < 3; i++) {
        const x = numbers[12 * k + 4 * i + 3];
        if (x < low[i]) low[i] = x;
        if (x > high[i]) high[i] = x;
      }
    }
    const reach = Math.hypot(...minus(high, low)) / 2 + 0.3 * this.scene.own;
    const radius = 1.25 ** Math.ceil(Math.log(reach) / Math.log(1.25));
    const step = (2 * radius) / MAP;
    const z = this.light;
    const x = unit([-z[1], z[0], 0]);
    const y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]];
    const middle = plus(low, minus(high, low), 0.5);
    [x, y, z].forEach((axis, row) => {
      const depth = row === 2 ? 6 * radius : radius;
      let at = axis[0] * middle[0] + axis[1] * middle[1] + axis[2] * middle[2];
      if (row < 2) at = step * Math.round(at / step);
      for (let k = 0; k < 3; k++) this.sun[4 * k + row] = (row === 2 ? -1 : 1) * (axis[k] / depth);
      this.sun[12 + row] = (row === 2 ? 1 : -1) * (at / depth);
    });
    this.sun[15] = 1;
    this.sunTexel = step;
  }

  /** Draw the shadow map, if something has moved. */
  castShadows() {
    const { gl } = this;
    this.posed = false;
    this.aim();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.map.buffer);
    gl.viewport(0, 0, MAP, MAP);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.bodies("partDepths", "cornerDepths", this.sun, () => {});
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /**
   * Draw the links, by a program for instances and one for meshes; the latter is only waited for if there are meshes.
   * @param {string} parts @param {string} meshed @param {Float32Array} camera
   * @param {(at: Record<string, WebGLUniformLocation>) => void} settings further uniforms
   * @param {Numbers} [away] polygon offset, which separates coinciding surfaces
    * @param {Movers} [movers] transforms of links
   */
  bodies(parts, meshed, camera, settings, away = [0, 0, 0], movers = this.movers) {
    const { gl, meshes } = this;
    const instances = this.programs.get(parts);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, movers.texture);
    this.use(instances, camera, settings);
    gl.uniform3f(instances.at.away, away[0], away[1], away[2]);
    this.parts.draw();
    if (movers === this.movers) {
      if (this.rails.length) this.railRods.draw();
      this.things.draw();
    }
    if (!meshes) return;
    const corners = this.programs.get(meshed);
    this.use(corners, camera, settings);
    gl.uniform1i(corners.at.first, 1 + this.links);
    gl.uniform1i(corners.at.owners, 2);
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, meshes.owners);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform3f(corners.at.low, meshes.low[0], meshes.low[1], meshes.low[2]);
    gl.uniform3f(corners.at.grain, meshes.step[0], meshes.step[1], meshes.step[2]);
    meshes.draw(gl.isEnabled(gl.CULL_FACE));
  }

  /** @param {import("./gl.js").Program} which @param {Float32Array} camera @param {(at: any) => void} settings */
  use(which, camera, settings) {
    const { gl } = this;
    gl.useProgram(which.made);
    gl.uniformMatrix4fv(which.at.camera, false, camera);
    gl.uniform1i(which.at.movers, 0);
    gl.uniform1f(which.at.reached, -1);
    gl.uniform4f(which.at.tint ?? null, 0, 0, 0, 0);
    settings(which.at);
  }

  /**
   * Draw everything.
   * @param {Camera} camera @param {import("../theme.js").Palette} palette
   * @param {{width: number, height: number, chosen: number}} look size of the canvas in pixels; the highlighted link, or -1
   */
  draw(camera, palette, { width, height, chosen }) {
    const { gl, programs, scene } = this;
    if (this.posed) this.castShadows();
    gl.viewport(0, 0, width, height);
    const page = rgb(palette.page);
    gl.clearColor(page[0], page[1], page[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.map.texture);
    this.drawGround(camera, palette);
    const [eye, rim, glow] = [camera.eye(), rgb(palette.rim), rgb(palette.goal)];
    /** @param {any} at */
    const settings = (at) => {
      this.shadowSettings(at);
      gl.uniform3f(at.eye, eye[0], eye[1], eye[2]);
      gl.uniform3f(at.towards, camera.towards[0], camera.towards[1], camera.towards[2]);
      gl.uniform3f(at.light, this.light[0], this.light[1], this.light[2]);
      gl.uniform3f(at.rim, rim[0], rim[1], rim[2]);
      gl.uniform3f(at.glow, glow[0], glow[1], glow[2]);
      gl.uniform1f(at.rimming, 0.45);
      gl.uniform1i(at.parallel, Number(camera.flat));
      gl.uniform1i(at.shaded, 1);
      gl.uniform1i(at.plain, 0);
      gl.uniform1i(at.chosen, chosen < 0 ? -1 : 1 + chosen);
    };
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
    this.bodies("parts", "corners", camera.matrix, settings, camera.towards.map((t) => (scene.flat ? -0.002 : -0.0002) * scene.scale * t));
    gl.enable(gl.CULL_FACE);
    for (const ghost of this.ghosts) this.drawGhost(ghost, camera, settings);
    gl.bindTexture(gl.TEXTURE_2D, this.movers.texture);
    this.use(programs.get("parts"), camera.matrix, settings);
    this.drawMarks(palette);
    programs.begin("partNames", ...(this.meshes ? ["cornerNames"] : [])); // needed for picking, after the first picture
  }

  /** Draw another pose: first its depth, so that only its front is visible, then its colour. @param {Ghost} ghost @param {Camera} camera @param {(at: any) => void} settings */
  drawGhost({ movers, color, alpha }, camera, settings) {
    const { gl } = this;
    const tinted = (/** @type {any} */ at) => {
      settings(at);
      gl.uniform1i(at.chosen, -1);
      gl.uniform4f(at.tint, color[0], color[1], color[2], alpha);
    };
    gl.enable(gl.POLYGON_OFFSET_FILL); // where it coincides with the linkage, the linkage is visible
    gl.polygonOffset(1, 8);
    gl.colorMask(false, false, false, false);
    this.bodies("parts", "corners", camera.matrix, tinted, [0, 0, 0], movers);
    gl.colorMask(true, true, true, true);
    gl.enable(gl.BLEND);
    gl.depthFunc(gl.LEQUAL);
    this.bodies("parts", "corners", camera.matrix, tinted, [0, 0, 0], movers);
    gl.depthFunc(gl.LESS);
    gl.disable(gl.BLEND);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  /** Draw paths, marks and grips; hidden parts of grips are faint. @param {import("../theme.js").Palette} palette */
  drawMarks(palette) {
    const { gl } = this;
    const { at } = this.programs.get("parts");
    gl.uniform3f(at.away, 0, 0, 0);
    gl.uniform1i(at.plain, 1);
    gl.enable(gl.BLEND);
    const faint = rgb(palette.soft);
    gl.uniform4f(at.beyond, faint[0], faint[1], faint[2], 0.35);
    for (const path of this.paths) {
      gl.uniform1f(at.reached, /** @type {any} */ (path).reached ?? -1);
      path.draw();
    }
    gl.uniform1f(at.reached, -1);
    this.marks.draw();
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.uniform1i(at.plain, 0);
    gl.uniform1i(at.shaded, 0);
    gl.uniform1f(at.rimming, 0);
    this.grips.draw();
    gl.disable(gl.BLEND);
  }

  /** @param {Camera} camera @param {import("../theme.js").Palette} palette */
  drawGround(camera, palette) {
    const { gl, scene } = this;
    const { made, at } = this.programs.get("floor");
    for (const rule of [gl.DEPTH_TEST, gl.CULL_FACE]) gl.disable(rule);
    gl.enable(gl.BLEND);
    gl.useProgram(made);
    gl.uniformMatrix4fv(at.camera, false, camera.matrix);
    this.shadowSettings(at);
    const middle = [0, 1].map((k) => (scene.low[k] + scene.high[k]) / 2 + camera.gone[k]);
    gl.uniform3f(at.middle, middle[0], middle[1], scene.ground);
    for (const [name, color] of /** @type {[string, string][]} */ ([["line", "grid"], ["ground", "floor"], ["dark", "shadow"]])) {
      const [r, g, b] = rgb(palette[color]);
      gl.uniform3f(at[name], r, g, b);
    }
    gl.uniform1f(at.reach, (scene.flat ? 2.5 : 1.9) * scene.scale);
    gl.uniform1f(at.cell, scene.cell);
    gl.uniform1f(at.strength, scene.flat ? 0.18 : 0.42);
    gl.uniform1f(at.soft, (0.012 * scene.own) / this.sunTexel);
    gl.uniform1i(at.shaded, 1);
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** @param {any} at */
  shadowSettings(at) {
    const { gl } = this;
    gl.uniform1i(at.depths, 1);
    gl.uniformMatrix4fv(at.sun, false, this.sun);
    gl.uniform1f(at.texel, 1 / MAP);
    gl.uniform1f(at.lift, 2 * this.sunTexel);
    gl.uniform1f(at.depthBias, 0.0004);
  }

  /** Free all resources on the GPU. */
  free() {
    const { gl } = this;
    for (const thing of [this.parts, this.railRods, this.things, this.marks, this.grips, ...this.paths, ...[...this.ghosts].map((ghost) => ghost.movers), this.movers, this.meshes]) thing?.free();
    gl.deleteTexture(this.map.texture);
    gl.deleteFramebuffer(this.map.buffer);
  }
}

/** Another pose of the linkage, transparent and in one colour. */
export class Ghost {
  /** @param {Painter} painter @param {Numbers} color @param {number} alpha */
  constructor(painter, color, alpha) {
    this.painter = painter;
    this.color = color;
    this.alpha = alpha;
    this.movers = new Movers(painter.gl, 1 + painter.links + (painter.meshes?.links.length ?? 0));
  }

  /** @param {Numbers} matrices 16 numbers for each link, row by row */
  pose(matrices) {
    this.painter.place(this.movers, matrices);
  }

  remove() {
    if (this.painter.ghosts.delete(this)) this.movers.free();
  }
}

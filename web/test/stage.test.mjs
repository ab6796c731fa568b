// The stage's numbers: camera, picking, handles, films. What is drawn is tested in a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { about, dot, fromZ, minus, plus, product, turned, writeMatrix } from "../stage/algebra.js";
import { Camera } from "../stage/camera.js";
import { alongLine, Handles, onPlane } from "../stage/handles.js";
import { narrowed, nearest } from "../stage/picking.js";
import { allShapes } from "../stage/shapes.js";
import { Motion } from "../film/motion.js";

const near = (a, b, slack = 1e-6) => Array.from(a).forEach((x, k) => assert.ok(Math.abs(x - b[k]) < slack, `${[...a]} is not ${[...b]}`));

function camera(change = {}) {
  const made = new Camera();
  Object.assign(made, { width: 800, height: 500, scale: 3, distance: 7, azimuth: -0.9, elevation: 0.4, at: [0.2, -0.1, 0.8] }, change);
  made.changed();
  return made;
}

/** A point through the matrix as the graphics card does it: CSS pixels, and depth from 0 to 1. */
function drawn({ matrix: m, width, height }, p) {
  const [x, y, z, w] = [0, 1, 2, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
  return { x: ((x / w + 1) / 2) * width, y: ((1 - y / w) / 2) * height, z: (z / w + 1) / 2 };
}

const KINDS = {
  perspective: {}, flat: { flat: true, azimuth: -Math.PI / 2, elevation: Math.PI / 2 },
  covered: { margins: { top: 40, right: 200, bottom: 90, left: 10 } },
  "flat and covered": { flat: true, margins: { top: 0, right: 120, bottom: 60, left: 0 } }, gone: { gone: [4, -2, 0] },
};

for (const [name, change] of Object.entries(KINDS)) {
  test(`a ray of a ${name} camera goes through what is drawn there`, () => {
    const eye = camera(change);
    const point = plus(eye.middle(), [0.5, -0.7, 0.4]);
    const { x, y, z } = drawn(eye, point);
    const { from, along } = eye.ray(x, y);
    const away = minus(point, from);
    near(minus(away, along.map((v) => v * dot(away, along))), [0, 0, 0], 1e-5);
    near([eye.project(point).x, eye.project(point).y], [x, y], 1e-3);
    near(eye.unproject(x, y, z), point, 1e-4);
    assert.ok(z > 0 && z < 1);
  });

  test(`a pixel of a ${name} camera is as many metres as it says`, () => {
    const eye = camera(change);
    const point = plus(eye.middle(), [0.3, 0.2, -0.4]);
    const { metres, x, y } = eye.project(point);
    const [right, up] = [drawn(eye, plus(point, eye.right, 10 * metres)), drawn(eye, plus(point, eye.up, 10 * metres))];
    near([right.x - x, y - up.y], [10, 10], 1e-2);
  });
}

test("zooming keeps what is under the pointer", () => {
  for (const change of [{}, KINDS.flat]) {
    const eye = camera(change);
    const point = plus(plus(eye.middle(), eye.right, 0.6), eye.up, 0.3); // in the plane that it turns about
    const { x, y } = eye.project(point);
    eye.zoom(0.5, x, y);
    near([eye.project(point).x, eye.project(point).y], [x, y], 1e-3);
    assert.equal(eye.distance, 3.5);
  }
});

test("panning moves the picture with the pointer", () => {
  const eye = camera();
  const before = eye.project(eye.middle());
  const point = eye.middle();
  eye.pan(30, -20);
  near([eye.project(point).x - before.x, eye.project(point).y - before.y], [30, -20], 1e-2);
});

test("everything is seen, between what panels cover", () => {
  const points = Array.from({ length: 300 }, (_, k) => Math.sin(7.3 * k + (k % 3)) * (1 + (k % 3)));
  for (const flat of [false, true]) {
    const eye = camera({ flat, margins: { top: 50, right: 250, bottom: 80, left: 20 } });
    eye.frame(points, [0, 0, 0], flat ? [90, -90] : [22, -56]);
    for (let k = 0; k < points.length; k += 3) {
      const { x, y } = eye.project(points.slice(k, k + 3));
      assert.ok(x > 20 && x < 550 && y > 50 && y < 420, `${x}, ${y}`);
    }
  }
});

test("the camera of a small window shows what is around a pixel", () => {
  const eye = camera();
  const point = [0.4, 0.1, 1.1];
  const { x, y } = eye.project(point);
  const small = { matrix: narrowed(eye, x + 3, y - 2, 37, new Float32Array(16)), width: 37, height: 37 };
  const at = drawn(small, point);
  near([at.x, at.y], [18.5 - 3, 18.5 + 2], 1e-2);
});

test("the nearest of what is seen is taken, within reach", () => {
  const seen = new Uint32Array(4 * 25);
  seen[4 * 0] = 3; // a corner
  seen[4 * 13] = 7; // right of the middle
  assert.deepEqual(nearest(seen, 5, 2), { column: 3, row: 2, at: 13 });
  seen[4 * 13] = 0;
  assert.equal(nearest(seen, 5, 2), null);
  assert.equal(nearest(seen, 5, 3)?.at, 0);
});

test("rays meet planes and lines", () => {
  const ray = { from: [0, 0, 2], along: [0, 0, -1] };
  near(onPlane(ray, [5, 5, 1], [0, 0, 1]), [0, 0, 1]);
  assert.equal(onPlane(ray, [0, 0, 1], [1, 0, 0]), null);
  assert.equal(onPlane(ray, [0, 0, 3], [0, 0, 1]), null);
  near([alongLine(ray, [-3, 1, 0], [1, 0, 0])], [3]);
});

test("a ball follows the pointer in the plane of the screen", () => {
  const [eye, handles, moves] = [camera(), new Handles(), []];
  const handle = handles.add({ position: [0.4, 0.1, 1.1], moved: (h) => moves.push(h.position) });
  const { x, y } = eye.project(handle.position);
  assert.deepEqual(handles.hit(eye, x + 8, y)?.grip, "ball");
  assert.equal(handles.hit(eye, x + 20, y), null);
  assert.equal(handles.hit(eye, x + 20, y, "touch")?.grip, "ball");
  handles.take(handle, "ball", eye, x + 5, y);
  handles.drag(x + 65, y - 40);
  handles.drop();
  assert.equal(moves.length, 1);
  near([eye.project(handle.position).x, eye.project(handle.position).y], [x + 60, y - 40], 1e-2);
  near([dot(minus(handle.position, [0.4, 0.1, 1.1]), eye.towards)], [0]);
});

test("arrows and planes move along theirs and nowhere else", () => {
  const [eye, handles] = [camera(), new Handles()];
  const start = [0.4, 0.1, 1.1];
  const handle = handles.add({ position: start, grips: ["ball", "arrows", "planes", "rings"] });
  const { metres, x, y } = eye.project(start);
  for (let k = 0; k < 3; k++) {
    handle.position = start.slice();
    const tip = eye.project(plus(start, handle.axis(k), 60 * metres));
    assert.equal(handles.hit(eye, tip.x, tip.y)?.grip, "xyz"[k]);
    handles.take(handle, "xyz"[k], eye, tip.x, tip.y);
    handles.drag(tip.x + (tip.x - x) / 2, tip.y + (tip.y - y) / 2);
    handles.drop();
    const way = minus(handle.position, start);
    assert.ok(way[k] > 20 * metres);
    near([way[(k + 1) % 3], way[(k + 2) % 3]], [0, 0]);
    handle.position = start.slice();
    const [grip, spot] = [["yz", "zx", "xy"][k], plus(handle.axis((k + 1) % 3), handle.axis((k + 2) % 3))];
    const middle = eye.project(plus(start, spot, 30 * metres));
    assert.equal(handles.hit(eye, middle.x, middle.y)?.grip, grip);
    handles.take(handle, grip, eye, middle.x, middle.y);
    handles.drag(middle.x + 10, middle.y + 20);
    handles.drop();
    near([handle.position[k] - start[k]], [0]);
    near(Object.values(eye.project(handle.position)).slice(0, 2), [x + 10, y + 20], 3);
  }
});

test("rings turn about their axes by what the pointer goes round", () => {
  const [eye, handles] = [camera({ elevation: 1.2 }), new Handles()];
  const handle = handles.add({ position: [0.4, 0.1, 1.1], grips: ["rings"] });
  const { metres } = eye.project(handle.position);
  const spot = (angle) => eye.project(plus(handle.position, [Math.cos(angle), Math.sin(angle), 0], 84 * metres));
  const [a, b] = [spot(0.2), spot(1.1)];
  assert.equal(handles.hit(eye, a.x, a.y)?.grip, "turn z");
  handles.take(handle, "turn z", eye, a.x, a.y);
  handles.drag(b.x, b.y);
  near(handle.wxyz, about([0, 0, 1], 0.9), 1e-4);
  near(handle.position, [0.4, 0.1, 1.1]);
});

test("a ring seen edge on turns with the pointer along it, the near side going with it", () => {
  const [eye, handles] = [camera({ elevation: 0, azimuth: -Math.PI / 2 }), new Handles()];
  const handle = handles.add({ position: [0.2, -0.1, 0.8], grips: ["rings"] });
  const { x, y } = eye.project(handle.position);
  handles.take(handle, "turn z", eye, x, y);
  handles.drag(x + 42, y);
  near(handle.wxyz, about([0, 0, 1], 0.5), 1e-9);
});

test("a key turns what is held as a ball under the pointer, and lets it move again from there", () => {
  const [eye, handles] = [camera(), new Handles()];
  const start = [0.4, 0.1, 1.1];
  const handle = handles.add({ position: start, turning: () => true });
  const { x, y } = eye.project(start);
  handles.take(handle, "ball", eye, x, y);
  handles.drag(x + 20, y);
  const there = handle.position.slice();
  handles.turn(true);
  handles.drag(x + 20 + 42, y);
  near(handle.position, there);
  near(handle.wxyz, about(eye.up, 0.5), 1e-9);
  near(turned(handle.wxyz, eye.towards), plus(eye.towards.map((v) => v * Math.cos(0.5)), eye.right, Math.sin(0.5)), 1e-9); // its near side goes along
  handles.turn(false);
  handles.drag(x + 20 + 42, y + 30);
  near(handle.wxyz, about(eye.up, 0.5), 1e-9);
  near([eye.project(handle.position).x, eye.project(handle.position).y], [x + 20, y + 30], 1e-2);
  handles.drop();
  const fixed = handles.add({ position: start }); // nothing about it can be turned
  handles.take(fixed, "ball", eye, x, y);
  handles.turn(true);
  handles.drag(x + 30, y);
  near(fixed.wxyz, [1, 0, 0, 0]);
  near([eye.project(fixed.position).x], [x + 30], 1e-2);
});

test("handles of something flat have two axes and one ring", () => {
  const [eye, handles] = [camera(KINDS.flat), new Handles()];
  const handle = handles.add({ position: [0.2, -0.1, 0], grips: ["ball", "arrows", "planes", "rings"] });
  const { x, y } = eye.project(handle.position);
  assert.equal(handles.hit(eye, x + 50, y)?.grip, "x");
  assert.equal(handles.hit(eye, x, y - 50)?.grip, "y");
  assert.equal(handles.hit(eye, x + 84, y)?.grip, "turn z");
  assert.equal(handles.hit(eye, x + 30, y - 30), null);
});

test("the algebra of quaternions, w first", () => {
  const [a, b] = [about([0, 0, 1], 0.7), about([0.6, 0.8, 0], -1.3)];
  near(turned(product(a, b), [1, 2, 3]), turned(a, turned(b, [1, 2, 3])));
  near(turned(about([0, 0, 1], Math.PI / 2), [1, 0, 0]), [0, 1, 0]);
  for (const d of [[0, 0, 1], [0, 0, -1], [0.6, 0, -0.8], [0, 1, 0]]) near(turned(fromZ(d), [0, 0, 1]), d);
  const matrix = new Float64Array(16);
  writeMatrix(matrix, 0, a, [5, 6, 7]);
  const [x, y] = [Math.cos(0.7), Math.sin(0.7)];
  near(matrix, [x, -y, 0, 5, y, x, 0, 6, 0, 0, 1, 7, 0, 0, 0, 1]);
});

test("shapes are closed, and face outwards", () => {
  for (const { vertices, indices } of allShapes(1)) {
    let volume = 0; // by the divergence theorem: positive when triangles are counter-clockwise from outside
    const corner = (k) => [0, 1, 2].map((i) => vertices[7 * k + i] + (i === 2 ? vertices[7 * k + 6] : 0));
    for (let k = 0; k < indices.length; k += 3) {
      const [a, b, c] = [0, 1, 2].map((i) => corner(indices[k + i]));
      volume += dot(a, [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]]) / 6;
      const normal = [0, 1, 2].map((i) => vertices[7 * indices[k] + 3 + i]);
      assert.ok(Math.abs(Math.hypot(...normal) - 1) < 1e-9);
    }
    assert.ok(volume > 0);
  }
});

test("a film is where its frames are, and between them in between", () => {
  const pack = (list, Kind) => Buffer.from(new Kind(list).buffer).toString("base64");
  const turn = about([0, 0, 1], 1);
  const film = new Motion({
    times: pack([0, 0.5, 1], Float32Array), numbers: pack([0, 5, 10], Uint32Array), links: pack([2], Uint16Array),
    tracks: pack([1, 0, 0, 0, 0, 0, 0, ...turn.map((x) => -x), 1, 2, 3, ...turn, 1, 2, 3], Float32Array), way: "",
  });
  const matrices = new Float64Array(48);
  film.write(film.moment(0.25), matrices);
  near(matrices.subarray(32, 36), [Math.cos(0.5), -Math.sin(0.5), 0, 0.5], 1e-6);
  assert.deepEqual(film.gone(film.moment(0.25)), [0, 0, 0]);
  assert.deepEqual([0.25, 0.5, 1].map((t) => film.stepped(t, -1)), [0, 0, 0.5]);
  assert.deepEqual([0.25, 0.5, 1].map((t) => film.stepped(t, 1)), [0.5, 1, 1]);
});

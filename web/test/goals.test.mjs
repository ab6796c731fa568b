// Goals chosen in a page: arrays and answers are those of Python. tests/web/test_goals.py writes the cases.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { goalSolver } from "../goals.js";
import { load } from "../linkwork.js";

const folder = process.env.LINKWORK_GOALS;
const options = { skip: folder ? false : "LINKWORK_GOALS names no folder: tests/web/test_goals.py makes one" };
const linkwork = folder ? await load(readFileSync(process.env.LINKWORK_WASM)) : undefined;
const names = folder ? readdirSync(folder).filter((name) => name.endsWith(".case.json")).map((name) => name.slice(0, -10)) : [];
const SAME = ["codes", "numbers", "settings", "follow_settings", "tolerances", "units", "size", "scratch", "turning", "joints"];

/** Numbers of arrays as they are, truth values as numbers. */
function plain(value) {
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value, plain);
  if (value && typeof value === "object") return Object.fromEntries(Object.keys(value).sort().map((k) => [k, plain(value[k])]));
  return typeof value === "boolean" ? Number(value) : value;
}

/** The numbers of goals without their targets, which are for later. */
function weights({ goals, aims }) {
  return goals.flatMap(({ at, fields, size, items }) => at.flatMap((place) => {
    const own = Array.from(aims.slice(place, place + size));
    if (fields.target) own.splice(fields.target[0], fields.target[1]);
    for (const [, width, first] of items) own.fill(0, first, first + width);
    return own;
  }));
}

for (const name of names) {
  const read = () => {
    const one = JSON.parse(readFileSync(join(folder, `${name}.case.json`), "utf8"));
    return [one, linkwork.linkage(readFileSync(join(folder, `${name}.json`), "utf8"))];
  };

  test(`${name}: arrays`, options, () => {
    const [{ wishes }, linkage] = read();
    let [made, given] = [goalSolver(linkage, wishes).data, linkage.data.solvers.given];
    while (given) {
      for (const key of SAME) assert.deepEqual(plain(made[key]), plain(given[key]), key);
      assert.deepEqual(plain(made.pace), plain(given.pace));
      assert.deepEqual(plain(weights(made)), plain(weights(given)));
      assert.equal(Boolean(made.above), Boolean(given.above));
      [made, given] = [made.above, given.above];
    }
    linkage.free();
  });

  test(`${name}: answers`, options, () => {
    const [{ wishes, start, targets, known }, linkage] = read();
    const solver = goalSolver(linkage, wishes);
    const found = solver.solve(targets, { start, stay: true });
    assert.deepEqual([found.success, found.status], [known.success, known.status]);
    found.q.forEach((x, k) => assert.ok(Math.abs(x - known.q[k]) < 1e-9, `${k}: ${x}, in Python ${known.q[k]}`));
    linkage.free();
  });

  test(`${name}: a point of a link is a frame there`, options, () => {
    const [{ wishes, start }, linkage] = read();
    const { frame } = wishes[0];
    const place = linkage.forward(start, frame);
    const link = linkage.frames[linkage.frames.indexOf(frame) < linkage.data.links ? linkage.frames.indexOf(frame) : 0];
    const solver = goalSolver(linkage, [{ frame: link, name: "hand", at: true }, { frame: wishes[0].frame }]);
    solver.hold("hand", [0.1, 0.2, 0.3]);
    const m = linkage.forward(start, link);
    const there = [0, 4, 8].map((k) => m[k] * 0.1 + m[k + 1] * 0.2 + m[k + 2] * 0.3 + m[k + 3]);
    const found = solver.solve({ hand: there, [wishes[0].frame]: [place[3], place[7], place[11]] }, { start, stay: true });
    assert.ok(found.residuals[0] < 1e-12);
    linkage.free();
  });
}

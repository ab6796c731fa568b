// The answers of linkwork.js are those of Python: cases come from `python tests/web_cases.py FOLDER`, whose folder
// LINKWORK_CASES names; LINKWORK_WASM is the machine code, by default linkwork.wasm beside linkwork.js.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import "../bodies.js";
import { LinkworkError, load } from "../linkwork.js";
import { follow, integrate, run, step, whyNot } from "../textbook.js";

const folder = process.env.LINKWORK_CASES;
const NEAR = 1e-9;
const MANY = 50; // steps, after which roundings have grown
const CLOSE = 1e-6; // where roundings grow: many cycles, the flat ground around a closest pose
const CARRIED = 1e-5; // of bodies that travel: the turn of their root is made in two mathematics, and redundant joints make more of it
const options = { skip: folder ? false : "LINKWORK_CASES names no folder: python tests/web_cases.py FOLDER makes one" };
const wasm = process.env.LINKWORK_WASM;
const linkwork = folder ? await load(wasm ? pathToFileURL(wasm) : undefined) : undefined;
const all = folder ? readdirSync(folder).filter((name) => name.endsWith(".case.json")) : [];
const cases = all.map((file) => {
  const stem = join(folder, file.slice(0, -".case.json".length));
  const data = JSON.parse(readFileSync(join(folder, file), "utf8"));
  const text = () => readFileSync(`${stem}.linkwork.json`, "utf8");
  return { ...data, text, bytes: () => readFileSync(`${stem}.linkwork`) };
});
const chains = cases.filter((one) => one.frame);
const bodies = cases.filter((one) => one.goals);

function off(one, two) {
  assert.equal(one.length, two.length);
  return one.reduce((most, x, k) => Math.max(most, Math.abs(x - two[k])), 0);
}

/** Answers that reach their goals are the same poses; of those that miss, how far off they are is the same. */
function same(found, known, what, most = NEAR) {
  assert.equal(found.success, known.success, `${what}: success`);
  assert.equal(found.status, known.status, `${what}: status`);
  if (known.success) assert.ok(off(found.q, known.q) < most, `${what}: ${off(found.q, known.q)} from Python's pose`);
  const rest = known.success ? most : CLOSE * Math.max(1, ...known.residuals);
  assert.ok(off(found.residuals, known.residuals) < rest, `${what}: ${found.residuals} off, ${known.residuals} in Python`);
}

function sameCycle(found, known, what, most = NEAR) {
  assert.ok(off(found.q, known.q) < most, `${what}: ${off(found.q, known.q)} from Python's pose`);
  assert.deepEqual([found.status, found.joint, found.limit], [known.status, known.joint, known.limit], what);
  assert.ok(Math.abs(found.share - known.share) < CLOSE, `${what}: share`);
}

for (const one of chains) {
  const { name, frame } = one;
  test(`${name}: frames and Jacobians`, options, () => {
    const arm = linkwork.linkage(one.bytes());
    one.poses.forEach((q, k) => assert.ok(off(arm.forward(q, frame), one.targets[k]) < 1e-12));
    one.jacobians.forEach((rows, k) => assert.ok(off(arm.jacobian(one.poses[k], frame), rows) < 1e-12));
    one.local.forEach((rows, k) => assert.ok(off(arm.jacobian(one.poses[k], frame, { axes: "local" }), rows) < 1e-12));
    const every = arm.forward(one.poses[0]);
    assert.deepEqual(Object.keys(every), Object.keys(one.frames));
    for (const [key, matrix] of Object.entries(every)) assert.ok(off(matrix, one.frames[key]) < 1e-12, key);
    arm.free();
  });

  test(`${name}: ${2 * one.targets.length} goals are solved as in Python`, options, () => {
    const arm = linkwork.linkage(one.text());
    one.targets.forEach((target, k) => {
      same(arm.solve(target), one.fresh[k], `goal ${k}`);
      same(arm.solve(target, { start: one.starts[k] }), one.near[k], `goal ${k} from a start`);
    });
    one.stay.forEach((known, k) => {
      same(arm.solve(one.targets[k], { start: one.starts[k], stay: true }), known, `stay ${k}`, CLOSE);
    });
    one.far.forEach((target, k) => same(arm.solve(target, { start: one.starts[k] }), one.missed[k], `far ${k}`));
    arm.free();
  });

  test(`${name}: control cycles`, options, () => {
    const arm = linkwork.linkage(one.bytes());
    one.cycles.forEach((known, k) => {
      sameCycle(arm.follow(one.starts[k]).step(one.targets[k], 0.02), known, `cycle ${k}`, CLOSE);
    });
    const hand = arm.follow(one.starts[0], { velocity: 1.5, scale: 0.5 });
    one.path.forEach((known, k) => sameCycle(hand.step(one.targets[Math.floor(k / 20)], 0.02), known, `path ${k}`, CLOSE));
    arm.free();
  });

  for (const { method, options: chosen, refused, steps, runs, exact } of one.textbook) {
    test(`${name}: ${method} ${JSON.stringify(chosen)}`, options, () => {
      const arm = linkwork.linkage(one.bytes());
      const why = whyNot(arm, method);
      if (refused !== undefined || why) {
        assert.ok(refused === undefined ? /in a page/.test(why) : why === refused, why);
        assert.throws(() => step(arm, method, one.targets[0], one.starts[0], chosen), LinkworkError);
        return;
      }
      steps.forEach((known, k) => {
        const found = step(arm, method, one.targets[k], one.starts[k], chosen);
        const large = Math.max(1, ...known.map(Math.abs));
        assert.ok(off(found.q, known) < NEAR * large, `step ${k}: ${off(found.q, known)}`);
      });
      runs.forEach((known, k) => {
        const found = run(arm, method, one.targets[k], one.starts[k], { ...chosen, trace: true });
        assert.equal(found.success, known.success, `run ${k}: ${found.status}, ${known.status} in Python`);
        assert.equal(found.trace.length, found.iterations);
        assert.ok(found.trace.every(({ velocity }) => velocity.length === arm.nv));
        if (exact) assert.equal(off(found.q, known.q), 0, `run ${k}: a pack of machine code gives the same bits`);
        if (!known.success || found.iterations !== known.iterations) return; // on winding ways roundings grow
        const near = known.iterations > MANY ? 1e-4 : CLOSE;
        assert.ok(off(found.q, known.q) < near, `run ${k}: ${off(found.q, known.q)}`);
      });
      arm.free();
    });
  }
}

test("frames of a path, two steps each", options, () => {
  const one = chains.find(({ name }) => name === "planar");
  const arm = linkwork.linkage(one.bytes());
  const path = Array.from({ length: 5 }, (_, k) => [10 - k, 12]);
  const frames = follow(arm, "damped", path, one.starts[0], { damping: 5, steps: 2 });
  let q = one.starts[0];
  frames.forEach(({ q: found }, k) => {
    if (k) [0, 1].forEach(() => (q = step(arm, "damped", path[k], q, { damping: 5 }).q));
    assert.equal(off(found, Array.from(q)), 0);
  });
  arm.free();
});

/** All answers of a body are those of Python; those that miss are off by as much. */
function sameBodies(found, known, what) {
  found.forEach((one, k) => {
    assert.deepEqual([one.success, one.status], [known[k].success, known[k].status], `${what} ${k}`);
    const away = off(one.q, known[k].q);
    assert.ok(!known[k].success || away < CARRIED, `${what} ${k}: ${away} from Python's pose`);
    const [here, there] = [one, known[k]].map(({ residuals }) => Math.hypot(...residuals));
    assert.ok(known[k].success || Math.abs(here - there) < 1e-4 * there, `${what} ${k}: ${here} off, ${there} in Python`);
  });
}

for (const one of bodies) {
  test(`${one.name}: ${one.goals.length} lists of goals are solved as in Python`, options, () => {
    const body = linkwork.linkage(one.bytes());
    sameBodies(one.goals.map((goals, k) => body.solve(goals, { start: one.starts[k] })), one.found, "problem");
    const stay = one.stay.map((_, k) => body.solve(one.goals[k], { start: one.starts[k], stay: true }));
    sameBodies(stay, one.stay, "stay");
    body.free();
  });

  test(`${one.name}: control cycles`, options, () => {
    const body = linkwork.linkage(one.text());
    const found = one.goals.map((goals, k) => body.follow(one.starts[k], { velocity: 2 }).step(goals, 0.02));
    sameBodies(found, one.cycles, "cycle");
    found.forEach(({ limit, share }, k) => {
      assert.equal(limit, one.cycles[k].limit, `cycle ${k}`);
      assert.ok(Math.abs(share - one.cycles[k].share) < 1e-3, `cycle ${k}: ${share} of the way`);
    });
    body.free();
  });
}

test("targets are taken in every form, and what is wrong is said", options, () => {
  const one = chains.find(({ name }) => name === "panda");
  const arm = linkwork.linkage(JSON.parse(one.text()));
  const target = { position: [0.4, 0.1, 0.5], wxyz: [0, 1, 0, 0] };
  const found = arm.solve(target, { start: "ready" });
  assert.ok(found.success);
  const { position } = target;
  const forms = [{ position, xyzw: [1, 0, 0, 0] }, { position, rotation: [1, 0, 0, 0, -1, 0, 0, 0, -1] }];
  for (const form of [...forms, arm.forward(found.q, "tip")]) {
    assert.ok(off(arm.solve(form, { start: found.q }).q, found.q) < 1e-3);
  }
  const wrong = [
    [() => arm.solve([1, 2, 3]), /16 numbers or has position and wxyz/],
    [() => arm.solve({ position: [1, 2, NaN], wxyz: [1, 0, 0, 0] }), /finite/],
    [() => arm.solve(new Float64Array(16)), /rigid/],
    [() => arm.solve([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.3, 0, 0.5, 1]), /transpose it/],
    [() => arm.solve(target, { start: "raedy" }), /is one of ready/],
    [() => arm.solve(target, { start: [1, 2] }), /7 numbers/],
    [() => arm.solve(target, { solver: "tpi" }), /solvers tip/],
    [() => arm.forward("ready", "wirst"), /no frame wirst/],
    [() => arm.solve(target, { stay: true }), /branch of a start/],
    [() => arm.follow("ready").step(target, 0), /positive number of seconds/],
    [() => arm.follow("ready", { velocity: [1] }), /one speed or 7/],
    [() => step(arm, "newton", target, "ready"), /method is one of inverse, pseudoinverse/],
    [() => linkwork.linkage("{}"), /not a packed linkage/],
    [() => linkwork.linkage(new Uint8Array(64)), /not a packed linkage/],
    [() => linkwork.linkage({ ...arm.data, linkwork: "0.0.1" }), /Pack it again/],
  ];
  for (const [act, words] of wrong) {
    assert.throws(act, (error) => error instanceof LinkworkError && words.test(error.message), String(act));
  }
});

test("memory is used again", options, () => {
  const text = chains[0].text();
  linkwork.linkage(text).free();
  const before = linkwork.kernels.memory.buffer.byteLength;
  for (let k = 0; k < 20; k++) {
    const arm = linkwork.linkage(text);
    arm.solve(chains[0].targets[0]);
    arm.free();
  }
  assert.ok(linkwork.kernels.memory.buffer.byteLength <= before + 2 ** 20);
});

test("a velocity is integrated", options, () => {
  const body = linkwork.linkage(bodies[0].bytes());
  const still = integrate(body, body.neutral, new Float64Array(body.nv));
  assert.ok(off(still, body.neutral) < 1e-15);
});

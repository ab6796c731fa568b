// The part of `benchmarks/web.py` that runs in node and in a browser: the same goals with linkwork.js.
"use strict";

const WARM = 1500; // ms: browsers optimize code while it runs

/** Return the shortest time of a call [us] over several rounds, and the number of good answers. */
function timed(items, rounds, act) {
  let [best, good] = [Infinity, 0];
  for (const end = performance.now() + WARM; performance.now() < end; ) items.slice(0, 20).forEach(act);
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const found = items.map(act);
    best = Math.min(best, (1000 * (performance.now() - began)) / items.length);
    good = found.filter((one) => one.success ?? true).length;
  }
  return { us: best, good };
}

async function measure(linkwork, packs, tasks, rounds) {
  const began = performance.now();
  const code = await linkwork.load();
  const loaded = performance.now();
  const arm = code.linkage(packs.panda);
  arm.solver();
  const ready = performance.now();
  const body = code.linkage(packs.human);
  const { targets, starts, poses, goals } = tasks;
  const each = targets.map((target, k) => ({ target, start: starts[k], q: poses[k] }));
  const problems = goals.map((goal, k) => ({ goal, k }));
  const hand = arm.follow(poses[0]);
  const figure = body.follow("stand", { velocity: 2 });
  return {
    "load the machine code": { us: 1000 * (loaded - began) },
    "make the arm ready": { us: 1000 * (ready - loaded) },
    forward: timed(each, rounds, ({ q }) => arm.forward(q, "tip")),
    jacobian: timed(each, rounds, ({ q }) => arm.jacobian(q, "tip")),
    "solve, no start": timed(each, rounds, ({ target }) => arm.solve(target)),
    "solve, from a start": timed(each, rounds, ({ target, start }) => arm.solve(target, { start })),
    follow: timed(each, rounds, ({ target }) => hand.step(target, 0.01)),
    "body, solve": timed(problems, rounds, ({ goal }) => body.solve(goal, { start: "stand" })),
    "body, follow": timed(problems, rounds, ({ goal }) => figure.step(goal, 0.01)),
  };
}

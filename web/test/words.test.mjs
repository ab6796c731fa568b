// How a solve ended, in words: numbers as Python writes them, sentences that say what to do.
import assert from "node:assert/strict";
import { test } from "node:test";

import { amount, atLimits, general, headline, sentence } from "../view/words.js";

test("numbers are written as by Python's %g", () => {
  const cases = [
    [0, "0"], [1, "1"], [0.0001, "0.0001"], [0.00001234, "1.23e-05"], [123456, "1.23e+05"], [999.6, "1e+03"], [12.3456, "12.3"],
    [-0.5, "-0.5"], [1e-13, "1e-13"], [100, "100"], [1.5e100, "1.5e+100"], [Infinity, "inf"],
  ];
  for (const [x, text] of cases) assert.equal(general(x, 3), text);
  assert.equal(general(2.8973, 4), "2.897");
});

test("amounts are said in units of their size", () => {
  assert.deepEqual([amount(0.0023, "m"), amount(0.123, "m"), amount(2.5, "m"), amount(Math.PI / 4, "rad")], ["2.3 mm", "12.3 cm", "2.5 m", "45°"]);
});

const told = {
  status: "held", success: false, iterations: 12, tolerance: 1e-4, alone: true, limits: ["elbow (upper 2.1)", "toe (lower 0)"], blocking: ["elbow"],
  endings: { held: "no continuous way from the start leads nearer" }, blocks: [{ value: 0.12, unit: "m", goal: "Reach 'tip'" }],
  goals: [{ frame: "tip", target: [1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], position: 3, reach: { numbers: [0, 0, 0, 0, 1], joint: "j1" } }],
};

test("a limit in the way is named", () => {
  assert.equal(headline(told), "12 cm short: elbow is at its limit");
  assert.equal(sentence(told), "not reached: no continuous way from the start leads nearer after 12 iterations, with position error 0.12 m; at their limits: elbow (upper 2.1), toe (lower 0).");
});

test("what is out of reach is said so", () => {
  const far = { ...told, blocks: [{ ...told.blocks[0], value: 0.5 }], goals: [{ ...told.goals[0], reach: { numbers: [0, 0, 0, 0, 0.001], joint: "j1" } }] };
  assert.equal(headline(far), "50 cm short: out of reach");
  assert.match(sentence(far), /^out of reach: the goal of 'tip' is 0.5 m from 'j1', the chain reaches 0.001 m: 0.499 m too far/);
  const near = { ...told, goals: [{ ...told.goals[0], reach: { numbers: [0, 0, 0, 0.8, 2], joint: "j1" } }] };
  assert.match(sentence(near), /^too close: .* the chain cannot fold nearer than 0.8 m\.$/);
});

test("of many goals the largest errors are told", () => {
  const blocks = [{ value: 1e-6, unit: "m", goal: "Reach 'hand'" }, { value: 2e-6, unit: "m", goal: "Hold 'foot'" }, { value: 1e-7, unit: "rad", goal: "Hold 'foot'" }];
  const many = { ...told, status: "reached", success: true, alone: false, blocks, iterations: 1 };
  assert.equal(sentence(many), "reached: largest position error 2e-06 m (Hold 'foot'), largest rotation error 1e-07 rad (Hold 'foot') after 1 iteration.");
  assert.equal(headline(many), "reached");
});

test("values at limits", () => {
  const arm = { coordinates: ["a", "b", "c"], lower: [-1, -Infinity, 0], upper: [1, Infinity, 0] };
  assert.deepEqual(atLimits(arm, [1, 5, 0]), [{ k: 0, name: "a", text: "a (upper 1)" }]);
  assert.deepEqual(atLimits(arm, [-1, 5, 0]), [{ k: 0, name: "a", text: "a (lower -1)" }]);
});

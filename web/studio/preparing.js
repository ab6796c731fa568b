// @ts-check
/**
 * What is on its way: whatever takes longer than a blink is said where the status is, until it is there.
 *
 *     const there = preparing.begin("the motion");   // "preparing the motion", after a blink
 *     there();
 */

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const BLINK = 250; // ms: what is there sooner needs no words
/** What Python is asked for, in words; all else is an answer. @type {Record<string, (ask: any) => string>} */
const WORDS = {
  "open model": ({ name }) => name,
  open: () => "the recovered scene",
  inside: () => "details of the solve",
  overlay: ({ kind }) => (kind === "mass" ? "the centre of mass" : `the ${kind}`),
  race: ({ begin }) => (begin ? "the race" : ""), // its steps go on by themselves
  download: () => "the scene",
  undo: () => "the previous state",
  redo: () => "the next state",
};

export class Preparing {
  /** @param {Studio} studio @param {() => void} changed */
  constructor(studio, changed) {
    this.changed = changed;
    /** @type {Map<number, string>} */ this.list = new Map();
    this.count = 0;
    studio.link.on("asked", (ask, answer) => {
      const what = WORDS[ask.do]?.(ask) ?? "an answer";
      if (ask.goes_on || !what) return; // what a hand does over and over is not waited for
      const there = this.begin(what);
      answer.finally(() => studio.later(there)).catch(() => {}); // who asked is told what went wrong
    });
  }

  /** What is said: the newest. @returns {string} */
  get words() {
    return [...this.list.values()].at(-1) ?? "";
  }

  /** Something is on its way. @param {string} what @param {number} [after] ms until that is said @returns {() => void} to call when it is there */
  begin(what, after = BLINK) {
    const n = (this.count += 1);
    const say = () => {
      this.list.set(n, what);
      this.changed();
    };
    const clock = after ? setTimeout(say, after) : 0;
    if (!after) say();
    return () => {
      clearTimeout(clock);
      if (this.list.delete(n)) this.changed();
    };
  }
}

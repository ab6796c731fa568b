// @ts-check
/**
 * Pending work: whatever takes longer than a moment is shown in place of the status until it is ready.
 *
 *     const there = preparing.begin("the motion");   // "preparing the motion", after a moment
 *     there();
 */

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const BLINK = 250; // delay before a text is shown [ms]
/** Texts for requests that take time; others have none. @type {Record<string, (ask: any) => string>} */
const WORDS = {
  "open model": ({ name }) => name,
  open: () => "the recovered scene",
  inside: () => "details of the solve",
  overlay: ({ kind }) => (kind === "mass" ? "the centre of mass" : `the ${kind}`),
  race: ({ begin }) => (begin ? "the race" : ""), // its steps need no text
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
      if (ask.goes_on || !what) return; // steps of a drag are not shown
      const there = this.begin(what);
      answer.finally(() => studio.later(there)).catch(() => {}); // errors are handled by the caller
    });
  }

  /** The text of the newest pending work. @returns {string} */
  get words() {
    return [...this.list.values()].at(-1) ?? "";
  }

  /** Add pending work. @param {string} what @param {number} [after] delay until it is shown [ms] @returns {() => void} a function to call when it is ready */
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

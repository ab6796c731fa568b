// @ts-check
/** The live figures by name, in alphabetical order; a new one is one file and two lines here. */

import { ccdTurns } from "./ccd-turns.js";
import { fabrikPasses } from "./fabrik-passes.js";
import { fourBar } from "./four-bar.js";
import { jacobianColumns } from "./jacobian-columns.js";

/** @type {Record<string, (root: HTMLElement, home: import("./element.js").Home) => {state(): Record<string, any>}>} */
export const FIGURES = {
  "ccd-turns": ccdTurns,
  "fabrik-passes": fabrikPasses,
  "four-bar": fourBar,
  "jacobian-columns": jacobianColumns,
};

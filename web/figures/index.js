// @ts-check
/** The live figures by name, in alphabetical order; a new one is one file and two lines here. */

import { jacobianColumns } from "./jacobian-columns.js";

/** @type {Record<string, (root: HTMLElement, home: import("./element.js").Home) => {state(): Record<string, any>}>} */
export const FIGURES = {
  "jacobian-columns": jacobianColumns,
};

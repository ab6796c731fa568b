// @ts-check
/** The live figures by name, in alphabetical order; a new one is one file and two lines here. */

import { bodyGoals } from "./body-goals.js";
import { ccdTurns } from "./ccd-turns.js";
import { damping } from "./damping.js";
import { dh } from "./dh.js";
import { eulerSteps } from "./euler-steps.js";
import { fabrikPasses } from "./fabrik-passes.js";
import { follow } from "./follow.js";
import { fourBar } from "./four-bar.js";
import { frames } from "./frames.js";
import { gimbal } from "./gimbal.js";
import { jacobianColumns } from "./jacobian-columns.js";
import { keys } from "./keys.js";
import { nullSpace } from "./null-space.js";
import { production } from "./production.js";
import { race } from "./race.js";
import { singularities } from "./singularities.js";
import { transposeStep } from "./transpose-step.js";
import { treeWalk } from "./tree-walk.js";
import { twoLinks } from "./two-links.js";
import { workspace } from "./workspace.js";

/** @type {Record<string, (root: HTMLElement, home: import("./element.js").Home) => {state(): Record<string, any>}>} */
export const FIGURES = {
  "body-goals": bodyGoals,
  "ccd-turns": ccdTurns,
  damping: damping,
  dh: dh,
  "euler-steps": eulerSteps,
  "fabrik-passes": fabrikPasses,
  follow: follow,
  "four-bar": fourBar,
  frames: frames,
  gimbal: gimbal,
  "jacobian-columns": jacobianColumns,
  keys: keys,
  "null-space": nullSpace,
  production: production,
  race: race,
  singularities: singularities,
  "transpose-step": transposeStep,
  "tree-walk": treeWalk,
  "two-links": twoLinks,
  workspace: workspace,
};

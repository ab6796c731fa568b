// @ts-check
/** The style of figures and exercises, light and dark; `light-dark()` follows the page's color-scheme. */

import { FONT, PALETTES } from "../theme.js";

const { light, dark } = PALETTES;

/** Names of colours in figures, with those of the shared palettes; coloured text must be legible. */
const COLORS = [
  ["ink", "ink"], ["muted", "soft"], ["edge", "line"], ["paper", "card"], ["blue", "linkText"], ["orange", "goalText"],
  ["green", "goodText"], ["red", "badText"],
]; // prettier-ignore

export const LOOK = `
:host { display: block; container-type: inline-size; font: 15px/1.45 ${FONT}; color: var(--ink);
  ${COLORS.map(([name, key]) => `--${name}: light-dark(${light[key]}, ${dark[key]});`).join(" ")}
  --grid: color-mix(in srgb, var(--edge) 62%, var(--paper)); --axis: color-mix(in srgb, var(--muted) 45%, var(--paper)); --raised: light-dark(#f4f6f8, #262c34);
  --violet: light-dark(#7f35b5, #cb9df5); --teal: light-dark(#087083, #56d3e6); --gold: light-dark(#8a6100, #f0c64a); }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
.c-ink { --c: var(--ink); } .c-muted { --c: var(--muted); } .c-blue { --c: var(--blue); } .c-orange { --c: var(--orange); }
.c-green { --c: var(--green); } .c-red { --c: var(--red); } .c-violet { --c: var(--violet); } .c-teal { --c: var(--teal); }
.c-gold { --c: var(--gold); }
.figure { background: var(--paper); border: 1px solid var(--edge); border-radius: 10px; padding: 10px; display: grid; gap: 12px; }
.stage { display: grid; gap: 8px; min-width: 0; align-content: start; }
.panel { display: flex; flex-direction: column; gap: 9px; min-width: 0; }
@container (min-width: 660px) { .split { grid-template-columns: minmax(0, 5fr) minmax(230px, 3fr); } }
.plane { display: block; width: 100%; height: auto; user-select: none; -webkit-user-select: none; }
.plane text { font: 15px ${FONT}; fill: var(--c, var(--ink)); paint-order: stroke; stroke: var(--paper);
  stroke-width: 4px; stroke-linejoin: round; }
.plane .letter, i { font-family: "Latin Modern Math", "STIX Two Text", Cambria, "DejaVu Serif", Georgia, serif; font-style: italic; }
.plane .letter { font-size: 17px; }
.plane .low, .plane .high { font-size: 11.5px; }
.plane .tick { font-size: 12px; fill: var(--muted); stroke-width: 3px; }
.plane .tick .high { font-size: 9px; }
.grid { stroke: var(--grid); } .axis, .frame { stroke: var(--axis); fill: none; }
.path { fill: none; stroke: var(--c); stroke-width: var(--width, 2px); stroke-linejoin: round; stroke-linecap: round; }
.area { fill-rule: evenodd; fill: color-mix(in srgb, var(--c) 16%, transparent); stroke-width: var(--width, 1px); }
.dashed .shaft, .dashed path, .dashed ellipse { stroke-dasharray: 6 5; }
.solid { fill: color-mix(in srgb, var(--c) 55%, var(--paper)); }
.faint { opacity: 0.38; }
.shaft { fill: none; stroke: var(--c); stroke-width: var(--width, 2.4px); stroke-linecap: round; }
.head { fill: var(--c); stroke: none; }
.dot:not(.goal) circle { fill: var(--c); stroke: var(--paper); stroke-width: 1.5px; }
.link { fill: var(--c); stroke: var(--paper); stroke-width: 1.2px; }
.joint { fill: var(--paper); stroke: var(--c); stroke-width: 2px; }
.base { fill: var(--muted); }
.space { cursor: grab; touch-action: none; } .space:focus-visible { outline: 2.5px solid var(--blue); outline-offset: 2px; border-radius: 6px; }
.chosen td, .chosen th { background: color-mix(in srgb, var(--orange) 14%, transparent); }
.goal { cursor: grab; touch-action: none; outline: none; }
.goal.held { cursor: grabbing; }
.touch { fill: transparent; }
.focus { fill: none; stroke: none; }
.goal:focus-visible .focus { stroke: var(--blue); stroke-width: 2.5px; }
.goal .ring { fill: color-mix(in srgb, var(--c) 16%, transparent); stroke: var(--c); stroke-width: 2.6px; }
.goal.as-dot .ring, .goal.as-square .ring { fill: var(--c); stroke: var(--paper); stroke-width: 2px; }
.goal:hover .ring { fill: color-mix(in srgb, var(--c) 34%, transparent); }
.goal.as-dot:hover .ring, .goal.as-square:hover .ring { fill: color-mix(in srgb, var(--c) 80%, var(--ink)); }
.slider { display: grid; grid-template-columns: minmax(2.8em, max-content) 1fr 4.2em; align-items: center; gap: 8px; color: var(--c, var(--ink)); }
.slider output { text-align: right; font-variant-numeric: tabular-nums; color: var(--ink); }
input[type="range"] { width: 100%; min-width: 0; height: 24px; margin: 0; accent-color: var(--c, var(--blue)); }
.choice { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 10px; }
.options, .buttons { display: flex; flex-wrap: wrap; gap: 6px; }
button, select, .panel input[type="text"] { font: inherit; color: var(--ink); background: var(--raised); border: 1px solid var(--edge);
  border-radius: 7px; padding: 5px 11px; min-height: 34px; }
button { cursor: pointer; }
button:hover { border-color: var(--muted); }
button[aria-pressed="true"] { background: var(--blue); border-color: var(--blue); color: var(--paper); }
button:disabled { opacity: 0.45; cursor: default; }
button:focus-visible, select:focus-visible, input:focus-visible { outline: 2.5px solid var(--blue); outline-offset: 2px; }
.check { display: flex; gap: 8px; align-items: center; } .check input { width: 18px; height: 18px; margin: 0; accent-color: var(--blue); }
.row { display: flex; align-items: center; gap: 8px; overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: 2px 7px; text-align: right; font-weight: 500; color: var(--c, var(--ink)); white-space: nowrap; }
.matrix tbody td:first-of-type { border-left: 2px solid var(--ink); } .matrix tbody td:last-of-type { border-right: 2px solid var(--ink); }
.matrix tbody th, .values th { color: var(--muted); font-weight: 400; text-align: left; }
.values th { padding-left: 0; }
sub { font-size: 0.75em; line-height: 0; }
.note { margin: 0; color: var(--muted); font-size: 14px; }
.say { margin: 0; padding: 6px 10px; border-left: 4px solid var(--c); background: var(--raised); border-radius: 0 7px 7px 0; }
.wrong { margin: 0; color: var(--red); }
`;

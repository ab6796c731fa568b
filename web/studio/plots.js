// @ts-check
/** Small plots of curves over steps, as SVG. */

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 280;
const LEFT = 34;

/** @param {string} tag @param {Record<string, any>} own @param {any[]} [inside] @returns {any} */
function svg(tag, own, inside = []) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(own)) made.setAttribute(name, String(value));
  made.append(...inside);
  return made;
}

/** @param {number[]} values however many @returns {number} */
export const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);

/** @param {number[]} values however many @returns {number} */
export const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

/**
 * Return a plot of curves, with an optional logarithmic scale.
 * @param {{name: string, color: string, values: number[]}[]} curves
 * @param {{log?: boolean, height?: number, label: string}} options
 */
export function plot(curves, { log = false, height = 110, label }) {
  const read = (/** @type {number} */ x) => (log ? Math.log10(Math.max(Math.abs(x), 1e-12)) : x);
  const all = curves.flatMap(({ values }) => values).filter(Number.isFinite).map(read);
  let [low, high] = [least(all), most(all)];
  if (!all.length) [low, high] = [0, 1];
  if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
  const count = Math.max(2, ...curves.map(({ values }) => values.length));
  const x = (/** @type {number} */ k) => LEFT + (k / (count - 1)) * (WIDTH - LEFT - 4);
  const y = (/** @type {number} */ v) => height - 12 - ((read(v) - low) / (high - low)) * (height - 22);
  const word = (/** @type {number} */ v) => (log ? `1e${Math.round(v)}` : String(Number(v.toPrecision(2))));
  const lines = curves.map(({ name, color, values }) => svg("polyline", { points: values.map((v, k) => (Number.isFinite(v) ? `${x(k).toFixed(1)},${y(v).toFixed(1)}` : "")).filter(Boolean).join(" "), fill: "none", stroke: color, "stroke-width": 1.8 }, [Object.assign(svg("title", {}), { textContent: name })]));
  const marks = [[high, 12], [low, height - 8]].map(([value, at]) => Object.assign(svg("text", { x: LEFT - 4, y: at, "text-anchor": "end", "font-size": 9, fill: "currentColor" }), { textContent: word(value) }));
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "plot", role: "img", "aria-label": label }, [svg("rect", { x: LEFT, y: 4, width: WIDTH - LEFT - 4, height: height - 16, fill: "none", stroke: "currentColor", "stroke-opacity": 0.2 }), ...lines, ...marks]);
}

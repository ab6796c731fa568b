// @ts-check
/**
 * The colours of all pages, light and dark, shared by CSS and WebGL.
 *
 *     adopt(document);                    // the variables --lw-ink, --lw-goal ... for this page or shadow root
 *     const palette = paletteOf(element); // the same colours, for drawing
 *     const stop = watch(element, redraw);
 *
 * Blue is the linkage, orange is draggable, green is reached, red is trouble. `data-theme="dark"` or "light" on an
 * element or an ancestor overrides the system's setting.
 */

/**
 * Colours by their name: `page` behind all, `ink` for text and `soft` for lesser text, `bar` for panels over pictures,
 * `line` for borders; `link`, `goal`, `good` and `bad` in pictures, `goalText` and so on where they are text on a page.
 * @typedef {Record<string, string>} Palette
 */

/** @type {{light: Palette, dark: Palette}} */
export const PALETTES = {
  light: {
    page: "#f6f7f8", card: "#ffffff", ink: "#24313f", soft: "#5a6876", line: "#d5dbe1", bar: "#ffffffe0",
    link: "#2f6fb5", goal: "#e8751a", good: "#2e9e5b", bad: "#d2413a",
    goalText: "#b04e0f", goodText: "#1d7a43", badText: "#b3261e", linkText: "#1f5c9e",
    floor: "#ffffff", grid: "#8b98a5", shadow: "#1b2a3a", rim: "#101c28",
    x: "#d2413a", y: "#2e9e5b", z: "#2f6fb5",
  },
  dark: {
    page: "#14171b", card: "#1c2127", ink: "#e6eaee", soft: "#a0acb8", line: "#38414b", bar: "#1c2127e0",
    link: "#6fb0f2", goal: "#ff9a45", good: "#56cf8a", bad: "#ff756b",
    goalText: "#ffab66", goodText: "#67d998", badText: "#ff8f86", linkText: "#8cc2f7",
    floor: "#22282f", grid: "#8391a0", shadow: "#000000", rim: "#b9d2ea",
    x: "#ff756b", y: "#56cf8a", z: "#6fb0f2",
  },
};

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

/** @param {Palette} palette @returns {string} */
const declared = (palette) =>
  Object.entries(palette)
    .map(([name, color]) => `--lw-${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}: ${color};`)
    .join(" ");

const { light, dark } = PALETTES;

/** Variables for both schemes; shadow roots inherit them. */
export const CSS = `
:root { color-scheme: light dark; --lw-font: ${FONT}; ${declared(light)} }
@media (prefers-color-scheme: dark) { :root { ${declared(dark)} } }
[data-theme="light"] { color-scheme: light; ${declared(light)} }
[data-theme="dark"] { color-scheme: dark; ${declared(dark)} }
`;

/** The ring around the focused element. */
export const FOCUS = ":focus-visible { outline: 2px solid var(--lw-goal-text); outline-offset: 2px; }";

/** Add the variables to a page, and the focus ring to it or a shadow root in it; only once. @param {Document | ShadowRoot} root */
export function adopt(root) {
  for (const [place, text] of /** @type {[Document | ShadowRoot, string][]} */ ([[document, CSS + FOCUS], [root, FOCUS]])) {
    if (place.querySelector("style[data-linkwork-theme]")) continue;
    const style = document.createElement("style");
    style.dataset.linkworkTheme = "";
    style.textContent = text;
    ("head" in place ? place.head : place).prepend(style);
  }
}

const night = () => matchMedia("(prefers-color-scheme: dark)");

/** @param {Element} element @returns {"light" | "dark"} the colour scheme of the element */
export function schemeOf(element) {
  for (let at = /** @type {any} */ (element); at; at = at.parentNode ?? at.host) {
    const said = at.dataset?.theme;
    if (said === "light" || said === "dark") return said;
  }
  return night().matches ? "dark" : "light";
}

/** @param {Element} element @returns {Palette} the colours of the element */
export function paletteOf(element) {
  return PALETTES[schemeOf(element)];
}

/**
 * Call a function when the scheme changes, of the system or of the page.
 * @param {Element} element @param {() => void} act @returns {() => void} a function that stops it
 */
export function watch(element, act) {
  const query = night();
  const eyes = new MutationObserver(act);
  query.addEventListener("change", act);
  for (let at = /** @type {any} */ (element); at; at = at.parentNode ?? at.host) {
    if (at instanceof Element) eyes.observe(at, { attributes: true, attributeFilter: ["data-theme"] });
  }
  return () => {
    query.removeEventListener("change", act);
    eyes.disconnect();
  };
}

/** @type {Map<string, readonly number[]>} */
const known = new Map(); // a cache, so that drawing does not parse colours

/** @param {string} color as "#rrggbb" @returns {readonly number[]} red, green and blue from 0 to 1 */
export function rgb(color) {
  let found = known.get(color);
  if (!found) {
    found = Object.freeze([1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16) / 255));
    known.set(color, found);
  }
  return found;
}

/** CSS pixels per pixel of the design, from the style's --u. @param {Element} element @returns {number} */
export function unitOf(element) {
  return parseFloat(getComputedStyle(element).getPropertyValue("--u")) || 1;
}

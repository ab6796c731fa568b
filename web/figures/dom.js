// @ts-check
/** Elements of pages and drawings, and labels such as θ_1 or g_{12} with italic letters and subscripts. */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean | undefined>} Attributes */

/** @param {Element} node @param {Attributes} attributes */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) node.removeAttribute(name);
    else node.setAttribute(name, String(value === true ? "" : value));
  }
  return node;
}

/** @param {string} tag @param {Attributes} [attributes] @param {Element} [parent] @returns {SVGElement} */
export function svg(tag, attributes = {}, parent) {
  const node = /** @type {SVGElement} */ (set(document.createElementNS(SVG, tag), attributes));
  parent?.append(node);
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Attributes} [attributes] @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function html(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  set(node, attributes);
  node.append(...children);
  return node;
}

/**
 * Split a label: `V` of "V_1" is an italic letter, `1` its subscript; words of two letters or more are upright.
 * @param {string} text
 * @returns {{text: string, low: boolean, letter: boolean}[]}
 */
export function pieces(text) {
  /** @type {{text: string, low: boolean, letter: boolean}[]} */ const found = [];
  for (const [, low, word, rest] of text.matchAll(/_\{([^}]*)\}|(\p{L}+)|(_(?=.)|[^\p{L}_]+|_)/gu)) {
    const last = found[found.length - 1];
    if (low !== undefined) found.push({ text: low, low: true, letter: false });
    else if (rest === "_") found.push({ text: "", low: true, letter: false });
    else if (last?.low && last.text === "") {
      const whole = word ?? rest ?? "";
      const index = /^\d+|^./u.exec(whole)?.[0] ?? "";
      last.text = index;
      if (index.length < whole.length) found.push({ text: whole.slice(index.length), low: false, letter: false });
    } else found.push({ text: word ?? rest ?? "", low: false, letter: word !== undefined && [...word].length === 1 });
  }
  return found;
}

/** Write a label into SVG text. @param {Element} node @param {string} text */
export function writeSvg(node, text) {
  let down = 0;
  node.replaceChildren(
    ...pieces(text).map(({ text: part, low, letter }) => {
      const wanted = low ? 0.3 : 0;
      const span = svg("tspan", { dy: `${((wanted - down) * (low ? 1.3 : 1)).toFixed(2)}em`, class: letter ? "letter" : low ? "low" : undefined });
      down = wanted;
      span.textContent = part;
      return span;
    }),
  );
}

/** Write a label into a page. @param {Element} node @param {string} text */
export function writeHtml(node, text) {
  node.replaceChildren(
    ...pieces(text).map(({ text: part, low, letter }) => (low ? html("sub", {}, part) : letter ? html("i", {}, part) : part)),
  );
}

/** A number for readers: with a typographic minus, without "-0". @param {number} value @param {number} [digits] */
export function number(value, digits = 2) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "?" : value > 0 ? "∞" : "−∞";
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** A count with its noun: "1 step", "2 steps". @param {number} count @param {string} noun */
export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export const DEGREE = Math.PI / 180;

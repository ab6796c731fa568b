// @ts-check
/** Elements of the page, created by one call, and their icons. */

/**
 * @param {string} tag @param {Record<string, any>} [own] properties, attributes, and `onclick` and the like
 * @param {(Node | string | null | undefined | false)[]} [inside] @returns {any}
 */
export function node(tag, own = {}, inside = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made) /** @type {any} */ (made)[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(.../** @type {any[]} */ (inside.filter((part) => part || part === "")));
  return made;
}

const PATHS = /** @type {Record<string, string>} */ ({
  undo: "M9 14 4 9l5-5M4 9h9a6 6 0 0 1 0 12h-3",
  redo: "m15 14 5-5-5-5M20 9h-9a6 6 0 0 0 0 12h3",
  play: "M7 4v16l13-8z",
  pause: "M8 5v14M16 5v14",
  plus: "M12 5v14M5 12h14",
  pin: "M12 17v5M8 3h8l-1 7 3 3H6l3-3z",
  bin: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  key: "M12 3 21 12 12 21 3 12z",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12m13 0a3 3 0 1 1-6 0 3 3 0 0 1 6 0",
  turn: "M20 12a8 8 0 1 1-3-6.2M20 3v5h-5",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6 6 18",
  frame: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  loop: "M17 2l4 4-4 4M3 11V9a3 3 0 0 1 3-3h15M7 22l-4-4 4-4M21 13v2a3 3 0 0 1-3 3H3",
  help: "M9 9a3 3 0 1 1 4 2.8c-1 .5-1 1.2-1 2.2M12 18h.01",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14m5-2 5 5",
  first: "M6 5v14M19 5 9 12l10 7z",
  last: "M18 5v14M5 5l10 7-10 7z",
});

/** @param {string} name @returns {SVGElement} an icon of 20 pixels */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 24 24", width: "20", height: "20", fill: "none", stroke: "currentColor", "stroke-width": "1.8", "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true" })) svg.setAttribute(key, value);
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/**
 * A button with an icon, and a label for screen readers.
 * @param {string} name @param {string} label @param {() => void} act @param {Record<string, any>} [own]
 */
export function tool(name, label, act, own = {}) {
  return node("button", { type: "button", className: "tool", title: label, "aria-label": label, onclick: act, ...own }, [icon(name)]);
}

/** @param {string} label @param {[string, string][] | string[]} choices @param {string} value @param {(value: string) => void} act */
export function choice(label, choices, value, act) {
  const list = node("select", { "aria-label": label, onchange: () => act(list.value) });
  for (const one of choices) {
    const [key, text] = typeof one === "string" ? [one, one] : one;
    list.append(node("option", { value: key, textContent: text }));
  }
  list.value = value;
  return list;
}

// @ts-check
/** The panel beside the picture: status, method, stored poses, pins, and a slider for every joint. */

import { ROBUST } from "./session.js";
import { amount, headline, sentence } from "./words.js";

/** @typedef {import("./session.js").Session} Session */
/** Callbacks of the panel. @typedef {{changed: () => void, posed: () => void}} Acts */

const OPEN = 8; // largest number of joints shown unfolded
const STEPS = 1000; // steps of a slider

/** @param {string} tag @param {Record<string, any>} [own] @param {(Node | string)[]} [inside] @returns {any} */
export function node(tag, own = {}, inside = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(own)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made) /** @type {any} */ (made)[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...inside);
  return made;
}

/** @param {string} label @param {string[]} names @param {(name: string) => void} act @returns {any} */
function choice(label, names, act) {
  const list = node("select", { "aria-label": label, onchange: () => act(list.value) });
  list.append(...names.map((name) => node("option", { value: name, textContent: name })));
  return list;
}

export class Panel {
  /** @param {HTMLElement} root @param {HTMLElement} chip @param {Session} session @param {any} scene @param {Acts} acts */
  constructor(root, chip, session, scene, acts) {
    this.session = session;
    this.acts = acts;
    this.chip = chip;
    this.said = node("p", { className: "said", role: "status" });
    this.pins = node("ul");
    /** @type {{k: number, input: HTMLInputElement, output: HTMLElement, row: HTMLElement, low: number, high: number}[]} */
    this.sliders = [];
    root.append(
      node("h2", { textContent: scene.title }),
      node("p", { className: "note", textContent: this.note(scene) }),
      this.said,
      ...this.methods(),
      this.poses(),
      this.turning(),
      node("details", { open: session.scene.handles.length <= OPEN }, [node("summary", { textContent: "Pins" }), this.pins]),
      ...this.joints(),
    );
    this.listPins();
    this.tell();
    this.show();
  }

  /** @param {any} scene */
  note(scene) {
    const { linkage, loops } = this.session;
    const parts = [`${linkage.data.links} links, ${linkage.nv} degrees of freedom`];
    if (loops.length) parts.push(`${loops.length} loop${loops.length > 1 ? "s" : ""} kept closed`);
    if (scene.missing) parts.push(`${scene.missing} meshes not shown`);
    if (scene.loose) parts.push(`${scene.loose} couplings not enforced`);
    return parts.join("; ");
  }

  methods() {
    const { session } = this;
    if (session.methods.length < 2) return [];
    this.method = choice("Method", session.methods, (name) => {
      session.choose(name);
      this.acts.changed();
    });
    return [node("div", { className: "row" }, [node("label", { textContent: "Method" }), this.method])];
  }

  /** List the methods that support a marked frame; fewer support its orientation. */
  listMethods() {
    const { session, method: list } = this;
    if (!list) return;
    const { methods } = session;
    if (!methods.includes(session.method)) session.choose(ROBUST);
    list.replaceChildren(...methods.map((name) => node("option", { value: name, textContent: name })));
    list.value = session.method;
  }

  poses() {
    const { session } = this;
    const names = Object.keys(session.linkage.poses);
    const reset = node("button", { type: "button", textContent: "Reset", onclick: () => {
      session.reset();
      this.acts.posed();
    } });
    if (!names.length) return node("div", { className: "row" }, [reset]);
    const list = choice("Pose", ["", ...names], (name) => {
      if (name) session.pose(name);
      list.value = "";
      this.acts.posed();
    });
    list.firstChild.textContent = "choose a pose";
    return node("div", { className: "row" }, [node("label", { textContent: "Pose" }), list, reset]);
  }

  /** A switch: whether dragged frames keep their orientation. */
  turning() {
    const { session } = this;
    const handles = session.scene.handles;
    if (session.scene.flat || !handles.length) return "";
    const input = node("input", { type: "checkbox", checked: handles.some((handle) => handle.turn), onchange: () => {
      for (const handle of handles) handle.turn = input.checked;
      this.listMethods();
      this.acts.changed();
    } });
    return node("label", { className: "check" }, [input, "Keep the orientation of dragged frames"]);
  }

  /** Checkboxes for the pins. */
  listPins() {
    const { session } = this;
    const names = [...new Set([...session.scene.handles.map(({ frame }) => frame), ...session.pins.keys()])];
    this.pins.replaceChildren(...names.map((frame) => {
      const pin = session.pins.get(frame);
      const held = node("button", { type: "button", textContent: pin ? "pinned" : "pin", "aria-pressed": String(Boolean(pin)),
        "aria-label": `pin ${frame}`, onclick: () => {
          if (pin) session.unpin(frame);
          else session.pin(frame, !session.scene.flat);
          this.listPins();
          this.acts.changed();
        } });
      const turn = node("button", { type: "button", textContent: "turn", "aria-pressed": String(Boolean(pin?.turn)), hidden: !pin,
        title: "hold its orientation too", "aria-label": `hold the orientation of ${frame}`, onclick: () => {
          session.pin(frame, !pin?.turn);
          this.listPins();
          this.acts.changed();
        } });
      return node("li", {}, [node("span", { textContent: frame, title: frame }), turn, held]);
    }));
  }

  // Joints

  joints() {
    const { session } = this;
    const { linkage } = session;
    const { data } = linkage;
    const balls = new Set(Array.from(data.quaternions).filter((_, k) => k % 2 === 0).flatMap((q) => [q, q + 1, q + 2, q + 3]));
    linkage.coordinates.forEach((name, k) => {
      if (!balls.has(k)) this.sliders.push(this.slider(name, k));
    });
    if (!this.sliders.length) return [];
    const rows = this.sliders.map(({ row }) => row);
    const count = `Joints (${rows.length})`;
    const rest = balls.size ? [node("p", { className: "note", textContent: `${balls.size / 4} ball joint${balls.size > 4 ? "s" : ""}: drag links to turn.` })] : [];
    this.list = node("details", { open: rows.length <= OPEN, ontoggle: () => this.show() }, [
      node("summary", { textContent: count }), ...rows, ...rest,
    ]);
    return [this.list];
  }

  /** @param {string} name @param {number} k */
  slider(name, k) {
    const { session } = this;
    const { lower, upper, data } = session.linkage;
    const wide = data.units[k] === "rad" ? Math.PI : data.length || 1;
    const low = Number.isFinite(lower[k]) ? lower[k] : Number.isFinite(upper[k]) ? upper[k] - 2 * wide : -wide;
    const high = Number.isFinite(upper[k]) ? upper[k] : low + 2 * wide;
    const output = node("output");
    const input = node("input", { type: "range", min: 0, max: STEPS, step: "any", "aria-label": name, oninput: () => {
      session.turn(k, low + (high - low) * (input.value / STEPS));
      this.acts.posed();
    } });
    const row = node("label", { className: "joint" }, [node("span", { textContent: name, title: name }), output, input]);
    return { k, input, output, row, low, high };
  }

  /** Set the sliders to the pose. */
  show() {
    if (!this.list?.open) return;
    const { q, linkage } = this.session;
    for (const { k, input, output, row, low, high } of this.sliders) {
      const unit = linkage.data.units[k];
      const text = unit === "rad" ? `${((q[k] * 180) / Math.PI).toFixed(1)}°` : `${q[k] < 0 ? "-" : ""}${amount(Math.abs(q[k]), "m")}`;
      if (output.textContent === text) continue;
      output.textContent = text;
      input.value = String((STEPS * (q[k] - low)) / (high - low));
      input.setAttribute("aria-valuetext", text);
      const edge = linkage.lower[k] < linkage.upper[k] && (q[k] <= linkage.lower[k] + 1e-9 || q[k] >= linkage.upper[k] - 1e-9);
      row.classList.toggle("edge", edge);
    }
  }

  // Status

  /** Show the status of the last solve, or a hint on what to do. */
  tell() {
    const { told, method, methods } = this.session;
    const kind = !told ? "" : told.status === "reached" ? "good" : told.status === "following" ? "way" : "bad";
    this.chip.hidden = !told;
    this.chip.dataset.kind = kind;
    this.chip.textContent = told ? headline(told) : "";
    const rings = method === ROBUST || methods.length < 2 ? "" : ` ${method} takes one step per picture.`;
    this.said.textContent = told ? sentence(told) : `Drag a ring or any link; drag beside them to turn the view.${rings}`;
  }
}

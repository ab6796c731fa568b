// @ts-check
/**
 * `<linkwork-view>`: a linkage that can be dragged, in any page.
 *
 *     <script type="application/json" id="arm">...</script>      the result of Python's lw.draw.page_data(arm)
 *     <linkwork-view data="arm"></linkwork-view>
 *
 * Instead of `data`, `src` may name a file with this content, or a script sets the property `scene`. `panel="none"` hides
 * the panel. `view.q` is the pose; the events `pose` and `solved` report changes; `view.ready` resolves when all is loaded.
 */

import "../bodies.js";
import { code } from "../code.js";
import { load } from "../linkwork.js";
import { quaternion, turnInto } from "../rotations.js";
import { Stage } from "../stage/stage.js";
import { adopt } from "../theme.js";
import { Panel, node } from "./panel.js";
import { ROBUST, Session } from "./session.js";
import { CSS } from "./style.js";
import { headline, sentence } from "./words.js";

/** @typedef {import("../stage/handles.js").Handle} Handle */

/** @type {Promise<import("../linkwork.js").Linkwork> | undefined} */
let machine;

/** @param {ArrayLike<number>} m a matrix of 16 numbers @returns {number[]} its origin */
const origin = (m) => [m[3], m[7], m[11]];

export class LinkworkView extends HTMLElement {
  static observedAttributes = ["data", "src", "panel"];

  constructor() {
    super();
    this.root = this.attachShadow({ mode: "open" });
    /** @type {any} */ this.given = undefined;
    /** @type {Session | undefined} */ this.session = undefined;
    /** @type {Stage | undefined} */ this.stage = undefined;
    /** @type {Map<string, Handle>} */ this.marks = new Map();
    /** The handle of a held link without a mark. @type {Handle | null} */ this.grip = null;
    this.dragging = false;
    this.begun = this.asked = 0;
    this.pictures = 0; // number of pictures with a solve
    /** Resolves when the view can be used. @type {Promise<LinkworkView>} */
    this.ready = new Promise((resolve, reject) => Object.assign(this, { kept: resolve, broken: reject }));
    this.ready.catch(() => {}); // the page shows the error
  }

  connectedCallback() {
    this.begin();
  }

  disconnectedCallback() {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    this.stage?.free();
    this.session?.linkage.free();
    this.stage = this.session = undefined;
    this.root.replaceChildren();
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (!this.isConnected || before === now) return;
    if (name === "panel") this.frame?.classList.toggle("alone", now === "none");
    else this.begin();
  }

  /** The scene from Python, as text or parsed. */
  get scene() {
    return this.given;
  }

  set scene(scene) {
    this.given = scene;
    if (this.isConnected) this.begin();
  }

  /** Load the named scene, only once for several changed attributes. */
  begin() {
    const turn = (this.begun += 1);
    this.found()
      .then((scene) => scene && turn === this.begun && this.show(scene, turn))
      .catch((error) => this.trouble(error));
  }

  /** @returns {Promise<any>} the scene named by the attributes */
  async found() {
    const [id, src] = [this.getAttribute("data"), this.getAttribute("src")];
    let given = this.given;
    if (given === undefined && id) given = document.getElementById(id)?.textContent ?? undefined;
    if (given === undefined && src) given = await (await fetch(src)).text();
    if (given === undefined && id) throw new Error(`there is no element "${id}" in this page.`);
    return typeof given === "string" ? JSON.parse(given) : given;
  }

  /** @param {any} scene @param {number} turn */
  async show(scene, turn) {
    machine ??= load(code());
    const linkwork = await machine;
    if (!this.isConnected || turn !== this.begun) return;
    this.stage?.free();
    this.session?.linkage.free();
    this.marks.clear();
    this.grip = null;
    this.session = new Session(linkwork.linkage(scene.pack), scene);
    this.build(scene);
    this.draw();
    /** @type {any} */ (this).kept(this);
    this.dispatchEvent(new CustomEvent("ready"));
  }

  /** @param {any} scene */
  build(scene) {
    const session = /** @type {Session} */ (this.session);
    const room = node("div", { className: "room" });
    const chip = node("div", { className: "chip", hidden: true });
    const side = node("section", { className: "panel", "aria-label": "Controls" });
    this.frame = node("div", { className: "frame" }, [node("div", { className: "scene" }, [room, chip]), side]);
    this.frame.classList.toggle("alone", this.getAttribute("panel") === "none");
    adopt(this.root);
    this.root.replaceChildren(...this.root.querySelectorAll("style[data-linkwork-theme]"), node("style", { textContent: CSS }), this.frame);
    this.stage = new Stage(room, { label: `${scene.title}: drag its ends`, quietWheel: this.hasAttribute("quiet") });
    this.stage.show(scene.stage);
    this.stage.grab = (picked) => this.grabbed(picked);
    this.panel = new Panel(side, chip, session, scene, { changed: () => this.changed(), posed: () => this.posed() });
    this.mark();
  }

  // Handles

  /** Update the handles, one for every marked or pinned frame. */
  mark() {
    const [stage, session] = [this.stage, this.session];
    if (!stage || !session) return;
    const names = new Set([...session.scene.handles.map(({ frame }) => frame), ...session.pins.keys()]);
    for (const [frame, handle] of this.marks) {
      if (names.has(frame)) continue;
      stage.handles.remove(handle);
      this.marks.delete(frame);
    }
    for (const frame of names) {
      const turn = session.pins.get(frame)?.turn ?? session.scene.handles.find((handle) => handle.frame === frame)?.turn;
      let handle = this.marks.get(frame);
      if (!handle) {
        handle = stage.handles.add({ position: [0, 0, 0], label: frame, ...this.acts(frame, null) });
        this.marks.set(frame, handle);
      }
      handle.grips = new Set(turn && names.size === 1 ? ["ball", "arrows", "rings"] : ["ball"]);
      handle.color = session.pins.has(frame) ? "link" : "goal";
      handle.visible = session.serves(frame) || session.pins.has(frame);
      handle.axes = "world";
    }
    this.settle();
  }

  /** @param {string} frame @param {number[] | null} point of a link @returns {any} callbacks for dragging it */
  acts(frame, point) {
    const take = () => {
      this.session?.take(frame, { point });
      this.dragging = true;
    };
    return {
      taken: take,
      moved: (/** @type {Handle} */ handle) => {
        const key = !this.dragging; // moved by a key: a small step that ends at once
        if (key) take();
        this.pull(handle);
        if (key) this.release();
      },
      dropped: (/** @type {Handle} */ handle) => {
        this.release();
        if (handle === this.grip) {
          this.stage?.handles.remove(handle);
          this.grip = null;
        }
      },
    };
  }

  /** A link was pressed: hold it at that point. @param {any} picked */
  grabbed({ name, point }) {
    const [stage, session] = [this.stage, this.session];
    if (!stage || !session || session.method !== ROBUST || !session.linkage.data.assembly) return null;
    const m = session.place(name);
    const away = point.map((/** @type {number} */ x, /** @type {number} */ k) => x - m[4 * k + 3]);
    const local = [0, 1, 2].map((k) => m[k] * away[0] + m[4 + k] * away[1] + m[8 + k] * away[2]);
    if (!session.joints(name).length) return null;
    if (this.grip) stage.handles.remove(this.grip);
    this.grip = stage.handles.add({ position: session.scene.flat ? origin(session.place(name, local)) : point, label: name, ...this.acts(name, local) });
    return this.grip;
  }

  /** @param {Handle} handle */
  pull(handle) {
    const session = this.session;
    if (!session?.hand) return;
    const target = session.hand.target.slice();
    if (session.hand.turn && handle.grips.has("rings")) turnInto(target, handle.wxyz);
    handle.position.forEach((x, k) => (target[4 * k + 3] = x));
    session.pull(target);
    this.draw();
  }

  release() {
    this.dragging = false;
    this.session?.drop();
    this.draw();
  }

  // Drawing

  /** Request a new picture. */
  draw() {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      this.picture();
    });
  }

  picture() {
    const [stage, session] = [this.stage, this.session];
    if (!stage || !session) return;
    const worked = session.work();
    stage.pose(session.linkage.matrices(session.q));
    this.settle();
    this.panel?.tell();
    this.panel?.show();
    if (worked) this.told();
    if (session.waiting) this.draw();
  }

  /** Move handles to their frames, except the held one. */
  settle() {
    const [stage, session] = [this.stage, this.session];
    if (!stage || !session) return;
    const busy = session.hand;
    for (const [frame, handle] of this.marks) {
      const m = session.place(frame);
      const held = busy?.frame === frame && !busy.point;
      if (held && !this.dragging) handle.position = origin(busy.target); // the drag comes from a script
      if (!held) {
        handle.position = origin(session.pins.get(frame)?.target ?? m);
        if (handle.grips.has("rings")) handle.wxyz = quaternion(m);
      }
      const off = Math.hypot(...origin(m).map((x, k) => x - handle.position[k]));
      handle.tie = off > 1e-3 * session.linkage.data.length ? origin(m) : null;
    }
    if (this.grip && busy?.point) this.grip.tie = origin(session.place(busy.frame, busy.point));
    stage.render();
  }

  told() {
    const session = /** @type {Session} */ (this.session);
    this.pictures += 1;
    this.dispatchEvent(new CustomEvent("pose", { detail: { q: Float64Array.from(session.q) } }));
    const { told } = session;
    if (told) {
      const { status, success } = told;
      this.dispatchEvent(new CustomEvent("solved", { detail: { status, success, headline: headline(told), sentence: sentence(told) } }));
    }
  }

  /** Handle a choice in the panel. */
  changed() {
    this.mark();
    this.panel?.tell();
    this.draw();
  }

  /** Handle a change of the pose by the panel. */
  posed() {
    this.panel?.listPins();
    this.mark();
    this.draw();
    this.dispatchEvent(new CustomEvent("pose", { detail: { q: Float64Array.from(/** @type {Session} */ (this.session).q) } }));
  }

  /** The pose. */
  get q() {
    return this.session?.q;
  }

  set q(pose) {
    if (!this.session || pose === undefined) return;
    this.session.pose(pose);
    this.posed();
  }

  /** The state of the view: the pose, the last solve and its status. */
  state() {
    const { q, last, told, method, waiting } = /** @type {Session} */ (this.session);
    const plain = last && {
      start: Array.from(last.start), q: Array.from(last.found.q), method: last.method, home: last.home && Array.from(last.home),
      goals: last.goals.map((/** @type {any} */ goal) => ({ ...goal, target: Array.from(goal.target) })),
    };
    const words = told && { status: told.status, success: told.success, headline: headline(told), sentence: sentence(told) };
    return { q: Array.from(q), last: plain, told: words, method, waiting, pictures: this.pictures };
  }

  /** @param {any} error */
  trouble(error) {
    adopt(this.root);
    this.root.replaceChildren(node("style", { textContent: CSS }), node("p", { className: "trouble", role: "alert", textContent: error.message ?? String(error) }));
    adopt(this.root);
    /** @type {any} */ (this).broken(error);
  }
}

if (!customElements.get("linkwork-view")) customElements.define("linkwork-view", LinkworkView);

// @ts-check
/**
 * `<linkwork-studio>`: the page in which a linkage is posed, solved and animated by hand.
 *
 * Python sends the state in parts (goals, clips, obstacles ...) and receives the user's actions. Motion at the rate of the
 * screen is computed here: dragging by `Solving`, playback by `Playing`. A panel is a class with `show(parts)`, called with
 * the changed parts.
 */

import "../bodies.js";
import { load } from "../linkwork.js";
import { Stage } from "../stage/stage.js";
import { adopt } from "../theme.js";
import { headline } from "../view/words.js";
import { Commands } from "./commands.js";
import { node } from "./dom.js";
import { FilesPanel } from "./files.js";
import { GoalsPanel } from "./goals.js";
import { Holding } from "./holding.js";
import { InsidePanel } from "./inside.js";
import { JointsPanel } from "./joints.js";
import { Help } from "./help.js";
import { Link } from "./link.js";
import { LooksPanel } from "./looks.js";
import { ObstaclesPanel } from "./obstacles.js";
import { RacePanel } from "./race.js";
import { Room } from "./room.js";
import { Solving } from "./solving.js";
import { Status } from "./status.js";
import { Timeline } from "./timeline.js";
import { Tour } from "./tour.js";

/** A part of the page. @typedef {{show: (parts: Record<string, any>) => void, follow?: () => void}} Part */

export class LinkworkStudio extends HTMLElement {
  constructor() {
    super();
    this.root = this.attachShadow({ mode: "open" });
    /** The state received from Python. @type {Record<string, any>} */ this.state = {};
    /** The choices that the page offers. @type {Record<string, any>} */ this.choices = {};
    /** @type {Solving | null} */ this.solving = null;
    /** @type {Stage | null} */ this.stage = null;
    /** The stage, created before a linkage arrives. @type {Stage | null} */ this.empty = null;
    /** The selected goal, and the selected link. @type {string | null} */ this.chosen = null;
    /** @type {string | null} */ this.selected = null;
    const later = /** @type {any} */ (null); // created when the element is in a page
    /** @type {Promise<import("../linkwork.js").Linkwork>} */ this.machine = later;
    /** @type {Room} */ this.room = later;
    /** @type {Link} */ this.link = later;
    /** @type {Holding} */ this.holding = later;
    /** @type {Commands} */ this.commands = later;
    /** @type {Status} */ this.status = later;
    /** @type {Timeline} */ this.timeline = later;
    /** @type {Tour} */ this.tour = later;
    /** @type {Part[]} */ this.parts = [];
    /** The queue of messages, which are handled in order. @type {Promise<void>} */ this.queue = Promise.resolve();
    this.anew = true; // whether panels need the whole state, not only news
    /** Largest upload [bytes]. */ this.limit = 0;
    /** Units of displayed numbers. */ this.units = { angle: "deg", length: "" };
    this.playing = false;
    this.asked = 0;
    this.pictures = 0;
    /** Resolves when the linkage can be dragged. @type {Promise<LinkworkStudio>} */
    this.ready = new Promise((resolve) => Object.assign(this, { kept: resolve }));
  }

  connectedCallback() {
    this.machine = load("/linkwork.wasm");
    this.room = new Room(this.root);
    adopt(this.root);
    const where = new URL(this.getAttribute("socket") ?? "/socket", location.href);
    where.protocol = where.protocol === "https:" ? "wss:" : "ws:";
    this.link = new Link(where.href);
    this.holding = new Holding(this);
    this.commands = new Commands(this);
    this.status = new Status(this);
    this.timeline = new Timeline(this);
    this.parts = [this.commands, this.status, this.timeline, new GoalsPanel(this), new JointsPanel(this), new ObstaclesPanel(this),
      new InsidePanel(this), new RacePanel(this), new LooksPanel(this), new FilesPanel(this), new Help(this)];
    this.tour = new Tour(this);
    this.parts.push(this.tour);
    this.listen();
    this.later(() => void this.build());
  }

  disconnectedCallback() {
    this.link.close();
    this.empty?.free();
    this.solving?.free();
    cancelAnimationFrame(this.asked);
  }

  listen() {
    const { link } = this;
    link.on("choices", (choices, message) => {
      this.choices = choices;
      this.limit = message.limit;
    });
    link.on("stage", (_, message) => this.begin(message.scene));
    link.on("solver", (solver) => this.later(() => this.solving?.takeSolver(solver)));
    link.on("state", (parts) => this.later(() => this.told(parts)));
    link.on("motion", (head, frames) => this.later(() => this.timeline.take(head, frames)));
    for (const trouble of ["refused", "failed"]) link.on(trouble, (text) => this.status.trouble(text));
    link.on("unmade", (text) => this.later(() => this.timeline.failed(text)));
    link.on("open", (open) => this.status.connected(open));
  }

  /** Queue an action until the linkage is ready, so that messages keep their order. @param {() => void} act */
  later(act) {
    this.queue = this.queue.then(act).catch((error) => this.status.trouble(error.message));
  }

  /** Create the stage, so that the GPU is prepared while Python is still working. */
  build() {
    const stage = new Stage(this.room.stage, { label: "The linkage: drag its links and goals", keys: true });
    stage.grab = (picked) => this.holding.grab(picked);
    stage.twice = (picked) => this.twice(picked);
    return (this.empty = stage);
  }

  /** Show a linkage. @param {any} scene */
  begin(scene) {
    this.later(async () => {
      const linkwork = await this.machine;
      this.solving?.free();
      this.holding.clear();
      this.solving = new Solving(linkwork.linkage(scene.pack), scene, this.choices.columns);
      this.chosen = this.selected = null;
      this.anew = true;
      this.stage ??= this.empty ?? this.build();
      this.stage.show(scene.stage);
      document.title = `${scene.title} \u2013 linkwork studio`;
      this.tell({ stage: scene });
    });
  }

  /** Handle news from Python. @param {Record<string, any>} news */
  told(news) {
    Object.assign(this.state, news);
    const { solving } = this;
    const parts = this.anew ? { ...this.state } : news; // for a new linkage, send everything
    this.anew = false;
    if (!solving) return;
    if ("goals" in parts) solving.takeGoals(parts.goals);
    if ("pose" in parts && (!this.holding.dragging || this.holding.far) && !this.playing) solving.q = solving.linkage.read(parts.pose.q);
    if ("goals" in parts && !parts.goals.some((/** @type {any} */ goal) => goal.name === this.chosen)) this.chosen = null;
    this.tell(parts);
    this.holding.mark();
    this.draw();
    /** @type {any} */ (this).kept(this);
  }

  /** Update all panels with the changed parts. @param {Record<string, any>} parts */
  tell(parts) {
    for (const part of this.parts) part.show(parts);
  }

  // Choosing

  /** Choose a goal. @param {string | null} name */
  choose(name) {
    if (this.chosen === name) return;
    this.chosen = name;
    if (name) this.selected = null;
    this.holding.mark();
    this.tell({ chosen: name });
  }

  /** Select a link. @param {string | null} link */
  select(link) {
    this.selected = link;
    this.chosen = null;
    this.holding.mark();
    this.tell({ selected: link });
    this.draw();
  }

  /** Handle a double click: pin a link or remove its pin; beside links, show everything. @param {any} picked */
  twice(picked) {
    if (!picked) return this.stage?.home();
    const held = this.state.goals?.find((/** @type {any} */ goal) => goal.kind === "pin" && goal.frame === picked.name);
    if (held) this.link.tell({ do: "remove goal", name: held.name });
    else this.link.tell({ do: "add goal", kind: "pin", frame: picked.name });
    return undefined;
  }

  // Drawing

  /** Request a new picture. */
  draw() {
    this.asked ||= requestAnimationFrame((now) => {
      this.asked = 0;
      this.picture(now);
    });
  }

  /** @param {number} now [ms] */
  picture(now) {
    const { stage, solving } = this;
    if (!stage || !solving) return;
    if (this.playing) this.timeline.advance(now);
    else if (solving.work()) {
      this.pictures += 1;
      if (solving.told) this.status.live(headline(solving.told), solving.told);
    }
    stage.pose(solving.linkage.matrices(solving.q));
    this.holding.settle();
    for (const part of this.parts) part.follow?.();
    if (solving.waiting || this.playing) this.draw();
  }

  /** Set the pose in the page only, without telling Python. @param {ArrayLike<number>} q */
  pose(q) {
    if (!this.solving) return;
    this.solving.q = Float64Array.from(q);
    this.solving.bring();
    this.draw();
  }

  /** Numbers of the page, for tests and scripts. */
  numbers() {
    const { solving } = this;
    return { q: solving && Array.from(solving.q), state: this.state, chosen: this.chosen, selected: this.selected, pictures: this.pictures, time: this.timeline.time, playing: this.playing };
  }
}

if (!customElements.get("linkwork-studio")) customElements.define("linkwork-studio", LinkworkStudio);

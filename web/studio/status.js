// @ts-check
/** The status in plain words at a fixed place: in short, and on demand in full. */

import { sentence } from "../view/words.js";
import { node, tool } from "./dom.js";
import { Preparing } from "./preparing.js";
import { inUnits } from "./units.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const FIRST = "Drag the orange ball. Any link can be dragged too; a double click pins it.";
const STAYS = 6000; // shortest display of an error [ms]
const LETTER = 80; // additional time for each letter [ms]
const MEANWHILE = "This takes a moment. You can use everything else meanwhile.";

export class Status {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.words = node("span", { className: "words", textContent: "preparing" });
    this.more = node("p", { className: "why" });
    this.chip = node("details", { className: "status" }, [node("summary", { title: "Why?" }, [node("i"), this.words]), this.more]);
    this.heard = node("p", { className: "unseen", role: "status" }); // for screen readers, when the status has settled
    this.told = node("span");
    this.box = node("div", { className: "note", role: "alert", hidden: true }, [this.told, tool("close", "Close this message", () => (this.box.hidden = true))]);
    studio.room.status.append(this.chip, this.heard);
    studio.room.root.append(this.box);
    this.first = true;
    /** The status without pending work: its kind, a short and a full text. */ this.settled = ["", "preparing", MEANWHILE];
    this.preparing = new Preparing(studio, () => this.write());
  }

  /** @param {string} kind @param {string} words @param {string} more */
  say(kind, words, more) {
    this.settled = [kind, words, more];
    this.write();
  }

  /** Show the status or, except during a drag, pending work. */
  write() {
    const what = this.studio.holding?.dragging ? "" : this.preparing.words;
    const [kind, ...said] = what ? ["busy", `preparing ${what}`, MEANWHILE] : this.settled;
    const [words, more] = said.map((text) => inUnits(text, this.studio.units));
    this.chip.dataset.kind = kind;
    if (what) this.heard.textContent = words;
    if (this.words.textContent !== words) this.words.textContent = words;
    if (this.more.textContent !== more) this.more.textContent = more;
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if ("chosen" in parts || "selected" in parts) return;
    if ("units" in parts) return this.write();
    if (!("status" in parts) && !("goals" in parts) && !("stage" in parts)) return;
    const { status } = this.studio.state;
    if (this.studio.holding?.dragging) return;
    if (!status) return this.say("", "ready", this.first ? FIRST : "Nothing was solved since the last change.");
    this.first = false;
    const told = this.studio.solving?.told;
    const short = told && !status.success ? this.short ?? firstWords(status.text) : status.success ? "reached" : firstWords(status.text);
    this.say(status.success ? "good" : "bad", short, status.text);
    if (this.heard.textContent !== short) this.heard.textContent = short;
  }

  /** Show the status during a drag. @param {string} headline @param {any} told */
  live(headline, told) {
    this.first = false;
    this.short = headline;
    this.say(told.status === "reached" ? "good" : told.status === "following" ? "way" : "bad", headline, sentence(told));
  }

  /** Show an error. @param {string} text */
  trouble(text) {
    this.tell(text, "");
  }

  /** Confirm an action without a visible effect. @param {string} text */
  note(text) {
    this.tell(text, "good");
  }

  /** @param {string} text @param {string} kind */
  tell(text, kind) {
    this.told.textContent = text;
    this.box.dataset.kind = kind;
    this.box.hidden = false;
    clearTimeout(this.clock);
    this.clock = setTimeout(() => (this.box.hidden = true), STAYS + LETTER * text.length);
  }

  /** @param {boolean} open */
  connected(open) {
    this.studio.room.root.classList.toggle("alone", !open);
    if (!open) this.trouble("The studio does not answer; trying again.");
    else this.box.hidden = true;
  }
}

/** @param {string} text @returns {string} the part before its numbers */
function firstWords(text) {
  const short = text.split(/[:;.]/)[0];
  return short.length < 60 ? short : `${short.slice(0, 57)}...`;
}

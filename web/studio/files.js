// @ts-check
/** Opening, saving and exporting: models, files dropped on the page, scenes, motions; remarks on what was opened. */

import { choice, node } from "./dom.js";
import { field } from "./goals.js";
import { heading } from "./room.js";

/** @typedef {import("./studio.js").LinkworkStudio} Studio */

const MOST_FILES = 4000;
const MOST_REMARKS = 20;
/** Reading options that may fix a remark, by its kind. @type {Record<string, [string, any][]>} */
const WAYS = {
  "up-axis": [["z is up", { up: "z" }], ["y is up", { up: "y" }]],
  units: [["metres", { units: 1 }], ["centimetres", { units: 0.01 }], ["millimetres", { units: 0.001 }], ["inches", { units: 0.0254 }]],
};
const FOLDERS = ["missing-mesh", "guessed-package"]; // kinds of remarks that choosing a folder may fix

export class FilesPanel {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.page = studio.room.panel("Files");
    this.open = node("div");
    this.remarks = node("ul", { className: "remarks" });
    this.save = node("div");
    this.jobs = node("ul", { className: "jobs" });
    this.page.append(heading("Open"), this.open, this.remarks, heading("Save"), this.save, this.jobs);
    const room = studio.room.root;
    room.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      room.classList.add("dropping");
    });
    room.addEventListener("dragleave", (/** @type {DragEvent} */ event) => !event.relatedTarget && room.classList.remove("dropping"));
    room.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      room.classList.remove("dropping");
      dropped(event.dataTransfer).then((files) => this.send(files));
    });
    studio.commands.add({ title: "Save the scene", keys: ["ctrl+s"], act: () => this.keep() });
    /** The files being sent. @type {File[]} */ this.sending = [];
    /** The files of the linkage, to read them with other options. @type {File[]} */ this.sent = [];
    this.there = () => {};
    studio.link.on("open", () => this.there()); // files sent over an earlier connection are lost
    let mine = false; // whether the next linkage is that of the sent files
    studio.link.on("stage", () => {
      this.sent = mine ? this.sending : [];
      mine = false;
    });
    studio.link.on("uploaded", (name, message) => {
      if (name === null) {
        this.there();
        return studio.status.trouble(message.refused);
      }
      mine = true;
      this.others = message.others ?? [];
      this.main = name;
      return this.listRemarks();
    });
  }

  /** @param {Record<string, any>} parts */
  show(parts) {
    if (parts.stage && typeof parts.stage === "object") this.there();
    if ("stage" in parts || "file" in parts) this.build();
    if ("remarks" in parts) this.listRemarks();
    if ("jobs" in parts) this.listJobs();
    if ("lost" in parts) this.offerLost();
    const name = this.studio.state.file?.linkage;
    if (name) this.studio.room.name.textContent = name;
  }

  build() {
    const { studio } = this;
    const { choices, state, link } = studio;
    const models = choice("Model", [["", "a ready-made model"], ...(choices.models ?? []).map((/** @type {string} */ name) => [name, name])], "", (name) => name && link.tell({ do: "open model", name }));
    const input = node("input", { type: "file", multiple: true, hidden: true, onchange: () => this.send([...input.files]) });
    const tree = (this.tree = node("input", { type: "file", webkitdirectory: true, hidden: true, onchange: () => this.send([...tree.files]) }));
    const pick = node("button", { type: "button", textContent: "Files ...", onclick: () => input.click() });
    const folder = node("button", { type: "button", textContent: "A folder ...", onclick: () => tree.click() });
    this.open.replaceChildren(field("Model", models), node("div", { className: "row" }, [pick, input, folder, tree, node("span", { className: "soft", textContent: "or drop them" })]));
    const kind = choice("Kind", choices.exports ?? [], (choices.exports ?? [""])[0], () => {});
    const buttons = [node("button", { type: "button", textContent: "Download the scene", onclick: () => this.get({ do: "download" }) })];
    if (state.file?.name) buttons.push(node("button", { type: "button", textContent: `Save over ${state.file.name}`, onclick: () => this.saveOver() }));
    const film = node("div", { className: "row" }, [kind, node("button", { type: "button", textContent: "Export the motion", onclick: () => this.exporting(kind.value) })]);
    this.save.replaceChildren(node("div", { className: "buttons save" }, buttons), film);
  }

  /** Overwrite the opened file, after a question if that loses anything. @param {boolean} [anyway] */
  saveOver(anyway = false) {
    const { link, room, state, status } = this.studio;
    link.ask({ do: "save", anyway }).then(({ asks, saved }) => {
      if (asks) room.ask(`Save over ${state.file.name}?`, [node("p", { textContent: asks })], [[`Save over ${state.file.name}`, () => this.saveOver(true)]]);
      else status.note(`Saved over ${saved}.`);
    }).catch((error) => status.trouble(error.message));
  }

  /** Overwrite the opened file, if any; else download the scene. */
  keep() {
    if (this.studio.state.file?.name) this.saveOver();
    else this.get({ do: "download" });
  }

  /** Ask for a file, and download it. @param {any} ask */
  get(ask) {
    const { link, status } = this.studio;
    link.ask(ask).then((where) => download(where)).catch((error) => status.trouble(error.message));
  }

  /** Send files to Python. @param {File[]} files @param {any} [how] units, up axis, the file to read */
  async send(files, how = {}) {
    const { studio } = this;
    if (!files.length) return undefined;
    const total = files.reduce((sum, file) => sum + file.size, 0);
    if (total > studio.limit) return studio.status.trouble(`That is ${(total / 2 ** 20).toFixed(0)} MiB; the limit is ${(studio.limit / 2 ** 20).toFixed(0)} MiB.`);
    const parts = await Promise.all(files.map((file) => file.arrayBuffer()));
    const head = { files: files.map((file, k) => ({ name: /** @type {any} */ (file).path ?? (/** @type {any} */ (file).webkitRelativePath || file.name), size: parts[k].byteLength })), ...how };
    this.sending = files;
    this.there();
    if (!studio.link.upload(head, parts)) return studio.status.trouble("the studio does not answer.");
    this.there = studio.status.preparing.begin(how.main ?? files[0].name);
    return undefined;
  }

  /** Show remarks on the file, with buttons to fix them. */
  listRemarks() {
    const all = (this.studio.state.remarks ?? []).slice(0, MOST_REMARKS);
    const chip = (/** @type {string} */ text, /** @type {() => void} */ act) => node("button", { type: "button", className: "chip", textContent: text, onclick: act });
    const again = (/** @type {string} */ text, /** @type {any} */ how) => chip(text, () => this.send(this.sent, { main: this.main, ...how }));
    const ways = (/** @type {string} */ kind) => (this.sent.length ? WAYS[kind] ?? [] : []).map(([text, how]) => again(text, how));
    const folder = (/** @type {string} */ kind) => (FOLDERS.includes(kind) ? [chip("Choose its folder ...", () => this.tree.click())] : []);
    const others = (this.others ?? []).slice(0, 8).map((/** @type {string} */ name) => again(name, { main: name }));
    const rest = Object.keys(WAYS).filter((kind) => !all.some((/** @type {any} */ one) => one.kind === kind)).flatMap(ways);
    const first = (/** @type {string} */ kind, /** @type {number} */ k) => all.findIndex((/** @type {any} */ one) => one.kind === kind) === k;
    this.remarks.replaceChildren(
      ...(others.length ? [node("li", {}, ["Or open: ", ...others])] : []),
      ...all.map((/** @type {any} */ { kind, text }, /** @type {number} */ k) => node("li", {}, [node("span", { textContent: text }), ...(first(kind, k) ? [...ways(kind), ...folder(kind)] : [])])),
      ...(rest.length ? [node("li", {}, [node("details", {}, [node("summary", { textContent: "Read it with other settings" }), ...rest])])] : []),
    );
  }

  /** Ask for the options of an export, and request it. @param {string} kind */
  exporting(kind) {
    const { studio } = this;
    const { duration, fps } = studio.timeline.clip;
    const number = (/** @type {any} */ own) => node("input", { type: "number", ...own });
    const [first, last] = [number({ min: 0, max: duration, step: "any", value: 0 }), number({ min: 0, max: duration, step: "any", value: Number(duration.toFixed(3)) })];
    const rate = number({ min: 1, max: 240, value: Math.min(fps, 60) });
    const [width, height] = [number({ min: 64, max: 3840, value: 1280 }), number({ min: 64, max: 2160, value: 720 })];
    const seen = node("input", { type: "checkbox", checked: true });
    const film = [".gif", ".mp4", ".html"].includes(kind);
    const rows = [field("From [s]", first), field("To [s]", last), field("Frames per second", rate)];
    if (film && kind !== ".html") rows.push(field("Width", width), field("Height", height));
    if (film && !studio.solving?.scene.flat) rows.push(node("label", { className: "check" }, [seen, "Use the current view"]));
    studio.room.ask(`Export as ${kind}`, rows, [["Export", () => studio.link.tell({ do: "export", kind, first: Number(first.value), last: Number(last.value), fps: Number(rate.value),
      ...(film && kind !== ".html" ? { width: Number(width.value), height: Number(height.value) } : {}),
      ...(film && seen.checked && !studio.solving?.scene.flat ? { view: this.view() } : {}) })]]);
  }

  /** The view of the stage: elevation and azimuth [deg]. @returns {number[]} */
  view() {
    const [x, y, z] = /** @type {any} */ (this.studio.stage).camera.towards;
    return [(Math.asin(Math.min(Math.max(z, -1), 1)) * 180) / Math.PI, (Math.atan2(y, x) * 180) / Math.PI];
  }

  /** Offer to recover the scene of a studio that ended unexpectedly. */
  offerLost() {
    const { studio } = this;
    const [first] = studio.state.lost ?? [];
    this.lost?.remove();
    if (!first) return;
    const when = new Date(1000 * first).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    const button = (/** @type {string} */ word, /** @type {() => void} */ act) => node("button", { type: "button", textContent: word, onclick: act });
    const forget = () => studio.room.ask("Delete this scene?", [node("p", { textContent: `The scene of ${when} was never saved. It cannot be recovered later.` })],
      [["Delete it", () => studio.link.tell({ do: "forget", recovered: 0 })]]);
    this.lost = node("div", { className: "card" }, [node("p", { textContent: `A studio ended on ${when} before its scene was saved. The scene was kept.` }),
      node("div", { className: "buttons" }, [button("Recover it", () => studio.link.tell({ do: "open", recovered: 0 })), button("Delete it ...", forget)])]);
    this.page.prepend(this.lost);
  }

  listJobs() {
    const { studio } = this;
    this.jobs.replaceChildren(...(studio.state.jobs ?? []).map((/** @type {any} */ job) => node("li", {}, [
      node("span", { textContent: job.what }),
      job.state === "working" ? node("progress", { max: 1, value: job.share }) : "",
      job.state === "working" ? node("button", { type: "button", textContent: "Cancel", onclick: () => studio.link.tell({ do: "cancel", job: job.number }) }) : "",
      job.state === "done" ? node("button", { type: "button", textContent: "Download", onclick: () => download(job.said) }) : "",
      ["failed", "cancelled"].includes(job.state) ? node("span", { className: "soft", textContent: job.said || job.state }) : "",
    ])));
  }
}

/** Dropped files, including those in folders, with their paths. @param {DataTransfer | null} data @returns {Promise<File[]>} */
async function dropped(data) {
  const entries = [...(data?.items ?? [])].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...(data?.files ?? [])];
  /** @type {File[]} */ const found = [];
  /** @param {any} entry @param {string} path */
  const walk = async (entry, path) => {
    if (found.length > MOST_FILES) return;
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.push(Object.assign(file, { path: path + entry.name }));
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      for (const one of some) await walk(one, `${path}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}

/** @param {string} where a path of the studio */
function download(where) {
  const link = node("a", { href: where, download: "" });
  document.body.append(link);
  link.click();
  link.remove();
}

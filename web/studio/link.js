// @ts-check
/**
 * The connection to Python: one socket for requests and news.
 *
 *     const link = new Link(address);
 *     link.on("state", (parts) => ...);             // the changed parts
 *     await link.ask({ do: "undo" });               // the result, or an error with the reason
 *
 * A lost connection is restored, and the whole state is sent again.
 */

/** @typedef {(value: any, message: any) => void} Ear */

const WAITS = [200, 500, 1000, 2000, 4000]; // delays before reconnecting [ms]

export class Link {
  /** @param {string} address */
  constructor(address) {
    this.address = address;
    /** @type {Map<string, Ear[]>} */ this.ears = new Map();
    /** @type {Map<number, {ask: any, resolve: (value: any) => void, reject: (error: Error) => void}>} */ this.asked = new Map();
    this.count = 0;
    this.tries = 0;
    this.ended = false;
    /** @type {WebSocket | null} */ this.socket = null;
    this.open();
  }

  open() {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.tries = 0;
      this.say("open", true);
    };
    socket.onmessage = ({ data }) => this.heard(data);
    socket.onclose = () => this.lost();
    this.socket = socket;
  }

  lost() {
    for (const { reject } of this.asked.values()) reject(new Error("the studio does not answer."));
    this.asked.clear();
    this.socket = null;
    if (this.ended) return;
    this.say("open", false);
    setTimeout(() => !this.ended && this.open(), WAITS[Math.min(this.tries++, WAITS.length - 1)]);
  }

  /** @param {string | ArrayBuffer} data */
  heard(data) {
    if (typeof data !== "string") {
      const length = new DataView(data).getUint32(0, true);
      const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
      for (const [name, value] of Object.entries(head)) this.say(name, value, data.slice(4 + length));
      return;
    }
    const message = JSON.parse(data);
    if (!("n" in message)) {
      for (const [name, value] of Object.entries(message)) this.say(name, value, message);
      return;
    }
    const { n, done, refused } = message;
    const waiting = this.asked.get(n);
    this.asked.delete(n);
    if (waiting?.ask.goes_on) this.skipped(n, waiting.ask.do);
    if (refused !== undefined) {
      if (waiting) waiting.reject(new Error(refused));
      else this.say("refused", refused);
    } else waiting?.resolve(done);
  }

  /** Drop earlier requests of the same drag: Python only handles the newest, so these get no answer. @param {number} n @param {string} what */
  skipped(n, what) {
    for (const [before, { ask, resolve }] of this.asked) {
      if (before > n) return;
      if (!ask.goes_on || ask.do !== what) continue;
      this.asked.delete(before);
      resolve(undefined);
    }
  }

  /** Register a listener for a kind of message. @param {string} name @param {Ear} ear */
  on(name, ear) {
    this.ears.set(name, [...(this.ears.get(name) ?? []), ear]);
  }

  /** @param {string} name @param {any} value @param {any} [message] */
  say(name, value, message) {
    for (const ear of this.ears.get(name) ?? []) ear(value, message);
  }

  /** Send a request and return its result. @param {Record<string, any>} ask @returns {Promise<any>} */
  ask(ask) {
    const n = (this.count += 1);
    const answer = new Promise((resolve, reject) => {
      if (!this.send({ n, ask })) return reject(new Error("the studio does not answer."));
      this.asked.set(n, { ask, resolve, reject });
    });
    this.say("asked", ask, answer);
    return answer;
  }

  /** Send a request without waiting; a refusal goes to listeners for "refused". @param {Record<string, any>} ask */
  tell(ask) {
    return this.ask(ask).catch((error) => this.say("refused", error.message));
  }

  /** Send files: a header, then their bytes. @param {any} head @param {ArrayBuffer[]} parts */
  upload(head, parts) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    const text = new TextEncoder().encode(JSON.stringify(head));
    const length = new Uint8Array(new Uint32Array([text.length]).buffer);
    this.socket.send(new Blob([length, text, ...parts]));
    return true;
  }

  /** @param {any} message */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Close the connection. */
  close() {
    this.ended = true;
    this.socket?.close();
  }
}

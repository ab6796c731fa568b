// @ts-check
/** The location of the machine code: the file beside this one. Single-file pages contain the code itself instead. */

/** @returns {URL | Response} */
export function code() {
  return new URL("linkwork.wasm", import.meta.url);
}

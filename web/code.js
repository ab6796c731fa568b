// @ts-check
/** Where the machine code is: the file beside this one. A page that is one file has the code itself in its place. */

/** @returns {URL | Response} */
export function code() {
  return new URL("linkwork.wasm", import.meta.url);
}

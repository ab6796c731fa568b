// The same as replay.c, for WebAssembly: node replay.mjs LIBRARY LEVEL RECORDING ANSWERS
import { openSync, readFileSync, writeSync } from "node:fs";

const [library, level, recording, answers] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(library), {});
const { memory, __heap_base } = instance.exports;
const input = readFileSync(recording);
const output = openSync(answers, "w");
const buffers = new Map(); // [address, bytes, room] by number
const ALIGNMENT = 64, SLOTS = 256, PAGE = 65536;
let place = 0, free = Math.ceil(__heap_base.value / ALIGNMENT) * ALIGNMENT;

const number = () => Number(input.readBigInt64LE((place += 8) - 8));

function take(bytes) {
  const address = free;
  free += Math.ceil(bytes / ALIGNMENT) * ALIGNMENT + ALIGNMENT;
  const missing = free - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  return address;
}

function room(buffer, bytes) {
  const known = buffers.get(buffer);
  const found = known && known[2] >= bytes ? [known[0], bytes, known[2]] : [take(bytes), bytes, bytes];
  buffers.set(buffer, found);
  return new Uint8Array(memory.buffer, found[0], bytes);
}

function text(bytes) {
  place += Math.ceil(bytes / 8) * 8;
  return input.subarray(place - Math.ceil(bytes / 8) * 8).subarray(0, bytes);
}

const block = take(8 * SLOTS);

function call() {
  const name = text(number()).toString() + level;
  const slots = new DataView(memory.buffer, block, 8 * SLOTS);
  for (let k = 0, count = number(); k < count; k++) {
    const isBuffer = number();
    const value = input.readBigInt64LE((place += 8) - 8);
    slots.setBigInt64(8 * k, isBuffer ? BigInt(buffers.get(Number(value))[0]) : value, true);
  }
  const result = Buffer.alloc(8);
  result.writeBigInt64LE(instance.exports[name](block));
  writeSync(output, result);
}

while (place < input.length) {
  const kind = number();
  if (kind === 1) {
    const buffer = number(), bytes = number();
    room(buffer, bytes).set(text(bytes));
  } else if (kind === 2) {
    const buffer = number(), bytes = number(), data = room(buffer, bytes), value = text(8);
    for (let k = 0; k < bytes; k++) data[k] = value[k % 8];
  } else if (kind === 3) {
    call();
  } else if (kind === 4) {
    const [address, bytes] = buffers.get(number());
    writeSync(output, new Uint8Array(memory.buffer, address, bytes));
  } else {
    throw new Error(`the recording is damaged at ${place - 8}`);
  }
}

// A worker for `deadpan lab`: the lab measures JavaScript functions in the Node.js process that runs them.
//
//     deadpan lab timing --worker 'node worker.js'
//
// To measure a function of your own, copy this file and change TARGETS. docs/lab-worker.md describes the protocol.

"use strict";

const crypto = require("crypto");
const fs = require("fs");

const left = Buffer.alloc(32);
const right = Buffer.alloc(32);

// Copies the input to the same two buffers each time.
function halves(input) {
  input.copy(left, 0, 0, 32);
  input.copy(right, 0, 32, 64);
}

function earlyExit() {
  for (let i = 0; i < left.length; i++) {
    if (left[i] !== right[i]) return false;
  }
  return true;
}

// Each target: its name, the parts of its input, the classes that the lab compares, a function that makes the
// arguments from the input (not timed), and the function to measure, which must not change its arguments.
const TARGETS = [
  ["early-exit", "secret:32,public:32", "first,last", halves, earlyExit],
  ["timing-safe-equal", "secret:32,public:32", "first,last", halves, () => crypto.timingSafeEqual(left, right)],
];

const VERSION = 1;
const NO_CALL = 0xffffffff;
const HELLO = `language: JavaScript
runtime: Node.js ${process.versions.node} (V8 ${process.versions.v8})
clock: process.hrtime
hertz: 1000000000
warm-up: 20000
${TARGETS.map(([name, parts, classes]) => `target: ${name} ${parts} ${classes}\n`).join("")}`;

let state = 1;
let sink;

// Waits. Each turn depends on the turn before it, and the first one on seed. The turns therefore overlap neither with
// each other nor with the code that computes seed.
function spin(turns, seed) {
  let x = (state + seed) | 0;
  for (let i = 0; i < turns; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0;
  state = x;
}

function measure(call, repeats, before, within) {
  spin(before, 0);
  const start = process.hrtime();
  for (let i = 0; i < repeats; i++) sink = call();
  if (within > 0) spin(within, process.hrtime(start)[1]);
  const end = process.hrtime(start);
  return end[0] * 1e9 + end[1];
}

function read(count) {
  const bytes = Buffer.alloc(count);
  for (let done = 0; done < count; ) {
    const more = fs.readSync(0, bytes, done, count - done);
    // The lab has closed the pipe.
    if (more === 0) process.exit(0);
    done += more;
  }
  return bytes;
}

function write(bytes) {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(1, bytes, done);
}

// What a target prints goes to standard error, because the lab reads standard output.
console.log = console.error;
const hello = Buffer.from(HELLO);
const head = Buffer.alloc(12);
head.write("DPWK");
head.writeUInt32LE(VERSION, 4);
head.writeUInt32LE(hello.length, 8);
write(Buffer.concat([head, hello]));
const nothing = () => 0;
for (;;) {
  const request = read(20);
  const [number, target, repeats, slots, length] = [0, 4, 8, 12, 16].map((place) => request.readUInt32LE(place));
  const data = read(slots * (8 + length));
  const answer = Buffer.alloc(8 + 8 * slots);
  answer.writeUInt32LE(number, 0);
  answer.writeUInt32LE(slots, 4);
  const [, , , prepare, call] = target === NO_CALL ? [0, 0, 0, nothing, nothing] : TARGETS[target];
  const calls = target === NO_CALL ? 0 : repeats;
  for (let slot = 0; slot < slots; slot++) {
    const place = slot * (8 + length);
    prepare(data.subarray(place + 8, place + 8 + length));
    const ticks = measure(call, calls, data.readUInt32LE(place), data.readUInt32LE(place + 4));
    answer.writeUInt32LE(ticks % 0x100000000, 8 + 8 * slot);
    answer.writeUInt32LE(Math.floor(ticks / 0x100000000), 12 + 8 * slot);
  }
  write(answer);
}

/**
 * A worker for `deadpan lab`: measures what handles secrets in this package, in the Node.js process that runs it.
 *
 *     node build.mjs
 *     deadpan lab timing --worker 'node lab/worker.mjs'
 *
 * docs/lab-worker.md describes the protocol. WebCrypto answers later, so each call is awaited: the times of these
 * targets contain the wait for a thread of the platform, and are less exact than those of other targets.
 */

import { cbc } from "@noble/ciphers/aes.js";
import { x25519, ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { sha3_256 } from "@noble/hashes/sha3.js";
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import { readSync, writeSync } from "node:fs";
import { equal } from "../dist/bytes.js";

const { subtle } = globalThis.crypto;
const IV = new Uint8Array(16);
const BLOCKS = new Uint8Array(4096);
// The generator's coordinate of X25519, and a fixed pair of each other kind.
const NINE = Uint8Array.of(9, ...new Uint8Array(31));
const POINT = p256.getPublicKey(new Uint8Array(32).fill(7), false);
const PAIR = ml_kem768.keygen(new Uint8Array(64).fill(7));

/** A copy, because the worker reads the next input into the same memory. */
const copy = (/** @type {Uint8Array} */ input) => new Uint8Array(input);

/**
 * Each target: its name, the parts of its input, the classes that the lab compares, a function that makes the arguments
 * from the input (not timed), and the function to measure.
 * @type {[string, string, string, (input: Uint8Array) => any, (argument: any) => any][]}
 */
const TARGETS = [
    [
        "equal",
        "secret:32,public:32",
        "equal@same,first@other,last@other",
        input => [copy(input.subarray(0, 32)), copy(input.subarray(32))],
        ([a, b]) => equal(a, b),
    ],
    ["noble.x25519", "secret:32", "zeros,random", copy, scalar => x25519.getSharedSecret(scalar, NINE)],
    ["noble.p256", "secret:32", "bit,random", valid, scalar => p256.getSharedSecret(scalar, POINT)],
    ["noble.ed25519.public", "secret:32", "zeros,random", copy, seed => ed25519.getPublicKey(seed)],
    ["noble.ml-kem-768.keygen", "secret:64", "zeros,random", copy, seed => ml_kem768.keygen(seed)],
    [
        "noble.ml-kem-768.open",
        "secret:64",
        "zeros,random",
        seed => ml_kem768.keygen(copy(seed)).secretKey,
        key => ml_kem768.decapsulate(CIPHERTEXT, key),
    ],
    ["noble.sha3-256", "secret:136", "zeros,random", copy, data => sha3_256(data)],
    ["noble.aes-cbc", "secret:32", "zeros,random", copy, key => cbc(key, IV, { disablePadding: true }).decrypt(BLOCKS)],
    [
        "webcrypto.aes-gcm.open",
        "secret:32",
        "zeros,random",
        async key => {
            const imported = await subtle.importKey("raw", copy(key), "AES-GCM", false, ["encrypt", "decrypt"]);
            const sealed = await subtle.encrypt({ name: "AES-GCM", iv: IV }, imported, BLOCKS);
            return { imported, sealed };
        },
        ({ imported, sealed }) => subtle.decrypt({ name: "AES-GCM", iv: IV }, imported, sealed),
    ],
    [
        "webcrypto.x25519",
        "secret:32",
        "zeros,random",
        async scalar => ({
            key: await subtle.importKey("pkcs8", pkcs8(scalar), "X25519", false, ["deriveBits"]),
            other: await subtle.importKey("raw", NINE, "X25519", false, []),
        }),
        ({ key, other }) => subtle.deriveBits({ name: "X25519", public: other }, key, 256),
    ],
];

const CIPHERTEXT = ml_kem768.encapsulate(PAIR.publicKey, new Uint8Array(32)).cipherText;

/**
 * A scalar of P-256: with its highest byte zero, a number is below the order, and with its lowest bit set, not zero.
 */
function valid(/** @type {Uint8Array} */ input) {
    const scalar = copy(input);
    scalar[0] = 0;
    scalar[31] = (scalar[31] ?? 0) | 1;
    return scalar;
}

function pkcs8(/** @type {Uint8Array} */ scalar) {
    return Uint8Array.of(...Buffer.from("302e020100300506032b656e04220420", "hex"), ...scalar);
}

const VERSION = 1;
const NO_CALL = 0xffffffff;
const HELLO = `language: JavaScript
runtime: Node.js ${process.versions.node} (V8 ${process.versions.v8}, OpenSSL ${process.versions.openssl})
clock: process.hrtime
hertz: 1000000000
warm-up: 300
${TARGETS.map(([name, parts, classes]) => `target: ${name} ${parts} ${classes}\n`).join("")}`;

let state = 1;

/** Waits. Each turn depends on the turn before it, and the first one on seed. */
function spin(/** @type {number} */ turns, /** @type {number} */ seed) {
    let x = (state + seed) | 0;
    for (let i = 0; i < turns; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0;
    state = x;
}

/** What was computed last, so that no call can be left out. */
export let sink;

/** @param {(argument: any) => any} call @param {any} argument @param {number[]} numbers */
async function measure(call, argument, [repeats = 0, before = 0, within = 0]) {
    spin(before, 0);
    const start = process.hrtime();
    for (let i = 0; i < repeats; i++) {
        sink = call(argument);
        if (sink instanceof Promise) sink = await sink;
    }
    if (within > 0) spin(within, process.hrtime(start)[1]);
    const end = process.hrtime(start);
    return end[0] * 1e9 + end[1];
}

function read(/** @type {number} */ count) {
    const bytes = Buffer.alloc(count);
    for (let done = 0; done < count;) {
        const more = readSync(0, bytes, done, count - done, null);
        // The lab has closed the pipe.
        if (more === 0) process.exit(0);
        done += more;
    }
    return bytes;
}

function write(/** @type {Uint8Array} */ bytes) {
    for (let done = 0; done < bytes.length;) done += writeSync(1, bytes, done);
}

const hello = Buffer.from(HELLO);
const head = Buffer.alloc(12);
head.write("DPWK");
head.writeUInt32LE(VERSION, 4);
head.writeUInt32LE(hello.length, 8);
write(Buffer.concat([head, hello]));
for (;;) {
    const request = read(20);
    const [number = 0, target = 0, repeats = 0, slots = 0, length = 0] = [0, 4, 8, 12, 16].map(place =>
        request.readUInt32LE(place),
    );
    const data = read(slots * (8 + length));
    const answer = Buffer.alloc(8 + 8 * slots);
    answer.writeUInt32LE(number, 0);
    answer.writeUInt32LE(slots, 4);
    const known = target === NO_CALL ? undefined : TARGETS[target];
    const [prepare, call] = known === undefined ? [() => 0, () => 0] : [known[3], known[4]];
    for (let slot = 0; slot < slots; slot++) {
        const place = slot * (8 + length);
        const argument = await prepare(data.subarray(place + 8, place + 8 + length));
        const numbers = [known ? repeats : 0, data.readUInt32LE(place), data.readUInt32LE(place + 4)];
        const ticks = await measure(call, argument, numbers);
        answer.writeUInt32LE(ticks % 0x100000000, 8 + 8 * slot);
        answer.writeUInt32LE(Math.floor(ticks / 0x100000000), 12 + 8 * slot);
    }
    write(answer);
}

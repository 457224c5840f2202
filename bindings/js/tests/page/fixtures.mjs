/** What the cases open: frozen files, and files that the library of this package seals. */

import { build } from "esbuild";
import { spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = fileURLToPath(new URL("../..", import.meta.url));
const BLOCK = 1 << 20;

/** @typedef {typeof import("../../src/index.ts")} Library */

/** Returns the path of a frozen file. @param {string} name */
export function frozen(name) {
    return resolve(here, "../../tests/frozen/0.2.0", name);
}

/** The passphrase of the frozen files. */
export const PASSPHRASE = readFileSync(frozen("keys/passphrase"), "utf8").trimEnd();
/** The data in most frozen files. */
export const NOTE = readFileSync(frozen("signed/note.txt"), "utf8");

/**
 * Bundles the library into a folder, and loads it.
 * @param {string} folder
 * @returns {Promise<Library>}
 */
export async function loadLibrary(folder) {
    const outfile = join(folder, "library.mjs");
    await build({
        entryPoints: [join(here, "src/index.ts")],
        outfile,
        bundle: true,
        format: "esm",
        platform: "node",
        target: "es2022",
        logLevel: "warning",
    });
    return import(pathToFileURL(outfile).href);
}

/** Returns the key of the frozen files that most of them are sealed to. @param {Library} library */
export async function frozenKey(library) {
    return (await library.readPrivateKey(readFileSync(frozen("keys/x25519.key"), "utf8"))).publicKey;
}

/**
 * Yields data of this length, which `pickersThatCompare` knows.
 * @param {number} length
 */
export function* blocks(length) {
    const block = Uint8Array.from({ length: BLOCK }, (_, place) => (place * 167) & 255);
    for (let number = 0; number * BLOCK < length; number++) {
        const next = block.slice(0, length - number * BLOCK);
        next.set(Uint8Array.of(number, number >>> 8, number >>> 16, number >>> 24).subarray(0, next.length));
        yield next;
    }
}

/**
 * Seals data of this length to the key of the frozen files, and writes the sealed file.
 * @param {Library} library
 * @param {string} path
 * @param {number} length
 */
export async function sealLong(library, path, length) {
    const data = /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(Readable.from(blocks(length))));
    const sealed = await library.sealStream(data, await frozenKey(library), { name: "long.bin" });
    await pipeline(Readable.fromWeb(/** @type {any} */ (sealed)), createWriteStream(path));
}

/**
 * Runs the command line, and returns what it writes.
 * @param {string} program
 * @param {string[]} args
 * @param {Iterable<Uint8Array>} [input]
 * @returns {Promise<Buffer>}
 */
export async function command(program, args, input = []) {
    const child = spawn(program, args, {
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...process.env, DEADPAN_HOME: "/nonexistent" },
    });
    const status = new Promise((done, fail) => child.once("error", fail).once("close", done));
    /** @type {[Buffer[], Buffer[]]} */
    const [output, errors] = [[], []];
    child.stdout.on("data", data => output.push(data));
    child.stderr.on("data", data => errors.push(data));
    await pipeline(Readable.from(input), child.stdin).catch(() => {});
    if ((await status) !== 0) {
        throw new Error(`${program} ${args.join(" ")}: ${Buffer.concat(errors)}`);
    }
    return Buffer.concat(output);
}

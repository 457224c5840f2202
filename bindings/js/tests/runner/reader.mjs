/**
 * Opens files for tests/reader/check.py, with the package as it is published: node reader.mjs
 *
 * Each line of standard input is a list of arguments in JSON, as tests/reader/open.py takes them. The answer is a line
 * too: the status, which means the same as that of open.py, the output in base64, and the error.
 */

import { open, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { DeadpanError, NoKeyError, openFile, Passphrase, readPrivateKeys } from "../../dist/index.js";

const REFUSED = 1;
const CALLED_WRONGLY = 2;
const NO_KEY = 3;
// No failure of the package but a `DeadpanError` may pass for a refusal.
const BROKEN = 70;

// A passphrase remembers its hashes, which take most of the time.
/** @type {Map<string, Passphrase>} */
const known = new Map();

/** The call does not fit the file, or cannot be understood. */
class CallError extends Error {}

for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
}

/** @param {string[]} call */
async function answer(call) {
    try {
        return { status: 0, stdout: Buffer.from(await answered(call)).toString("base64"), stderr: "" };
    } catch (why) {
        const stderr = why instanceof Error ? (why.stack ?? why.message) : String(why);
        return { status: statusOf(why), stdout: "", stderr };
    }
}

/** @param {unknown} why */
function statusOf(why) {
    if (why instanceof NoKeyError) {
        return NO_KEY;
    }
    if (why instanceof CallError) {
        return CALLED_WRONGLY;
    }
    return why instanceof DeadpanError ? REFUSED : BROKEN;
}

/** @param {string[]} call */
async function answered(call) {
    const { values, positionals } = parseArgs({
        args: call,
        allowPositionals: true,
        options: {
            key: { type: "string", multiple: true, default: [] },
            "passphrase-file": { type: "string" },
            range: { type: "string" },
            metadata: { type: "boolean" },
            signers: { type: "boolean" },
        },
    });
    const keys = [...(await privateKeys(values.key)), ...(await passphrases(values["passphrase-file"]))];
    const handle = await open(positionals[0] ?? "");
    try {
        const opened = await openFile(await sourceOf(handle), keys);
        if (values.signers) {
            return `${JSON.stringify(signersOf(opened))}\n`;
        }
        if (values.metadata) {
            return `${JSON.stringify(metadataOf(opened.description))}\n`;
        }
        const [offset, length] = values.range?.split(":").map(Number) ?? [0, opened.size];
        if (offset === undefined || length === undefined || offset + length > opened.size) {
            throw new CallError(`the range ends after the data, which are ${opened.size} bytes long`);
        }
        return await opened.read(offset, length);
    } finally {
        await handle.close();
    }
}

/** @param {string[]} paths */
async function privateKeys(paths) {
    const keys = [];
    for (const path of paths) {
        keys.push(...(await readPrivateKeys(await readFile(path, "utf8"))));
    }
    return keys;
}

/** @param {string | undefined} path */
async function passphrases(path) {
    if (path === undefined) {
        return [];
    }
    const data = await readFile(path);
    const end = data.indexOf("\n");
    const line = data.subarray(0, end < 0 ? data.length : end);
    const typed = line.at(-1) === 13 ? line.subarray(0, -1) : line;
    const name = typed.toString("hex");
    const passphrase = known.get(name) ?? new Passphrase(typed);
    known.set(name, passphrase);
    return [passphrase];
}

/**
 * @param {import("node:fs/promises").FileHandle} handle
 * @returns {Promise<import("../../dist/index.js").Source>}
 */
async function sourceOf(handle) {
    const { size } = await handle.stat();
    return {
        size,
        async read(offset, length) {
            const { buffer, bytesRead } = await handle.read(new Uint8Array(length), 0, length, offset);
            return buffer.subarray(0, bytesRead);
        },
    };
}

/** @param {import("../../dist/index.js").Description} description */
function metadataOf({ kind, hiddenLength, compressed, name, mode, modified }) {
    return {
        kind,
        padded: hiddenLength,
        ...(compressed ? { compressed } : {}),
        ...(name === undefined ? {} : { name }),
        ...(mode === undefined ? {} : { mode }),
        ...(modified === undefined ? {} : { seconds: Number(modified.seconds), nanoseconds: modified.nanoseconds }),
    };
}

/** @param {import("../../dist/index.js").OpenedFile} opened */
function signersOf({ signatures }) {
    if (signatures === undefined) {
        return null;
    }
    const { signers, time, recipients, forwarded } = signatures;
    return {
        signers: signers.map(({ kind, publicKey }) => ({ kind, key: Buffer.from(publicKey).toString("hex") })),
        time,
        recipients: recipients ?? null,
        named: recipients !== undefined && !forwarded,
    };
}

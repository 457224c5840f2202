/**
 * Ways to open a sealed file of the same data, for one comparison: this package, WebCrypto alone, and other packages.
 * Each way counts the bytes that it opens, so that a way that does not open all data fails. Only the measured package
 * is loaded, because the garbage collector takes longer if more code is loaded.
 */

import { fromFileHandle, openFile, PrivateKey, publicKeyToAge, remote, type Source } from "../src/index.ts";
import { kemOf } from "../src/crypto/kem.ts";

/** The length of the data in a segment, and of a segment. */
const STEP = 262_144 - 32;
const SEGMENT = 262_144;
const IN_FLIGHT = 8;
/** hat.sh's pieces. */
const SODIUM_PIECE = 64 * 1024 * 1024;

/** A file for the benchmark. */
export interface Bench {
    /** A file sealed to the X25519 key below. */
    readonly sealed: Source;
    /** The same data as an age file for the identity below. */
    readonly age: Source;
    readonly size: number;
}

export const SEED = new Uint8Array(32).fill(0x42);
export const IDENTITY = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";

type Way = (bench: Bench) => Promise<number>;

async function count(stream: ReadableStream<Uint8Array>): Promise<number> {
    let bytes = 0;
    const reader = stream.getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done) {
            return bytes;
        }
        bytes += value.length;
    }
}

function streamed(from: Source, step: number): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream<Uint8Array>(
        {
            async pull(controller) {
                if (at >= from.size) {
                    controller.close();
                    return;
                }
                controller.enqueue(await from.read(at, Math.min(step, from.size - at)));
                at += step;
            },
        },
        { highWaterMark: 0 },
    );
}

const deadpan: Way = async ({ sealed }) => {
    const key = await PrivateKey.fromSecret(kemOf(0x0020)!, SEED);
    return count((await openFile(sealed, key)).stream());
};

/** What WebCrypto needs for AES-GCM of as many pieces of the same length, read from the same file. */
const webCrypto: Way = async ({ sealed, size }) => {
    const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
    const iv = new Uint8Array(12);
    const piece = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new Uint8Array(STEP)));
    let bytes = 0;
    const stretch = IN_FLIGHT * SEGMENT;
    let read = sealed.read(0, Math.min(stretch, sealed.size));
    for (let at = 0; bytes < size; at += stretch) {
        const here = await read;
        const next = at + stretch;
        if (next < sealed.size) {
            read = sealed.read(next, Math.min(stretch, sealed.size - next));
        }
        const opened = Array.from({ length: Math.ceil(here.length / SEGMENT) }, () =>
            crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, piece),
        );
        for (const data of await Promise.all(opened)) {
            bytes += data.byteLength;
        }
    }
    return size;
};

const typage: Way = async ({ age }) => {
    const { Decrypter } = await import("age-encryption");
    const decrypter = new Decrypter();
    decrypter.addIdentity(IDENTITY);
    return count(await decrypter.decrypt(streamed(age, 1 << 20) as ReadableStream<Uint8Array<ArrayBuffer>>));
};

const deadpanAge: Way = async ({ age }) => {
    const key = await PrivateKey.fromSecret(kemOf(0x0020)!, SEED);
    return count((await openFile(age, key)).stream());
};

/** hat.sh's way: secretstream of libsodium.js, in pieces of 64 MiB. */
const libsodium: Way = async ({ size }) => {
    const { default: sodium } = await import("libsodium-wrappers");
    await sodium.ready;
    const key = sodium.crypto_secretstream_xchacha20poly1305_keygen();
    const { state, header } = sodium.crypto_secretstream_xchacha20poly1305_init_push(key);
    const message = sodium.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
    const piece = new Uint8Array(Math.min(SODIUM_PIECE, size));
    const sealed = sodium.crypto_secretstream_xchacha20poly1305_push(state, piece, null, message);
    const pull = () => sodium.crypto_secretstream_xchacha20poly1305_init_pull(header, key);
    let bytes = 0;
    while (bytes < size) {
        const opened = sodium.crypto_secretstream_xchacha20poly1305_pull(pull(), sealed, null);
        if (opened === false || typeof opened === "string") {
            throw new Error("libsodium.js refuses its own data");
        }
        bytes += opened.message.length;
    }
    return bytes;
};

let message: Promise<Uint8Array> | undefined;

const openPgp: Way = async ({ size }) => {
    // OpenPGP.js looks into it, and Node.js 20 does not have it.
    globalThis.navigator ?? Object.assign(globalThis, { navigator: { userAgent: "" } });
    const openpgp = await import("openpgp");
    const config = { aeadProtect: true, preferredAEADAlgorithm: openpgp.enums.aead.gcm };
    const password = "correct horse";
    message ??= openpgp
        .createMessage({ binary: new Uint8Array(size) })
        .then(data => openpgp.encrypt({ message: data, passwords: [password], format: "binary", config }));
    const sealed = await openpgp.readMessage({ binaryMessage: await message });
    const { data } = await openpgp.decrypt({ message: sealed, passwords: [password], format: "binary", config });
    return data.length;
};

/** The ways, each with the part of the data that it opens: the slow ones would take minutes. */
export const WAYS: Readonly<Record<string, { way: Way; part: number }>> = {
    deadpan: { way: deadpan, part: 1 },
    "WebCrypto alone": { way: webCrypto, part: 1 },
    "age-encryption": { way: typage, part: 1 / 8 },
    "deadpan, age file": { way: deadpanAge, part: 1 / 8 },
    "libsodium.js": { way: libsodium, part: 1 / 8 },
    openpgp: { way: openPgp, part: 1 / 8 },
};

/** Returns a file on the disk, in Node.js. */
export async function onDisk(path: string): Promise<Source> {
    const { open } = await import("node:fs/promises");
    return fromFileHandle(await open(path));
}

/** Opens in one way, and returns MB/s. */
export async function once(name: string, whole: Bench, parts: Bench): Promise<number> {
    const { way, part } = WAYS[name]!;
    const bench = part === 1 ? whole : parts;
    if (name === "openpgp") {
        // Sealing is not measured.
        await way(bench);
    }
    const start = performance.now();
    const opened = await way(bench);
    const seconds = (performance.now() - start) / 1000;
    if (opened !== bench.size) {
        throw new Error(`${name} has opened ${opened} of ${bench.size} bytes`);
    }
    return bench.size / 1e6 / seconds;
}

/** Returns the recipient that the files of the benchmark are sealed to. */
export async function recipient(): Promise<string> {
    return publicKeyToAge((await PrivateKey.fromSecret(kemOf(0x0020)!, SEED)).publicKey);
}

/** Opens a file on a server, and reads a part of it. */
export async function part(url: string, offset: number, length: number): Promise<number> {
    const key = await PrivateKey.fromSecret(kemOf(0x0020)!, SEED);
    return (await (await openFile(await remote(url), key)).read(offset, length)).length;
}

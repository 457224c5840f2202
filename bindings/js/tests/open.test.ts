/** Opens the files that version 0.2.0 made, and refuses every change. */

import { concat, fromHex } from "../src/bytes.ts";
import {
    DeadpanError,
    NoKeyError,
    PassphraseError,
    SignatureError,
    TamperedError,
    TruncatedError,
} from "../src/error.ts";
import {
    fromFileHandle,
    inspect,
    open,
    openFile,
    openStream,
    Passphrase,
    readPrivateKeys,
    readSigners,
    Share,
    type Key,
} from "../src/index.ts";
import { equal, files, ok, rejects, test, thorough } from "./harness.ts";

const FROZEN = "tests/frozen/0.2.0";
const FACE = "A straight face.\n";
const KINDS = ["x25519", "p256", "mlkem768", "mlkem1024", "mlkem768-p256", "xwing"];

async function file(path: string): Promise<Uint8Array<ArrayBuffer>> {
    const found = await files.read(`${FROZEN}/${path}`);
    ok(found, `${path} is missing`);
    return found;
}

async function key(name: string): Promise<Key[]> {
    return readPrivateKeys(await file(`keys/${name}.key`));
}

async function passphrase(): Promise<Passphrase> {
    return new Passphrase(text(await file("keys/passphrase")).split("\n")[0]!);
}

function text(bytes: Uint8Array): string {
    return new TextDecoder().decode(bytes);
}

async function streamed(sealed: Uint8Array<ArrayBuffer>, keys: readonly Key[], step = 777) {
    let at = 0;
    const source = new ReadableStream<Uint8Array>({
        pull(controller) {
            controller.enqueue(sealed.subarray(at, (at += step)));
            if (at >= sealed.length) {
                controller.close();
            }
        },
    });
    const opened = await openStream(source, keys);
    const parts = [];
    for await (const part of opened.stream) {
        parts.push(part);
    }
    return { data: concat(...parts), opened, signatures: await opened.signatures };
}

async function bothOpen(path: string, keys: readonly Key[], data = FACE): Promise<void> {
    const sealed = await file(path);
    const opened = await openFile(new Blob([sealed]), keys);
    equal(text(await opened.bytes()), data, path);
    const stream = await streamed(sealed, keys);
    equal(text(stream.data), data, `${path} as a stream`);
    equal(stream.opened.description, opened.description);
    equal(stream.signatures?.signers.length, opened.signatures?.signers.length);
}

test("each kind of key opens its file, and no other key does", async () => {
    for (const kind of KINDS) {
        await bothOpen(`sealed/${kind}.dpn`, await key(kind));
        const stranger = await key(kind === "x25519" ? "p256" : "x25519");
        await rejects(open(await file(`sealed/${kind}.dpn`), stranger), NoKeyError);
    }
});

test("a protected key, several recipients, changed recipients", async () => {
    const locked = await readPrivateKeys(await file("keys/protected.key"), await passphrase());
    await bothOpen("sealed/protected.dpn", locked);
    for (const kind of ["xwing", "mlkem768"]) {
        await bothOpen("sealed/several.dpn", await key(kind));
    }
    for (const kind of ["xwing", "p256"]) {
        await bothOpen("sealed/mixed.dpn", await key(kind));
    }
    await bothOpen("sealed/rewrapped.dpn", await key("mlkem768"));
});

thorough("passphrases, alone and in a session", async () => {
    const right = await passphrase();
    await bothOpen("sealed/passphrase.dpn", [right]);
    await bothOpen("sealed/session.dpn", [right]);
    await rejects(open(await file("sealed/session.dpn"), new Passphrase("wrong")), PassphraseError);
    const small = { maxCost: { memory: 1024, passes: 3 } };
    await rejects(open(await file("sealed/passphrase.dpn"), right, small), NoKeyError, /more than is allowed/);
});

test("a threshold: with keys, and with a share", async () => {
    const [xwing, mlkem] = [await key("xwing"), await key("mlkem768")];
    await bothOpen("sealed/threshold.dpn", [...xwing, ...mlkem]);
    const share = new Share(await open(await file("sealed/threshold.share"), xwing));
    equal([share.needed, share.of], [2, 3]);
    await bothOpen("sealed/threshold.dpn", [...xwing, share]);
    await rejects(open(await file("sealed/threshold.dpn"), xwing), NoKeyError, /any 2 of 3 keys; 1 of them fits/);
    // The share belongs to another file.
    await rejects(open(await file("signed/threshold.dpn"), [...xwing, share]), TamperedError);
});

test("forms of the data", async () => {
    const mine = await key("x25519");
    for (const form of ["armored", "bytes", "compressed", "compressed-hidden", "hidden"]) {
        await bothOpen(`sealed/${form}.dpn`, mine);
    }
    await bothOpen("sealed/empty.dpn", mine, "");
    const { description } = await openFile(await file("sealed/x25519.dpn"), mine);
    equal([description.kind, description.name, description.mode], ["file", "note.txt", 0o640]);
    equal(String(description.modified?.seconds), "1795953600");
    equal(description.modified?.nanoseconds, 500_000_000);
});

test("signatures of three kinds", async () => {
    const mine = await key("x25519");
    for (const kind of ["ed25519", "mldsa65", "mldsa44-ed25519"]) {
        const signers = await readSigners(await file(`keys/${kind}.pub`));
        for (const name of [kind, "all"]) {
            await bothOpen(`signed/${name}.dpn`, mine);
            const opened = await openFile(await file(`signed/${name}.dpn`), mine, { signers });
            equal(opened.signatures?.forwarded, false);
            equal(opened.signatures?.recipients, 1);
        }
        const others = await readSigners(await file(`keys/${kind === "ed25519" ? "mldsa65" : "ed25519"}.pub`));
        await rejects(openFile(await file(`signed/${kind}.dpn`), mine, { signers: others }), SignatureError);
    }
    const signers = await readSigners(await file("keys/ed25519.pub"));
    await rejects(open(await file("sealed/x25519.dpn"), mine, { signers }), SignatureError, /not signed/);
    equal((await openFile(await file("signed/for-anyone.dpn"), mine)).signatures?.recipients, undefined);
    const both = [...(await key("xwing")), ...(await key("mlkem768"))];
    equal((await openFile(await file("signed/threshold.dpn"), both)).signatures?.forwarded, false);
});

test("ranges of two segments, signed", async () => {
    const sealed = await file("signed/long.dpn");
    const mine = await key("x25519");
    const whole = Array.from({ length: 46000 }, (_, i) => `${i + 1}\n`).join("");
    await bothOpen("signed/long.dpn", mine, whole);
    const opened = await openFile(sealed, mine);
    equal(opened.size, whole.length);
    const edge = 262_144 - 32;
    for (const begin of [0, 1, edge - 1, edge, edge + 1, whole.length - 1, whole.length]) {
        for (const end of [begin, begin + 1, edge, edge + 1, whole.length]) {
            if (end >= begin && end <= whole.length) {
                equal(text(await opened.read(begin, end - begin)), whole.slice(begin, end), `${begin} to ${end}`);
            }
        }
    }
    await rejects(opened.read(0, whole.length + 1), RangeError);
    await rejects(opened.read(-1, 1), RangeError);
});

test("a file handle that reads a little at a time, and one that ends early", async () => {
    const sealed = await file("signed/long.dpn");
    const mine = await key("x25519");
    let end = sealed.length;
    const handle = {
        stat: async () => ({ size: sealed.length }),
        read: async (buffer: Uint8Array, offset: number, length: number, position: number) => {
            const piece = sealed.subarray(position, Math.min(position + length, position + 100_000, end));
            buffer.set(piece, offset);
            return { bytesRead: piece.length };
        },
    };
    const opened = await openFile(await fromFileHandle(handle), mine);
    equal(await opened.read(0, opened.size), await open(sealed, mine));
    end--;
    await rejects(openFile(await fromFileHandle(handle), mine), TruncatedError);
});

test("a folder", async () => {
    const mine = await key("x25519");
    for (const name of ["folder", "folder-compressed"]) {
        const folder = await (await openFile(await file(`sealed/${name}.dpn`), mine)).folder();
        const paths = (await folder.list()).map(({ path }) => path);
        equal(paths.sort(), ["", "a.txt", "sub", "sub/empty", "sub/link", "sub/ü.txt"]);
    }
});

test("what everybody can see", async () => {
    const seen = await inspect(await file("sealed/several.dpn"));
    equal(
        seen.recipients.map(recipient => recipient.type),
        ["key", "key", "passphrase"],
    );
    equal((await inspect(await file("signed/all.dpn"))).signed, true);
    equal((await inspect(await file("sealed/armored.dpn"))).armor, true);
});

thorough("no mutant is accepted", async () => {
    const mine = [...(await key("x25519")), ...(await key("xwing")), ...(await key("mlkem768"))];
    const names = ["sealed/x25519", "sealed/hidden", "sealed/compressed", "sealed/threshold", "signed/ed25519"];
    const sealed = await Promise.all(names.map(name => file(`${name}.dpn`)));
    let state = 46;
    const random = (below: number) => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) % below;
    for (let i = 0; i < 10_000; i++) {
        const original = sealed[i % sealed.length]!;
        const at = Math.floor(i / sealed.length) % original.length;
        let mutant = original.slice();
        switch (random(5)) {
            case 0:
                mutant = mutant.slice(0, at);
                break;
            case 1:
                mutant = concat(mutant.subarray(0, at), mutant.subarray(at + 1));
                break;
            case 2:
                mutant = concat(mutant.subarray(0, at), Uint8Array.of(random(256)), mutant.subarray(at));
                break;
            default:
                mutant[at]! ^= 1 << random(8);
        }
        // What an inserted zero leaves as it was, for example in slack that the header's length leaves out.
        if (text(mutant) === text(original) && mutant.length === original.length) {
            continue;
        }
        await rejects(open(mutant, mine), DeadpanError);
    }
});

test("frames of Zstandard that a lenient decoder takes are refused", async () => {
    // The first one keeps a decoder busy for ever that does not count its symbols, and the second one copies bytes from
    // before its data.
    for (const [frame, length] of [
        ["28b52ffd60ca041d01007283060af0e79044680180229404303ba7d32f22b5f021aa983bdf8d54010007ed074f", 1482],
        ["28b52ffd200c3d000008b80100704e09", 12],
    ] as const) {
        const { decoder } = await import("../src/fallback/zstd.ts");
        ok((await decoder()).decode(fromHex(frame), length).length !== length, "a malformed frame is expanded");
    }
});

test("a stream that is cut short fails at its end", async () => {
    const sealed = await file("signed/long.dpn");
    const mine = await key("x25519");
    for (const length of [sealed.length - 1, sealed.length - 44, sealed.length - 5000, 3000]) {
        await rejects(streamed(sealed.slice(0, length), mine), DeadpanError);
    }
    await rejects(streamed((await file("sealed/x25519.dpn")).slice(0, -1), mine), TruncatedError);
    await rejects(streamed(concat(await file("sealed/x25519.dpn"), Uint8Array.of(0)), mine), TamperedError);
});

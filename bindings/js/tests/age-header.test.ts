/** Headers of age files: the rules that are stricter than those of the specification, and the limits. */

import { isAge } from "../src/age/age.ts";
import { encodeBase64 } from "../src/age/base64.ts";
import { derive, newFileKey, sealFileKey } from "../src/age/file-key.ts";
import { buildHeader } from "../src/age/header.ts";
import { sealPayload } from "../src/age/payload.ts";
import { sealTo } from "../src/age/recipients.ts";
import { argument, type Stanza } from "../src/age/stanza.ts";
import { concat, text, utf8, type Bytes } from "../src/bytes.ts";
import { random } from "../src/crypto/symmetric.ts";
import { LimitError, NewerError, NotSealedError, TamperedError } from "../src/error.ts";
import { generateKey, type PrivateKey } from "../src/key/key.ts";
import { collect, DATA, keys, once, open, openStreamed, seal } from "./age.ts";
import { equal, ok, rejects, test } from "./harness.ts";

/** Returns a file whose header has these stanzas. */
async function crafted(fileKey: Bytes, ...stanzas: Stanza[]): Promise<Bytes> {
    return concat(await buildHeader(fileKey, stanzas), await collect(sealPayload(once(DATA), fileKey)));
}

function grease(length: number): Stanza {
    return { type: "grease", args: ["~!"], body: random(length) };
}

test("known stanzas in a wrong form make the header invalid, and others are ignored", async () => {
    const key = await generateKey("X25519");
    const fileKey = newFileKey();
    const good = await sealTo(key.publicKey, fileKey);
    for (const length of [0, 1, 47, 48, 49, 95, 96, 97, 1000]) {
        equal(await open(await crafted(fileKey, grease(length), good, grease(length)), keys(key)), DATA, `${length}`);
    }
    for (const type of ["__proto__", "constructor", "x25519"]) {
        equal(await open(await crafted(fileKey, { ...grease(5), type }, good), keys(key)), DATA, type);
    }
    const b64 = (length: number): string => encodeBase64(new Uint8Array(length));
    const body = new Uint8Array(32);
    for (const bad of [
        { type: "X25519", args: [], body },
        { type: "X25519", args: [b64(31)], body },
        { type: "X25519", args: [b64(32), b64(1)], body },
        { type: "X25519", args: [`${b64(31)}=`], body },
        { type: "X25519", args: [b64(32)], body: new Uint8Array(33) },
        { type: "mlkem768x25519", args: [b64(1119)], body },
        { type: "p256tag", args: [b64(65)], body },
        { type: "p256tag", args: [b64(4), b64(33)], body },
        { type: "mlkem768p256tag", args: [b64(4), b64(1120)], body },
        { type: "ssh-ed25519", args: [b64(3), b64(32)], body },
        { type: "ssh-rsa", args: [b64(4)], body: new Uint8Array(127) },
        { type: "ssh-rsa", args: [b64(4)], body: new Uint8Array(2049) },
        { type: "ssh-rsa", args: [b64(4), b64(4)], body: new Uint8Array(256) },
        { type: "scrypt", args: [b64(16), "10"], body },
    ]) {
        await rejects(open(await crafted(fileKey, good, bad), keys(key)), TamperedError, /^the header is damaged/);
    }
    for (const exponent of ["0", "010", "+1", "1 ", "", "a", "0x10"]) {
        const bad = { type: "scrypt", args: [b64(16), exponent], body };
        await rejects(open(await crafted(fileKey, bad), keys(key)), TamperedError, /^the header is damaged/);
    }
    for (const exponent of ["23", "99", "100", "99999999999999999999"]) {
        const bad = { type: "scrypt", args: [b64(16), exponent], body };
        await rejects(open(await crafted(fileKey, bad), keys(key)), LimitError);
    }
    const none = await crafted(fileKey);
    await rejects(open(none, keys(key)), TamperedError, /no recipients/);
});

test("shares of X25519 need not be canonical", async () => {
    // The prime and 9, which is the base point: its secret with a key is the public key.
    const key = await generateKey("X25519");
    const plain = new Uint8Array(32).fill(0xff);
    [plain[0], plain[31]] = [0xf6, 0x7f];
    const high = plain.slice();
    high[31] = 0xff;
    const base = new Uint8Array(32);
    [base[0], base[31]] = [9, 0x80];
    for (const share of [plain, high, base]) {
        const fileKey = newFileKey();
        const own = key.publicKey.bytes;
        const wrapping = await derive(own, concat(share, own), "age-encryption.org/v1/X25519");
        const stanza = { type: "X25519", args: [encodeBase64(share)], body: await sealFileKey(wrapping, fileKey) };
        equal(await open(await crafted(fileKey, stanza), keys(key)), DATA);
    }
});

test("seven stanzas with the tag of a key are skipped, and eight are too many", async () => {
    for (const kind of ["P-256", "ML-KEM-768 + P-256"] as const) {
        const [key, other] = [await generateKey(kind), await generateKey("X25519")];
        const fileKey = newFileKey();
        const good = await sealTo(key.publicKey, fileKey);
        const bad = { ...good, body: good.body.map(byte => byte ^ 1) };
        const foreign = { ...bad, args: ["AAAAAA", ...good.args.slice(1)] };
        const file = (count: number, stanza: Stanza): Promise<Bytes> =>
            crafted(fileKey, ...new Array<Stanza>(count).fill(stanza), good);
        equal(await open(await file(7, bad), keys(other, key)), DATA, kind);
        equal(await open(await file(100, foreign), keys(key)), DATA, kind);
        await rejects(open(await file(8, bad), keys(key)), LimitError, /the tag of a key/);
        const many = keys(...new Array<PrivateKey>(8).fill(key));
        await rejects(open(await crafted(fileKey, bad), many), LimitError);
        // Whatever has the tag has to be valid.
        const enc = argument(good, 1);
        equal(enc.length, kind === "P-256" ? 65 : 1153);
    }
});

test("headers are limited", async () => {
    const key = await generateKey("X25519");
    const fileKey = newFileKey();
    const good = await sealTo(key.publicKey, fileKey);
    const empty = (await buildHeader(fileKey, [good, grease(0)])).length;
    // 64 symbols and a line feed for 48 bytes.
    const fitting = Math.floor((2 ** 20 - empty) / 65) * 48;
    equal(await open(await crafted(fileKey, grease(fitting), good), keys(key)), DATA);
    equal(await openStreamed(await crafted(fileKey, grease(fitting), good), keys(key), 10_000), DATA);
    await rejects(crafted(fileKey, grease(fitting + 48), good), RangeError);
    for (const line of ["-> x", "-> x\n", "-> x\n\n-"]) {
        const endless = utf8(`age-encryption.org/v1\n${line}${"A".repeat(2 ** 20)}`);
        await rejects(open(endless, keys(key)), LimitError);
        await rejects(openStreamed(endless, keys(key), 100_000), LimitError);
    }
    const lines = utf8(`age-encryption.org/v1\n-> x\n${`${"A".repeat(64)}\n`.repeat(20_000)}`);
    await rejects(open(lines, keys(key)), LimitError);
    const last = utf8(`age-encryption.org/v1\n-> x\n\n--- ${"A".repeat(2 ** 20)}`);
    await rejects(open(last, keys(key)), TamperedError, /its last line/);
});

test("other versions and other files are told apart", async () => {
    for (const [start, answer] of [
        ["age-encryption.org/v1\n", true],
        ["age-encryption.org/v2\n", true],
        ["age-encr", true],
        ["age", false],
        ["", false],
        ["age-encryption.com/v1", false],
        ["-----BEGIN AGE ENCRYPTED FILE-----\n", true],
        ["\n \r\n-----BEGIN AGE ENCRYPTED FILE-----", true],
        ["-----BEGIN AGE ENCRYPTED FILE----", false],
        ["x\n-----BEGIN AGE ENCRYPTED FILE-----", false],
        ["   ", false],
    ] as const) {
        equal(isAge(utf8(start)), answer, start);
    }
    const key = await generateKey("X25519");
    const sealed = text(await seal(DATA, key.publicKey).then(bytes => bytes.slice(0, 150))) ?? "";
    ok(sealed.startsWith("age-encryption.org/v1\n"), "a header");
    const open2 = (from: string, to: string): Promise<Bytes> => open(utf8(sealed.replace(from, to)), keys(key));
    await rejects(open2("/v1\n", "/v2\n"), NewerError);
    await rejects(open2("/v1\n", "/v1\r\n"), TamperedError, /its first line/);
    await rejects(open2("/v1\n", "/v12\n"), TamperedError, /its first line/);
    await rejects(open2("age", "AGE"), NotSealedError);
    for (const other of ["", "age", "plain text that is long enough to be a header", "age-encryption.com/v1\n"]) {
        await rejects(open(utf8(other), keys(key)), NotSealedError);
        await rejects(openStreamed(utf8(other), keys(key)), NotSealedError);
    }
});

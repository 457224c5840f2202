/** age files: the vectors of C2SP's CCTV, the frozen files, and the package `age-encryption` as a peer. */

import { Decrypter, Encrypter } from "age-encryption";
import { isAge, openAge, openAgeStream, sealAgeStream } from "../src/age/age.ts";
import { concat, hex, text, type Bytes } from "../src/bytes.ts";
import { switchedOff, type Newer } from "../src/crypto/platform.ts";
import { digest, random } from "../src/crypto/symmetric.ts";
import { CostlyError, DeadpanError, NoKeyError, NotSealedError, PassphraseError } from "../src/error.ts";
import { generateKey, type PublicKey } from "../src/key/key.ts";
import { privateKeyToAge, publicKeyToAge, readPrivateKeys } from "../src/key/text.ts";
import { Passphrase } from "../src/passphrase.ts";
import { source } from "../src/source.ts";
import {
    CHUNK,
    collect,
    DATA,
    frozen,
    frozenKeys,
    keys,
    KINDS,
    MAX_COST,
    once,
    open,
    openStreamed,
    readAll,
    seal,
    stream,
} from "./age.ts";
import { equal, files, ok, rejects, skipped, test, thorough } from "./harness.ts";

const VECTORS = "../shared/vectors/age";

interface Vector {
    fields: [string, string][];
    file: Bytes;
}

async function vectorOf(bytes: Bytes): Promise<Vector> {
    const end = bytes.findIndex((byte, i) => byte === 10 && bytes[i + 1] === 10);
    const fields = (text(bytes.subarray(0, end)) ?? "").split("\n").map((line): [string, string] => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)];
    });
    const file = bytes.slice(end + 2);
    return fields.some(([name]) => name === "compressed") ? { fields, file: await inflated(file) } : { fields, file };
}

async function inflated(bytes: Bytes): Promise<Bytes> {
    const data = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(data).arrayBuffer());
}

function outcomeOf(why: unknown, armored: boolean): string {
    if (!(why instanceof DeadpanError)) {
        throw why;
    }
    if (why instanceof NoKeyError) {
        return "no match";
    }
    // What does not begin like armor is not an age file.
    if (why.message.startsWith("the armor is damaged") || (armored && why instanceof NotSealedError)) {
        return "armor failure";
    }
    if (why.message === "the header was changed after sealing") {
        return "HMAC failure";
    }
    return /^(segment|the sealed data end|something stands)/.test(why.message) ? "payload failure" : "header failure";
}

for (const [way, name] of ["at any place", "as a stream"].entries()) {
    test(`the age vectors end as they should, opened ${name}`, async () => {
        const names = await files.list(VECTORS);
        if (names.length === 0) {
            skipped(`there is no ${VECTORS}`);
        }
        ok(names.length >= 95, `${names.length} vectors`);
        const wrong: string[] = [];
        for (const name of names) {
            const { fields, file } = await vectorOf((await files.read(`${VECTORS}/${name}`)) ?? new Uint8Array());
            const all = (field: string) => fields.filter(([name]) => name === field).map(([, value]) => value);
            const given = keys(
                ...(all("identity").length > 0 ? await readPrivateKeys(all("identity").join("\n")) : []),
                ...all("passphrase").map(passphrase => new Passphrase(passphrase)),
            );
            const out: Uint8Array[] = [];
            let outcome = "success";
            try {
                if (way === 0) {
                    out.push(await open(file, given));
                } else {
                    const step = file.length > 10_000 ? 50_000 : 70;
                    for await (const piece of await openAgeStream(stream(file, step), given, MAX_COST)) {
                        out.push(piece);
                    }
                }
            } catch (why) {
                outcome = outcomeOf(why, all("armored").includes("yes"));
            }
            const [expected] = all("expect");
            // At any place, nothing comes out of a damaged file. A stream hands out the segments before the damage.
            const [payload] = way === 1 || expected === "success" ? all("payload") : [];
            const hash = hex(await digest("SHA-256", concat(...out)));
            if (outcome !== expected || (payload !== undefined && payload !== hash)) {
                wrong.push(`${name}: ${outcome}, not ${expected}; ${hash}, not ${payload}`);
            }
        }
        equal(wrong, []);
    });
}

test("frozen age files open, at any place and as a stream", async () => {
    const passphrase = text(await frozen("keys/passphrase"))?.trimEnd() ?? "";
    for (const [file, given] of [
        ["x25519", await frozenKeys("x25519.key")],
        ["xwing", await frozenKeys("mlkem768.key", "xwing.key")],
        ["p256", await frozenKeys("p256.key")],
        ["mlkem768-p256", await frozenKeys("mlkem768-p256.key")],
        ["armored", await frozenKeys("x25519.key")],
        ["ssh-ed25519", await frozenKeys("ssh_rsa", "ssh_ed25519")],
        ["ssh-rsa", await frozenKeys("ssh_ed25519", "ssh_rsa")],
        ["passphrase", keys(new Passphrase(passphrase))],
    ] as const) {
        const sealed = await frozen(`age/${file}.age`);
        ok(isAge(sealed), file);
        equal(await open(sealed, given), DATA, file);
        equal(await openStreamed(sealed, given, 7), DATA, file);
    }
    const folder = await open(await frozen("age/folder.age"), await frozenKeys("x25519.key"));
    ok(folder.length > 512, "a folder");
    const all = await frozenKeys("x25519.key", "xwing.key", "p256.key", "mlkem768-p256.key", "ssh_rsa", "ssh_ed25519");
    await rejects(open(await frozen("age/plugin.age"), all), NoKeyError, /sealed to one recipient of an unknown type/);
});

test("each kind of recipient opens what is sealed to it, and nobody else does", async () => {
    for (const kind of KINDS) {
        const [key, other] = [await generateKey(kind), await generateKey(kind)];
        const sealed = await seal(DATA, key.publicKey, other.publicKey, key.publicKey);
        for (const owner of [key, other]) {
            equal(await open(sealed, keys(owner)), DATA, kind);
            equal(await openStreamed(sealed, keys(owner)), DATA, kind);
        }
        await rejects(open(sealed, keys(await generateKey(kind))), NoKeyError, /sealed to 2 .* keys$/);
        await rejects(openStreamed(sealed, keys(await generateKey(kind))), NoKeyError);
        await rejects(open(sealed, keys(new Passphrase("x"))), NoKeyError, /^no key fits/);
        await rejects(open(sealed, keys()), NoKeyError);
    }
});

test("age-encryption opens what is sealed, and the reverse", async () => {
    const data = random(150_000);
    for (const kind of KINDS) {
        const key = await generateKey(kind);
        const encrypter = new Encrypter();
        encrypter.addRecipient(publicKeyToAge(key.publicKey));
        const theirs = new Uint8Array(await encrypter.encrypt(data));
        equal(await open(theirs, keys(key)), data, kind);
        equal(await openStreamed(theirs, keys(key), 60_000), data, kind);
        // The private keys of tags lie in hardware.
        if (kind === "X25519" || kind === "X-Wing") {
            const decrypter = new Decrypter();
            decrypter.addIdentity(privateKeyToAge(key));
            equal(await decrypter.decrypt(await seal(data, key.publicKey)), data, kind);
        }
    }
});

test("passphrases open, also those of age-encryption", async () => {
    const encrypter = new Encrypter();
    encrypter.setPassphrase("Zoë");
    encrypter.setScryptWorkFactor(10);
    const theirs = new Uint8Array(await encrypter.encrypt(DATA));
    equal(await open(theirs, keys(new Passphrase("x"), new Passphrase("Zoe\u0308"))), DATA);
    await rejects(open(theirs, keys(new Passphrase("x"), new Passphrase("y"))), PassphraseError);
    await rejects(open(theirs, keys(await generateKey("X25519"))), NoKeyError, /sealed to one passphrase$/);
    const cheap = { memory: 1023, passes: 3 };
    const costly = openAge(source(theirs), keys(new Passphrase("Zoë")), cheap);
    await rejects(costly, CostlyError, /1024 KiB/);
    await rejects(openAge(source(theirs), keys(new Passphrase("Zoë")), { memory: 2048, passes: 0.25 }), CostlyError);
    equal(await readAll(await openAge(source(theirs), keys(new Passphrase("Zoë")), { memory: 1024, passes: 1 })), DATA);
});

thorough("a passphrase seals with N = 2^18", async () => {
    const ours = await seal(DATA, new Passphrase("Zoe\u0308"));
    ok(/^age-encryption.org\/v1\n-> scrypt [^ ]{22} 18\n/.test(text(ours.subarray(0, 64)) ?? ""), "the header");
    const decrypter = new Decrypter();
    decrypter.addPassphrase("Zo\u00eb");
    equal(await decrypter.decrypt(ours), DATA);
    const passphrase = new Passphrase("Zoë");
    equal(await open(ours, keys(passphrase)), DATA);
    const start = performance.now();
    equal(await open(ours, keys(passphrase)), DATA);
    ok(performance.now() - start < 300, "the second time, nothing is hashed");
});

test("recipients that age does not allow are refused at once", async () => {
    const [x25519, p256, hybrid, pq] = await Promise.all(
        (["X25519", "P-256", "X-Wing", "ML-KEM-768"] as const).map(async kind => (await generateKey(kind)).publicKey),
    );
    const [passphrase, ...wrong] = [new Passphrase("x"), "age1", undefined, {}];
    for (const list of [
        [],
        [pq],
        [x25519, pq],
        [x25519, passphrase],
        [passphrase, new Passphrase("y")],
        ...wrong.map(one => [one]),
    ]) {
        await rejects(() => sealAgeStream(once(DATA), list as PublicKey[]), TypeError);
    }
    for (const classical of [x25519, p256] as PublicKey[]) {
        const list = [classical, hybrid] as PublicKey[];
        await rejects(() => sealAgeStream(once(DATA), list), TypeError, /classical, which would make/);
        await collect(sealAgeStream(once(DATA), list, { allowMixed: true }));
    }
    await rejects(collect(sealAgeStream(once("text" as unknown as Bytes), [x25519] as PublicKey[])), TypeError);
});

test("the fallbacks do the same as the platform", async () => {
    const all: Newer[] = ["X25519", "ML-KEM-768", "MLKEM768-X25519", "ChaCha20-Poly1305"];
    const newer = all.filter(algorithm => !switchedOff.has(algorithm));
    const data = random(3 * CHUNK + 7);
    const list = await Promise.all(KINDS.map(kind => generateKey(kind)));
    const theirs = await Promise.all(list.map(key => seal(data, key.publicKey)));
    try {
        newer.forEach(algorithm => switchedOff.add(algorithm));
        for (const [i, key] of list.entries()) {
            equal(await open(theirs[i] ?? data, keys(key)), data, key.kind);
            theirs[i] = await seal(data, key.publicKey);
        }
        const ssh = await frozenKeys("ssh_ed25519");
        equal(await open(await frozen("age/ssh-ed25519.age"), ssh), DATA);
    } finally {
        newer.forEach(algorithm => switchedOff.delete(algorithm));
    }
    for (const [i, key] of list.entries()) {
        equal(await open(theirs[i] ?? data, keys(key)), data, key.kind);
    }
});

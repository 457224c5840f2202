/** What is sealed opens again, and nothing is sealed to nobody. */

import { concat } from "../src/bytes.ts";
import { KEMS } from "../src/crypto/kem.ts";
import { NoKeyError } from "../src/error.ts";
import {
    generateKey,
    inspect,
    open,
    openFile,
    openStream,
    Passphrase,
    seal,
    sealFolder,
    sealStream,
    sealText,
    type Source,
} from "../src/index.ts";
import { equal, ok, rejects, test } from "./harness.ts";

const STEP = 262_144 - 32;

function some(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 24);
}

async function gathered(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Uint8Array[] = [];
    const reader = stream.getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done) {
            return concat(...parts);
        }
        parts.push(value);
    }
}

test("each kind of key, and the modes", async () => {
    for (const kind of [...KEMS.map(kem => kem.name), "ecc", "pqc", "hybrid"] as const) {
        const key = await generateKey(kind);
        equal(await open(await seal(some(1000), key.publicKey), key), some(1000), kind);
        await rejects(open(await seal(some(10), key.publicKey), await generateKey(kind)), NoKeyError);
    }
});

test("lengths around segments, plain, hidden, as text, from streams", async () => {
    const key = await generateKey("ecc");
    for (const length of [0, 1, STEP - 1, STEP, STEP + 1, 2 * STEP, 524_224, 524_225, 8 * STEP + 1]) {
        const data = some(length);
        for (const options of [{}, { hideLength: true }, { armor: true }, { hideLength: true, armor: true }]) {
            const sealed = await seal(data, key.publicKey, options);
            const opened = await openFile(sealed, key);
            equal(await opened.bytes(), data, `${length} bytes, ${JSON.stringify(options)}`);
            const again = await openStream(new Blob([sealed]).stream(), key);
            equal(await gathered(again.stream), data, `${length} bytes as a stream, ${JSON.stringify(options)}`);
        }
        for (const step of [1000, STEP, 300_000]) {
            let at = 0;
            const pieces = new ReadableStream<Uint8Array>({
                pull(controller) {
                    controller.enqueue(data.subarray(at, (at += step)));
                    if (at >= length) {
                        controller.close();
                    }
                },
            });
            const sealed = await gathered(await sealStream(pieces, key.publicKey));
            equal(await open(sealed, key), data, `${length} bytes in pieces of ${step}`);
        }
        // A long header begins the first segment on a multiple of 4096.
        if (length > 524_224) {
            equal(((await inspect(await seal(data, key.publicKey))).headerLength + 74) % 4096, 0);
        }
    }
});

test("a passphrase in another Unicode form, beside a key", async () => {
    const key = await generateKey();
    const sealed = await seal("text", [key.publicKey, new Passphrase("caf\u00e9")]);
    equal(new TextDecoder().decode(await open(sealed, new Passphrase("cafe\u0301"))), "text");
    equal(new TextDecoder().decode(await open(sealed, key)), "text");
});

test("names, times and modes", async () => {
    const key = await generateKey("ecc");
    const options = { name: "Größe.txt", modified: 1_800_000_000_123, mode: 0o640 };
    const { description } = await openFile(await seal(some(5), key.publicKey, options), key);
    equal([description.kind, description.name, description.mode], ["file", options.name, 0o640]);
    equal([String(description.modified?.seconds), description.modified?.nanoseconds], ["1800000000", 123_000_000]);
    const file = new File([some(5)], "from a file", { lastModified: -1500 });
    const other = (await openFile(await seal(file, key.publicKey), key)).description;
    equal(
        [other.name, String(other.modified?.seconds), other.modified?.nanoseconds],
        ["from a file", "-2", 500_000_000],
    );
    for (const name of ["", ".", "..", "a/b", "a\\b", "a\0b", "x".repeat(4097)]) {
        await rejects(seal(some(5), key.publicKey, { name }), RangeError);
    }
});

test("recipients that are refused", async () => {
    const [classical, hybrid] = [(await generateKey("ecc")).publicKey, (await generateKey()).publicKey];
    await rejects(seal("x", []), TypeError, /no recipient/);
    await rejects(seal("x", [classical, hybrid]), TypeError, /X25519 is classical/);
    await seal("x", [classical, hybrid], { allowMixed: true });
    await rejects(seal("x", [new Passphrase("a"), new Passphrase("b")]), TypeError, /at most one passphrase/);
    await rejects(seal("x", "alice" as never), TypeError);
    await rejects(() => new Passphrase(""), RangeError);
});

test("a source that changes its length, and a signal", async () => {
    const key = (await generateKey("ecc")).publicKey;
    const short: Source = { size: 100, read: async () => some(99) };
    await rejects(seal(short, key), Error, /shorter/);
    const controller = new AbortController();
    controller.abort(new RangeError("stop"));
    await rejects(seal(some(100), key, { signal: controller.signal }), RangeError, /stop/);
});

test("misspelt options are refused, texts are opened, and a key does not show its secret", async () => {
    const key = await generateKey("ecc");
    await rejects(seal("x", key.publicKey, { armour: true } as never), TypeError, /no option armour/);
    const armored = await sealText("text", key.publicKey);
    await rejects(openFile(armored, key, { signer: [] } as never), TypeError, /no option signer/);
    equal(new TextDecoder().decode(await open(armored, key)), "text");
    ok(!JSON.stringify(key).includes(JSON.stringify(key.secret).slice(1, -1)), "JSON shows the secret");
    await rejects((await openFile(armored, key)).folder(), TypeError, /not a folder/);
});

test("a stream that stalls ends when it is aborted or canceled", async () => {
    const key = await generateKey("ecc");
    const sealed = await seal(some(3_000_000), key.publicKey);
    const stalled = (length: number) =>
        new ReadableStream<Uint8Array>({
            start: controller => controller.enqueue(sealed.slice(0, length)),
            pull: () => new Promise(() => {}),
        });
    const controller = new AbortController();
    const opening = openStream(stalled(100), key, { signal: controller.signal });
    const reading = openStream(stalled(1_000_000), key, { signal: controller.signal });
    const read = reading.then(({ stream }) => gathered(stream));
    await reading;
    controller.abort(new RangeError("stop"));
    await rejects(opening, RangeError, /stop/);
    await rejects(read, RangeError, /stop/);
    const { stream } = await openStream(stalled(1_000_000), key);
    await stream.cancel();
});

test("what was read before a failure comes out, from sources and from streams", async () => {
    const key = await generateKey("ecc");
    const data = some(30 * STEP);
    const sealed = await seal(data, key.publicKey);
    const header = sealed.length - data.length - 30 * 32;
    const segments = async (stream: ReadableStream<Uint8Array>): Promise<number> => {
        const reader = stream.getReader();
        for (let count = 0; ; count++) {
            try {
                const { done, value } = await reader.read();
                if (done) {
                    throw new Error("the stream did not fail");
                }
                equal(value, data.subarray(count * STEP, (count + 1) * STEP));
            } catch (why) {
                ok(/the disk|too early|shorter/.test(String(why)), `another failure: ${why}`);
                return count;
            }
        }
    };
    for (const slow of [false, true]) {
        for (const [at, wanted] of [
            [17, slow ? 16 : 12],
            [24, slow ? 16 : 24],
        ] as const) {
            let broken = false;
            const source: Source = {
                size: sealed.length,
                slow,
                read: async (offset, length) => {
                    if (broken && offset + length > header + at * (STEP + 32)) {
                        throw new Error("the disk");
                    }
                    return sealed.slice(offset, offset + length);
                },
            };
            const opened = await openFile(source, key);
            broken = true;
            equal(await segments(opened.stream()), wanted, `${slow} ${at}`);
        }
    }
    for (const whole of [0, 1, 4, 10, 29]) {
        const cut = new Blob([sealed.slice(0, header + whole * (STEP + 32) + 1000)]).stream();
        equal(await segments((await openStream(cut, key)).stream), whole);
    }
});

test("an input that is not read any more is closed, and one that fails early is reported", async () => {
    const key = (await generateKey("ecc")).publicKey;
    let closed = 0;
    const input = () =>
        new ReadableStream<Uint8Array>({ pull() {}, cancel: () => void closed++ }, { highWaterMark: 0 });
    await (await sealStream(input(), key)).cancel();
    equal(closed, 1);
    const reader = (await sealStream(input(), key)).getReader();
    await reader.read();
    await reader.cancel();
    equal(closed, 2);
    await rejects(sealStream(input(), []), TypeError);
    equal(closed, 3);
    // A stream of Node.js.
    const heard: string[] = [];
    const stream = {
        once: (name: string) => heard.push(name),
        destroy: () => heard.push("destroyed"),
        async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
            throw new RangeError("no such file");
        },
    };
    await rejects(gathered(await sealStream(stream, key)), RangeError);
    await (await sealStream(stream, key)).cancel();
    equal(heard, ["error", "error", "destroyed"]);
});

test("a read that hangs keeps nobody from stopping", async () => {
    const key = await generateKey("ecc");
    const sealed = await seal(some(3 * STEP), key.publicKey);
    let hangs = false;
    const source: Source = {
        size: sealed.length,
        read: async (offset, length) => {
            await (hangs ? new Promise(() => {}) : undefined);
            return sealed.slice(offset, offset + length);
        },
    };
    const opened = await openFile(source, key);
    hangs = true;
    const abort = new AbortController();
    const reader = opened.stream({ signal: abort.signal }).getReader();
    const read = reader.read();
    abort.abort(new RangeError("enough"));
    await rejects(read, RangeError, /enough/);
    const other = opened.stream().getReader();
    void other.read();
    await other.cancel();
    await rejects(async () => opened.stream({ offset: 3 * STEP + 1 }), RangeError, /after the data/);
    await rejects(async () => opened.stream({ lenght: 3 } as object), TypeError, /lenght/);
    await rejects(openFile({ size: -1, read: source.read }, key), TypeError, /size/);
    await rejects(openFile(Promise.resolve(source) as unknown as Source, key), TypeError, /promises/);
    await rejects(openFile({ size: 2000, read: async () => sealed }, key), TypeError, /more than/);
});

test("a stream of many small pieces", async () => {
    const key = await generateKey("ecc");
    const sealed = await seal(some(100_000), key.publicKey);
    const { stream } = await openStream(
        (async function* () {
            for (const byte of sealed) {
                yield Uint8Array.of(byte);
            }
        })(),
        key,
    );
    equal(await gathered(stream), some(100_000));
});

test("a folder", async () => {
    const key = await generateKey("ecc");
    const files = [
        { path: ["b.txt"], kind: "file" as const, data: new Blob([some(300_000)]), size: 300_000, modified: 5 },
        { path: ["a", "ü.txt"], kind: "file" as const, data: new Blob(["x"]), size: 1 },
        { path: ["a"], kind: "folder" as const, size: 0 },
    ];
    const sealed = await gathered(await sealFolder("photos", files, key.publicKey));
    const opened = await openFile(sealed, key);
    equal([opened.description.kind, opened.description.name], ["folder", "photos"]);
    const folder = await opened.folder();
    equal(
        (await folder.list()).map(({ path }) => path),
        ["", "a", "a/ü.txt", "b.txt"],
    );
    const entry = await folder.entry("b.txt");
    ok(entry, "the entry is missing");
    equal(await folder.read(entry), some(300_000));
});

test("an age file", async () => {
    const key = await generateKey();
    const sealed = await seal(some(70_000), key.publicKey, { age: true, armor: true });
    ok(new TextDecoder().decode(sealed).startsWith("-----BEGIN AGE ENCRYPTED FILE-----\n"), "no armor");
    equal(await open(sealed, key), some(70_000));
    await rejects(seal("x", key.publicKey, { age: true, hideLength: true }), TypeError);
});

test("the sealed bytes of the same data differ", async () => {
    const key = (await generateKey("ecc")).publicKey;
    const [a, b] = [await seal("x", key), await seal("x", key)];
    ok(concat(a).join() !== concat(b).join(), "the same bytes came out twice");
});

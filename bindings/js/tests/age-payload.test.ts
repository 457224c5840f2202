/** Payloads of age files: any place, streams, and damage. */

import { ageArmor, openAge, openAgeStream, sealAgeStream } from "../src/age/age.ts";
import { concat, utf8 } from "../src/bytes.ts";
import { random } from "../src/crypto/symmetric.ts";
import { DeadpanError, NoKeyError, NotSealedError, TamperedError, TruncatedError } from "../src/error.ts";
import { generateKey } from "../src/key/key.ts";
import { Pieces, source } from "../src/source.ts";
import { CHUNK, collect, DATA, keys, KINDS, MAX_COST, once, open, openStreamed, seal, stream } from "./age.ts";
import { equal, ok, rejects, test, thorough } from "./harness.ts";

thorough("data can be read at any place", async () => {
    const key = await generateKey("X25519");
    for (const size of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 3 * CHUNK + 1, 33 * CHUNK + 5]) {
        const data = random(size);
        const sealed = await seal(data, key.publicKey);
        const opened = await openAge(source(sealed), keys(key), MAX_COST);
        equal(opened.size, size);
        const edges = new Set([0, 1, size - 1, size, size + 1, CHUNK / 2]);
        for (const k of [1, 2, 3, 32, 33]) {
            [-1, 0, 1].forEach(more => edges.add(k * CHUNK + more));
        }
        const places = [...edges].filter(place => place >= 0 && place <= size + 1);
        for (const begin of places) {
            for (const end of places.filter(place => place >= begin)) {
                const read = new Uint8Array(await opened.read(begin, end - begin));
                if (end - begin < 2 * CHUNK || (begin === 0 && end >= size)) {
                    equal(read, data.subarray(begin, end), `${begin} to ${end} of ${size}`);
                }
            }
        }
        equal(await openStreamed(sealed, keys(key), 50_000), data, `${size} as a stream`);
    }
});

test("what is read is not shared, and reads can run side by side", async () => {
    const key = await generateKey("X25519");
    const data = random(5 * CHUNK);
    const file = new Blob([await seal(data, key.publicKey)]);
    const opened = await openAge(source(file), keys(key), MAX_COST);
    (await opened.read(10, 10)).fill(0);
    equal(new Uint8Array(await opened.read(10, 10)), data.subarray(10, 20));
    const reads = Array.from({ length: 20 }, (_, i) => [i * 15_000, 1000 * i] as const);
    const found = await Promise.all(reads.map(([offset, length]) => opened.read(offset, length)));
    for (const [i, [offset, length]] of reads.entries()) {
        equal(new Uint8Array(found[i] ?? []), data.subarray(offset, offset + length));
    }
    for (const [offset, length] of [
        [-1, 1],
        [0, -1],
        [0.5, 1],
        [0, NaN],
        [Infinity, 1],
    ] as const) {
        await rejects(opened.read(offset, length), RangeError);
    }
});

test("pieces of any length are sealed to the same data", async () => {
    const key = await generateKey("X25519");
    const data = random(33 * CHUNK);
    for (const step of [1000, CHUNK, 32 * CHUNK, 33 * CHUNK]) {
        const pieces = Array.from({ length: Math.ceil(data.length / step) }, (_, i) =>
            data.subarray(i * step, (i + 1) * step),
        );
        const sealed = await collect(
            sealAgeStream(once(new Uint8Array(), ...pieces, new Uint8Array()), [key.publicKey]),
        );
        equal(await open(sealed, keys(key)), data, `${step}`);
    }
    equal(await open(await collect(sealAgeStream(once(), [key.publicKey])), keys(key)), new Uint8Array());
});

test("a changed byte is never accepted", async () => {
    for (const kind of KINDS) {
        const key = await generateKey(kind);
        const sealed = await seal(DATA, key.publicKey);
        // Post-quantum stanzas are long and all alike.
        const step = sealed.length > 1000 ? 7 : 1;
        for (let at = 0; at < sealed.length; at += step) {
            const changed = sealed.slice();
            changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
            await rejects(open(changed, keys(key)), DeadpanError);
            await rejects(openStreamed(changed, keys(key)), DeadpanError);
        }
        await rejects(open(concat(sealed, Uint8Array.of(0)), keys(key)), TamperedError);
    }
});

test("a file that is cut short is not accepted", async () => {
    const key = await generateKey("X25519");
    const sealed = await seal(DATA, key.publicKey);
    const header = sealed.length - DATA.length - 32;
    for (let length = 0; length < sealed.length; length++) {
        const kind = length < 4 ? NotSealedError : length < header + 32 ? TruncatedError : TamperedError;
        await rejects(open(sealed.slice(0, length), keys(key)), kind);
        await rejects(openStreamed(sealed.slice(0, length), keys(key)), kind);
    }
    const data = random(40 * CHUNK);
    const long = await seal(data, key.publicKey);
    for (const chunks of [1, 2, 7, 39]) {
        const cut = long.slice(0, header + 16 + chunks * (CHUNK + 16));
        await rejects(open(cut, keys(key)), TruncatedError);
        await rejects(openStreamed(cut, keys(key)), TruncatedError);
    }
    for (const more of [1, 15, 16, 17, CHUNK + 16, CHUNK + 17]) {
        await rejects(open(concat(long, new Uint8Array(more)), keys(key)), TamperedError);
        await rejects(
            openStreamed(concat(long, new Uint8Array(more)), keys(key)),
            TamperedError,
            /stands after the end/,
        );
    }
});

test("a stream hands out the segments before the damage, and no others", async () => {
    const key = await generateKey("X25519");
    const data = random(40 * CHUNK);
    const sealed = await seal(data, key.publicKey);
    const begin = sealed.length - data.length - 40 * 16;
    for (const damaged of [0, 1, 2, 30, 31, 39]) {
        const changed = sealed.slice();
        const at = begin + damaged * (CHUNK + 16) + 100;
        changed[at] = (changed[at] ?? 0) ^ 1;
        const parts: Uint8Array[] = [];
        await rejects(
            async () => {
                for await (const piece of await openAgeStream(stream(changed, 100_000), keys(key), MAX_COST)) {
                    parts.push(piece);
                }
            },
            TamperedError,
            new RegExp(`^segment ${damaged} `),
        );
        equal(concat(...parts), data.subarray(0, damaged * CHUNK), `${damaged}`);
        if (damaged === 39) {
            await rejects(open(changed, keys(key)), TamperedError);
            continue;
        }
        const opened = await openAge(source(changed), keys(key), MAX_COST);
        const pattern = new RegExp(`^segment ${damaged} `);
        await rejects(opened.read(damaged * CHUNK + 5, 1), TamperedError, pattern);
        await rejects(opened.read(damaged * CHUNK + 5, 1), TamperedError, pattern);
        await rejects(opened.read(0, data.length), TamperedError, pattern);
        equal(
            new Uint8Array(await opened.read((damaged + 1) * CHUNK, 9)),
            data.slice((damaged + 1) * CHUNK).subarray(0, 9),
        );
    }
});

test("a stream is canceled if it is not read to its end", async () => {
    const key = await generateKey("X25519");
    const sealed = await seal(random(40 * CHUNK), key.publicKey);
    for (const file of [sealed, utf8(ageArmor(sealed))]) {
        for (const given of [keys(key), keys()]) {
            let canceled = false;
            let at = 0;
            const pieces = new Pieces(
                new ReadableStream<Uint8Array>({
                    pull(controller) {
                        controller.enqueue(file.slice(at, at + 1000));
                        at += 1000;
                    },
                    cancel() {
                        canceled = true;
                    },
                }),
            );
            try {
                for await (const piece of await openAgeStream(pieces, given, MAX_COST)) {
                    equal(piece.length, CHUNK);
                    break;
                }
            } catch (why) {
                ok(why instanceof NoKeyError, String(why));
            }
            ok(canceled, "the stream goes on");
        }
    }
});

test("a failure of the stream is not taken for its end", async () => {
    const key = await generateKey("X25519");
    const sealed = await seal(random(3 * CHUNK), key.publicKey);
    for (const file of [sealed, utf8(ageArmor(sealed))]) {
        for (const place of [100, 1000, file.length]) {
            const why = new Error("the line is down");
            const failing = new ReadableStream<Uint8Array>({
                start(controller) {
                    controller.enqueue(file.slice(0, place));
                },
                pull(controller) {
                    controller.error(why);
                },
            });
            await rejects(
                async () => collect(await openAgeStream(new Pieces(failing), keys(key), MAX_COST)),
                Error,
                /the line is down/,
            );
        }
    }
});

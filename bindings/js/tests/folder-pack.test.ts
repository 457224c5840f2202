/** Packing folders. */

import { concat, utf8, type Bytes } from "../src/bytes.ts";
import { LimitError } from "../src/error.ts";
import { Folder } from "../src/folder/folder.ts";
import { blake3 } from "../src/folder/hash.ts";
import { packFolder, type PackInput } from "../src/folder/pack.ts";
import { equal, files, ok, rejects, skipped, test, thorough } from "./harness.ts";
import { Counting, MemoryTarget } from "./targets.ts";

test("a pack is byte for byte that of the command line", async () => {
    const wanted = await files.read("tests/frozen/0.2.0/packs/deterministic.tar");
    if (wanted === undefined) {
        skipped("the frozen packs are not there");
    }
    // A link is the only entry that is not packed here, so the comparison ends before it.
    const found = await packed("tree", [
        { path: ["sub", "ü.txt"], kind: "file", data: new Blob(["two\n"]) },
        { path: ["a.txt"], kind: "file", data: new Blob(["one\n"]), mode: 0o755 },
        { path: ["sub", "empty"], kind: "folder" },
    ]);
    const link = 1024 + 512 + 1024 + 512 + 512;
    equal(found.subarray(0, link), wanted.subarray(0, link));
});

test("packed entries come out again", async () => {
    const long = "l".repeat(150);
    const deep = Array.from({ length: 300 }, (_, depth) => `d${depth}`);
    const large = new Uint8Array(2_500_000).map((_, at) => (at * 2_654_435_761) >>> 24);
    const inputs: PackInput[] = [
        { path: [], kind: "folder", mode: 0o700, modified: 1.25 },
        { path: ["z"], kind: "file", data: new Blob([]), modified: 1_600_000_000.123, size: 0 },
        { path: ["a", "b"], kind: "file", data: new Blob(["b"]), modified: -1.5 },
        { path: ["a.b"], kind: "file", data: new Blob(["a.b"]), mode: 0o4755 },
        { path: ["a!"], kind: "file", data: new Counting(utf8("a!")), modified: 2 ** 35 },
        { path: ["a0"], kind: "folder", modified: 7 },
        { path: ["Ä", "😀", "e\u0301"], kind: "file", data: new Blob(["emoji"]) },
        { path: ["dot.", "space "], kind: "file", data: new Blob(["dots"]) },
        { path: [long, long, long], kind: "file", data: new Blob(["long"]) },
        { path: [...deep, "end"], kind: "file", data: new Blob(["deep"]) },
        { path: ["x".repeat(255)], kind: "file", data: new Counting(large) },
    ];
    const bytes = await packed("Ordner", inputs);
    equal(bytes.length % 10_240, 0);
    const opened = await Folder.open(bytes);
    equal([opened.name, opened.notes], ["Ordner", []]);
    const list = await opened.list();
    const paths = list.map(entry => entry.path);
    equal(paths.slice(0, 5), ["", "a", "a/b", "a!", "a.b"]);
    const at = (path: string) => list[paths.indexOf(path)];
    equal([at("")?.mode, at("")?.modified], [0o700, 1.25]);
    equal([at("a/b")?.modified, at("a")?.modified, at("z")?.modified], [-1.5, -1.5, 1_600_000_000.123]);
    equal([at("a!")?.modified, at("a.b")?.mode, at("Ä/😀")?.mode], [2 ** 35, 0o4755, 0o755]);
    const target = new MemoryTarget();
    const done = await opened.unpack(target);
    equal([done.files, done.refused, target.notes], [9, 0, []]);
    equal(target.made["x".repeat(255)], large);
    const texts = { z: "", "a/b": "b", "a.b": "a.b", "a!": "a!", "Ä/😀/e\u0301": "emoji", "dot./space ": "dots" };
    for (const [path, content] of Object.entries({ ...texts, [`${long}/${long}/${long}`]: "long" })) {
        equal(target.made[path], utf8(content), path);
    }
    equal(target.made[[...deep, "end"].join("/")], utf8("deep"));
});

test("an empty folder", async () => {
    const opened = await Folder.open(await packed("empty", []));
    equal(
        (await opened.list()).map(entry => [entry.kind, entry.path, entry.mode]),
        [["folder", "", 0o755]],
    );
});

test("inputs that cannot be packed", async () => {
    const data = new Blob(["x"]);
    const one = (path: string[], more: Partial<PackInput> = {}): PackInput => ({ path, kind: "file", data, ...more });
    for (const name of ["", ".", "..", "a/b", "a\0", "ü".repeat(128)]) {
        await rejects(packed(name, []), RangeError, /no name/);
    }
    const cases: [PackInput[], new (message: string) => Error, RegExp][] = [
        [[one([""])], RangeError, /a name is empty/],
        [[one(["a", ".."])], RangeError, /a name is empty/],
        [[one(["a/b"])], RangeError, /a name is empty/],
        [[one(["a\0"])], RangeError, /a name is empty/],
        [[one([])], TypeError, /twice/],
        [[one(["a"]), one(["a"])], TypeError, /twice/],
        [[one(["a"]), one(["a", "b"])], TypeError, /both a file and a folder/],
        [[one(["a", "b"]), one(["a"])], TypeError, /both a file and a folder/],
        [[one(["\ud800"]), one(["\udbff"])], TypeError, /the same in UTF-8/],
        [[one(["a"], { mode: 0o10000 })], RangeError, /permission bits/],
        [[one(["a"], { modified: Number.NaN })], RangeError, /not a number of seconds/],
        [[{ path: ["a"], kind: "file" }], TypeError, /has data/],
        [[one(Array<string>(1025).fill("d"))], RangeError, /1024/],
        [[one(Array<string>(500).fill("d".repeat(200)))], RangeError, /too long/],
        [[one(["dir", "a"], { size: 2 })], Error, /^dir\/a was changed/],
    ];
    for (const [inputs, kind, why] of cases) {
        await rejects(packed("name", inputs), kind, why);
    }
});

test("a file that changes while it is packed", async () => {
    const shrinking = {
        size: 3_000_000,
        read: async (offset: number, length: number) => new Uint8Array(offset > 0 ? length - 1 : length),
    };
    await rejects(packed("name", [{ path: ["a", "b"], kind: "file", data: shrinking }]), Error, /^a\/b was changed/);
    const failing = { size: 3, read: async () => Promise.reject(new DOMException("gone", "NotReadableError")) };
    await rejects(packed("name", [{ path: ["a", "b"], kind: "file", data: failing }]), Error, /^a\/b cannot be read/);
});

test("contents are not held in memory", async () => {
    const size = 40_000_000;
    let [asked, given] = [0, 0];
    const data = {
        size,
        read: async (_: number, length: number) => {
            asked += length;
            ok(length <= 1 << 20 && asked - given < 4 << 20, "too much is read ahead");
            return new Uint8Array(length);
        },
    };
    for await (const piece of packFolder("name", [{ path: ["a"], kind: "file", data }])) {
        ok(piece.length < 3 << 20, "a piece is too long");
        given += piece.length;
    }
    ok(given > size, "something is missing");
});

thorough("ten thousand entries", async () => {
    const data = new Blob(["content"]);
    const inputs = Array.from({ length: 10_000 }, (_, number): PackInput => {
        return { path: [`folder ${number % 100}`, `file ${number}`], kind: "file", data, modified: number };
    });
    const bytes = await packed("many", inputs);
    const source = new Counting(bytes);
    const opened = await Folder.open(source);
    equal((await opened.list()).length, 10_101);
    ok(source.bytes < 3_000_000, `${source.bytes} bytes were read for the listing`);
    const before = source.bytes;
    const entry = await opened.entry("folder 7/file 907");
    equal([entry?.size, entry?.modified], [7, 907]);
    ok(source.bytes - before < 800_000, "one entry needs too much of the index");
    const target = new MemoryTarget();
    const done = await opened.unpack(target);
    equal([done.files, done.folders, done.bytes], [10_000, 100, 70_000]);
});

thorough("an index of more than 4 MiB goes into the archive in blocks", async () => {
    const inputs = Array.from({ length: 45_000 }, (_, number): PackInput => {
        // The beginning of the name differs each time, so that no record is short.
        return { path: [`${(number * 7919) % 45_000}-${"x".repeat(90)}`], kind: "folder", modified: number };
    });
    const bytes = await packed("many", inputs);
    const text = new TextDecoder("latin1").decode(bytes);
    ok(text.includes("comment=deadpan index "), "there is no index block");
    const opened = await Folder.open(bytes);
    equal((await opened.list()).length, 45_001);
    equal((await opened.unpack(new MemoryTarget())).folders, 45_000);
});

test("an index that readers would refuse is not written", async () => {
    const name = "x".repeat(60_000);
    const inputs = Array.from({ length: 1300 }, (_, n): PackInput => ({ path: [name, `${1000 + n}`], kind: "folder" }));
    await rejects(packed("name", inputs), LimitError, /too many files/);
});

test("BLAKE3 in pieces, and of two contents at a time", async () => {
    const { createHasher, hash } = await blake3();
    const bytes = new Uint8Array(300_001).map((_, at) => (at * 2_654_435_761) >>> 24);
    for (const step of [1, 63, 64, 1000, 1023, 1024, 1025, 4096, 65_536, 100_000]) {
        const length = step === 1 ? 5000 : bytes.length;
        const [one, other] = [createHasher(), createHasher()];
        for (let at = 0; at < length; at += step) {
            one.update(bytes.subarray(at, Math.min(at + step, length)));
            other.update(bytes.subarray(0, Math.min(step, 5000)));
        }
        const whole = createHasher();
        whole.update(bytes.subarray(0, length));
        equal(new Uint8Array(one.finalize()), new Uint8Array(hash(bytes.slice(0, length))), `steps of ${step}`);
        equal(new Uint8Array(whole.finalize()), new Uint8Array(hash(bytes.slice(0, length))));
    }
});

async function packed(name: string, inputs: AsyncIterable<PackInput> | Iterable<PackInput>): Promise<Bytes> {
    const parts: Bytes[] = [];
    for await (const part of packFolder(name, inputs)) {
        parts.push(part);
    }
    return concat(...parts);
}

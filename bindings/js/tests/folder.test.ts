/** Reading packed folders. */

import { concat, utf8, type Bytes } from "../src/bytes.ts";
import { DeadpanError, LimitError, NewerError, TamperedError, TruncatedError } from "../src/error.ts";
import { Folder } from "../src/folder/folder.ts";
import {
    aFile,
    aFileWithHoles,
    aFolder,
    aHardLink,
    aLink,
    ended,
    file,
    folder,
    header,
    packOf,
    pax,
    root,
} from "./archive.ts";
import { equal, files, ok, rejects, skipped, test } from "./harness.ts";
import { Counting, madeOf, MemoryTarget } from "./targets.ts";

const FROZEN = "tests/frozen/0.2.0/packs";

test("packs of 0.2.0 stay readable", async () => {
    for (const [name, modified] of [
        ["pack", 1_795_953_600.5],
        ["deterministic", 0],
    ] as const) {
        const bytes = await files.read(`${FROZEN}/${name}.tar`);
        if (bytes === undefined) {
            skipped("the frozen packs are not there");
        }
        const opened = await Folder.open(bytes);
        equal([opened.name, opened.count, opened.notes], ["tree", 6, []]);
        const list = await opened.list();
        equal(
            list.map(entry => [entry.kind, entry.path, entry.size, entry.mode.toString(8), entry.target]),
            [
                ["folder", "", 0, "755", undefined],
                ["file", "a.txt", 4, "755", undefined],
                ["folder", "sub", 0, "755", undefined],
                ["folder", "sub/empty", 0, "755", undefined],
                ["symlink", "sub/link", 0, "777", "../a.txt"],
                ["file", "sub/ü.txt", 4, "644", undefined],
            ],
        );
        ok(
            list.every(entry => entry.modified === modified),
            "the time differs",
        );
        equal(list[5]?.rawPath, utf8("sub/ü.txt"));
        equal(await contentOf(opened, "a.txt"), "one\n");
    }
});

test("a pack that is built by the page of the format", async () => {
    const entries = all();
    for (const spoiling of [
        {},
        { withoutZeros: true },
        { parts: [entries.slice(0, 3), entries.slice(3, 5), entries.slice(5)] },
        { parts: [entries.slice(0, 3), entries.slice(3, 5), entries.slice(5)], blocks: 1 },
        { parts: [entries.slice(0, 3), entries.slice(3, 5), entries.slice(5)], blocks: 2 },
    ]) {
        const bytes = await packOf(entries, spoiling);
        const opened = await Folder.open(bytes);
        equal(opened.count, entries.length);
        equal(
            (await opened.list()).map(entry => entry.path),
            entries.map(entry => entry.path),
        );
        for (const entry of await opened.list()) {
            equal((await opened.entry(entry.path))?.kind, entry.kind);
        }
        equal(await opened.entry("a/z"), undefined);
        const target = new MemoryTarget(true);
        const done = await opened.unpack(target);
        equal(target.made, { ...MADE, holes: sparse() });
        equal(done, { files: 6, folders: 2, symlinks: 1, bytes: 4 + 700 + 4 + 100_000, refused: 0 });
        equal(target.notes, []);
    }
});

test("single entries, read and as streams", async () => {
    const opened = await Folder.open(await packOf(all()));
    equal(await contentOf(opened, "hard"), "hello".slice(0, 4));
    const holes = await opened.entry("holes");
    ok(holes, "an entry is missing");
    equal(await opened.read(holes), sparse());
    equal(await joined(opened.stream(holes)), sparse());
    await rejects(opened.read(holes, 99_999), LimitError, /100000 bytes/);
    const [a, link] = [await opened.entry("a"), await opened.entry("link")];
    ok(a && link, "an entry is missing");
    await rejects(() => opened.stream(a), TypeError);
    await rejects(opened.read(link), TypeError);
    const other = await Folder.open(await packOf(all()));
    await rejects(other.read(holes), TypeError, /not from this folder/);
    // Streams that run at the same time do not disturb each other.
    const both = await Promise.all([joined(opened.stream(holes)), contentOf(opened, "a/b"), opened.list()]);
    equal([both[0], both[1].length, both[2].length], [sparse(), 700, all().length]);
    const reader = opened.stream(holes).getReader();
    await reader.read();
    await reader.cancel();
});

test("some entries", async () => {
    const bytes = await packOf([...all().slice(0, -1), aFolder("y"), aFile("y/z", utf8("x".repeat(3_000_000)))]);
    const source = new Counting(bytes);
    const opened = await Folder.open(source);
    const target = new MemoryTarget(true);
    const done = await opened.unpack(target, { only: entry => entry.path === "a/b" || entry.kind === "hardlink" });
    equal(target.made, { a: "folder", "a/b": MADE["a/b"], hard: MADE.first });
    equal([done.files, done.refused], [2, 0]);
    ok(source.bytes < 2_000_000, "too much was read");
});

test("unpacking reads the data once", async () => {
    const large = new Uint8Array(5_000_000).map((_, at) => at * 7);
    const entries = [root(), ...Array.from({ length: 900 }, (_, n) => aFile(`a${1000 + n}`, `content ${n}`))];
    const bytes = await packOf([...entries, aFile("b", large), aFile("c", "c")]);
    const source = new Counting(bytes);
    const opened = await Folder.open(source);
    ok(source.bytes < 600_000 && source.reads < 5, "opening reads too much");
    const target = new MemoryTarget();
    await opened.unpack(target);
    equal(target.made.b, large);
    ok(source.bytes < bytes.length * 1.3, `${source.bytes} bytes were read of ${bytes.length}`);
    ok(source.reads < 40, `${source.reads} reads`);
});

test("unpacking can be stopped, and drops the file that is being written", async () => {
    const opened = await Folder.open(await packOf(all()));
    const stop = new AbortController();
    const target = new MemoryTarget();
    const unpacking = opened.unpack(target, {
        signal: stop.signal,
        progress: () => stop.abort(new RangeError("stop")),
    });
    await rejects(unpacking, RangeError, /stop/);
    ok(Object.keys(target.made).length < 4, "it went on");
});

test("paths that are not UTF-8", async () => {
    const name = (...bytes: number[]): Bytes => Uint8Array.from(bytes);
    const entries = [
        { ...aFolder("x"), path: name(0xfe), blocks: header(concat(utf8("root/"), name(0xfe, 0x2f)), "5") },
        {
            ...aFile("y", "one"),
            path: name(0xfe, 0x2f, 0x61),
            blocks: file(concat(utf8("root/"), name(0xfe, 0x2f, 0x61)), "one"),
        },
        { ...aFolder("x"), path: name(0xff), blocks: header(concat(utf8("root/"), name(0xff, 0x2f)), "5") },
        {
            ...aFile("y", "two"),
            path: name(0xff, 0x2f, 0x62),
            blocks: file(concat(utf8("root/"), name(0xff, 0x2f, 0x62)), "two"),
        },
    ];
    const opened = await Folder.open(await packOf([root(), ...entries]));
    const list = await opened.list();
    equal(
        list.map(entry => entry.path),
        ["", "\ufffd", "\ufffd/a", "\ufffd", "\ufffd/b"],
    );
    equal(list[3]?.rawPath, name(0xff));
    const found = await opened.entry(name(0xff, 0x2f, 0x62));
    equal(found && (await opened.read(found)), utf8("two"));
    const target = new MemoryTarget();
    await opened.unpack(target);
    equal(target.made, madeOf({ "\ufffd": "folder", "\ufffd/a": "one" }));
    equal(target.notes.length, 2);
});

test("a pack that another program has changed is read as its archive", async () => {
    const bytes = await packOf(all());
    const end = bytes.length;
    const table = Number(new DataView(bytes.buffer).getBigUint64(end - 64));
    // What `tar r` does: the new entry takes the place of the end of the archive.
    const at = archiveEnd(bytes) - 1024;
    const added = concat(bytes.subarray(0, at), file("new", "new"), new Uint8Array(1024));
    for (const changed of [
        added,
        concat(added, bytes.subarray(added.length, table + 1)),
        concat(added, new Uint8Array(10_000)),
    ]) {
        const opened = await Folder.open(changed);
        equal(opened.name, undefined);
        ok(/another program has changed/.test(opened.notes[0]?.why ?? ""), "there is no note");
        equal(await contentOf(opened, "new"), "new");
        equal(await contentOf(opened, "root/first"), "hell");
    }
});

test("whatever is cut off a pack is missed", async () => {
    const bytes = await packOf(all());
    for (let length = 0; length < bytes.length; length += length % 512 === 0 ? 1 : 511) {
        // An archive that ends with its zeros, and nothing else, is what other programs make of a pack.
        if (length === archiveEnd(bytes)) {
            continue;
        }
        await rejects(readAll(bytes.subarray(0, length)), DeadpanError);
    }
    await rejects(Folder.open(new Uint8Array()), TruncatedError);
    await rejects(Folder.open(utf8("not an archive".repeat(100))), TamperedError, /no header of a tar archive/);
});

test("a newer pack", async () => {
    const bytes = ended(pax({ comment: "deadpan pack 2" }, "g"), folder("root/"));
    await rejects(Folder.open(bytes), NewerError, /newer deadpan/);
});

test("errors of the source are not taken for damage", async () => {
    const bytes = await packOf(all());
    for (let failing = 0; failing < 3; failing++) {
        let reads = 0;
        const source = {
            size: bytes.length,
            read: async (offset: number, length: number) => {
                if (reads++ === failing) {
                    throw new RangeError("a bad cable");
                }
                return bytes.slice(offset, Math.min(offset + length, offset + 4096));
            },
        };
        await rejects(readAll(source), failing === 0 ? RangeError : Error);
    }
});

/** All kinds of entries. */

function all() {
    return [
        root(),
        aFolder("a"),
        aFile("a/b", "x".repeat(700)),
        aFile("a/empty"),
        aFolder("b"),
        aFile("first", "hell"),
        aHardLink("hard", "first"),
        aFileWithHoles("holes", 100_000, "end"),
        aLink("link", "../elsewhere"),
        aFile("zero"),
    ];
}

const MADE = madeOf({
    ...{ a: "folder", "a/b": "x".repeat(700), "a/empty": "", b: "folder", first: "hell", hard: "hell" },
    ...{ link: "-> ../elsewhere", zero: "" },
});

function sparse(): Bytes {
    return concat(new Uint8Array(99_997), utf8("end"));
}

/** Returns where the archive of a pack with one part ends. */

function archiveEnd(bytes: Bytes): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Number(view.getBigUint64(Number(view.getBigUint64(bytes.length - 64))));
}

async function contentOf(opened: Folder, path: string): Promise<string> {
    const entry = await opened.entry(path);
    ok(entry, `${path} is missing`);
    return new TextDecoder().decode(await opened.read(entry));
}

async function joined(stream: ReadableStream<Bytes>): Promise<Bytes> {
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function readAll(data: Parameters<typeof Folder.open>[0]): Promise<void> {
    const opened = await Folder.open(data);
    await opened.unpack(new MemoryTarget(true));
}

/** Packs that attack their reader: "What a reader checks" of docs/format-pack.md. */

import { concat, utf8, type Bytes } from "../src/bytes.ts";
import { DeadpanError, TamperedError } from "../src/error.ts";
import { Folder } from "../src/folder/folder.ts";
import { blake3 } from "../src/folder/hash.ts";
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
    symlink,
    varint,
    type Packed,
} from "./archive.ts";
import { equal, ok, rejects, test } from "./harness.ts";
import { madeOf, MemoryTarget } from "./targets.ts";

test("packs that are refused as a whole", async () => {
    // Without an index, another program has changed the pack. With one, nothing outside the root is ever read.
    const twoRoots = ended(pax({ comment: "deadpan pack 1" }, "g"), folder("root/"), file("else/x"));
    ok(/another program/.test((await Folder.open(twoRoots)).notes[0]?.why ?? ""), "there is no note");
    const bare = ended(pax({ comment: "deadpan pack 1" }, "g"), folder("root/"), file("root/x"));
    await rejects(Folder.open(concat(bare, utf8("x".repeat(600)))), TamperedError, /no index at its end/);
    const cases: [string, Packed[], RegExp][] = [
        ["no root", [aFile("a")], /not in order/],
        ["a root that is a file", [{ ...root(), kind: 1, blocks: file("root") }], /begins with its root/],
        ["not sorted", [root(), aFile("b"), aFile("a")], /not in order/],
        ["twice", [root(), aFile("a"), aFile("a")], /not in order/],
        ["order of bytes", [root(), aFolder("a"), aFile("a.b"), aFile("a/b")], /not in order/],
        ["no folder", [root(), aFile("a/b")], /folder of a path is missing/],
        ["below a file", [root(), aFile("a"), aFile("a/b")], /folder of a path is missing/],
        ["below another folder", [root(), aFolder("ab"), aFile("ac/b")], /folder of a path is missing/],
        ["parent", [root(), aFile("..")], /leads out of its folder/],
        ["dot", [root(), aFile(".")], /leads out of its folder/],
        ["zero", [root(), { ...aFile("a"), path: "a\0b" }], /leads out of its folder/],
        ["absolute", [root(), { ...aFile("a"), path: "/a" }], /leads out|missing/],
        ["empty component", [root(), aFolder("a"), { ...aFile("b"), path: "a//b" }], /leads out|missing/],
        ["gap", [root(), { ...aFile("a"), gap: 1 }], /does not begin where/],
        ["no headers", [root(), { ...aFile("a"), headers: 0 }], /impossible length/],
        ["too many headers", [root(), { ...aFile("a"), headers: 9 }], /impossible length/],
        ["too long", [root(), { ...aFile("a"), size: 2 ** 40 }], /impossible length/],
        [
            "missing entries",
            [root(), { ...aFile("a"), blocks: concat(file("root/a"), file("root/b")) }],
            /entries are missing/,
        ],
        ["mode", [root(), { ...aFile("a"), mode: 0o10000 }], /more bits/],
        ["nanoseconds", [root(), { ...aFile("a"), nanoseconds: 1e9 }], /billion nanoseconds/],
        ["kind", [root(), { ...aFile("a"), kind: 6 as 5 }], /kind of an entry is unknown/],
        ["link without a target", [root(), { ...aLink("a", "x"), content: new Uint8Array() }], /no valid target/],
        ["hard link to a later entry", [root(), aHardLink("a", "b"), aFile("b")], /not an earlier file or link/],
        [
            "hard link to a parent",
            [root(), { ...aHardLink("a", "b"), content: utf8("..") }],
            /not an earlier file or link/,
        ],
    ];
    for (const [what, entries, why] of cases) {
        const bytes = await packOf(entries);
        await rejects(async () => (await Folder.open(bytes)).list(), TamperedError, why).catch((error: unknown) => {
            throw new Error(`${what}: ${String(error)}`);
        });
        // A reader that looks for one entry does not see all of the index, but never reads other contents.
        await rejects(async () => (await Folder.open(bytes)).unpack(new MemoryTarget(true)), TamperedError);
    }
});

test("paths that are long for their records", async () => {
    const name = "x".repeat(60_000);
    const folders = Array.from({ length: 1300 }, (_, number) => ({
        ...aFolder("x"),
        path: number === 0 ? name : `${name}/${1000 + number}`,
    }));
    const bytes = await packOf([root(), ...folders]);
    await rejects((await Folder.open(bytes)).list(), TamperedError, /more than 64 MiB/);
});

test("entries of a pack that differ from their headers", async () => {
    const file1 = aFile("a", "content");
    const cases: [string, Packed][] = [
        ["path", { ...file1, blocks: file("root/b", "content") }],
        ["root", { ...file1, blocks: file("other/a", "content") }],
        ["kind", { ...file1, blocks: concat(header("root/a", "5"), filled("content")) }],
        ["symbolic link", { ...file1, blocks: concat(symlink("root/a", "x"), filled("content")) }],
        ["size", { ...file1, blocks: concat(header("root/a", "0", { size: 6 }), filled("content")) }],
        ["mode", { ...file1, mode: 0o600 }],
        ["time", { ...file1, seconds: file1.seconds + 1 }],
        ["nanoseconds", { ...file1, nanoseconds: 1 }],
        ["content", { ...file1, blocks: file("root/a", "c0ntent") }],
        ["hash", { ...file1, hash: new Uint8Array(32) }],
        ["no header", { ...file1, blocks: concat(new Uint8Array(512), filled("content")) }],
        ["device", { ...file1, blocks: concat(header("root/a", "3"), filled("content")) }],
        [
            "hidden headers",
            { ...file1, headers: 2, blocks: concat(file("root/a"), filled("content"), new Uint8Array(512)) },
        ],
        ["holes", { ...aFileWithHoles("a", 1000, "x"), size: 2000 }],
        ["no holes", { ...aFileWithHoles("a", 1000, "x"), kind: 1, size: 513 }],
    ];
    for (const [what, entry] of cases) {
        const opened = await Folder.open(await packOf([root(), entry, aFile("z", "fine")]));
        const [, a, z] = await opened.list();
        ok(a && z, `${what}: an entry is missing`);
        await rejects(opened.read(a), TamperedError).catch((error: unknown) => {
            throw new Error(`${what}: ${String(error)}`);
        });
        equal(await opened.read(z), utf8("fine"), what);
        const target = new MemoryTarget(true);
        await rejects(opened.unpack(target), TamperedError);
        equal(target.made, {}, what);
    }
    const links = [root(), { ...aLink("a", "x"), content: utf8("y") }];
    await rejects((await Folder.open(await packOf(links))).unpack(new MemoryTarget(true)), TamperedError);
    const other = [root(), aFile("a", "a"), aFile("b", "b"), { ...aHardLink("c", "b"), content: utf8("a") }];
    const opened = await Folder.open(await packOf(other));
    const hard = await opened.entry("c");
    ok(hard, "an entry is missing");
    await rejects(opened.read(hard), TamperedError, /headers were changed/);
});

test("damaged content never comes out as a whole", async () => {
    const large = new Uint8Array(3_000_000).fill(7);
    const entry = aFile("a", large);
    entry.blocks[entry.blocks.length - 2000] = 8;
    const opened = await Folder.open(await packOf([root(), entry]));
    const found = await opened.entry("a");
    ok(found, "the entry is missing");
    let length = 0;
    const reader = opened.stream(found).getReader();
    await rejects(
        async () => {
            for (let next = await reader.read(); !next.done; next = await reader.read()) {
                length += next.value.length;
            }
        },
        TamperedError,
        /contents were changed/,
    );
    ok(length > 1_000_000 && length < large.length, `${length} bytes came out`);
});

test("an index that is spoiled, with right hashes", async () => {
    const entries = [
        root(),
        aFolder("a"),
        aFile("a/b", "one"),
        aHardLink("c", "a/b"),
        aFileWithHoles("d", 5000, "x"),
        aLink("e", "f"),
    ];
    const parts = [entries.slice(0, 3), entries.slice(3)];
    const wanted = madeOf({ a: "folder", "a/b": "one", c: "one", e: "-> f" });
    wanted.d = concat(new Uint8Array(4999), utf8("x"));
    const plain = await packOf(entries, { parts });
    const view = new DataView(plain.buffer);
    const table = Number(view.getBigUint64(plain.length - 56));
    const part = new DataView(plain.buffer, Number(view.getBigUint64(plain.length - 64))).getUint32(8);
    const flipped = (bytes: Bytes, at: number, bit: number): Bytes =>
        bytes.map((byte, i) => (i === at ? byte ^ bit : byte));
    let refused = 0;
    const attempt = async (bytes: Bytes): Promise<void> => {
        const target = new MemoryTarget(true);
        try {
            await (await Folder.open(bytes)).unpack(target);
        } catch (why) {
            ok(why instanceof DeadpanError, String(why));
            refused++;
        }
        Object.entries(target.made).forEach(([path, what]) => equal(what, wanted[path], path));
    };
    for (const bit of [1, 0x80]) {
        for (let at = 0; at < part + 40; at++) {
            await attempt(
                await packOf(entries, { parts, part: (bytes, n) => (n === 0 ? flipped(bytes, at, bit) : bytes) }),
            );
            await attempt(
                await packOf(entries, { parts, part: (bytes, n) => (n === 1 ? flipped(bytes, at, bit) : bytes) }),
            );
        }
        for (let at = 0; at < table; at++) {
            await attempt(await packOf(entries, { parts, table: bytes => flipped(bytes, at, bit) }));
        }
        for (let at = 0; at < 64; at++) {
            await attempt(await packOf(entries, { parts, trailer: bytes => flipped(bytes, at, bit) }));
        }
    }
    ok(refused > 500, `only ${refused} were refused`);
    const varints = [concat(varint(300), new Uint8Array(1)), Uint8Array.of(0x80, 0), new Uint8Array(11).fill(0xff)];
    for (const bad of varints) {
        await rejects(async () => {
            const spoiled = await packOf(entries, {
                part: bytes => concat(bytes.subarray(0, 13), bad, bytes.subarray(14)),
            });
            return (await Folder.open(spoiled)).list();
        }, TamperedError);
    }
});

test("each byte of a pack, flipped", async () => {
    const entries = [
        root(),
        aFile("a", "one"),
        aFolder("b"),
        aFile("b/c", "x".repeat(600)),
        aHardLink("d", "a"),
        aLink("e", "f"),
    ];
    const bytes = await packOf(entries);
    const wanted = madeOf({ a: "one", b: "folder", "b/c": "x".repeat(600), d: "one", e: "-> f" });
    let [refused, foreign] = [0, 0];
    for (let at = 0; at < bytes.length; at++) {
        const spoiled = bytes.slice();
        spoiled[at] = (spoiled[at] ?? 0) ^ (1 << (at % 8));
        const target = new MemoryTarget(true);
        try {
            const opened = await Folder.open(spoiled);
            await opened.unpack(target);
            foreign += opened.name === undefined ? 1 : 0;
        } catch (why) {
            ok(why instanceof DeadpanError, `${at}: ${String(why)}`);
            refused++;
        }
        // Without its marker, the pack is an archive of another program, in which everything lies in the root.
        if (!Object.keys(target.made).some(path => path.startsWith("root"))) {
            Object.entries(target.made).forEach(([path, what]) => equal(what, wanted[path], `${at}: ${path}`));
        }
    }
    ok(refused > 1500, `only ${refused} were refused`);
    // A changed marker, or something in the second block of zeros, make it an archive of another program.
    ok(foreign < 600, `${foreign} were read without their index`);
});

test("a table that is too long is not read", async () => {
    const { hash } = await blake3();
    const bytes = await packOf([root()]);
    const size = 20 << 20;
    const trailer = bytes.slice(-64);
    new DataView(trailer.buffer).setBigUint64(8, BigInt(size));
    trailer.set(hash(new Uint8Array()).subarray(0, 24), 32);
    const begin = Number(new DataView(trailer.buffer).getBigUint64(0));
    const zeros = Math.ceil((begin + size + 64) / 10_240) * 10_240 - begin - size - 64;
    const source = {
        size: begin + size + zeros + 64,
        read: async (offset: number, length: number) => {
            ok(length < 1 << 20, `${length} bytes were read`);
            const part = new Uint8Array(length);
            part.set(bytes.subarray(Math.min(offset, begin), Math.min(offset + length, begin)));
            if (offset + length === source.size) {
                part.set(trailer, length - 64);
            }
            return part;
        },
    };
    await rejects(Folder.open(source), TamperedError, /longer than 16 MiB/);
});

function filled(text: string): Bytes {
    const block = new Uint8Array(512);
    block.set(utf8(text));
    return block;
}

/** Archives that attack their reader: "What is refused" of docs/format-pack.md. */

import { concat, utf8, type Bytes } from "../src/bytes.ts";
import { DeadpanError, LimitError, TamperedError } from "../src/error.ts";
import { Folder } from "../src/folder/folder.ts";
import { ended, extended, file, folder, hardLink, header, pax, sum, symlink } from "./archive.ts";
import { equal, ok, rejects, test, thorough } from "./harness.ts";
import { madeOf, MemoryTarget } from "./targets.ts";

const named = (path: string): Bytes => pax({ path });

test("entries that are refused do not stop the others", async () => {
    const deep = Array<string>(1025).fill("d").join("/");
    const cases: [string, Bytes[], RegExp][] = [
        ["parent", [file("../out")], /\.\. as a component/],
        ["parent, later", [folder("a/"), file("a/../../out")], /\.\. as a component/],
        ["absolute", [file("/tmp/out")], /begins with \//],
        ["only a slash", [folder("/")], /begins with \//],
        ["zero byte", [named("out\0side"), file("x")], /zero byte/],
        ["long", [named("x".repeat(65_536)), file("x")], /longer than 65535 bytes/],
        ["deep", [named(deep), file("x")], /deeper than 1024/],
        ["through a link", [symlink("a", ".."), file("a/out")], /through a symbolic link/],
        ["folder through a link", [symlink("a", ".."), folder("a/out")], /through a symbolic link/],
        ["link through a link", [symlink("a", ".."), symlink("a/out", "x")], /through a symbolic link/],
        ["deeper through a link", [folder("b/"), symlink("b/a", ".."), file("b/a/c/out")], /through a symbolic link/],
        ["folder on a link", [symlink("a", ".."), folder("a/")], /in its way/],
        ["file on a folder", [folder("a/"), file("a")], /folder is in its way/],
        ["folder on a file", [file("a"), folder("a/")], /not a folder is in its way/],
        ["below a file", [file("a"), file("a/b")], /not a folder is in its way/],
        ["hard link through a link", [symlink("a", ".."), hardLink("out", "a/beside")], /earlier file or link/],
        ["hard link to a parent", [hardLink("out", "../beside")], /\.\. as a component/],
        ["hard link, absolute", [hardLink("out", "/etc/passwd")], /begins with \//],
        ["hard link to a folder", [folder("a/"), hardLink("out", "a")], /earlier file or link/],
        ["hard link to a folder that a path names", [file("a/b"), hardLink("out", "a")], /earlier file or link/],
        ["hard link to nothing", [hardLink("out", "none")], /earlier file or link/],
        ["hard link to a later file", [hardLink("out", "z"), file("z")], /earlier file or link/],
        ["hard link to itself", [hardLink("out", "out")], /earlier file or link/],
        ["hard link to a refused file", [file("../x"), hardLink("out", "x")], /earlier file or link/],
        ["empty target", [symlink("a", "")], /no valid target/],
        ["target with a zero", [pax({ linkpath: "a\0b" }), symlink("a", "x")], /no valid target/],
        ["no name, file", [header("./.", "0")], /no name/],
        ["devices", [header("a", "3"), header("b", "4")], /a device/],
        ["FIFO", [header("a", "6")], /a FIFO/],
        ["another volume", [concat(header("a", "M", { size: 3 }), new Uint8Array(512))], /another volume/],
        ["unknown", [concat(header("a", "Z", { size: 3 }), new Uint8Array(512))], /not known/],
        ["old holes without GNU", [header("a", "S")], /not known/],
    ];
    for (const [what, parts, why] of cases) {
        const opened = await Folder.open(ended(...parts, file("fine", "fine")));
        const target = new MemoryTarget(true);
        const done = await opened.unpack(target);
        equal(target.made.fine, utf8("fine"), what);
        ok(!("out" in target.made) && !Object.keys(target.made).some(path => /\.\.|^\/|\0/.test(path)), what);
        ok(done.refused > 0 && opened.notes.length === done.refused, `${what}: nothing is refused`);
        ok(
            target.notes.some(note => why.test(note)),
            `${what}: ${target.notes.join()}`,
        );
        equal((await opened.list()).length, opened.count, what);
    }
});

test("a target without links hears of each", async () => {
    const opened = await Folder.open(ended(file("a"), symlink("b", "a"), hardLink("c", "b")));
    const target = new MemoryTarget();
    await opened.unpack(target);
    equal(target.made, madeOf({ a: "" }));
    equal(
        target.notes,
        ["b", "c"].map(path => `${path}: it is a symbolic link, and none can be made here`),
    );
    const hard = await opened.entry("c");
    ok(hard, "an entry is missing");
    await rejects(opened.read(hard), DeadpanError, /hard link to a symbolic link/);
});

test("archives that are refused as a whole", async () => {
    const spoiled = header("a", "0");
    spoiled[0] = 1;
    const number = (offset: number, text: string): Bytes => {
        const block = header("a", "0");
        block.set(utf8(text), offset);
        return sum(block);
    };
    const long = new Uint8Array(2 ** 20 + 1);
    const oldHoles = (map: string, size = "00000001000\0", stored = 0): Bytes => {
        const block = header("a", "S", { magic: "ustar  \0", size: stored });
        block.set(utf8(map), 386);
        block.set(utf8(size), 483);
        return sum(block);
    };
    const mapped = (map: string, realSize = "100", content = ""): Bytes =>
        concat(pax({ "GNU.sparse.map": map, "GNU.sparse.realsize": realSize }), file("a", content));
    const cases: [string, Bytes, RegExp][] = [
        ["checksum", spoiled, /no header of a tar archive/],
        ["size", number(124, "12345678xyz"), /not a number/],
        ["mode", number(100, "99"), /not a number/],
        ["time", number(136, "0o7"), /not a number/],
        ["negative size", number(124, "\x7f"), /not a number/],
        ["huge size", pax({ size: "2305843009213693952" }), /impossible size/],
        ["pax", extended("x", long), /longer than the 1048576/],
        ["long name", extended("L", long.subarray(0, 65_537)), /longer than the 65536/],
        ["record without an end", extended("x", utf8("10 path=ab")), /not well-formed/],
        ["record with a wrong length", extended("x", utf8("9 path=ab\n")), /not well-formed/],
        ["record without a key", extended("x", utf8("5 =a\n")), /not well-formed/],
        ["record without a length", extended("x", utf8("path=a\n")), /not well-formed/],
        ["record of nothing", extended("x", utf8("0 path=a\n")), /not well-formed/],
        ["record with a negative length", extended("x", utf8("-1 path=a\n")), /not well-formed/],
        ["record with a long length", extended("x", utf8("99999999999999999999 path=a\n")), /not well-formed/],
        ["size in a record", pax({ size: "1x" }), /not well-formed/],
        ["time in a record", pax({ mtime: "1e3" }), /not well-formed/],
        ["global path", pax({ path: "a" }, "g"), /global header names a path or a size/],
        ["global link", pax({ linkpath: "a" }, "g"), /global header names a path or a size/],
        ["global size", pax({ size: "1" }, "g"), /global header names a path or a size/],
        ["global holes", pax({ "GNU.sparse.map": "0,1" }, "g"), /not well-formed/],
        ["headers without an entry", concat(pax({ path: "a" }), new Uint8Array(1024)), /ends after the headers/],
        ["map that goes back", mapped("50,10,0,10", "100", "x".repeat(20)), /does not fit/],
        ["map that overlaps", mapped("0,10,5,10", "100", "x".repeat(20)), /does not fit/],
        ["map beyond the file", mapped("95,10", "100", "x".repeat(10)), /does not fit/],
        ["map of less", mapped("0,10", "100", "x".repeat(11)), /does not fit/],
        ["map of more", mapped("0,10", "100", "x".repeat(9)), /does not fit/],
        ["map of half a piece", mapped("0,10,20", "100", "x".repeat(10)), /not well-formed/],
        ["map that overflows", mapped("18446744073709551615,1", "100", "x"), /does not fit/],
        ["map without a size", concat(pax({ "GNU.sparse.map": "0,1" }), file("a", "x")), /unknown format/],
        [
            "map of version 2",
            concat(pax({ "GNU.sparse.major": "2", "GNU.sparse.minor": "0" }), file("a", "x")),
            /unknown/,
        ],
        ["offset without a length", pax({ "GNU.sparse.offset": "1" }), /not well-formed/],
        ["length without an offset", pax({ "GNU.sparse.numbytes": "1" }), /not well-formed/],
        ["old map", oldHoles("00000000100\0\x30\x30000000010\0"), /does not fit/],
        ["old map, not a number", oldHoles("xxxxxxxxxxx\0\x30\x30000000010\0"), /does not fit/],
        ["old map, huge", oldHoles("", "\x7f"), /impossible size|does not fit|not a number/],
        ["end within a content", header("a", "0", { size: 600 }), /ends too early/],
        ["end within a header", utf8("a".repeat(100)), /ends too early/],
        ["end within pax", header("a", "x", { size: 600 }), /ends too early/],
    ];
    cases.forEach(([what, bytes]) => {
        if (what.startsWith("negative size")) {
            bytes[124] = 0xff;
            sum(bytes.subarray(0, 512));
        }
    });
    for (const [what, bytes, why] of cases) {
        const isCut = what.startsWith("end");
        const archive = isCut
            ? concat(file("z"), bytes)
            : ended(bytes, ...(what.includes("without an entry") ? [] : [file("z")]));
        await rejects(Folder.open(archive), TamperedError, why).catch((error: unknown) => {
            throw new Error(`${what}: ${String(error)}`);
        });
    }
});

thorough("maps in contents are checked when they are read", async () => {
    const maps: [string, string, number][] = [
        ["2\n0\n10\n5\n10\n", "x".repeat(20), 100],
        ["1\n95\n10\n", "x".repeat(10), 100],
        ["1\n0\n10\n", "x".repeat(11), 100],
        ["1\n0\n10\n", "", 100],
        ["1\n0\n-1\n", "", 100],
        ["\n", "", 100],
        ["1\n0", "", 100],
        ["99999999\n", "", 100],
        ["000000000000000000001\n", "", 100],
        ["18446744073709551616\n", "", 100],
    ];
    for (const [map, data, size] of maps) {
        const block = new Uint8Array(512);
        block.set(utf8(map));
        const records = { "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": String(size) };
        const opened = await Folder.open(ended(pax(records), file("a", concat(block, utf8(data)))));
        const [entry] = await opened.list();
        ok(entry, "the entry is missing");
        await rejects(opened.read(entry), TamperedError, /map of a file with holes/);
        const target = new MemoryTarget();
        await rejects(opened.unpack(target), TamperedError);
        equal([Object.keys(target.made).length, target.aborted], [0, 1]);
    }
    const lines = concat(
        utf8(`${2 ** 20 + 1}\n`),
        utf8(Array.from({ length: 2 ** 20 + 1 }, (_, n) => `${2 * n}\n1\n`).join("")),
    );
    const records = { "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "99999999" };
    const opened = await Folder.open(ended(pax(records), file("a", lines)));
    const [entry] = await opened.list();
    ok(entry, "the entry is missing");
    await rejects(opened.read(entry), TamperedError, /more than 1048576 pieces/);
});

test("holes and hard links cannot fill a disk", async () => {
    const hole = (name: string, size: number): Bytes => {
        const records = { "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": String(size) };
        return concat(pax(records), file(name, concat(utf8("0\n"), new Uint8Array(510))));
    };
    const opened = await Folder.open(ended(hole("a", 2 ** 60), hole("b", 1000), hole("c", 2 ** 37)));
    equal(
        (await opened.list()).map(entry => entry.size),
        [2 ** 60, 1000, 2 ** 37],
    );
    const target = new MemoryTarget();
    const done = await opened.unpack(target);
    equal([target.made, done.refused], [{ b: new Uint8Array(1000) }, 2]);
    ok(
        target.notes.every(note => /too large/.test(note)),
        target.notes.join(),
    );
    for (const path of ["a", "c"]) {
        const entry = await opened.entry(path);
        ok(entry, "the entry is missing");
        await rejects(opened.read(entry), LimitError);
        await rejects(opened.read(entry, Infinity), LimitError);
        await rejects(opened.stream(entry).getReader().read(), LimitError);
    }
    const links = ended(file("a", "x".repeat(1000)), ...[..."bcdef"].map(name => hardLink(name, "a")));
    const small = new MemoryTarget();
    const some = await (await Folder.open(links)).unpack(small, { maxSize: 3500 });
    equal([some.files, some.refused, some.bytes], [3, 3, 3000]);
});

test("folders that only paths name are bounded", async () => {
    const deep = (number: number): Bytes => concat(named(`${number}/${"a/".repeat(63)}x`), file("x", "deep"));
    const list = Array.from({ length: 100 }, (_, number) => deep(number));
    const opened = await Folder.open(ended(...list, file("0/a/fine")));
    equal([opened.count, opened.notes.length], [65, 36]);
    ok(/names too many/.test(opened.notes[0]?.why ?? ""), "another reason");
    const honest = Array.from({ length: 1500 }, (_, number) => file(`a${number}/b${number}/c/x`));
    equal((await Folder.open(ended(...honest))).count, 1500);
});

test("long paths do not take long", async () => {
    const long = (number: number): Bytes =>
        concat(named(`${number}${"/d".repeat(1000)}/${"x".repeat(60_000)}`), file("x"));
    const opened = await Folder.open(ended(...Array.from({ length: 60 }, (_, number) => long(number))));
    ok(opened.count > 3, "all are refused");
    await opened.unpack(new MemoryTarget());
});

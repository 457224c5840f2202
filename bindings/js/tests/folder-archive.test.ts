/** Reading archives of other programs. */

import { concat, utf8, type Bytes } from "../src/bytes.ts";
import { Folder } from "../src/folder/folder.ts";
import { ended, file, folder, header, MODIFIED, pax, sum, symlink, unfolded } from "./archive.ts";
import { equal, ok, test } from "./harness.ts";
import { ARCHIVES } from "./tar-archives.ts";
import { madeOf, MemoryTarget } from "./targets.ts";

test("archives of GNU tar", async () => {
    const holes = new Uint8Array(140_000);
    "abcdef".split("").forEach((letter, place) => holes.set(utf8(letter), place * 20_480 + 8192));
    const made = {
        ...madeOf({ t: "folder", "t/a": "hello\n", "t/sub": "folder", "t/zhard": "hello\n" }),
        ...madeOf({ [`t/sub/long${"n".repeat(110)}`]: "long name\n", "t/link": `-> ${"m".repeat(120)}` }),
        "t/holes": holes,
    };
    for (const [name, text] of Object.entries(ARCHIVES)) {
        const opened = await Folder.open(unfolded(text));
        equal([opened.name, opened.notes], [undefined, []], name);
        const target = new MemoryTarget(true);
        await opened.unpack(target);
        equal(target.notes, [], name);
        const wanted = name.startsWith("v7")
            ? madeOf({ t: "folder", "t/a": "hello\n", "t/sub": "folder", "t/zhard": "hello\n" })
            : made;
        equal(target.made, wanted, name);
        const a = await opened.entry("t/a");
        equal(a?.modified, name.startsWith("posix") ? MODIFIED + 0.5 : MODIFIED, name);
    }
});

test("of equal paths, the last entry counts", async () => {
    const bytes = ended(
        file("a", "old"),
        header("before", "1", { target: "a" }),
        folder("f/"),
        file("a", "new"),
        header("after", "1", { target: "./a" }),
        symlink("s", "x"),
        file("s", "file"),
        header("f", "5", { mode: "0000700\0" }),
        header("chain", "1", { target: "before" }),
    );
    const opened = await Folder.open(bytes);
    equal(
        (await opened.list()).map(entry => entry.path),
        ["before", "a", "after", "s", "f", "chain"],
    );
    equal((await opened.entry("f"))?.mode, 0o700);
    const target = new MemoryTarget(true);
    await opened.unpack(target);
    equal(target.made, madeOf({ before: "old", a: "new", after: "new", s: "file", f: "folder", chain: "old" }));
    equal(target.notes, []);
});

test("oddities of archives get a note", async () => {
    const overflow = header("a", "0", { size: 3 });
    overflow.set(utf8("00000000003"), 124);
    overflow.set(utf8("\x0007346545000"), 136);
    const cases: [string, Bytes, RegExp][] = [
        ["no end", file("a", "one"), /has no end/],
        ["one block of zeros", concat(file("a", "one"), new Uint8Array(512)), /has no end/],
        ["empty", new Uint8Array(1024), /is empty/],
        ["one block alone", new Uint8Array(512), /is empty/],
        ["lone block", concat(file("a", "one"), new Uint8Array(512), file("b")), /one block of zeros/],
        ["twice", ended(pax({ path: "b" }), pax({ path: "a" }), file("x", "one")), /same extended header twice/],
        ["overflow", ended(concat(sum(overflow), file("x", "one").subarray(512))), /too long for its field/],
        ["Solaris", ended(concat(header("a", "A", { size: 5 }), new Uint8Array(512)), file("a", "one")), /Solaris/],
    ];
    for (const [what, bytes, note] of cases) {
        const opened = await Folder.open(bytes);
        ok(opened.notes.length === 1 && note.test(opened.notes[0]?.why ?? ""), `${what}: ${opened.notes[0]?.why}`);
        if (!what.includes("empty") && what !== "one block alone") {
            equal(await contentOf(opened, "a"), "one", what);
        }
    }
});

test("other kinds of headers", async () => {
    const zero = { magic: "\0\0\0\0\0\0" };
    const bytes = ended(
        header("label", "V"),
        header("old/", "\0", zero),
        concat(header("old/file", "\0", { ...zero, size: 2 }), utf8("ok"), new Uint8Array(510)),
        concat(header("seven", "7", { size: 2 }), utf8("ok"), new Uint8Array(510)),
        pax({ mtime: "-1.5" }, "g"),
        file("time", ""),
        concat(pax({ path: "././slash//", size: "0" }), folder("x")),
    );
    const opened = await Folder.open(bytes);
    equal(
        (await opened.list()).map(entry => [entry.kind, entry.path, entry.modified]),
        [
            ["folder", "old", MODIFIED],
            ["file", "old/file", MODIFIED],
            ["file", "seven", MODIFIED],
            ["file", "time", -1.5],
            ["folder", "slash", -1.5],
        ],
    );
});

async function contentOf(opened: Folder, path: string): Promise<string> {
    const entry = await opened.entry(path);
    ok(entry, `${path} is missing`);
    return new TextDecoder().decode(await opened.read(entry));
}

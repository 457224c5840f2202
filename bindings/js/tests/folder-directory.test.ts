/** Directories and files of browsers, packed and unpacked. */

import { concat, utf8, type Bytes } from "../src/bytes.ts";
import { directoryName, fromDirectory, fromFiles } from "../src/folder/browser.ts";
import { Folder } from "../src/folder/folder.ts";
import { packFolder, type PackInput } from "../src/folder/pack.ts";
import { unpackToDirectory } from "../src/folder/unpack.ts";
import { aFile, aFolder, aLink, ended, file, folder, packOf, root } from "./archive.ts";
import { equal, ok, rejects, skipped, test } from "./harness.ts";
import { madeOf, MemoryDirectory, MemoryTarget } from "./targets.ts";

test("a directory of the browser, packed and unpacked", async () => {
    const directory = new MemoryDirectory("top");
    const inner = await (
        await directory.getDirectoryHandle("b", { create: true })
    ).getDirectoryHandle("c", { create: true });
    (await inner.getFileHandle("d", { create: true })).content = utf8("deep");
    (await directory.getFileHandle("a", { create: true })).content = utf8("top");
    await directory.getDirectoryHandle("e", { create: true });
    const opened = await Folder.open(await packed("top", fromDirectory(directory.handle)));
    equal(
        (await opened.list()).map(entry => [entry.path, entry.mode, entry.modified]),
        [
            ["", 0o755, 1_500_000_000.25],
            ["a", 0o644, 1_500_000_000.25],
            ["b", 0o755, 1_500_000_000.25],
            ["b/c", 0o755, 1_500_000_000.25],
            ["b/c/d", 0o644, 1_500_000_000.25],
            ["e", 0o755, 0],
        ],
    );
    const other = new MemoryDirectory();
    await unpackToDirectory(opened, other.handle);
    equal(other.all(), directory.all());
});

test("a directory of the browser takes only what belongs into it", async () => {
    const entries = [
        ...[aFile("C:", "x"), aFile("a\\b", "x"), aFolder("bad~"), aFile("bad~/inner", "x"), aFile("fine", "fine")],
        ...[aLink("link", "fine"), aFile("tab\t", "x")],
    ];
    const opened = await Folder.open(await packOf([root(), ...entries]));
    const directory = new MemoryDirectory();
    const notes: string[] = [];
    const done = await unpackToDirectory(opened, directory.handle, {
        note: (path, why) => notes.push(`${path}: ${why}`),
    });
    equal(directory.all(), madeOf({ fine: "fine" }));
    equal([done.files, done.refused, notes.length], [1, 6, 6]);
    ok(
        notes.some(note => note.startsWith("link: it is a symbolic link")),
        notes.join(),
    );
});

test("files of a directory are replaced only if that is wanted", async () => {
    const opened = await Folder.open(
        await packOf([root(), aFile("a", "new"), aFolder("b"), aFile("b/c", "new"), aFile("d", "new")]),
    );
    const directory = new MemoryDirectory();
    (await directory.getFileHandle("a", { create: true })).content = utf8("old");
    (await directory.getFileHandle("b", { create: true })).content = utf8("old");
    await directory.getDirectoryHandle("d", { create: true });
    const done = await unpackToDirectory(opened, directory.handle);
    equal([directory.all(), done.refused], [madeOf({ a: "old", b: "old", d: "folder" }), 4]);
    await unpackToDirectory(opened, directory.handle, { overwrite: true });
    equal(directory.all(), madeOf({ a: "new", b: "old", d: "folder" }));
    const damaged = await Folder.open(
        await packOf([root(), { ...aFile("a", "new"), hash: new Uint8Array(32) }, aFile("x")]),
    );
    await rejects(unpackToDirectory(damaged, directory.handle, { overwrite: true }), Error, /contents were changed/);
    await rejects(unpackToDirectory(damaged, new MemoryDirectory().handle), Error, /contents were changed/);
    equal(directory.all(), madeOf({ a: "new", b: "old", d: "folder" }));
});

test("names that differ only in case do not replace each other", async () => {
    const opened = await Folder.open(
        ended(folder("A/"), file("A/x", "one"), folder("a/"), file("a/X", "two"), file("a/y", "three")),
    );
    for (const overwrite of [false, true]) {
        const directory = new MemoryDirectory("", true);
        const done = await unpackToDirectory(opened, directory.handle, { overwrite });
        equal([directory.all(), done.refused], [madeOf({ A: "folder", "A/x": "one", "A/y": "three" }), 1]);
        const exact = new MemoryDirectory();
        await unpackToDirectory(opened, exact.handle, { overwrite });
        equal(exact.all(), madeOf({ A: "folder", "A/x": "one", a: "folder", "a/X": "two", "a/y": "three" }));
    }
});

test("the private directory of a browser", async () => {
    const storage = (globalThis.navigator as Navigator | undefined)?.storage;
    if (typeof storage?.getDirectory !== "function") {
        skipped("this platform has none");
    }
    const top = await storage.getDirectory();
    await top.removeEntry("folder-test", { recursive: true }).catch(() => undefined);
    const directory = await top.getDirectoryHandle("folder-test", { create: true });
    const bytes = await packed("x", [
        { path: ["ü", "a"], kind: "file", data: new Blob(["one"]) },
        { path: ["b"], kind: "file", data: new Blob([new Uint8Array(700_000).fill(3)]) },
        { path: ["empty"], kind: "folder" },
    ]);
    const opened = await Folder.open(bytes);
    const done = await unpackToDirectory(opened, directory);
    equal([done.files, done.folders, done.refused], [2, 2, 0]);
    equal((await unpackToDirectory(opened, directory)).refused, 2);
    equal((await unpackToDirectory(opened, directory, { overwrite: true })).refused, 0);
    const again = await Folder.open(await packed("x", fromDirectory(directory)));
    const [one, other] = [new MemoryTarget(), new MemoryTarget()];
    await opened.unpack(one);
    await again.unpack(other);
    equal(one.made, other.made);
    const hostile = await Folder.open(await packOf([root(), aFile("a\\b"), aFile("c", "c"), aLink("d", "c")]));
    await unpackToDirectory(hostile, directory, { note: () => undefined });
    const names: string[] = [];
    for await (const [name] of directory.entries()) {
        names.push(name);
    }
    equal(names.sort(), ["b", "c", "empty", "ü"]);
    await top.removeEntry("folder-test", { recursive: true });
});

test("files of an input", async () => {
    const chosen = (path: string, content: string): File => {
        const made = new File([content], path.split("/").pop() ?? "", { lastModified: 1000 });
        Object.defineProperty(made, "webkitRelativePath", { value: path });
        return made;
    };
    const list = [chosen("top/a", "a"), chosen("top/b/c", "c")];
    equal(directoryName(list), "top");
    equal(
        [...fromFiles(list)].map(input => input.path),
        [["a"], ["b", "c"]],
    );
    const opened = await Folder.open(await packed("top", fromFiles(list)));
    equal(
        (await opened.list()).map(entry => [entry.path, entry.modified]),
        [
            ["", 1],
            ["a", 1],
            ["b", 1],
            ["b/c", 1],
        ],
    );
    const plain = [new File(["a"], "a"), new File(["b"], "b")];
    equal(
        [directoryName(plain), directoryName([]), directoryName([...list, chosen("other/a", "")])],
        [undefined, undefined, undefined],
    );
    equal(
        [...fromFiles(plain)].map(input => input.path),
        [["a"], ["b"]],
    );
});

async function packed(name: string, inputs: AsyncIterable<PackInput> | Iterable<PackInput>): Promise<Bytes> {
    const parts: Bytes[] = [];
    for await (const part of packFolder(name, inputs)) {
        parts.push(part);
    }
    return concat(...parts);
}

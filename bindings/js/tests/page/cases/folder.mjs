/** Opened folders: going through them, searching, and saving. */

import { readFileSync } from "node:fs";
import { equal, includes, ok, test } from "../cases.mjs";
import { frozen, frozenKey } from "../fixtures.mjs";
import { sha256 } from "../room.mjs";

const KEYS = { keys: [frozen("keys/x25519.key")] };

/** Returns the names that the list shows. @param {import("../visit.mjs").Visit} visit */
function listed(visit) {
    return visit.page.$$eval("ul.entries li .name", names => names.map(name => name.textContent));
}

test("a folder is shown level by level, is searched, and gives out single files", async room => {
    const visit = await room.visit();
    await visit.open(frozen("sealed/folder.dpn"), KEYS);
    equal(await visit.text("#opened-title"), "tree is open", "title");
    equal(await listed(visit), ["a.txt", "Folder sub"], "the first level");
    await visit.press("ul.entries li:nth-child(2)", "Open");
    equal(await listed(visit), ["Folder empty", "link, a link to ../a.txt", "ü.txt"], "sub");
    equal(await visit.page.evaluate(() => document.activeElement?.textContent), "Folder sub", "focus");
    const umlaut = await visit.save("ul.entries li:nth-child(4)", "Save");
    equal([umlaut.name, umlaut.bytes.toString()], ["ü.txt", "two\n"], "the file in sub");
    await visit.press("ul.entries li:nth-child(2)", "Open");
    equal(await listed(visit), [], "an empty folder");
    await visit.press("ul.entries", "Up");
    await visit.press("ul.entries", "Up");
    equal(await listed(visit), ["a.txt", "Folder sub"], "the first level");
    await visit.page.type("#search", "TXT");
    equal(await listed(visit), ["a.txt", "sub/ü.txt"], "what was found");
    await visit.fill("#search", "nothing");
    equal([await listed(visit), await visit.text("#opened-view p")], [[], "Entries: 0"], "what was found");
});

test("a folder is saved as an archive", async room => {
    for (const file of ["sealed/folder.dpn", "sealed/folder-compressed.dpn"]) {
        const visit = await room.visit();
        const key = await room.library.readPrivateKey(readFileSync(frozen("keys/x25519.key"), "utf8"));
        const data = await room.library.open(readFileSync(frozen(file)), key);
        await visit.open(frozen(file), KEYS);
        const { name, bytes } = await visit.save("#opened-saves", "Save everything as an archive (.tar)");
        equal([name, sha256(bytes)], ["tree.tar", sha256(data)], file);
        await room.leave();
    }
});

test(
    "everything is saved into a directory, and replaces nothing there",
    async room => {
        const visit = await room.visit({ at: room.url, pickers: "origin" });
        await visit.page.evaluate(async () => {
            const root = await navigator.storage.getDirectory();
            const chosen = await root.getDirectoryHandle("chosen", { create: true });
            const file = await (await chosen.getFileHandle("a.txt", { create: true })).createWritable();
            await file.write("mine");
            await file.close();
        });
        await visit.open(frozen("sealed/folder.dpn"), KEYS);
        await visit.press("#opened-saves", "Save everything");
        await visit.until(
            ({ find }) => find("#opened-signed [role=status]")?.textContent === "Saved: tree",
            "it is saved",
        );
        equal(
            await visit.saves.inOrigin("chosen"),
            { "a.txt": "mine", "sub/": "", "sub/empty/": "", "sub/ü.txt": "two\n" },
            "the directory",
        );
        const notes = await visit.text("#opened-view");
        includes(notes, "Left out: sub/link", "what cannot be saved is named");
        includes(notes, "Left out: a.txt", "what is in the way is named");
    },
    { only: "chromium" },
);

test("without a dialog for directories, the page offers only what it can save", async room => {
    const visit = await room.visit({ pickers: "none" });
    await visit.open(frozen("sealed/folder.dpn"), KEYS);
    const buttons = await visit.page.$$eval("#opened-saves button", buttons =>
        buttons.map(button => button.textContent),
    );
    equal(buttons, ["Save everything as an archive (.tar)"], "buttons");
    const { name, bytes } = await visit.save("ul.entries li:nth-child(1)", "Save");
    equal([name, bytes.toString()], ["a.txt", "one\n"], "a download");
});

/** Returns the path of a sealed folder with a folder of 450 files. @param {import("../room.mjs").Room} room */
async function many(room) {
    const entries = Array.from({ length: 450 }, (_, i) => ({
        path: ["many", `${String(i).padStart(3, "0")}.txt`],
        kind: /** @type {const} */ ("file"),
        data: new Blob([String(i)]),
    }));
    const sealed = await room.library.sealFolder("all", entries, await frozenKey(room.library));
    return room.file("all.dpn", new Uint8Array(await new Response(sealed).arrayBuffer()));
}

test("a folder with many files is shown in parts, and errors stay in sight", async room => {
    const visit = await room.visit();
    await visit.open(await many(room), KEYS);
    await visit.press("ul.entries", "Open");
    for (const count of [200, 400, 450]) {
        equal((await listed(visit)).length, count, "entries");
        if (count < 450) {
            await visit.press("#opened-view", "Show more");
        }
    }
    ok(
        !(await visit.page.$eval("#opened-view > div > button", button => button.checkVisibility())),
        "there is no more",
    );
    await visit.page.evaluate(() => scrollTo(0, 0));
    await visit.page.evaluate(() => {
        Object.assign(globalThis, {
            showSaveFilePicker: async () => ({ createWritable: () => Promise.reject(new Error("no")) }),
        });
    });
    await visit.press("ul.entries li:nth-child(2)", "Save");
    await visit.idle("#trouble p");
    const { top, bottom, height } = await visit.page.$eval("#trouble", trouble => {
        const { top, bottom } = trouble.getBoundingClientRect();
        return { top, bottom, height: innerHeight };
    });
    ok(top >= 0 && bottom <= height + 1, `the error is out of sight: from ${top} to ${bottom}, of ${height}`);
});

test("a folder with many files is searched", async room => {
    const visit = await room.visit();
    await visit.open(await many(room), KEYS);
    await visit.fill("#search", "44");
    equal((await listed(visit)).length, 14, "what was found");
    const { bytes } = await visit.save("ul.entries li:last-child", "Save");
    equal(bytes.toString(), "449", "the last file");
});

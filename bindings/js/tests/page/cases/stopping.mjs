/** Saving that does not come to its end: nothing is handed over as whole. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { equal, includes, ok, test } from "../cases.mjs";
import { frozen, frozenKey, PASSPHRASE, sealLong } from "../fixtures.mjs";

/** @typedef {import("../room.mjs").Room} Room */
/** @typedef {import("../visit.mjs").Visit} Visit */

const MB = 1_000_000;
const KEYS = { keys: [frozen("keys/x25519.key")] };

/** @type {string | undefined} */
let made;

/** Returns a sealed file of 100 MB, which is made once. @param {Room} room */
async function longFile(room) {
    if (made === undefined) {
        const path = join(room.newFolder(), "long.dpn");
        await sealLong(room.library, path, 100 * MB);
        made = path;
    }
    return made;
}

/** Returns a copy of a file, with another byte in the middle. @param {Room} room @param {string} path */
function damaged(room, path) {
    const bytes = readFileSync(path);
    const middle = bytes.length >> 1;
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    return room.file("damaged.dpn", bytes);
}

/** Fails if any part of a file was handed over. @param {Room} room @param {Visit} visit */
async function nothingSaved(room, visit) {
    // A download that is wrong would begin at once.
    await new Promise(resolve => setTimeout(resolve, 500));
    equal(room.downloaded(), [], "downloads");
    for (const one of await visit.saves.all()) {
        equal([one.state, one.wrong], ["aborted", 0], "what was written");
    }
    equal(await visit.page.$$eval("#opened-signed [role=status]", notes => notes.length), 0, "notes about saving");
}

/** Cancels the work of the page when a part of it is done. @param {Visit} visit */
async function cancelInTheMiddle(visit) {
    await visit.until(({ find, visible }) => {
        const { value } = /** @type {HTMLProgressElement} */ (find("#work-bar"));
        return visible("#work") && value > 0.02 && value < 0.9;
    }, "the saving is in its middle");
    await visit.page.click("#work-cancel");
    await visit.until(({ visible }) => !visible("#work"), "the work ends");
    equal(await visit.text("#trouble"), "Canceled.", "trouble");
}

/** Waits until no thread of the page runs. Chromium lets a busy one run for two seconds. @param {Visit} visit */
async function noThread(visit) {
    for (let tries = 0; visit.page.workers().length > 0; tries++) {
        ok(tries < 300, "a thread still runs");
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}

test("saving that is canceled saves nothing, and the page goes on", async room => {
    const visit = await room.visit({ pickers: room.name === "chromium" ? 5 : "none" });
    await visit.open(await longFile(room), KEYS);
    await visit.press("#opened-saves", "Save");
    await cancelInTheMiddle(visit);
    await nothingSaved(room, visit);
    await visit.open(frozen("sealed/x25519.dpn"), KEYS);
    await visit.press("#opened-saves", "Save");
    await visit.until(
        ({ find }) => find("#opened-signed [role=status]")?.textContent === "Saved: note.txt",
        "it is saved",
    );
});

test("saving from a damaged file saves nothing", async room => {
    const visit = await room.visit({ pickers: room.name === "chromium" ? 0 : "none" });
    await visit.open(damaged(room, await longFile(room)), KEYS);
    await visit.press("#opened-saves", "Save");
    await visit.idle("#trouble p");
    includes(
        await visit.text("#trouble"),
        "The file is damaged, or somebody has changed it. Nothing was saved.",
        "trouble",
    );
    await nothingSaved(room, visit);
    for (const { length } of await visit.saves.all()) {
        ok(length < 50 * MB + 262_144, `data behind the damage came out: ${length} bytes`);
    }
});

test(
    "canceled and damaged files stay empty on the disk",
    async room => {
        const path = await longFile(room);
        for (const [file, told] of /** @type {const} */ ([
            [path, "Canceled."],
            [damaged(room, path), "Nothing was saved."],
        ])) {
            const visit = await room.visit({ at: room.url, pickers: "origin" });
            await visit.open(file, KEYS);
            await visit.press("#opened-saves", "Save");
            if (file === path) {
                await cancelInTheMiddle(visit);
            } else {
                await visit.idle("#trouble p");
            }
            includes(await visit.text("#trouble"), told, "trouble");
            ok(["", undefined].includes((await visit.saves.inOrigin())["long.bin"]), "the file has content");
            await room.leave();
        }
    },
    { only: "chromium" },
);

test(
    "of a damaged folder, only whole files are saved",
    async room => {
        const entries = ["1", "2", "3"].map(name => ({
            path: [name],
            kind: /** @type {const} */ ("file"),
            data: new Blob([name.repeat(2 * MB)]),
        }));
        const sealed = await room.library.sealFolder("three", entries, await frozenKey(room.library));
        const bytes = new Uint8Array(await new Response(sealed).arrayBuffer());
        const visit = await room.visit({ at: room.url, pickers: "origin" });
        await visit.open(damaged(room, room.file("three.dpn", bytes)), KEYS);
        await visit.press("#opened-saves", "Save everything");
        await visit.idle("#trouble p");
        includes(await visit.text("#trouble"), "The files before this place were saved.", "trouble");
        const found = await visit.saves.inOrigin("chosen");
        equal(found["1"]?.length, 2 * MB, "the first file");
        equal([found["2"] ?? "", found["3"] ?? ""], ["", ""], "the others");
    },
    { only: "chromium" },
);

test("trying a passphrase can be canceled, also after a second try", async room => {
    const visit = await room.visit();
    await visit.choose(frozen("sealed/passphrase.dpn"));
    await visit.give({ passphrase: PASSPHRASE });
    const submit = () => visit.page.$eval("#unlock", form => /** @type {HTMLFormElement} */ (form).requestSubmit());
    for (const tries of [1, 2]) {
        for (let i = 0; i < tries; i++) {
            await submit();
        }
        await visit.until(
            ({ find }) => find("#work-text")?.textContent?.startsWith("Trying the passphrase."),
            "it is tried",
        );
        await visit.page.click("#work-cancel");
        await visit.until(({ visible }) => !visible("#work"), "the work ends");
        equal(await visit.text("#trouble"), "Canceled.", "trouble");
        equal(await visit.page.$eval("#opened", section => section.checkVisibility()), false, "opened is shown");
    }
    await noThread(visit);
    await visit.unlock();
    equal(await visit.text("#opened-title"), "note.txt is open", "title");
});

test("a file that is chosen while another one is opened takes its place", async room => {
    const visit = await room.visit();
    await visit.choose(frozen("sealed/passphrase.dpn"));
    await visit.give({ passphrase: PASSPHRASE });
    await visit.page.$eval("#unlock", form => /** @type {HTMLFormElement} */ (form).requestSubmit());
    await visit.upload("#open-file", frozen("sealed/mixed.dpn"));
    await visit.until(
        ({ find }) => find("#about")?.textContent?.startsWith("mixed.dpn"),
        "the other file is asked for",
    );
    await visit.give({ passphrase: "", keys: [frozen("keys/p256.key")] });
    await visit.unlock();
    equal(await visit.text("#trouble"), "", "trouble");
    equal(await visit.text("#opened-title"), "note.txt is open", "title");
});

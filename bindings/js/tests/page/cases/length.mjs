/** Long files: opened and saved in little memory. */

import { closeSync, createReadStream, ftruncateSync, openSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { equal, ok, test } from "../cases.mjs";
import { blocks, command, frozen, sealLong } from "../fixtures.mjs";
import { growthOf } from "../memory.mjs";

/** @typedef {import("../room.mjs").Room} Room */

const IS_LONG = process.env.PAGE_LONG === "1";
const MIB = 1 << 20;
const LENGTH = IS_LONG ? 5 * 1024 * MIB : 300 * MIB;
const DOWNLOAD = IS_LONG ? 1024 * MIB : 200 * MIB;
const REAL = IS_LONG ? 2048 * MIB : 100 * MIB;
/** How much more memory all processes of the browser may take, in MiB. */
const LIMIT = 300;
/** The same for a download, which is less than a page takes that keeps 200 MiB. */
const DOWNLOAD_LIMIT = 250;
const SECONDS = 600;

/** Returns the path of a long sealed file. The command line is faster. @param {Room} room @param {number} length */
async function long(room, length) {
    const path = join(room.newFolder(), "long.bin.dpn");
    if (room.deadpan === undefined) {
        await sealLong(room.library, path, length);
    } else {
        const args = ["seal", "-q", "-r", frozen("keys/x25519.pub"), "--mode", "ecc", "-o", path];
        await command(room.deadpan, args, blocks(length));
    }
    return path;
}

test(
    `${LENGTH / MIB} MiB are opened and saved in little memory`,
    async room => {
        const path = await long(room, LENGTH);
        const visit = await room.visit({ pickers: 0 });
        visit.wait = SECONDS * 1000;
        const start = Date.now();
        const growth = await growthOf(room.processOf(visit), async () => {
            await visit.open(path, { keys: [frozen("keys/x25519.key")] });
            await visit.press("#opened-saves", "Save");
            await visit.until(
                ({ filled, saved }) => saved()[0]?.state === "closed" || filled("#trouble"),
                "the file is saved",
            );
        });
        const seconds = (Date.now() - start) / 1000;
        const [saved] = await visit.saves.all();
        equal([saved?.state, saved?.length, saved?.wrong], ["closed", LENGTH, 0], "what was saved");
        ok(growth < LIMIT, `the memory grew by ${growth} MiB`);
        rmSync(path);
        return `${growth} MiB more memory, ${(LENGTH / MIB / seconds).toFixed()} MiB/s`;
    },
    { only: "chromium", seconds: SECONDS },
);

test(
    `${DOWNLOAD / MIB} MiB are opened and downloaded`,
    async room => {
        const path = await long(room, DOWNLOAD);
        const visit = await room.visit({ pickers: "none" });
        visit.wait = SECONDS * 1000;
        const start = Date.now();
        let [name, found] = ["", 0];
        const growth = await growthOf(room.processOf(visit), async () => {
            await visit.open(path, { keys: [frozen("keys/x25519.key")] });
            await visit.press("#opened-saves", "Save");
            ({ name } = await visit.saves.download());
        });
        const seconds = (Date.now() - start) / 1000;
        equal([name, statSync(join(room.downloads, name)).size], ["long.bin", DOWNLOAD], "the download");
        const wanted = blocks(DOWNLOAD);
        for await (const data of createReadStream(join(room.downloads, name), { highWaterMark: MIB })) {
            ok(data.equals(wanted.next().value ?? new Uint8Array()), `block ${found} differs`);
            found++;
        }
        ok(growth < DOWNLOAD_LIMIT, `the memory grew by ${growth} MiB`);
        rmSync(path);
        return `${growth} MiB more memory, ${(DOWNLOAD / MIB / seconds).toFixed()} MiB/s`;
    },
    { seconds: SECONDS },
);

test(
    `${REAL / MIB} MiB are saved into a real file in little memory`,
    async room => {
        const path = await long(room, REAL);
        const visit = await room.visit({ at: room.url, pickers: "origin" });
        visit.wait = SECONDS * 1000;
        const start = Date.now();
        const growth = await growthOf(room.processOf(visit), async () => {
            await visit.open(path, { keys: [frozen("keys/x25519.key")] });
            await visit.press("#opened-saves", "Save");
            await visit.until(
                ({ filled, visible }) => filled("#trouble") || visible("#opened-signed [role=status]"),
                "it is saved",
            );
        });
        const seconds = (Date.now() - start) / 1000;
        const size = await visit.page.evaluate(async () => {
            const root = await navigator.storage.getDirectory();
            const { size } = await (await root.getFileHandle("long.bin")).getFile();
            await root.removeEntry("long.bin");
            return size;
        });
        rmSync(path);
        equal(size, REAL, "the length of the file");
        ok(growth < LIMIT, `the memory grew by ${growth} MiB`);
        return `${growth} MiB more memory, ${(REAL / MIB / seconds).toFixed()} MiB/s`;
    },
    { only: "chromium", seconds: SECONDS },
);

test(
    `${LENGTH / MIB} MiB are sealed in little memory`,
    async room => {
        // A file with a hole takes no place on the disk.
        const path = room.file("hole.bin", "");
        const descriptor = openSync(path, "r+");
        ftruncateSync(descriptor, LENGTH);
        closeSync(descriptor);
        const visit = await room.visit({ pickers: 0 });
        visit.wait = SECONDS * 1000;
        await visit.page.click("#tab-seal");
        const start = Date.now();
        const growth = await growthOf(room.processOf(visit), async () => {
            await visit.upload("#seal-files", path);
            await visit.until(({ filled }) => filled("#seal-chosen"), "the file is chosen");
            await visit.upload("#seal-key-files", frozen("keys/xwing.pub"));
            await visit.press("#seal-form", "Seal");
            await visit.idle("#sealed");
        });
        const seconds = (Date.now() - start) / 1000;
        equal(await visit.text("#trouble"), "", "trouble");
        const [saved] = await visit.saves.all();
        ok(saved?.state === "closed" && saved.length > LENGTH, "the sealed file is not whole");
        ok(growth < LIMIT, `the memory grew by ${growth} MiB`);
        return `${growth} MiB more memory, ${(LENGTH / MIB / seconds).toFixed()} MiB/s`;
    },
    { only: "chromium", seconds: SECONDS },
);

/** Makes the pictures of docs/web.md: node tests/page/pictures.mjs PAGE.html FOLDER */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { frozen, frozenKey } from "./fixtures.mjs";
import { withPalette } from "./palette.mjs";
import { Room } from "./room.mjs";

/** @typedef {import("./visit.mjs").Visit} Visit */

const WIDTH = 640;
const MODIFIED = Date.UTC(2026, 7, 14, 9, 30) / 1000;
const KEYS = { keys: [frozen("keys/x25519.key")] };
const LETTER = "Dear Bob,\n\nthe meeting is on Friday at ten. Bring the red folder.\n\nAlice\n";

const [html, folder] = process.argv.slice(2);
if (html === undefined || folder === undefined) {
    console.error("usage: node tests/page/pictures.mjs PAGE.html FOLDER");
    process.exit(2);
}
const room = await Room.enter("chromium", html, undefined);
try {
    await opening(await visit(WIDTH), join(folder, "page-open.png"));
    await folderView(await visit(WIDTH), join(folder, "page-folder.png"));
    await sealing(await visit(WIDTH), join(folder, "page-seal.png"));
    await dark(await visit(360), join(folder, "page-dark-360.png"));
    await room.leave();
} finally {
    await room.close();
}

/** @param {number} width */
async function visit(width) {
    const visit = await room.visit();
    await visit.page.setViewport({ width, height: 200 });
    await visit.page.emulateTimezone("UTC");
    return visit;
}

/** @param {Visit} visit @param {string} path */
async function picture({ page }, path) {
    // The caret blinks, and the focus is not what the pictures are about.
    await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).blur());
    const png = await page.screenshot({ fullPage: true, encoding: "base64" });
    const blank = await page.browser().newPage();
    const { base64, width } = await blank.evaluate(async png => {
        const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
        context.drawImage(bitmap, 0, 0);
        const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
        const symbols = Array.from(data, byte => String.fromCharCode(byte));
        return { base64: btoa(symbols.join("")), width: bitmap.width };
    }, png);
    await blank.close();
    writeFileSync(path, withPalette(Buffer.from(base64, "base64"), width));
}

/** @param {Visit} visit @param {string} path */
async function opening(visit, path) {
    const key = await frozenKey(room.library);
    const sealed = await room.library.seal(new Uint8Array(182_000), [key, new room.library.Passphrase("x")]);
    await visit.drop("#open-drop", { name: "report.pdf.dpn", bytes: sealed });
    await visit.asks();
    await picture(visit, path);
}

/** @param {Visit} visit @param {string} path */
async function folderView(visit, path) {
    const entries = [
        { path: ["budget.xlsx"], length: 48_200 },
        { path: ["letter to the editor.docx"], length: 21_900 },
        { path: ["photos", "harbor.jpg"], length: 1_300_000 },
        { path: ["photos", "market.jpg"], length: 900_000 },
        { path: ["plan.pdf"], length: 350_000 },
    ].map(({ path, length }) => ({
        path,
        kind: /** @type {const} */ ("file"),
        data: new Blob([new Uint8Array(length)]),
        modified: MODIFIED,
    }));
    const sealed = await room.library.sealFolder("trip", entries, await frozenKey(room.library));
    const bytes = new Uint8Array(await new Response(sealed).arrayBuffer());
    await visit.open(room.file("trip.dpn", bytes), KEYS);
    // Only the result, without the way to it.
    await visit.page.$$eval("#open-drop, #unlock", parts => parts.forEach(part => part.remove()));
    await picture(visit, path);
}

/** @param {Visit} visit @param {string} path */
async function sealing(visit, path) {
    await visit.page.click("#tab-seal");
    await visit.upload("#seal-files", room.file("report.pdf", new Uint8Array(182_000)));
    await visit.until(({ filled }) => filled("#seal-chosen"), "the file is chosen");
    await visit.page.click("#seal-offer");
    // A suggestion of the page is another one each time.
    await visit.fill("#seal-passphrase", "m4kq-7r2v-x9dn-3hzc-5twp-b8ge");
    await picture(visit, path);
}

/** @param {Visit} visit @param {string} path */
async function dark(visit, path) {
    await visit.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    const options = { name: "letter.txt", modified: MODIFIED * 1000 };
    const sealed = await room.library.seal(LETTER, await frozenKey(room.library), options);
    await visit.open(room.file("letter.txt.dpn", sealed), KEYS);
    await visit.page.$$eval("#open-drop, #unlock", parts => parts.forEach(part => part.remove()));
    await picture(visit, path);
}

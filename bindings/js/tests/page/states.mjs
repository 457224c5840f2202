/** The states of the page in which cases look at all that is shown. */

import { readFileSync } from "node:fs";
import { frozen, frozenKey } from "./fixtures.mjs";

/** @typedef {import("./room.mjs").Room} Room */
/** @typedef {import("./visit.mjs").Visit} Visit */

export const LANGUAGES = ["en", "de", "es", "ja", "ko"];

// A name that is long, has no place for a break, and words of both directions.
const LONG = `${"W".repeat(120)}${"あ".repeat(40)}مرحبا_${"i".repeat(40)}`;

/** @type {Uint8Array | undefined} */
let folder;

/** A folder with long names. @param {Room} room */
async function sealedFolder(room) {
    if (folder === undefined) {
        const entries = [LONG, `${LONG}.txt`, "a"].map((name, i) => ({
            path: i === 0 ? [name] : [`${LONG.slice(0, 80)}${i}`, name],
            kind: /** @type {const} */ ("file"),
            data: new Blob([name]),
        }));
        const sealed = await room.library.sealFolder(LONG.slice(0, 150), entries, await frozenKey(room.library));
        folder = new Uint8Array(await new Response(sealed).arrayBuffer());
    }
    return folder;
}

/**
 * Goes through the page, and calls a function in each state.
 * @param {Room} room
 * @param {Visit} visit
 * @param {(state: string) => Promise<void>} look
 */
export async function eachState(room, visit, look) {
    const { page } = visit;
    await look("the beginning");
    await page.click("#open-paste");
    await look("the field for a text");
    await page.click("#open-paste");

    const signed = readFileSync(frozen("signed/all.dpn"));
    await visit.drop("#open-drop", { name: `${LONG}.dpn`, bytes: signed });
    await visit.asks();
    await page.$$eval("#unlock details", all => all.forEach(details => (details.open = true)));
    await look("a file that is asked for");
    await visit.give({ passphrase: "wrong" });
    await visit.unlock();
    await look("an error");
    await visit.give({
        passphrase: "",
        keys: [frozen("keys/x25519.key")],
        signers: readFileSync(frozen("keys/ed25519.pub"), "utf8"),
    });
    await visit.unlock();
    await look("a text that is open");

    await visit.drop("#open-drop", { name: "folder.dpn", bytes: await sealedFolder(room) });
    await visit.asks();
    await visit.give({ signers: "" });
    await visit.unlock();
    await look("a folder that is open");
    await page.click("ul.entries li:last-child button");
    await look("a folder in a folder");

    await page.click("#tab-seal");
    await look("sealing");
    await visit.fill("#seal-text", `${"W".repeat(500)}\n`);
    await visit.fill("#seal-keys", readFileSync(frozen("keys/x25519.pub"), "utf8"));
    await page.click("#seal-form button.main");
    await visit.idle("#sealed");
    await look("a text that is sealed");
    await visit.drop("#seal-drop", { name: LONG, bytes: signed }, { name: "b", bytes: signed });
    await look("files that are chosen");

    await page.click("#tab-key");
    await look("making a key");
    await page.click("#key-offer");
    await visit.press("#key-form", "Make a key");
    await visit.until(({ visible }) => visible("#work") || visible("#made"), "a key is made");
    // On a fast machine, the work may be over before the test looks.
    if (await page.evaluate(() => document.querySelector("#work")?.checkVisibility())) {
        await look("work");
    }
    await visit.idle("#made");
    await page.$$eval("footer details", all => all.forEach(details => (details.open = true)));
    await look("a key that is made");
}

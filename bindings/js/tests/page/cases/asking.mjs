/** What the page asks for, warns of, and does not do without. */

import { equal, includes, test } from "../cases.mjs";
import { frozen, NOTE } from "../fixtures.mjs";

const PUBLIC = frozen("keys/xwing.pub");

/** Opens the page's part that seals. @param {import("../room.mjs").Room} room */
async function sealing(room) {
    const visit = await room.visit();
    await visit.page.click("#tab-seal");
    return visit;
}

test("what the page needs is asked for", async room => {
    const visit = await sealing(room);
    const focus = () => visit.page.evaluate(() => document.activeElement?.id);
    await visit.press("#seal-form", "Seal");
    includes(await visit.text("#trouble"), "Choose files or a folder, or write a text.", "without anything");
    equal(await focus(), "seal-choose", "focus");
    await visit.fill("#seal-text", "x");
    await visit.press("#seal-form", "Seal");
    includes(await visit.text("#trouble"), "Name a recipient: a public key or a passphrase.", "without a recipient");
    equal(await focus(), "seal-keys", "focus");
    await visit.fill("#seal-keys", "no key");
    await visit.press("#seal-form", "Seal");
    await visit.idle("#sealed");
    includes(
        await visit.text("#trouble"),
        "This key cannot be used here, or it is damaged.",
        "with a text that is no key",
    );
});

test("a file and a text are not sealed together, and the file can be removed", async room => {
    const visit = await sealing(room);
    const focus = () => visit.page.evaluate(() => document.activeElement?.id);
    equal(
        await visit.page.$eval("#seal-remove", button => button.checkVisibility()),
        false,
        "there is nothing to remove",
    );
    await visit.upload("#seal-files", room.file("a.txt", NOTE));
    await visit.until(({ filled }) => filled("#seal-chosen"), "the file is chosen");
    await visit.fill("#seal-text", "x");
    await visit.upload("#seal-key-files", PUBLIC);
    await visit.press("#seal-form", "Seal");
    await visit.idle("#sealed");
    includes(await visit.text("#trouble"), "Choose files or write a text, not both", "trouble");
    equal([await focus(), await visit.saves.all()], ["seal-text", []], "focus, and what is saved");
    await visit.press("#seal-drop", "Remove");
    equal([await focus(), await visit.text("#seal-chosen")], ["seal-choose", ""], "focus after the file is removed");
    await visit.press("#seal-form", "Seal");
    await visit.idle("#sealed");
    includes(await visit.text("#sealed-view"), "-----BEGIN DEADPAN SEALED FILE-----", "the text");
});

test("a short passphrase is warned of while it is typed", async room => {
    const visit = await room.visit();
    for (const name of ["seal", "key"]) {
        await visit.page.click(`#tab-${name}`);
        equal(await visit.text(`#${name}-weak`), "", "at the beginning");
        await visit.page.type(`#${name}-passphrase`, "123456789012345");
        includes(await visit.text(`#${name}-weak`), "Short passphrases can be guessed.", "15 characters");
        await visit.page.type(`#${name}-passphrase`, "6");
        equal(await visit.text(`#${name}-weak`), "", "16 characters");
        await visit.fill(`#${name}-passphrase`, "short");
        await visit.page.click(`#${name}-offer`);
        equal(await visit.text(`#${name}-weak`), "", "a suggestion");
    }
});

test(
    "a dialog for saving that is closed cancels",
    async room => {
        const visit = await sealing(room);
        await visit.page.evaluate(() => {
            Object.assign(globalThis, {
                showSaveFilePicker: async () => {
                    throw new DOMException("The user aborted a request.", "AbortError");
                },
            });
        });
        await visit.upload("#seal-files", room.file("a", "x"));
        await visit.until(({ filled }) => filled("#seal-chosen"), "the file is chosen");
        await visit.upload("#seal-key-files", PUBLIC);
        await visit.press("#seal-form", "Seal");
        await visit.idle("#sealed");
        includes(await visit.text("#trouble"), "Canceled.", "trouble");
        equal(await visit.page.$eval("#sealed", section => section.checkVisibility()), false, "sealed is shown");
    },
    { only: "chromium" },
);

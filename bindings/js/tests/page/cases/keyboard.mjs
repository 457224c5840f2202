/** The page without a mouse: everything can be reached, the focus is seen, and nothing traps it. */

import { readFileSync } from "node:fs";
import { equal, ok, test } from "../cases.mjs";
import { frozen, NOTE, PASSPHRASE } from "../fixtures.mjs";

/** @typedef {import("../visit.mjs").Visit} Visit */

/** Returns what has the focus: its id or text, and whether the focus is seen. @param {Visit} visit */
function focused(visit) {
    return visit.page.evaluate(() => {
        const element = document.activeElement ?? document.body;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return {
            name: element.id || element.textContent?.trim().slice(0, 40) || element.tagName,
            isSeen: outlineStyle !== "none" && parseFloat(outlineWidth) > 0,
            isInside: element !== document.body && element !== document.documentElement,
        };
    });
}

/**
 * Presses a key until something has the focus, and fails if it never has.
 * @param {Visit} visit
 * @param {string} name
 * @param {boolean} [back]
 */
async function tabTo(visit, name, back = false) {
    for (let tries = 0; tries < 40; tries++) {
        const { name: found, isSeen } = await focused(visit);
        if (found === name) {
            ok(isSeen, `the focus on ${name} is not seen`);
            return;
        }
        await press(visit, "Tab", back);
    }
    throw new Error(`${name} cannot be reached`);
}

/** @param {Visit} visit @param {import("puppeteer-core").KeyInput} key @param {boolean} [shift] */
async function press(visit, key, shift = false) {
    if (shift) {
        await visit.page.keyboard.down("Shift");
    }
    await visit.page.keyboard.press(key);
    if (shift) {
        await visit.page.keyboard.up("Shift");
    }
}

/**
 * Presses a key that opens the dialog for files, and chooses one there.
 * @param {Visit} visit
 * @param {import("puppeteer-core").KeyInput} key
 * @param {string} path
 */
async function chooseWith(visit, key, path) {
    for (let tries = 1; ; tries++) {
        const dialog = visit.page.waitForFileChooser({ timeout: 2000 });
        try {
            const [chooser] = await Promise.all([dialog, press(visit, key)]);
            return await chooser.accept([path]);
        } catch (why) {
            // Chromium shows no dialog if it has not yet noticed the end of the last one.
            if (tries === 3) {
                throw why;
            }
        }
    }
}

/**
 * Goes from one end of the page to the other, and returns what had the focus.
 * @param {Visit} visit
 * @param {boolean} back
 */
async function through(visit, back) {
    const end = await visit.page.$$eval(
        "#language, footer summary",
        (ends, back) => {
            /** @type {HTMLElement | undefined} */ (ends.at(back ? -1 : 0))?.focus();
            return (
                /** @type {HTMLElement | undefined} */ (ends.at(back ? 0 : -1))?.id || "What this page cannot promise"
            );
        },
        back,
    );
    /** @type {string[]} */
    const names = [];
    for (let tries = 0; tries < 60; tries++) {
        const { name, isSeen } = await focused(visit);
        // A focus that a program sets may be invisible.
        ok(isSeen || tries === 0, `the focus on ${name} is not seen`);
        names.push(name);
        if (name === end) {
            return names;
        }
        await press(visit, "Tab", back);
    }
    throw new Error(`the focus does not come to the end: ${names.slice(-5)}`);
}

test("a file is opened, shown and saved with the keyboard alone", async room => {
    const visit = await room.visit();
    await visit.drop("#open-drop", { name: "note.dpn", bytes: readFileSync(frozen("sealed/passphrase.dpn")) });
    await visit.asks();
    equal((await focused(visit)).name, "open-passphrase", "focus");
    await visit.page.keyboard.type(PASSPHRASE);
    await tabTo(visit, "open-show");
    await press(visit, " ");
    equal(
        await visit.page.$eval("#open-passphrase", field => field.getAttribute("type")),
        "text",
        "what is typed is shown",
    );
    equal(
        await visit.page.$eval("#open-show", button => button.getAttribute("aria-pressed")),
        "true",
        "the button says so",
    );
    await press(visit, "Enter");
    equal(
        await visit.page.$eval("#open-passphrase", field => field.getAttribute("type")),
        "password",
        "it is hidden again",
    );
    await tabTo(visit, "More options");
    await press(visit, "Enter");
    await tabTo(visit, "open-signers");
    await tabTo(visit, "open-passphrase", true);
    await press(visit, "Enter");
    await visit.idle("#opened");
    equal([(await focused(visit)).name, await visit.text("#opened-view pre")], ["opened", NOTE], "focus on the result");
    await tabTo(visit, "Save");
    await press(visit, "Enter");
    const { name, bytes } = await visit.saves.one();
    equal([name, bytes.toString()], ["note.txt", NOTE], "saved");
});

test("a file is chosen with the keyboard", async room => {
    const visit = await room.visit();
    await tabTo(visit, "open-choose");
    await chooseWith(visit, "Enter", frozen("sealed/x25519.dpn"));
    await visit.asks();
    equal((await focused(visit)).name, "open-passphrase", "focus");
    await tabTo(visit, "open-keys");
    await chooseWith(visit, " ", frozen("keys/x25519.key"));
    await tabTo(visit, "open-passphrase", true);
    await press(visit, "Enter");
    await visit.idle("#opened");
    equal(await visit.text("#opened-view pre"), NOTE, "text");
});

test("the tabs move with the arrows, and lead to what they show", async room => {
    const visit = await room.visit();
    await tabTo(visit, "tab-open");
    for (const [key, tab, panel] of /** @type {const} */ ([
        ["ArrowRight", "tab-seal", "seal"],
        ["ArrowRight", "tab-key", "key"],
        ["ArrowRight", "tab-open", "open"],
        ["ArrowLeft", "tab-key", "key"],
        ["ArrowLeft", "tab-seal", "seal"],
    ])) {
        await press(visit, key);
        equal((await focused(visit)).name, tab, `focus after ${key}`);
        const shown = await visit.page.$$eval("[role=tabpanel]", panels =>
            panels.filter(panel => panel.checkVisibility()).map(({ id }) => id),
        );
        equal(shown, [panel], `panels after ${key}`);
    }
    await press(visit, "Tab");
    equal((await focused(visit)).name, "seal-choose", "focus after the tab");
    await press(visit, "Tab", true);
    equal((await focused(visit)).name, "tab-seal", "focus before the panel");
});

test("the focus comes to everything, and is nowhere trapped", async room => {
    const visit = await room.visit();
    await visit.page.click("#open-paste");
    await visit.open(frozen("sealed/folder.dpn"), { keys: [frozen("keys/x25519.key")] });
    await visit.page.$$eval("details", all => all.forEach(details => (details.open = true)));
    for (const tab of ["open", "seal", "key"]) {
        await visit.page.click(`#tab-${tab}`);
        const wanted = await visit.page.$$eval("button, input, select, textarea, summary", elements =>
            elements
                .filter(element => element.checkVisibility() && /** @type {HTMLElement} */ (element).tabIndex >= 0)
                .map(element => element.id || element.textContent?.trim().slice(0, 40) || element.tagName),
        );
        for (const back of [false, true]) {
            const found = await through(visit, back);
            const missing = wanted.filter(name => !found.includes(name));
            equal(missing, [], `${tab}: what the focus does not reach`);
            const order = found.filter(name => wanted.includes(name));
            equal(back ? order.reverse() : order, wanted, `${tab}: the order`);
        }
    }
});

test("a text is sealed with the keyboard alone", async room => {
    const visit = await room.visit();
    await tabTo(visit, "tab-open");
    await press(visit, "ArrowRight");
    await tabTo(visit, "seal-text");
    await visit.page.keyboard.type("Straight.");
    await tabTo(visit, "Seal");
    await press(visit, "Enter");
    await visit.until(({ filled }) => filled("#trouble"), "a recipient is asked for");
    equal((await focused(visit)).name, "seal-keys", "focus on what is missing");
    await visit.fill("#seal-keys", readFileSync(frozen("keys/x25519.pub"), "utf8"));
    await tabTo(visit, "seal-armor");
    await tabTo(visit, "Seal");
    await press(visit, "Enter");
    await visit.idle("#sealed");
    equal((await focused(visit)).name, "sealed", "focus on the result");
    await tabTo(visit, "Copy");
});

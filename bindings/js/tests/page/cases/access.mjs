/** What assistive technology sees, and what people see: contrast, and narrow windows. */

import { equal, ok, test } from "../cases.mjs";
import { pale, tooWide, unlabeled } from "../faults.mjs";
import { eachState, LANGUAGES } from "../states.mjs";

/** @typedef {import("../visit.mjs").Visit} Visit */

const NARROW = { width: 360, height: 740 };
/** Roles of what a user works with, which need a name. */
const CONTROLS = new Set(
    "button checkbox combobox textbox searchbox tab tabpanel progressbar region DisclosureTriangle switch link".split(
        " ",
    ),
);

test("in each state, everything has a label, stands out, and fits into 360 pixels", async room => {
    const visit = await room.visit();
    await visit.page.setViewport(NARROW);
    await eachState(room, visit, async state => {
        equal(await visit.page.evaluate(unlabeled), [], `${state}: labels`);
        equal(await visit.page.evaluate(pale), [], `${state}: contrast`);
        equal(await visit.page.evaluate(tooWide), [], `${state}: width`);
        if (room.name === "chromium") {
            const nameless = (await named(visit)).filter(({ name }) => name.trim() === "");
            equal(nameless, [], `${state}: names in the accessibility tree`);
        }
    });
});

test("in each state, text stands out in the dark", async room => {
    const { visit, close } = await room.darkVisit("en");
    try {
        const background = await visit.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        ok(/^rgb\((?:\d\d?, ){2}\d\d?\)$/.test(background), `the background is not dark, but ${background}`);
        await eachState(room, visit, async state => equal(await visit.page.evaluate(pale), [], state));
        await room.leave();
    } finally {
        await close();
    }
});

test("360 pixels are enough in all languages", async room => {
    const visit = await room.visit();
    await visit.page.setViewport(NARROW);
    for (const language of LANGUAGES) {
        await visit.page.select("#language", language);
        for (const tab of ["open", "seal", "key"]) {
            await visit.page.click(`#tab-${tab}`);
            await visit.page.$$eval("details", all => all.forEach(details => (details.open = true)));
            equal(await visit.page.evaluate(tooWide), [], `${language}, ${tab}`);
        }
    }
});

test(
    "in all languages, each control has a name in the accessibility tree",
    async room => {
        for (const language of LANGUAGES) {
            const visit = await room.visit({ language });
            for (const tab of ["open", "seal", "key"]) {
                await visit.page.click(`#tab-${tab}`);
                const found = await named(visit);
                ok(found.length > 8, `${language}, ${tab}: only ${found.length} controls`);
                const nameless = found.filter(({ name }) => name.trim() === "").map(({ role }) => role);
                equal(nameless, [], `${language}, ${tab}: without a name`);
            }
            await room.leave();
        }
    },
    { only: "chromium" },
);

test("what happens is told: by an alert, by a status, and by the focus", async room => {
    const visit = await room.visit();
    const focus = () => visit.page.evaluate(() => document.activeElement?.id);
    equal(await visit.page.$eval("#trouble", element => element.getAttribute("role")), "alert", "errors");
    for (const id of ["work-text", "seal-chosen"]) {
        equal(await visit.page.$eval(`#${id}`, element => element.getAttribute("role")), "status", id);
    }
    /** @type {Record<string, string | undefined>} */
    const focused = {};
    await eachState(room, visit, async state => {
        focused[state] = await focus();
    });
    equal(
        [focused["a file that is asked for"], focused["a text that is open"], focused["a folder that is open"]],
        ["open-passphrase", "opened", "opened"],
        "focus while opening",
    );
    equal([focused["a text that is sealed"], focused["a key that is made"]], ["sealed", "made"], "focus after work");
});

test("all texts of the page are in its language", async room => {
    const visit = await room.visit();
    const english = await visit.page.evaluate(texts);
    for (const language of LANGUAGES.slice(1)) {
        await visit.page.select("#language", language);
        equal(await visit.page.evaluate(() => document.documentElement.lang), language, "the page's language");
        const found = await visit.page.evaluate(texts);
        const same = Object.entries(found).filter(
            ([name, text]) => text === english[name] && !/^(?:version|about|sealPassphrase)$/.test(name),
        );
        equal(same, [], `${language}: texts that are English`);
    }
});

/** Returns all controls of the accessibility tree. @param {Visit} visit */
async function named(visit) {
    /** @type {{ role: string, name: string }[]} */
    const found = [];
    const nodes = [await visit.page.accessibility.snapshot({ interestingOnly: false })];
    for (let node = nodes.pop(); node; node = nodes.pop()) {
        if (CONTROLS.has(node.role)) {
            found.push({ role: node.role, name: node.name ?? "" });
        }
        nodes.push(...(node.children ?? []));
    }
    return found;
}

/** Returns the texts that the page shows or says. This function runs in the page. */
function texts() {
    /** @type {Record<string, string>} */
    const found = {};
    for (const element of document.querySelectorAll("[data-text]")) {
        found[/** @type {HTMLElement} */ (element).dataset["text"] ?? ""] = element.textContent ?? "";
    }
    for (const element of document.querySelectorAll("[data-label]")) {
        found[/** @type {HTMLElement} */ (element).dataset["label"] ?? ""] = element.getAttribute("aria-label") ?? "";
    }
    return found;
}

/** Hostile names and texts: whatever they are, they are shown as text, and saved under harmless names. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, ok, test } from "../cases.mjs";
import { NAMES_OF_FILES, TEXTS } from "../corpus.mjs";
import { drive } from "../puppet.mjs";
import { command, frozen, frozenKey } from "../fixtures.mjs";

/** @typedef {import("../puppet.mjs").Task} Task */
/** @typedef {import("../visit.mjs").Visit} Visit */

const X25519 = frozen("keys/x25519.key");
const KEYS = { keys: [X25519] };
/** What must not be in a text that is shown: characters that have no shape, or change the direction of the text. */
const SHAPELESS = new RegExp(
    [
        String.raw`[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00ad\u061c\u200b\u200c\u200e\u200f]`,
        String.raw`[\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]`,
    ].join("|"),
    "u",
);

/** Fails if a name is not one that every system takes for a new file. @param {string} name @param {string} from */
function safe(name, from) {
    const what = `${JSON.stringify(from.slice(0, 80))} became ${JSON.stringify(name.slice(0, 80))}`;
    ok(name !== "", what);
    ok(!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}<>:"/\\|?*]/u.test(name), what);
    ok(!/^[. ]|[. ]$/.test(name), what);
    ok(!/^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) *(?:\.|$)/i.test(name), what);
    ok(Buffer.byteLength(name) <= 255, `${what}, of ${Buffer.byteLength(name)} bytes`);
}

/**
 * Returns how many elements of each kind there are, and fails if a script has run. This function runs in the page.
 * @returns {Record<string, number>}
 */
function census() {
    /** @type {Record<string, number>} */
    const found = {};
    for (const { tagName } of document.querySelectorAll("*")) {
        found[tagName] = (found[tagName] ?? 0) + 1;
    }
    if ("xss" in globalThis) {
        throw new Error("a script has run");
    }
    return found;
}

/** Fails if the texts that the page shows have characters without a shape. @param {string} text @param {string} from */
function clean(text, from) {
    const found = SHAPELESS.exec(text.replaceAll("\n", ""))?.[0];
    ok(
        found === undefined,
        `U+${found?.codePointAt(0)?.toString(16)} is shown, from ${JSON.stringify(from.slice(0, 80))}`,
    );
}

/**
 * Does something with a harmless text and with hostile ones, and fails if this makes other elements, shows characters
 * without a shape, or saves under a name that is not safe. Returns what was seen.
 * @param {Visit} visit
 * @param {readonly string[]} texts
 * @param {(texts: string[]) => Task} task
 */
async function alike(visit, texts, task) {
    const [harmless, ...all] = await visit.page.evaluate(drive, task(["harmless.txt", ...texts]));
    equal(all.length, texts.length, "texts");
    for (const [i, { shown, saved, elements }] of all.entries()) {
        const text = texts[i] ?? "";
        equal(elements, harmless?.elements, `elements with ${JSON.stringify(text.slice(0, 80))}`);
        equal(saved.length, harmless?.saved.length, "saved");
        saved.forEach(name => safe(name, text));
        shown.forEach(one => clean(one, text));
    }
    return all;
}

/** @param {string} name @param {Uint8Array} bytes */
function named(name, bytes) {
    return { name, base64: Buffer.from(bytes).toString("base64") };
}

/**
 * Replaces downloads and dialogs: what would be saved is noted, and not saved. Returns a function that takes the notes.
 * @param {Visit} visit
 */
async function noted(visit) {
    await visit.page.evaluate(() => {
        /** @type {string[]} */
        const names = [];
        const sink = () => new WritableStream();
        Object.assign(globalThis, {
            names,
            /** @param {{ suggestedName: string }} options */
            showSaveFilePicker: async ({ suggestedName }) => {
                names.push(suggestedName);
                return { createWritable: async () => sink() };
            },
        });
    });
    return async () => {
        await visit.until(
            ({ visible }) => !visible("#work") && /** @type {any} */ (globalThis).names.length > 0,
            "it is saved",
        );
        const names = await visit.page.evaluate(() => /** @type {any} */ (globalThis).names.splice(0));
        return /** @type {string[]} */ (names);
    };
}

test("hostile names of the file that is opened", async room => {
    const visit = await room.visit();
    // An age file has no name of its own, so the page takes that of the file.
    const bytes = readFileSync(frozen("age/x25519.age"));
    await visit.give(KEYS);
    await alike(visit, TEXTS, names => ({ do: "open", files: names.map(name => named(name, bytes)) }));
});

test("hostile names that were sealed", async room => {
    const visit = await room.visit();
    const key = await frozenKey(room.library);
    await visit.give(KEYS);
    // Names with a backslash cannot be sealed.
    const names = NAMES_OF_FILES.filter(name => !name.includes("\\"));
    /** @type {Map<string, Uint8Array>} */
    const sealed = new Map();
    for (const name of ["harmless.txt", ...names]) {
        sealed.set(name, await room.library.seal("x", key, { name }));
    }
    const seen = await alike(visit, names, names => ({
        do: "open",
        files: names.map(name => named("x.dpn", sealed.get(name) ?? new Uint8Array())),
    }));
    for (const [i, { shown }] of seen.entries()) {
        if (/^[!-~]+$/.test(names[i] ?? "")) {
            equal([shown[0], shown[3]], [`${names[i]} is open`, `Save ${names[i]}`], "the name");
        }
    }
});

test("hostile names of files that are sealed", async room => {
    const visit = await room.visit();
    await visit.page.click("#tab-seal");
    await visit.upload("#seal-key-files", frozen("keys/x25519.pub"));
    const x = Buffer.from("x");
    await alike(visit, NAMES_OF_FILES, names => ({ do: "seal", files: names.map(name => named(name, x)) }));
});

test("hostile names in a folder", async room => {
    const unique = Array.from(new Set(NAMES_OF_FILES)).filter(name => Buffer.byteLength(name) <= 255);
    const kind = /** @type {const} */ ("file");
    const key = await frozenKey(room.library);
    /** @param {string[]} names */
    const folderOf = async names => {
        const entries = names.flatMap(name => [
            { path: [name], kind, data: new Blob(["x"]) },
            { path: [`${name.slice(0, 80)}+`, name], kind, data: new Blob(["y"]) },
        ]);
        const sealed = await room.library.sealFolder(names[0] ?? "", entries, key);
        return new Uint8Array(await new Response(sealed).arrayBuffer());
    };
    const visit = await room.visit();
    const take = await noted(visit);
    await visit.give(KEYS);
    /** @param {string[]} names */
    const open = async names => {
        await visit.drop("#open-drop", { name: "x.dpn", bytes: await folderOf(names) });
        await visit.asks();
        await visit.unlock();
        equal(await visit.text("#trouble"), "", "trouble");
        while (await visit.page.$eval("#opened-view > div > button", more => more.checkVisibility())) {
            await visit.press("#opened-view > div", "Show more");
        }
        return visit.page.evaluate(census);
    };
    const harmless = await open(unique.map((_, i) => `${i}.txt`));
    equal(await open(unique), harmless, "elements");
    const shown = await visit.page.$$eval("ul.entries li", rows =>
        rows.map(row => `${row.textContent} ${row.querySelector("button")?.getAttribute("aria-label")}`),
    );
    ok(shown.length >= 2 * unique.length - 3, `only ${shown.length} entries`);
    shown.forEach(text => clean(text, text));
    for (const name of unique.slice(0, 6)) {
        await visit.fill("#search", name);
        ok((await visit.page.$$("ul.entries li")).length > 0, `${name} is not found`);
        await visit.press("ul.entries li:last-child", "Save");
        safe((await take())[0] ?? "", name);
    }
    await visit.fill("#search", "");
    await visit.press("ul.entries", "Open");
    clean(await visit.text("#opened-view"), "a folder");
    await visit.press("#opened-saves", "Save everything as an archive (.tar)");
    safe((await take())[0] ?? "", "the folder");
});

test("hostile names and targets of links", async room => {
    const program = room.program();
    const folder = join(room.newFolder(), "<b>links");
    mkdirSync(folder);
    const names = Array.from(new Set(NAMES_OF_FILES)).filter(name => Buffer.byteLength(name) <= 255);
    for (const [i, name] of names.entries()) {
        symlinkSync((TEXTS[i] ?? "x").slice(0, 300).replaceAll("\0", "") || "x", join(folder, name));
    }
    // A name that is not UTF-8.
    writeFileSync(Buffer.concat([Buffer.from(join(folder, "a")), Buffer.of(0xff, 0x3c, 0x62, 0x3e)]), "x");
    const path = join(room.newFolder(), "links.dpn");
    await command(program, ["seal", "-q", "-r", frozen("keys/x25519.pub"), "--mode", "ecc", "-o", path, folder]);
    const visit = await room.visit(room.name === "chromium" ? { at: room.url, pickers: "origin" } : {});
    await visit.open(path, KEYS);
    const found = await visit.page.evaluate(census);
    equal(
        [found["B"], found["IMG"], found["IFRAME"], found["SCRIPT"]],
        [undefined, undefined, undefined, 1],
        "elements",
    );
    equal(found["BDI"], names.length + 1, "entries");
    clean(await visit.text("#opened-view"), "links");
    if (room.name === "chromium") {
        await visit.press("#opened-saves", "Save everything");
        await visit.until(
            ({ filled, find }) => filled("#trouble") || find("#opened-signed [role=status]"),
            "it is saved",
        );
        equal(await visit.text("#trouble"), "", "trouble");
        const notes = await visit.text("#opened-view");
        equal(notes.match(/^Left out: /gm)?.length, names.length, "notes");
        clean(notes, "notes");
        equal((await visit.page.evaluate(census))["B"], undefined, "elements");
        equal(Object.values(await visit.saves.inOrigin("chosen")), ["x"], "files");
    }
});

test("hostile texts that were sealed", async room => {
    const visit = await room.visit();
    const key = await frozenKey(room.library);
    await visit.give(KEYS);
    const texts = TEXTS.filter(text => !/[\0-\x08\x0e-\x1f]/.test(text)).join("\n");
    const elements = [];
    for (const text of ["harmless", texts.slice(0, 250_000)]) {
        await visit.drop("#open-drop", { name: "x.dpn", bytes: await room.library.seal(text, key, { name: "x.txt" }) });
        await visit.asks();
        await visit.unlock();
        equal(await visit.text("#trouble"), "", "trouble");
        elements.push(await visit.page.evaluate(census));
    }
    equal(elements[1], elements[0], "elements");
    for (const text of ["a\0b", "a\u001b[31m"]) {
        await visit.drop("#open-drop", { name: "x.dpn", bytes: await room.library.seal(text, key) });
        await visit.asks();
        await visit.unlock();
        equal(await visit.page.$("#opened-view pre"), null, "data that are no text");
    }
});

test("hostile texts in fields", async room => {
    const visit = await room.visit();
    const armored = TEXTS.slice(0, 20).map(
        text => `-----BEGIN DEADPAN SEALED FILE-----\n${text}\n-----END DEADPAN SEALED FILE-----\n`,
    );
    const filled = TEXTS.filter(text => text.trim() !== "");
    await visit.choose(frozen("sealed/x25519.dpn"));
    const seen = [
        await alike(visit, filled, texts => ({
            do: "write",
            field: "#open-signers",
            press: "#unlock button[type=submit]",
            texts,
        })),
        await alike(visit, [...TEXTS, ...armored], texts => ({
            do: "write",
            field: "#open-text",
            press: "#open-text-use",
            texts,
        })),
    ];
    await visit.page.click("#tab-seal");
    await visit.fill("#seal-text", "x");
    seen.push(
        await alike(visit, filled, texts => ({
            do: "write",
            field: "#seal-keys",
            press: "#seal-form button[type=submit]",
            texts,
        })),
    );
    for (const { shown } of seen.flat()) {
        ok((shown[0] ?? "").length < 1000, `an error is long: ${shown[0]?.slice(0, 200)}`);
    }
});

test("hostile key files", async room => {
    const visit = await room.visit();
    await visit.choose(frozen("sealed/x25519.dpn"));
    for (const text of TEXTS.slice(0, 5)) {
        await visit.give({ keys: [room.file("hostile <b>.key", text)] });
        await visit.unlock();
        ok(/\S/.test(await visit.text("#trouble")), "it is refused");
        equal((await visit.page.evaluate(census))["B"], undefined, "elements");
    }
});

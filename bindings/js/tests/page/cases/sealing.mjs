/** Sealing files, folders and texts, and making keys: the command line opens what comes out. */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, includes, ok, test } from "../cases.mjs";
import { command, frozen, NOTE, PASSPHRASE } from "../fixtures.mjs";

/** @typedef {import("../room.mjs").Room} Room */
/** @typedef {import("../visit.mjs").Visit} Visit */

const PUBLIC = frozen("keys/xwing.pub");
const PRIVATE = ["-i", frozen("keys/xwing.key")];
const DATA = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) >> 3));

/** @param {Room} room @param {string} passphrase */
function passphraseFile(room, passphrase) {
    return ["--passphrase-file", room.file("passphrase", `${passphrase}\n`)];
}

/**
 * Opens sealed bytes with the command line, and returns the paths of what comes out.
 * @param {Room} room
 * @param {Uint8Array} bytes
 * @param {string[]} keys
 */
async function opened(room, bytes, keys) {
    const folder = room.newFolder();
    // A sealed file that has a name itself would give it to what comes out.
    await command(room.program(), ["open", "-q", ...keys, "-o", `${folder}/`], [bytes]);
    return tree(folder);
}

/** Returns the files in a folder with their bytes, and its folders. @param {string} folder */
function tree(folder) {
    /** @type {Record<string, Buffer | "a folder">} */
    const found = {};
    for (const name of /** @type {string[]} */ (readdirSync(folder, { recursive: true }))) {
        const path = join(folder, name);
        found[name] = statSync(path).isDirectory() ? "a folder" : readFileSync(path);
    }
    return found;
}

/** Opens the page's part that seals. @param {Room} room */
async function sealing(room) {
    const visit = await room.visit();
    await visit.page.click("#tab-seal");
    return visit;
}

/** Seals, and returns what was saved. @param {Visit} visit */
async function sealed(visit) {
    const saved = await visit.save("#seal-form", "Seal");
    await visit.until(({ visible }) => visible("#sealed"), "the page says that it has sealed");
    equal(await visit.text("#trouble"), "", "trouble");
    return saved;
}

/** A folder with files, folders and an empty folder. @param {Room} room */
function plainFolder(room) {
    const folder = join(room.newFolder(), "trip");
    mkdirSync(join(folder, "photos", "2026"), { recursive: true });
    writeFileSync(join(folder, "note.txt"), NOTE);
    writeFileSync(join(folder, "photos", "ü 1.bin"), DATA);
    writeFileSync(join(folder, "photos", "2026", "empty"), "");
    return folder;
}

test("a file is sealed to a public key", async room => {
    room.program();
    for (const isText of [true, false]) {
        const visit = await sealing(room);
        await visit.upload("#seal-files", room.file("my report.pdf", DATA));
        await visit.until(({ filled }) => filled("#seal-chosen"), "the file is chosen");
        equal(await visit.text("#seal-chosen"), "Chosen: my report.pdf, 300 kB", "what is chosen");
        if (isText) {
            await visit.fill("#seal-keys", readFileSync(PUBLIC, "utf8"));
        } else {
            await visit.upload("#seal-key-files", PUBLIC);
        }
        const { name, bytes } = await sealed(visit);
        equal(name, "my report.pdf.dpn", "name");
        equal(await opened(room, bytes, PRIVATE), { "my report.pdf": DATA }, "what the command line opens");
        await room.leave();
    }
});

test("a dropped file is sealed to a passphrase that the page suggests", async room => {
    room.program();
    const visit = await sealing(room);
    if (room.name === "chromium") {
        await visit.dropPaths("#seal-drop", [room.file("a.txt", NOTE)]);
    } else {
        await visit.drop("#seal-drop", { name: "a.txt", bytes: Buffer.from(NOTE) });
    }
    await visit.until(({ filled }) => filled("#seal-chosen"), "the file is chosen");
    await visit.page.click("#seal-offer");
    const passphrase = await visit.page.$eval(
        "#seal-passphrase",
        field => /** @type {HTMLInputElement} */ (field).value,
    );
    ok(/^(?:[0-9a-hjkmnp-tv-z]{4}-){5}[0-9a-hjkmnp-tv-z]{4}$/.test(passphrase), `the passphrase is ${passphrase}`);
    equal(await visit.page.$eval("#seal-passphrase", field => field.getAttribute("type")), "text", "it is shown");
    await visit.page.click("#seal-offer");
    const other = await visit.page.$eval("#seal-passphrase", field => /** @type {HTMLInputElement} */ (field).value);
    ok(other !== passphrase, "each passphrase is new");
    const { bytes } = await sealed(visit);
    includes(await visit.text("#sealed-view"), "Tell the recipients the passphrase in another way", "advice");
    equal(await opened(room, bytes, passphraseFile(room, other)), { "a.txt": Buffer.from(NOTE) }, "opened");
});

test("several files are sealed as a folder, as text and with a hidden length", async room => {
    room.program();
    const visit = await sealing(room);
    await visit.upload("#seal-files", room.file("a.txt", NOTE), room.file("b.bin", DATA));
    await visit.until(({ filled }) => filled("#seal-chosen"), "the files are chosen");
    await visit.upload("#seal-key-files", PUBLIC);
    await visit.page.click("#seal-hide");
    await visit.page.click("#seal-armor");
    const { name, bytes } = await sealed(visit);
    equal(name, "files.dpn.asc", "name");
    ok(bytes.toString().startsWith("-----BEGIN DEADPAN SEALED FILE-----\n"), "there is no armor");
    equal(
        await opened(room, bytes, PRIVATE),
        { files: "a folder", "files/a.txt": Buffer.from(NOTE), "files/b.bin": DATA },
        "what the command line opens",
    );
});

test("a hidden length does not show the length", async room => {
    const lengths = [];
    for (const length of [300_001, 301_000]) {
        const visit = await sealing(room);
        await visit.upload("#seal-files", room.file("a", Buffer.alloc(length, 1)));
        await visit.until(({ filled }) => filled("#seal-chosen"), "the file is chosen");
        await visit.upload("#seal-key-files", PUBLIC);
        await visit.page.click("#seal-hide");
        const { bytes } = await sealed(visit);
        lengths.push(bytes.length);
        if (room.deadpan !== undefined) {
            equal(await opened(room, bytes, PRIVATE), { a: Buffer.alloc(length, 1) }, "what the command line opens");
        }
        await room.leave();
    }
    equal(lengths[0], lengths[1], "the sealed lengths");
});

test(
    "a folder that is chosen is sealed",
    async room => {
        room.program();
        const visit = await sealing(room);
        await visit.upload("#seal-folder", plainFolder(room));
        await visit.until(({ filled }) => filled("#seal-chosen"), "the folder is chosen");
        equal(await visit.text("#seal-chosen"), "Chosen: trip, 300 kB", "what is chosen");
        await visit.upload("#seal-key-files", PUBLIC);
        const { name, bytes } = await sealed(visit);
        equal(name, "trip.dpn", "name");
        equal(await opened(room, bytes, PRIVATE), TRIP, "what the command line opens");
    },
    { only: "chromium" },
);

const TRIP = {
    trip: "a folder",
    "trip/note.txt": Buffer.from(NOTE),
    "trip/photos": "a folder",
    "trip/photos/ü 1.bin": DATA,
    "trip/photos/2026": "a folder",
    "trip/photos/2026/empty": Buffer.alloc(0),
};

test(
    "a folder that is dropped is sealed, with its empty folders, and so are several things",
    async room => {
        room.program();
        const folder = plainFolder(room);
        mkdirSync(join(folder, "bare"));
        const visit = await sealing(room);
        await visit.dropPaths("#seal-drop", [folder]);
        await visit.until(({ filled }) => filled("#seal-chosen"), "the folder is chosen");
        await visit.upload("#seal-key-files", PUBLIC);
        equal(
            await opened(room, (await sealed(visit)).bytes, PRIVATE),
            { ...TRIP, "trip/bare": "a folder" },
            "what the command line opens",
        );
        await visit.fill("#seal-chosen", "");
        await visit.dropPaths("#seal-drop", [folder, room.file("a.txt", NOTE)]);
        await visit.until(
            ({ find }) => find("#seal-chosen")?.textContent?.startsWith("Chosen: files"),
            "they are chosen",
        );
        const found = Object.keys(await opened(room, (await sealed(visit)).bytes, PRIVATE)).sort();
        const wanted = ["trip/bare", ...Object.keys(TRIP), "a.txt"].map(name => `files/${name}`);
        equal(found, ["files", ...wanted].sort(), "what the command line opens");
    },
    { only: "chromium" },
);

test("a text is sealed as text, and opened again", async room => {
    const visit = await sealing(room);
    const text = "Straight face.\n<b>ü 👍</b>\n";
    await visit.page.type("#seal-text", text);
    await visit.fill("#seal-passphrase", PASSPHRASE);
    await visit.upload("#seal-key-files", PUBLIC);
    await visit.press("#seal-form", "Seal");
    await visit.idle("#sealed");
    equal(await visit.text("#trouble"), "", "trouble");
    const armor = await visit.text("#sealed-view pre");
    const { name, bytes } = await visit.save("#sealed-view", "Save");
    equal([name, bytes.toString()], ["text.dpn.asc", armor], "what is saved");
    if (room.deadpan !== undefined) {
        const path = room.file("text.asc", armor);
        for (const keys of [PRIVATE, passphraseFile(room, PASSPHRASE)]) {
            const output = await command(room.deadpan, ["open", "-q", ...keys, "-o", "-", path]);
            equal(output.toString(), text, "what the command line opens");
        }
    }
    await visit.page.click("#tab-open");
    await visit.page.click("#open-paste");
    await visit.fill("#open-text", armor);
    await visit.page.click("#open-text-use");
    await visit.asks();
    equal(await visit.text("#sealed-to"), "Sealed to: a key (X-Wing), a passphrase.", "recipients");
    await visit.give({ keys: [frozen("keys/xwing.key")] });
    await visit.unlock();
    equal(await visit.page.$eval("#opened-view pre", pre => pre.textContent), text, "text");
});

test("a key is made, and the command line takes it", async room => {
    room.program();
    const visit = await room.visit();
    await visit.page.click("#tab-key");
    await visit.press("#key-form", "Make a key");
    includes(await visit.text("#trouble"), "Give a passphrase.", "trouble");
    await visit.page.type("#key-passphrase", "a straight face");
    await visit.press("#key-form", "Make a key");
    await visit.idle("#made");
    equal(await visit.text("#trouble"), "", "trouble");
    const fingerprint = /^Fingerprint: (\S+)$/m.exec(await visit.text("#made-view"))?.[1];
    const saved = await visit.save("#made-view", "Save the private key");
    equal(saved.name, "deadpan.key", "name");
    const shown = await visit.page.$eval("#made-view pre", pre => pre.textContent ?? "");
    const [key, open] = [room.file("my.key", saved.bytes), room.file("my.pub", shown)];
    const sealedNote = join(room.newFolder(), "note.dpn");
    await command(room.program(), ["seal", "-q", "-r", open, "-o", sealedNote, frozen("signed/note.txt")]);
    const keys = ["-i", key, ...passphraseFile(room, "a straight face")];
    equal((await command(room.program(), ["open", "-q", ...keys, "-o", "-", sealedNote])).toString(), NOTE, "opened");
    includes(saved.bytes.toString(), `# fingerprint: ${fingerprint}\n`, "the fingerprint in the key's file");
    await room.leave();
    const other = await room.visit();
    await other.open(sealedNote, { keys: [key], passphrase: "a straight face" });
    equal(await other.text("#opened-view pre"), NOTE, "what the page opens");
});

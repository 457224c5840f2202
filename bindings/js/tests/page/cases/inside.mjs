/** Pages that hold a sealed file, and open it themselves. */

import { once } from "node:events";
import { createReadStream, createWriteStream, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, includes, ok, test } from "../cases.mjs";
import { blocks, command, frozen, NOTE, PASSPHRASE } from "../fixtures.mjs";

/** @typedef {import("../room.mjs").Room} Room */

const BEGIN = '<script type="text/plain" id="deadpan-sealed">\n';
const END = "</script>\n";
const X25519 = frozen("keys/x25519.key");
const LENGTH = 100_000_000;

/** Puts armor into the page. @param {Room} room @param {string} armor */
function around(room, armor) {
    return Buffer.concat([room.html, Buffer.from(BEGIN + armor + END)]);
}

/** Opens a page that holds a file. @param {Room} room @param {string} path */
async function enter(room, path) {
    return room.visit({ at: pathToFileURL(path).href });
}

test("a page opens the file in it with a key", async room => {
    const path = room.file("my note.txt.html", around(room, readFileSync(frozen("sealed/armored.dpn"), "utf8")));
    const visit = await enter(room, path);
    await visit.asks();
    equal(await visit.text("#trouble"), "", "trouble");
    includes(await visit.text("#about"), "my note.txt.html", "the name");
    includes(await visit.text("#inside"), "Somebody has sent you a sealed file.", "what this is");
    const isShown = () => visit.page.$$eval("#tabs, #open-drop", parts => parts.map(part => part.checkVisibility()));
    equal(await isShown(), [false, false], "the rest of the page");
    equal(await visit.page.$("#deadpan-sealed"), null, "the text in the page, which takes memory");
    await visit.give({ keys: [X25519] });
    await visit.unlock();
    equal(await visit.text("#opened-view pre"), NOTE, "text");
    const { bytes } = await visit.save("#opened-saves", "Save");
    equal(bytes.toString(), NOTE, "saved");
    await visit.press("#open", "Open or seal other files");
    equal(await isShown(), [true, true], "the rest of the page");
    equal(await visit.page.evaluate(() => document.activeElement?.id), "tab-open", "focus");
});

test("a page tells if the browser has not read the file in it", async room => {
    const html = Buffer.concat([room.html, Buffer.from(`${BEGIN.trimEnd()}${END}`)]);
    const visit = await enter(room, room.file("lost.html", html));
    await visit.until(({ filled }) => filled("#trouble"), "an error");
    includes(await visit.text("#trouble"), "The file in this page is too large for this browser.", "trouble");
    equal(await visit.page.$eval("#tabs", tabs => tabs.checkVisibility()), true, "the rest of the page");
});

test("a page of the command line opens the file in it with a passphrase", async room => {
    const path = join(room.newFolder(), "note.html");
    const passphrase = room.file("passphrase", `${PASSPHRASE}\n`);
    const note = frozen("signed/note.txt");
    const args = ["seal", "-q", "--html", "-p", "--passphrase-file", passphrase, "-o", path, note];
    await command(room.program(), args);
    ok(readFileSync(path).subarray(0, room.html.length).equals(room.html), "the program holds another page");
    const visit = await enter(room, path);
    await visit.asks();
    equal(await visit.page.evaluate(() => document.activeElement?.id), "open-passphrase", "focus");
    await visit.give({ passphrase: "wrong" });
    await visit.unlock();
    includes(await visit.text("#trouble"), "The passphrase is wrong.", "trouble");
    await visit.give({ passphrase: PASSPHRASE });
    await visit.unlock();
    equal(await visit.text("#trouble"), "", "trouble");
    equal(
        [await visit.text("#opened-title"), await visit.text("#opened-view pre")],
        ["note.txt is open", NOTE],
        "opened",
    );
    const output = ["open", "-q", "--passphrase-file", passphrase, "-o", "-", path];
    equal((await command(room.program(), output)).toString(), NOTE, "what the command line opens");
});

test("pages that hold damaged files are refused", async room => {
    const armor = readFileSync(frozen("sealed/armored.dpn"), "utf8");
    const lines = armor.split("\n");
    const middle = lines[5] ?? "";
    /** @type {Record<string, string>} */
    const damaged = {
        "another symbol": armor.replace(
            middle,
            middle.replace(/^./, symbol => (symbol === "A" ? "B" : "A")),
        ),
        "a symbol that is none": armor.replace(middle, middle.replace(/^./, "!")),
        "a missing line": armor.replace(`${middle}\n`, ""),
        "a missing end": lines.slice(0, 5).join("\n"),
        "no text": "",
        markup: "<b>x</b><script>xss=1</script>",
        "the end of the element": armor.replace(middle, "</script><script>xss=1</script>"),
    };
    for (const [what, text] of Object.entries(damaged)) {
        const visit = await enter(room, room.file("damaged.html", around(room, text)));
        await visit.asks();
        if ((await visit.text("#trouble")) === "") {
            await visit.give({ keys: [X25519] });
            await visit.unlock();
        }
        ok(/damaged|missing|not a sealed/.test(await visit.text("#trouble")), `${what} is accepted`);
        equal(await visit.page.$eval("#opened", section => section.checkVisibility()), false, what);
        equal(await visit.page.evaluate(() => "xss" in globalThis), false, what);
        await visit.complaints();
        await room.leave();
    }
});

test("the name of a page with a file in it may be any", async room => {
    const html = around(room, readFileSync(frozen("sealed/armored.dpn"), "utf8"));
    const folder = room.newFolder();
    for (const [name, shown] of /** @type {[Buffer, string][]} */ ([
        [Buffer.from("100% <b>.html"), "100% <b>.html"],
        [Buffer.from("ü #?.html"), "ü #?.html"],
        [Buffer.of(0x61, 0xff, 0x2e, 0x68, 0x74, 0x6d, 0x6c), "a"],
    ])) {
        writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), html);
        const encoded = Array.from(name, byte => `%${byte.toString(16).padStart(2, "0")}`).join("");
        // Browsers write other addresses than these.
        const { href } = new URL(encoded.replaceAll(/%[67][0-9a-f]/g, unescape), pathToFileURL(`${folder}/`));
        const visit = await room.visit({ at: href });
        await visit.asks();
        equal(await visit.text("#trouble"), "", "trouble");
        includes(await visit.text("#about"), shown, "the name");
        await visit.give({ keys: [X25519] });
        await visit.unlock();
        equal(await visit.text("#opened-view pre"), NOTE, "text");
        await room.leave();
    }
});

test("a page opens 100 MB in it", async room => {
    const path = join(room.newFolder(), "long.html");
    const file = createWriteStream(path);
    file.write(room.html);
    file.write(BEGIN);
    const program = room.program();
    const sealed = join(room.newFolder(), "long.asc");
    const args = ["seal", "-q", "--armor", "-r", frozen("keys/x25519.pub"), "--mode", "ecc", "-o", sealed];
    await command(program, args, blocks(LENGTH));
    for await (const part of createReadStream(sealed)) {
        file.write(part);
    }
    file.end(END);
    await once(file, "close");
    const start = Date.now();
    const visit = await room.visit({ at: pathToFileURL(path).href, pickers: room.name === "chromium" ? 0 : "none" });
    await visit.asks();
    const asked = Date.now();
    await visit.give({ keys: [X25519] });
    await visit.unlock();
    equal(await visit.text("#trouble"), "", "trouble");
    const opened = Date.now();
    await visit.press("#opened-saves", "Save");
    if (room.name === "chromium") {
        await visit.until(({ saved }) => saved()[0]?.state === "closed", "it is saved");
        const [saved] = await visit.saves.all();
        equal([saved?.length, saved?.wrong], [LENGTH, 0], "what was saved");
    } else {
        equal(statSync((await visit.saves.download()).path).size, LENGTH, "what was saved");
    }
    const [shown, open, save] = [asked - start, opened - asked, Date.now() - opened].map(ms => (ms / 1000).toFixed(1));
    return `shown after ${shown} s, open after ${open} s more, and saved after ${save} s more`;
});

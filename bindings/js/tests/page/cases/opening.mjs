/** Opening files: by a drop, a choice or as text, with passphrases, keys, shares and signatures. */

import { readFileSync } from "node:fs";
import { equal, includes, test } from "../cases.mjs";
import { command, frozen, NOTE, PASSPHRASE } from "../fixtures.mjs";

const X25519 = frozen("keys/x25519.key");

test("a dropped file opens with its passphrase, after a wrong one, and is saved", async room => {
    const visit = await room.visit();
    const sealed = readFileSync(frozen("sealed/passphrase.dpn"));
    if (room.name === "chromium") {
        await visit.dropPaths("#open-drop", [room.file("dropped.dpn", sealed)]);
    } else {
        await visit.drop("#open-drop", { name: "dropped.dpn", bytes: sealed });
    }
    await visit.asks();
    includes(await visit.text("#about"), "dropped.dpn", "about");
    equal(await visit.text("#sealed-to"), "Sealed to: a passphrase.", "recipients");
    await visit.unlock();
    includes(await visit.text("#trouble"), "Give a passphrase or a private key.", "without a key");
    await visit.give({ passphrase: "wrong" });
    await visit.unlock();
    includes(await visit.text("#trouble"), "The passphrase is wrong.", "with a wrong passphrase");
    await visit.give({ passphrase: PASSPHRASE });
    await visit.unlock();
    equal(await visit.text("#trouble"), "", "trouble");
    equal(await visit.text("#opened-title"), "note.txt is open", "title");
    equal(await visit.text("#opened-view pre"), NOTE, "text");
    const { name, bytes } = await visit.save("#opened-saves", "Save");
    equal([name, bytes.toString()], ["note.txt", NOTE], "saved");
    await visit.until(
        ({ find }) => find("#opened [role=status]")?.textContent === "Saved: note.txt",
        "the page says so",
    );
});

test(
    "a file that is dropped beside its place does not replace the page",
    async room => {
        const visit = await room.visit();
        await visit.dropPaths("h1", [frozen("signed/note.txt")]);
        await new Promise(resolve => setTimeout(resolve, 300));
        equal(await visit.text("h1"), "Deadpan", "the page");
    },
    { only: "chromium" },
);

/** @type {[what: string, file: string, keys: import("../visit.mjs").Keys][]} */
const FILES = [
    ["a plain key", "sealed/x25519.dpn", { keys: [X25519] }],
    [
        "a key under a passphrase",
        "sealed/protected.dpn",
        { keys: [frozen("keys/protected.key")], passphrase: PASSPHRASE },
    ],
    [
        "one of several keys",
        "sealed/several.dpn",
        { keys: [X25519, frozen("keys/p256.key"), frozen("keys/mlkem768.key")] },
    ],
    [
        "two keys of a threshold",
        "sealed/threshold.dpn",
        { keys: [frozen("keys/xwing.key"), frozen("keys/mlkem768.key")] },
    ],
    [
        "a key and a share",
        "sealed/threshold.dpn",
        { keys: [frozen("keys/xwing.key")], shares: [frozen("sealed/threshold.share")] },
    ],
    ["compressed data", "sealed/compressed.dpn", { keys: [X25519] }],
    ["a hidden length", "sealed/hidden.dpn", { keys: [X25519] }],
    ["compressed data of a hidden length", "sealed/compressed-hidden.dpn", { keys: [X25519] }],
    ["ML-KEM-1024", "sealed/mlkem1024.dpn", { keys: [frozen("keys/mlkem1024.key")] }],
    ["an age file", "age/x25519.age", { keys: [X25519] }],
    ["an age file with armor", "age/armored.age", { keys: [X25519] }],
    ["an age file and a key of OpenSSH", "age/ssh-ed25519.age", { keys: [frozen("keys/ssh_ed25519")] }],
];

test("files of many kinds open", async room => {
    const visit = await room.visit();
    for (const [what, file, keys] of FILES) {
        try {
            await visit.open(frozen(file), keys);
            equal(await visit.text("#opened-view pre"), NOTE, "text");
            equal(await visit.text("#opened-signed"), "Not signed: you cannot tell who sealed it.", "signers");
        } catch (why) {
            throw new Error(`${what}: ${why instanceof Error ? why.message : why}`, { cause: why });
        }
    }
});

test("keys that do not open a file, and what is no key, are told apart", async room => {
    const visit = await room.visit();
    await visit.choose(frozen("sealed/xwing.dpn"));
    for (const [keys, told] of /** @type {[import("../visit.mjs").Keys, string][]} */ ([
        [{ keys: [X25519] }, "None of your keys opens this file."],
        [{ keys: [frozen("keys/protected.key")] }, "The private key has a passphrase. Give it above."],
        [{ keys: [frozen("signed/note.txt")] }, "This key cannot be used here, or it is damaged."],
        [{ keys: [frozen("keys/protected.key")], passphrase: "wrong" }, "The passphrase is wrong."],
    ])) {
        await visit.give({ passphrase: "", ...keys });
        await visit.unlock();
        includes(await visit.text("#trouble"), told, "trouble");
        equal(await visit.page.$eval("#opened", section => section.checkVisibility()), false, "opened is shown");
    }
});

test("what is not sealed, and what was cut short, is refused", async room => {
    const visit = await room.visit();
    const sealed = readFileSync(frozen("signed/long.dpn"));
    await visit.choose(frozen("signed/note.txt"));
    includes(await visit.text("#trouble"), "This is not a sealed file.", "trouble");
    await visit.choose(room.file("empty.dpn", ""));
    includes(await visit.text("#trouble"), "This is not a sealed file.", "trouble");
    for (const length of [100, 300, sealed.length - 1]) {
        await visit.choose(room.file("short.dpn", sealed.subarray(0, length)));
        if (await visit.page.$eval("#unlock", form => form.checkVisibility())) {
            await visit.give({ keys: [X25519] });
            await visit.unlock();
        }
        equal(/damaged|missing/.test(await visit.text("#trouble")), true, `${length} bytes are refused`);
    }
});

test("signed files name their signers, and those that were expected", async room => {
    const visit = await room.visit();
    for (const kind of ["ed25519", "mldsa65", "mldsa44-ed25519"]) {
        const path = frozen(`keys/${kind}.pub`);
        const [signer] = await room.library.readSigners(readFileSync(path, "utf8"));
        const fingerprint = signer && (await room.library.fingerprint(signer));
        await visit.open(frozen(`signed/${kind}.dpn`), { keys: [X25519] });
        const unexpected = await visit.text("#opened-signed");
        includes(unexpected, `Signed by ${fingerprint} on Nov`, kind);
        includes(unexpected, "Compare this fingerprint", kind);
        await visit.give({ signers: readFileSync(path, "utf8") });
        await visit.unlock();
        includes(await visit.text("#opened-signed"), `Signed by a key that you named: ${fingerprint}`, kind);
        await visit.give({ signers: readFileSync(frozen("keys/protected-sign.pub"), "utf8") });
        await visit.unlock();
        includes(await visit.text("#trouble"), "A signature is wrong or missing. Nothing was saved.", kind);
        equal(await visit.page.$eval("#opened", section => section.checkVisibility()), false, "opened is shown");
    }
});

test("a signed file that somebody has forwarded says so", async room => {
    const program = room.program();
    const path = room.file("forwarded.dpn", readFileSync(frozen("signed/ed25519.dpn")));
    await command(program, ["rewrap", "-q", "--mode", "ecc", "-i", X25519, "-r", frozen("keys/mlkem768.pub"), path]);
    const visit = await room.visit();
    await visit.open(path, { keys: [frozen("keys/mlkem768.key")] });
    includes(await visit.text("#opened-signed"), "Somebody has forwarded it.", "signers");
});

test("sealed text opens, also in the middle of a mail", async room => {
    const armor = readFileSync(frozen("sealed/armored.dpn"), "utf8");
    const mail = `Hello,\r\n\r\n${armor.replaceAll("\n", "\r\n")}\r\nBye\r\n`;
    for (const text of [armor, `${armor.replaceAll("\n", "\r\n")}\r\n \r\n`, mail]) {
        const visit = await room.visit();
        await visit.page.click("#open-paste");
        equal(await visit.page.evaluate(() => document.activeElement?.id), "open-text", "focus");
        await visit.fill("#open-text", text);
        await visit.page.click("#open-text-use");
        await visit.asks();
        includes(await visit.text("#about"), "A text of", "about");
        await visit.give({ keys: [X25519] });
        await visit.unlock();
        equal(await visit.text("#trouble"), "", "trouble");
        equal(await visit.text("#opened-view pre"), NOTE, "text");
        await room.leave();
    }
});

test("the page asks for what opens the file, and for nothing else", async room => {
    const visit = await room.visit();
    for (const [file, label, hasKeys] of /** @type {const} */ ([
        ["sealed/passphrase.dpn", "Passphrase", false],
        ["sealed/xwing.dpn", "Passphrase of your key, if it has one", true],
        ["sealed/several.dpn", "Passphrase of the file, or of your key", true],
        ["age/passphrase.age", "Passphrase of the file, or of your key", true],
    ])) {
        await visit.choose(frozen(file));
        const asked = [
            await visit.text("#open-passphrase-label"),
            await visit.page.$eval("#open-keys", input => input.checkVisibility()),
        ];
        equal(asked, [label, hasKeys], file);
    }
});

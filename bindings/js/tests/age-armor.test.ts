/** The armor of age files. */

import { ageArmor } from "../src/age/age.ts";
import { utf8 } from "../src/bytes.ts";
import { random } from "../src/crypto/symmetric.ts";
import { DeadpanError, TamperedError } from "../src/error.ts";
import { generateKey } from "../src/key/key.ts";
import { DATA, keys, open, openStreamed, seal } from "./age.ts";
import { equal, ok, rejects, test } from "./harness.ts";

test("armor has one form", async () => {
    const key = await generateKey("X25519");
    for (const length of [0, 1, 2, 3, 47, 48, 49, 95, 96, 97, 1000]) {
        const data = random(length);
        const sealed = await seal(data, key.publicKey);
        const armored = ageArmor(sealed);
        ok(
            armored.split("\n").every(line => line.length <= 64),
            "lines of 64 columns",
        );
        for (const step of [1, 47, 48, 49, 1000]) {
            equal(await openStreamed(utf8(armored), keys(key), step), data, `${length} in steps of ${step}`);
        }
    }
    const sealed = await seal(DATA, key.publicKey);
    const armored = ageArmor(sealed);
    const begin = armored.split("\n")[0] ?? "";
    const good = [
        armored,
        armored.replaceAll("\n", "\r\n"),
        armored.trimEnd(),
        `\n \t\r\n${armored}\n \n`,
        `${" ".repeat(120)}\n${armored}`,
    ];
    for (const form of good) {
        equal(await open(utf8(form), keys(key)), DATA, form);
        equal(await openStreamed(utf8(form), keys(key), 1), DATA, form);
    }
    const bad = [
        begin,
        `${begin}\n`,
        ` ${armored}`,
        `${" ".repeat(80)}${armored}`,
        `\n${" ".repeat(160)}${armored}`,
        `${armored}text`,
        `${armored}${armored}`,
        `${"\n".repeat(1025)}${armored}`,
        `${armored}${"\n".repeat(1025)}`,
        armored.replace("-----END", "\n-----END"),
        armored.replace("BEGIN AGE ENCRYPTED FILE-----", "BEGIN AGE ENCRYPTED FILE----- "),
        armored.replace("\nY", "\nVersion: 1\n\nY"),
        armored.replace("YWdl", "YW dl"),
        armored.replace("YWdl", "Y\u00e4dl"),
        armored.replace("YWdlLWVuY3J5", "YWdl\nLWVuY3J5"),
        armored.replace("-----END", "=abcd\n-----END"),
        armored.replace("\n-----END AGE ENCRYPTED FILE-----", ""),
        armored.replace("-----END AGE ENCRYPTED FILE-----\n", "-----END AGE ENCRYPTED FILE-----\r"),
        `${begin}\n${"A".repeat(100_000)}`,
        `${begin}\n${" ".repeat(100_000)}`,
    ];
    for (const form of bad) {
        const kind = form.startsWith("\n".repeat(1025)) ? DeadpanError : TamperedError;
        await rejects(open(utf8(form), keys(key)), kind, /armor/);
        await rejects(openStreamed(utf8(form), keys(key), 100), kind, /armor/);
    }
});

test("changed armor is never accepted with other data", async () => {
    const key = await generateKey("X25519");
    const armored = utf8(ageArmor(await seal(DATA, key.publicKey)));
    for (let at = 0; at < armored.length; at++) {
        for (const bit of [1, 4, 32]) {
            const changed = armored.slice();
            changed[at] = (changed[at] ?? 0) ^ bit;
            await rejects(open(changed, keys(key)), DeadpanError);
        }
    }
});

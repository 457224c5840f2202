/** Published vectors, and the worked example of docs/format-seal.md. */

import { concat, fromHex, hex, utf8 } from "../src/bytes.ts";
import { dhkem } from "../src/crypto/hpke.ts";
import { kemOf } from "../src/crypto/kem.ts";
import { TamperedError } from "../src/error.ts";
import { padme } from "../src/format/padme.ts";
import { openSegments, SegmentKeys } from "../src/format/payload.ts";
import { openFile, Passphrase } from "../src/index.ts";
import { Pieces } from "../src/source.ts";
import { equal, files, ok, rejects, skipped, test } from "./harness.ts";

const VECTORS = "../shared/vectors";

test("RFC 9180, A.1.1: the shared secret of X25519", async () => {
    const secret = fromHex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8");
    const enc = fromHex("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431");
    const key = await kemOf(0x0020)!.key(secret);
    equal(hex((await key.open(enc))!), "fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc");
    equal((await dhkem(0x0020, new Uint8Array(32), enc, enc)).length, 32);
});

test("HPKE with post-quantum and hybrid KEMs", async () => {
    const json = await files.read(`${VECTORS}/hpke-pq/test-vectors.json`);
    if (json === undefined) {
        skipped("the folder of published vectors is not beside this checkout");
    }
    const seen = new Set<number>();
    for (const vector of JSON.parse(new TextDecoder().decode(json)) as Record<string, string>[]) {
        const kem = kemOf(Number(vector["kem_id"]));
        // In the vectors, the private keys of the curves are derived in a way that no sealed file uses.
        if (kem === undefined || kem.mode === "classical") {
            continue;
        }
        const key = await kem.key(fromHex(vector["skRm"]!));
        equal(hex(key.publicKey), vector["pkRm"]);
        equal(hex((await key.open(fromHex(vector["enc"]!)))!), vector["shared_secret"]);
        ok(await kem.isPublic(key.publicKey), "a public key of the vectors is refused");
        seen.add(kem.id);
    }
    equal(seen.size, 4);
});

test("FLOE: files of other implementations, and changed ones", async () => {
    const names = (await files.list(`${VECTORS}/floe`)).filter(name => name.endsWith("_ct.txt"));
    if (names.length === 0) {
        skipped("the folder of published vectors is not beside this checkout");
    }
    const read = async (name: string) =>
        fromHex(new TextDecoder().decode(await files.read(`${VECTORS}/floe/${name}`)).trim());
    const key = new Uint8Array(32);
    for (const name of names) {
        const sealed = await read(name);
        const rotation = name.includes("rotation") ? 4 : 2 ** 20;
        const opened = async (file: Uint8Array<ArrayBuffer>) => {
            const pieces = new Pieces(new Blob([file]).stream());
            const keys = await SegmentKeys.open(await pieces.exactly(74), key, utf8("This is AAD"), 33, rotation);
            const parts = [];
            for await (const part of openSegments(pieces, keys)) {
                parts.push(part);
            }
            if (await pieces.has(1)) {
                throw new TamperedError("more");
            }
            return concat(...parts);
        };
        equal(await opened(sealed), await read(name.replace("_ct", "_pt")), name);
        const last = sealed.slice();
        last[last.length - 1]! ^= 1;
        for (const changed of [sealed.slice(0, -1), concat(sealed, new Uint8Array(1)), last]) {
            await rejects(opened(changed), TamperedError);
        }
    }
});

test("Padmé, by hand", () => {
    // For 9, e = 3 and s = 2, so the length is rounded to a multiple of 2.
    const byHand = { 0: 0, 1: 1, 2: 2, 3: 3, 7: 7, 8: 8, 9: 10, 17: 18, 18: 18, 100: 104, 1000: 1024, 1025: 1088 };
    for (const [length, padded] of Object.entries({ ...byHand, 1048577: 1081344 })) {
        equal(padme(Number(length)), padded, length);
    }
    equal(padme(2 ** 40 - 1), 2 ** 40);
    equal(padme(2 ** 40), 2 ** 40);
});

test("the worked example of the format's page", async () => {
    const page = await files.read("docs/format-seal.md");
    ok(page, "the page is missing");
    const example = new TextDecoder().decode(page).split("<!-- example -->")[1]!.split("<!-- end of example -->")[0]!;
    const lines = example.matchAll(/^ +\d+ {2}([0-9a-f]+)$/gm);
    const sealed = fromHex(Array.from(lines, line => line[1]).join(""));
    const opened = await openFile(sealed, new Passphrase("correct horse"));
    equal(new TextDecoder().decode(await opened.bytes()), "Nothing about this shows.\n");
    const { name, mode, modified, hiddenLength } = opened.description;
    equal([name, mode, hiddenLength, modified?.nanoseconds], ["note.txt", 0o644, true, 5]);
    equal(String(modified?.seconds), "1800000000");
});

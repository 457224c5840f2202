/**
 * The command line opens what the package seals: node tests/runner/ring.mjs DEADPAN
 *
 * The other direction is the ring of the second reader, tests/reader. Prints one line for each case that fails.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
    generateKey,
    open,
    Passphrase,
    privateKeyToPem,
    publicKeyToPem,
    readPrivateKey,
    readPublicKey,
    readSigners,
    seal,
    sealFolder,
    SignatureError,
} from "../../dist/index.js";

const program = process.argv[2];
if (program === undefined) {
    console.error("usage: node tests/runner/ring.mjs DEADPAN");
    process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "deadpan-ring-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const at = (/** @type {string} */ name) => join(folder, name);

/** @param {string[]} parameters */
function deadpan(...parameters) {
    const env = { ...process.env, DEADPAN_HOME: folder };
    return execFileSync(program ?? "", parameters, {
        cwd: folder,
        env,
        maxBuffer: 2 ** 26,
        stdio: ["ignore", "pipe", "pipe"],
    });
}

let [passed, failed] = [0, 0];
/** @param {string} name @param {() => Promise<void>} body */
async function test(name, body) {
    try {
        await body();
        passed++;
    } catch (why) {
        failed++;
        console.log(`FAILED: ${name}`);
        console.log(why);
    }
}

/** @param {Uint8Array} found @param {Uint8Array} wanted */
function same(found, wanted) {
    if (Buffer.compare(found, wanted) !== 0) {
        throw new Error(`${found.length} bytes came out, which are not the ${wanted.length} bytes that went in`);
    }
}

const KINDS = /** @type {const} */ (["X25519", "P-256", "ML-KEM-768", "ML-KEM-1024", "ML-KEM-768 + P-256", "X-Wing"]);
const LENGTHS = [0, 1, 1000, 262_111, 262_112, 262_113, 600_000];
const some = (/** @type {number} */ length) => Uint8Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 24);
writeFileSync(at("passphrase"), "correct horse\n");
const passphrase = new Passphrase("correct horse");

for (const kind of KINDS) {
    const key = await generateKey(kind);
    writeFileSync(at("key"), await privateKeyToPem(key));
    for (const length of LENGTHS) {
        for (const options of [{}, { hideLength: true }, { armor: true }]) {
            await test(`${kind}, ${length} bytes, ${JSON.stringify(options)}`, async () => {
                const data = some(length);
                writeFileSync(at("sealed"), await seal(data, key.publicKey, options));
                same(deadpan("open", "-q", "-i", "key", "-o", "-", "sealed"), data);
            });
        }
    }
}

for (const kind of KINDS) {
    await test(`a protected key, and its public key: ${kind}`, async () => {
        const key = await generateKey(kind);
        writeFileSync(at("locked"), await privateKeyToPem(key, passphrase));
        writeFileSync(at("public"), publicKeyToPem(key.publicKey));
        writeFileSync(at("data"), "data");
        deadpan("seal", "-q", "-f", "-r", "public", "-o", "by-program", "data");
        const opened = deadpan(
            "open",
            "-q",
            "-i",
            "locked",
            "--passphrase-file",
            "passphrase",
            "-o",
            "-",
            "by-program",
        );
        same(opened, Buffer.from("data"));
    });
}

await test("a key of the program, and a passphrase beside it", async () => {
    deadpan("keygen", "-q", "--no-passphrase", "-o", "own.key");
    const key = await readPrivateKey(readFileSync(at("own.key")));
    const recipient = await readPublicKey(publicKeyToPem(key.publicKey));
    writeFileSync(at("sealed"), await seal("text", [recipient, passphrase]));
    same(deadpan("open", "-q", "-i", "own.key", "-o", "-", "sealed"), Buffer.from("text"));
    same(deadpan("open", "-q", "--passphrase-file", "passphrase", "-o", "-", "sealed"), Buffer.from("text"));
});

await test("name, time and mode", async () => {
    const options = { name: "Größe und Name.txt", modified: 1_700_000_000_250, mode: 0o640 };
    writeFileSync(at("sealed"), await seal("text", passphrase, options));
    mkdirSync(at("out"));
    deadpan("open", "-q", "--passphrase-file", "passphrase", "-o", "out/", "sealed");
    const { mode, mtimeMs } = statSync(at(`out/${options.name}`));
    same(Buffer.from(`${mode & 0o7777} ${mtimeMs}`), Buffer.from(`${options.mode} ${options.modified}`));
});

await test("a signed file that was forwarded", async () => {
    const [alice, bob] = [await generateKey(), await generateKey()];
    writeFileSync(at("alice.key"), await privateKeyToPem(alice));
    writeFileSync(at("alice.pub"), publicKeyToPem(alice.publicKey));
    writeFileSync(at("bob.pub"), publicKeyToPem(bob.publicKey));
    deadpan("keygen", "-q", "--sign", "--no-passphrase", "-o", "sign.key");
    const signers = await readSigners(readFileSync(at("sign.key")));
    writeFileSync(at("data"), "data");
    deadpan("seal", "-q", "-f", "--sign=sign.key", "-r", "alice.pub", "-o", "signed.dpn", "data");
    same(await open(readFileSync(at("signed.dpn")), alice, { signers }), Buffer.from("data"));
    deadpan("rewrap", "-q", "-i", "alice.key", "-r", "bob.pub", "signed.dpn");
    const sealed = readFileSync(at("signed.dpn"));
    same(await open(sealed, bob, { signers, allowForwarded: true }), Buffer.from("data"));
    const refused = await open(sealed, bob, { signers }).catch(why => why);
    if (!(refused instanceof SignatureError)) {
        throw new Error("a forwarded file was opened");
    }
});

await test("an age file", async () => {
    const key = await generateKey();
    writeFileSync(at("key"), await privateKeyToPem(key));
    for (const armor of [false, true]) {
        writeFileSync(at("sealed.age"), await seal(some(200_000), key.publicKey, { age: true, armor }));
        same(deadpan("open", "-q", "-i", "key", "-o", "-", "sealed.age"), some(200_000));
    }
});

await test("a folder", async () => {
    const key = await generateKey("ecc");
    writeFileSync(at("key"), await privateKeyToPem(key));
    const deep = Array.from({ length: 30 }, (_, i) => `a name that makes the path long, ${i}`);
    const files = [
        { path: ["b.bin"], data: some(700_000) },
        { path: ["ü", "leer"], data: some(0) },
        { path: [...deep, "deep.txt"], data: some(5) },
        ...Array.from({ length: 2000 }, (_, i) => ({ path: ["many", `${i}`], data: some(i) })),
    ];
    const entries = files.map(({ path, data }) => ({
        path,
        kind: /** @type {const} */ ("file"),
        data: new Blob([data]),
    }));
    const stream = await sealFolder("tree", entries, key.publicKey);
    writeFileSync(at("tree.dpn"), new Uint8Array(await new Response(stream).arrayBuffer()));
    deadpan("open", "-q", "-i", "key", "-o", "unpacked", "tree.dpn");
    for (const { path, data } of files) {
        same(readFileSync(at(`unpacked/${path.join("/")}`)), data);
    }
    const only = deadpan("list", "-q", "-i", "key", "--only", "many/1999", "tree.dpn").toString();
    if (!only.includes("tree/many/1999")) {
        throw new Error(`the program lists ${only}`);
    }
});

console.log(`the ring: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

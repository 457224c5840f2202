/**
 * Compares ways to open a file, alternately: node bench/run.mjs DEADPAN [MIB [ROUNDS]]
 *
 * DEADPAN is a built command line, which makes the files. The table has medians in MB/s, in Node.js and in Chromium,
 * and after that the memory for a file of 10 GiB and the requests for a range of a file on a server.
 */

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "../tests/runner/browser.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const [given, mib = "1024", rounds = "5"] = process.argv.slice(2);
if (given === undefined) {
    console.error("usage: node bench/run.mjs DEADPAN [MIB [ROUNDS]]");
    process.exit(2);
}
const program = resolve(given);
const folder = mkdtempSync(join(tmpdir(), "deadpan-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** @param {string} command @param {string[]} parameters */
function run(command, ...parameters) {
    const { status, stderr } = spawnSync(command, parameters, {
        cwd: here,
        encoding: "utf8",
        env: { ...process.env, DEADPAN_HOME: folder },
    });
    if (status !== 0) {
        throw new Error(`${command} ${parameters.join(" ")}: ${stderr}`);
    }
    return stderr;
}

run("npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock");
const bundle = join(folder, "ways/ways.mjs");
await build({
    entryPoints: [join(here, "ways.ts")],
    outdir: join(folder, "ways"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    external: ["node:*", "module", "path", "fs", "crypto", "url"],
    logLevel: "error",
});

/** @param {string} name @param {number} bytes */
function make(name, bytes) {
    const data = join(folder, name);
    writeFileSync(data, "");
    truncateSync(data, bytes);
    for (const [ending, ...options] of [["dpn"], ["age", "--format", "age"]]) {
        run(program, "seal", "--quiet", "--force", ...options, "-r", publicKey, "-o", `${data}.${ending}`, data);
    }
    rmSync(data);
    return { sealed: `${data}.dpn`, age: `${data}.age`, size: bytes };
}

const { IDENTITY, WAYS, part: readPart, recipient } = await import(pathToFileURL(bundle).href);
const publicKey = await recipient();
const bytes = Number(mib) * 2 ** 20;
const whole = make("whole", bytes);
const part = make("part", bytes / 8);

/** @param {number[]} numbers */
const median = numbers => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** @param {string} where @param {(name: string) => Promise<number>} measure */
async function compare(where, measure) {
    /** @type {Record<string, number[]>} */
    const found = Object.fromEntries(Object.keys(WAYS).map(name => [name, []]));
    for (let round = 0; round < Number(rounds); round++) {
        for (const [name, speeds] of Object.entries(found)) {
            speeds.push(await measure(name));
        }
    }
    console.log(`\n${where}, ${mib} MiB, medians of ${rounds} rounds, in MB/s`);
    const ratios = (/** @type {string} */ other) =>
        median((found.deadpan ?? []).map((speed, round) => speed / (found[other]?.[round] ?? 1)));
    for (const name of Object.keys(found)) {
        const ratio = name === "deadpan" ? "" : `   deadpan is ${ratios(name).toFixed(2)} × as fast`;
        const speeds = found[name] ?? [];
        console.log(
            `${name.padEnd(20)} ${median([...speeds])
                .toFixed(0)
                .padStart(6)}${ratio}`,
        );
    }
}

// Each measurement has a process of its own.
const measured = `
    import { once, onDisk } from ${JSON.stringify(pathToFileURL(bundle).href)};
    const bench = async ({ sealed, age, size }) => ({ sealed: await onDisk(sealed), age: await onDisk(age), size });
    const [name, ...files] = JSON.parse(process.argv[1]);
    const [whole, part] = await Promise.all(files.map(bench));
    console.error(await once(name, whole, part));
    process.exit();`;
await compare(`Node.js ${process.versions.node}`, async name =>
    Number(run(process.execPath, "--input-type=module", "--eval", measured, JSON.stringify([name, whole, part]))),
);

// Memory: one process seals zeros as a stream, and another one opens them, both with the built package alone.
const GIB = 10;
const package_ = JSON.stringify(new URL("../dist/index.js", import.meta.url));
const peak = `
    import { readFileSync } from "node:fs";
    import { once } from "node:events";
    import { open } from "node:fs/promises";
    import { fromFileHandle, openFile, openStream, readPrivateKey, sealStream } from ${package_};
    const key = await readPrivateKey(${JSON.stringify(IDENTITY)});
    const peak = () => Math.round(/VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1] / 1024);
    const before = peak();
    const tell = what => console.error(what + " " + (peak() - before) + " MiB more than the " + before + " MiB before");`;
const sealing = `${peak}
    const zeros = new Uint8Array(1 << 20);
    async function* data() { for (let mib = 0; mib < ${GIB} * 1024; mib++) yield zeros; }
    for await (const piece of await sealStream(data(), key.publicKey)) {
        if (!process.stdout.write(piece)) await once(process.stdout, "drain");
    }
    tell("sealing");`;
const opening = `${peak}
    let bytes = 0;
    for await (const piece of (await openStream(process.stdin, key)).stream) bytes += piece.length;
    if (bytes !== ${GIB} * 2 ** 30) throw new Error("not all came out");
    tell("opening");`;
const openingFile = `${peak}
    const handle = await open("${whole.sealed}");
    for await (const piece of (await openFile(await fromFileHandle(handle), key)).stream()) piece.length;
    tell("opening a file");`;
const node = (/** @type {string} */ code) => `"${process.execPath}" --input-type=module --eval '${code}'`;
const told = run("bash", "-c", `set -o pipefail; ${node(sealing)} | ${node(opening)}`);
console.log(`\n${GIB} GiB as a stream:\n${told.trim()}`);
console.log(`${mib} MiB with openFile:\n${run("bash", "-c", node(openingFile)).trim()}`);

// A server that counts requests and bytes.
let requests = 0;
let sent = 0;
const files = createServer((request, response) => {
    const [, from = "", to = ""] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const size = statSync(whole.sealed).size;
    const end = Math.min(Number(to), size - 1);
    requests++;
    sent += end - Number(from) + 1;
    response.writeHead(206, { "Content-Range": `bytes ${from}-${end}/${size}` });
    createReadStream(whole.sealed, { start: Number(from), end }).pipe(response);
});
await new Promise(resolve => files.listen(0, "127.0.0.1", () => resolve(undefined)));
const at = files.address();
await readPart(`http://127.0.0.1:${typeof at === "object" && at !== null ? at.port : 0}/`, bytes / 2, 100_000);
files.close();
console.log(`100 kB from the middle of a file on a server: ${requests} requests, ${(sent / 1000).toFixed(0)} kB`);

// Chromium: the files come from the disk, through an <input>, as users choose them.
const server = createServer((request, response) => {
    const url = request.url ?? "/";
    response.setHeader("Content-Type", url.endsWith(".mjs") ? "text/javascript" : "text/html");
    if (url.endsWith(".mjs")) {
        createReadStream(join(folder, "ways", url)).pipe(response);
    } else {
        response.end('<!doctype html><link rel="icon" href="data:,"><input type="file" multiple>');
    }
});
await new Promise(resolve => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;
const browser = await launch("chromium");
try {
    const page = await browser.newPage();
    await compare("Chromium", async name => {
        // Each measurement has a page of its own.
        await page.goto(`http://127.0.0.1:${port}/`);
        const input = await page.$("input");
        await input?.uploadFile(whole.sealed, whole.age, part.sealed, part.age);
        return page.evaluate(
            async (way, size, partSize) => {
                const ways = await import(/** @type {any} */ ("/ways.mjs"));
                const files = [...(document.querySelector("input")?.files ?? [])].map(file => ({
                    size: file.size,
                    slow: true,
                    read: async (/** @type {number} */ offset, /** @type {number} */ length) =>
                        new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()),
                }));
                const [whole, part] = [
                    { sealed: files[0], age: files[1], size },
                    { sealed: files[2], age: files[3], size: partSize },
                ];
                return /** @type {Promise<number>} */ (ways.once(way, whole, part));
            },
            name,
            whole.size,
            part.size,
        );
    });
} finally {
    await browser.close();
    server.close();
}

/**
 * Compares ways to open a file, alternately: node bench/run.mjs DEADPAN [MIB [ROUNDS]]
 *
 * DEADPAN is a built command line, which makes the files. The table has medians in MB/s, in Node.js and in Chromium,
 * and after that the memory for a file of 10 GiB and the requests for a range of a file on a server.
 */

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "../tests/runner/browser.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const [program, mib = "1024", rounds = "5"] = process.argv.slice(2);
if (program === undefined) {
    console.error("usage: node bench/run.mjs DEADPAN [MIB [ROUNDS]]");
    process.exit(2);
}
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
}

run("npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock");
const bundle = join(folder, "ways.mjs");
await build({
    entryPoints: [join(here, "ways.ts")],
    outfile: bundle,
    bundle: true,
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

// OpenPGP.js looks into it, and Node.js 20 does not have it.
Object.assign(globalThis, { navigator: globalThis.navigator ?? { userAgent: "" } });
const { WAYS, once, part: readPart, recipient } = await import(pathToFileURL(bundle).href);
const publicKey = await recipient();
const bytes = Number(mib) * 2 ** 20;
const whole = make("whole", bytes);
const part = make("part", bytes / 8);

/** @param {string} path */
async function fileSource(path) {
    const file = await open(path);
    return {
        size: statSync(path).size,
        /** @param {number} offset @param {number} length */
        async read(offset, length) {
            const buffer = new Uint8Array(length);
            const { bytesRead } = await file.read(buffer, 0, length, offset);
            return buffer.subarray(0, bytesRead);
        },
    };
}

/** @param {typeof whole} files */
const benchOf = async files => ({
    sealed: await fileSource(files.sealed),
    age: await fileSource(files.age),
    size: files.size,
});

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

const [nodeWhole, nodePart] = [await benchOf(whole), await benchOf(part)];
await compare(`Node.js ${process.versions.node}`, name => once(name, nodeWhole, nodePart));

// Memory: a process of its own, which seals and opens as a stream.
const GIB = 10;
const { stdout } = spawnSync(
    process.execPath,
    [
        "--input-type=module",
        "--eval",
        `import { through } from ${JSON.stringify(pathToFileURL(bundle).href)};
        await through(2 ** 20);
        const before = process.resourceUsage().maxRSS;
        if ((await through(${GIB} * 2 ** 30)) !== ${GIB} * 2 ** 30) throw new Error("not all came out");
        const peak = process.resourceUsage().maxRSS;
        console.log(Math.round(peak / 1024) + " MiB at most, and 1 MiB takes " + Math.round(before / 1024) + " MiB");`,
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
);
console.log(`\nsealing and opening ${GIB} GiB as a stream: memory of the process ${stdout.trim()}`);

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
    const path = request.url === "/ways.mjs" ? bundle : undefined;
    response.setHeader("Content-Type", path ? "text/javascript" : "text/html");
    if (path) {
        createReadStream(path).pipe(response);
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
    await page.goto(`http://127.0.0.1:${port}/`);
    const input = await page.$("input");
    await input?.uploadFile(whole.sealed, whole.age, part.sealed, part.age);
    await page.evaluate(
        async (size, partSize) => {
            const ways = await import(/** @type {any} */ ("/ways.mjs"));
            const files = [...(document.querySelector("input")?.files ?? [])].map(file => ({
                size: file.size,
                read: async (/** @type {number} */ offset, /** @type {number} */ length) =>
                    new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()),
            }));
            const [whole, part] = [
                { sealed: files[0], age: files[1], size },
                { sealed: files[2], age: files[3], size: partSize },
            ];
            Object.assign(window, { measure: (/** @type {string} */ name) => ways.once(name, whole, part) });
        },
        whole.size,
        part.size,
    );
    await compare("Chromium", name => page.evaluate(way => /** @type {any} */ (window).measure(way), name));
} finally {
    await browser.close();
    server.close();
}

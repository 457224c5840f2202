/**
 * Bundles the tests, and runs them: node tests/runner/run.mjs FOLDER WHERE …
 *
 * FOLDER is for the bundle. WHERE is node, deno=PROGRAM, bun=PROGRAM, chromium or firefox. With `:fallbacks` behind its
 * name (`chromium:fallbacks`), nothing of the newer WebCrypto is used. TESTS, if it is set, is a part of the names of
 * the files to run.
 */

import { build } from "esbuild";
import { spawn } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, MissingError } from "./browser.mjs";
import { serve } from "./server.mjs";

const here = fileURLToPath(new URL("../..", import.meta.url));
const root = resolve(here, "../..");
const LIMIT_SECONDS = 300;

/** @param {string} folder */
async function bundle(folder) {
    const names = readdirSync(join(here, "tests"))
        .filter(name => name.endsWith(".test.ts") && name.includes(process.env.TESTS ?? ""))
        .sort();
    if (names.length === 0) {
        throw new Error("there are no tests");
    }
    rmSync(folder, { recursive: true, force: true });
    await build({
        stdin: {
            contents: [
                'import { main } from "./runner/main.ts";',
                "await main({",
                ...names.map(name => `    "${name}": () => import("./${name}"),`),
                "});",
            ].join("\n"),
            resolveDir: join(here, "tests"),
            sourcefile: "main.ts",
        },
        outdir: folder,
        entryNames: "main",
        bundle: true,
        format: "esm",
        splitting: true,
        target: "es2022",
        sourcemap: "inline",
        external: ["node:*"],
        logLevel: "warning",
    });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(
        join(folder, "index.html"),
        '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="main.js"></script>',
    );
}

/**
 * @param {string} program
 * @param {string[]} options
 * @param {string} folder
 * @param {string} mode
 * @returns {Promise<boolean>}
 */
function inProgram(program, options, folder, mode) {
    return new Promise((done, fail) => {
        const child = spawn(program, [...options, join(folder, "main.js"), ...(mode ? [mode] : [])], {
            cwd: here,
            stdio: ["ignore", "inherit", "inherit"],
            timeout: LIMIT_SECONDS * 1000,
            killSignal: "SIGKILL",
            env: { ...process.env, DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, "deno") },
        });
        child.once("error", fail);
        child.once("exit", (status, signal) => {
            if (signal !== null) {
                console.log(`FAILED: ${program} was ended by ${signal}`);
            }
            done(status === 0);
        });
    });
}

/**
 * @param {import("./browser.mjs").Name} name
 * @param {string} folder
 * @param {string} mode
 * @returns {Promise<boolean>}
 */
async function inBrowser(name, folder, mode) {
    const browser = await launch(name);
    const server = await serve({ folder, root });
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    try {
        const page = await browser.newPage();
        /** @type {Promise<{ passed: number, failed: number, skipped: number }>} */
        const finished = new Promise((done, fail) => {
            timer = setTimeout(() => fail(new Error(`no end after ${LIMIT_SECONDS} s`)), LIMIT_SECONDS * 1000);
            page.on("console", message => console.log(message.text()));
            page.on("pageerror", fail);
            page.on("error", fail);
            page.browser().on("disconnected", () => fail(new Error("the browser has ended")));
            page.exposeFunction("finished", done)
                .then(() => page.goto(`${server.url}/?${mode}`))
                .catch(fail);
        });
        const { passed, failed, skipped } = await finished;
        console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
        return failed === 0 && passed > 0;
    } finally {
        clearTimeout(timer);
        await browser.close();
        await server.close();
    }
}

/**
 * @param {string} where
 * @param {string} folder
 */
async function inPlace(where, folder) {
    const [, name, mode = "", program = ""] = /^(\w+)(?::(\w+))?(?:=(.*))?$/.exec(where) ?? [];
    switch (name) {
        case "node":
            return inProgram(process.execPath, ["--enable-source-maps"], folder, mode);
        case "deno":
            return inProgram(program, ["run", "--allow-all", "--no-config", "--no-lock", "--no-remote"], folder, mode);
        case "bun":
            return inProgram(program, ["run", "--no-install"], folder, mode);
        case "chromium":
        case "firefox":
            return inBrowser(name, folder, mode);
        default:
            throw new Error(`there is no place ${where}`);
    }
}

const [folder, ...places] = process.argv.slice(2);
if (folder === undefined || places.length === 0) {
    console.error("usage: node tests/runner/run.mjs FOLDER WHERE …");
    process.exit(2);
}
await bundle(resolve(folder));
for (const where of places) {
    const start = Date.now();
    const name = where.split("=")[0];
    console.log(`--- ${name}`);
    try {
        if (!(await inPlace(where, resolve(folder)))) {
            process.exitCode = 1;
        }
        console.log(`--- ${name}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
    } catch (why) {
        if (why instanceof MissingError) {
            console.log(`skipped: the tests in ${name}: ${why.message}`);
        } else {
            console.log(`FAILED: ${name}: ${why instanceof Error ? why.stack : why}`);
            process.exitCode = 1;
        }
    }
}

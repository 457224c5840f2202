/**
 * Builds dist/, which is what the package consists of, and checks how much of it a page loads: node build.mjs
 */

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = fileURLToPath(new URL(".", import.meta.url));

// In kB of gzip. A page loads the first part at once. Fallbacks and rare things are loaded when they are needed.
const LIMITS = { "at once": 60, "at most": 160 };

/** @typedef {import("esbuild").Metafile["outputs"]} Outputs */

function compile() {
    rmSync(join(here, "dist"), { recursive: true, force: true });
    const compiler = join(here, "node_modules/typescript/bin/tsc");
    const { status } = spawnSync(process.execPath, [compiler, "--project", here], { stdio: "inherit" });
    if (status !== 0) {
        process.exit(1);
    }
    for (const license of ["LICENSE-APACHE", "LICENSE-MIT"]) {
        copyFileSync(join(here, "../..", license), join(here, license));
    }
}

/** Bundles all that the package exports, as the bundler of a page does, and returns the lengths in bytes of gzip. */
async function measure() {
    const { metafile, outputFiles } = await build({
        stdin: { contents: 'export * from "./dist/index.js";', resolveDir: here, sourcefile: "page.js" },
        outdir: here,
        bundle: true,
        format: "esm",
        splitting: true,
        minify: true,
        target: "es2022",
        metafile: true,
        write: false,
        absWorkingDir: here,
        legalComments: "none",
        logLevel: "warning",
    });
    /** @param {Iterable<string>} names */
    const total = names => {
        const wanted = new Set([...names].map(name => join(here, name)));
        const parts = outputFiles.filter(({ path }) => wanted.has(path));
        return parts.reduce((length, { contents }) => length + gzipSync(contents, { level: 9 }).length, 0);
    };
    const { outputs } = metafile;
    const [page] = Object.keys(outputs).filter(name => outputs[name]?.entryPoint === "page.js");
    return { "at once": total(loadedWith(outputs, page ?? "")), "at most": total(Object.keys(outputs)) };
}

/**
 * Returns the files that are loaded with a file.
 * @param {Outputs} outputs
 * @param {string} name
 * @param {Set<string>} [found]
 */
function loadedWith(outputs, name, found = new Set()) {
    found.add(name);
    for (const { path, kind } of outputs[name]?.imports ?? []) {
        if (kind === "import-statement" && !found.has(path)) {
            loadedWith(outputs, path, found);
        }
    }
    return found;
}

compile();
for (const [what, length] of Object.entries(await measure())) {
    const limit = LIMITS[/** @type {keyof typeof LIMITS} */ (what)];
    const size = `a page loads ${(length / 1000).toFixed(1)} kB ${what}`;
    console.log(size);
    if (length > limit * 1000) {
        console.error(`${size}, which is more than ${limit} kB`);
        process.exitCode = 1;
    }
}

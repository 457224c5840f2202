/**
 * Builds the page: one file with its style and its code, and with a policy that allows nothing else.
 *
 *     node page/build.mjs OUTPUT
 */

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";

const here = new URL(".", import.meta.url);
const output = process.argv[2];
if (output === undefined) {
    console.error("usage: node page/build.mjs OUTPUT");
    process.exit(2);
}

const { version } = JSON.parse(await readFile(new URL("../package.json", here), "utf8"));
const { outputFiles } = await build({
    entryPoints: [new URL("main.ts", here).pathname],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    write: false,
    define: { VERSION: JSON.stringify(version) },
});
// The code stands in an element of the page, which these texts would end, or hide from the parser of HTML.
const script = outputFiles[0].text.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = (
    await build({
        entryPoints: [new URL("style.css", here).pathname],
        minify: true,
        write: false,
    })
).outputFiles[0].text.trim();

const hash = text => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
    "default-src 'none'",
    `script-src ${hash(script)} 'wasm-unsafe-eval'`,
    `style-src ${hash(style)}`,
    // Argon2id runs in a thread, whose code is the page's own.
    "worker-src blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types deadpan",
].join("; ");

const parts = { policy, style, script };
const template = await readFile(new URL("page.html", here), "utf8");
// A function, because $ in a text would be a pattern.
const page = template.replace(/\{\{(policy|style|script)\}\}/g, (_, name) => parts[name]);
await writeFile(output, page);

/** A web server on this machine for tests in browsers. */

import { readFile, readdir, realpath } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, sep } from "node:path";

/**
 * Serves the files of `folder` as they are, and those of the repository to the harness: `/files/PATH` answers with a
 * file, `/list/PATH` with the names in a folder, and both with 204 if there is none. Each PATH is one segment, relative
 * to `root`. Only what lies in `root` or in the shared vectors beside it is served.
 * @param {{ folder: string, root: string }} rooms
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function serve({ folder, root }) {
    const rooms = await Promise.all(
        [root, join(root, "../shared/vectors")].map(room => realpath(room).catch(() => root)),
    );
    const server = createServer(async (request, response) => {
        const path = new URL(request.url ?? "", "http://localhost").pathname;
        const [, kind, rest] = /^\/(?:(files|list)\/)?(.*)$/.exec(path) ?? [];
        try {
            const asked = decodeURIComponent(rest ?? "");
            if (kind === undefined) {
                const place = await inside([await realpath(folder)], join(folder, asked || "index.html"));
                const data = await readFile(place);
                response
                    .writeHead(200, { ...HEADERS, "Content-Type": TYPES[extname(place)] ?? "text/plain" })
                    .end(data);
            } else {
                const place = await inside(rooms, join(root, asked));
                const data = kind === "files" ? await readFile(place) : JSON.stringify((await readdir(place)).sort());
                response.writeHead(200, HEADERS).end(data);
            }
        } catch (why) {
            const missing = why instanceof Error && "code" in why && MISSING.has(why.code);
            // The harness asks for files that may be missing. Browsers write about each 404 to the console.
            response.writeHead(missing ? (kind === undefined ? 404 : 204) : 500, HEADERS).end();
        }
    });
    await new Promise(resolve => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    return {
        url: `http://127.0.0.1:${port}`,
        close() {
            server.closeAllConnections();
            return new Promise(resolve => server.close(() => resolve()));
        },
    };
}

// The package runs where the policy of a page forbids `eval`. WebAssembly is compiled by the fallbacks.
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' data:";
const HEADERS = { "Cache-Control": "no-store", "Content-Security-Policy": POLICY };

/** @type {Set<unknown>} */
const MISSING = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

/** @type {Record<string, string>} */
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".wasm": "application/wasm" };

/**
 * Returns a path without links. Throws an error if it does not lie in one of the rooms.
 * @param {string[]} rooms
 * @param {string} path
 */
async function inside(rooms, path) {
    const place = await realpath(path);
    if (!rooms.some(room => place === room || place.startsWith(room + sep))) {
        throw new Error(`${path} is not served`);
    }
    return place;
}

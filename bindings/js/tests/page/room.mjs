/** Where the cases of one browser run: the browser, folders, and the page, as a file and on a server. */

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "../runner/browser.mjs";
import { ok, Skipped } from "./cases.mjs";
import { loadLibrary } from "./fixtures.mjs";
import { Visit } from "./visit.mjs";

/** @typedef {import("../runner/browser.mjs").Name} Name */
/** @typedef {import("./visit.mjs").Pickers} Pickers */
/**
 * `at` is the address of a page: without it, the page that is tested is opened as a file.
 * @typedef {{ at?: string, pickers?: Pickers, language?: string }} VisitOptions
 */

const DARK = { "ui.systemUsesDarkTheme": 1 };

export class Room {
    /** @type {Name} */
    name;
    /** The page as bytes. */
    html;
    /** A folder for files of the cases, which is removed at the end. */
    folder;
    /** The folder into which the browser downloads. */
    downloads;
    /** The command line, if there is one. @type {string | undefined} */
    deadpan;
    /** The address of the page on a server of this machine. */
    url = "";
    /** What the server was asked for, except for the page. @type {string[]} */
    asked = [];
    /** @type {import("./fixtures.mjs").Library} */
    library;
    /** @type {import("../runner/browser.mjs").Browser} */
    #browser;
    /** @type {Visit[]} */
    #visits = [];
    #server;
    #count = 0;

    /**
     * @param {Name} name
     * @param {string} page the path of the page
     * @param {string | undefined} deadpan
     */
    static async enter(name, page, deadpan) {
        const folder = mkdtempSync(join(tmpdir(), "deadpan-page-"));
        try {
            const downloads = join(folder, "downloads");
            mkdirSync(downloads);
            const [library, browser] = [await loadLibrary(folder), await launch(name, { downloads })];
            const room = new Room(name, readFileSync(page), folder, deadpan, library, browser);
            await room.#serve();
            return room;
        } catch (why) {
            rmSync(folder, { recursive: true, force: true });
            throw why;
        }
    }

    /**
     * @param {Name} name
     * @param {Buffer} html
     * @param {string} folder
     * @param {string | undefined} deadpan
     * @param {import("./fixtures.mjs").Library} library
     * @param {import("../runner/browser.mjs").Browser} browser
     */
    constructor(name, html, folder, deadpan, library, browser) {
        this.name = name;
        this.html = html;
        this.folder = folder;
        this.downloads = join(folder, "downloads");
        this.deadpan = deadpan;
        this.library = library;
        this.#browser = browser;
        writeFileSync(join(folder, "deadpan.html"), html);
        this.#server = createServer((request, response) => {
            if (request.url === "/deadpan.html") {
                response.writeHead(200, { "Content-Type": "text/html", "Cache-Control": "no-store" }).end(html);
            } else {
                this.asked.push(`${request.method} ${request.url}`);
                response.writeHead(404).end();
            }
        });
        this.#server.on("upgrade", (request, socket) => {
            this.asked.push(`upgrade ${request.url}`);
            socket.destroy();
        });
    }

    /** Opens the page in a new tab. @param {VisitOptions} [options] */
    async visit({ at, pickers, language } = {}) {
        const address = at ?? pathToFileURL(join(this.folder, "deadpan.html")).href;
        rmSync(this.downloads, { recursive: true });
        mkdirSync(this.downloads);
        const visit = await Visit.begin(this, await this.#browser.newPage(), address, pickers, language ?? "en");
        this.#visits.push(visit);
        return visit;
    }

    /** Opens the page in another browser, which prefers dark colors. @param {string} language */
    async darkVisit(language) {
        if (this.name === "chromium") {
            const visit = await this.visit({ language });
            await visit.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
            return { visit, close: async () => {} };
        }
        const browser = await launch(this.name, { preferences: DARK });
        const address = pathToFileURL(join(this.folder, "deadpan.html")).href;
        const visit = await Visit.begin(this, await browser.newPage(), address, undefined, language);
        this.#visits.push(visit);
        return { visit, close: () => browser.close() };
    }

    /** Closes all tabs of a case, and fails if the page did in one of them what it must not do. */
    async leave() {
        const visits = this.#visits.splice(0);
        try {
            const complaints = [];
            for (const visit of visits) {
                complaints.push(...(await visit.complaints()));
            }
            complaints.push(...this.asked.splice(0).map(what => `the server was asked: ${what}`));
            ok(complaints.length === 0, `the page did what it must not do: ${complaints.join("; ")}`);
        } finally {
            await Promise.all(visits.map(visit => visit.page.close().catch(() => {})));
        }
    }

    /** Returns the path of a file with these bytes. @param {string} name @param {Uint8Array | string} bytes */
    file(name, bytes) {
        const folder = join(this.folder, String(++this.#count));
        mkdirSync(folder);
        const path = join(folder, name);
        writeFileSync(path, bytes);
        return path;
    }

    /** Returns the path of a new folder. */
    newFolder() {
        const folder = join(this.folder, String(++this.#count));
        mkdirSync(folder);
        return folder;
    }

    /** Returns the command line, without which a case is skipped. */
    program() {
        if (this.deadpan === undefined) {
            throw new Skipped("there is no command line");
        }
        return this.deadpan;
    }

    /** Returns what lies in the folder for downloads. */
    downloaded() {
        return readdirSync(this.downloads);
    }

    /** Returns the id of the browser's process. @param {Visit} visit */
    processOf(visit) {
        const pid = visit.page.browser().process()?.pid;
        ok(pid !== undefined, "the browser has no process");
        return pid;
    }

    async close() {
        await this.#browser.close();
        this.#server.closeAllConnections();
        this.#server.close();
        rmSync(this.folder, { recursive: true, force: true });
    }

    /** @returns {Promise<void>} */
    #serve() {
        return new Promise(resolve =>
            this.#server.listen(0, "127.0.0.1", () => {
                const { port } = /** @type {import("node:net").AddressInfo} */ (this.#server.address());
                this.url = `http://127.0.0.1:${port}/deadpan.html`;
                resolve();
            }),
        );
    }
}

/** @param {Uint8Array} bytes */
export function sha256(bytes) {
    return createHash("sha256").update(bytes).digest("hex");
}

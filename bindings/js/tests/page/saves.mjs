/** What a page has saved: with the dialogs of pickers.mjs, or as downloads. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ok } from "./cases.mjs";

/** @typedef {import("./pickers.mjs").Saved} Saved */

export class Saves {
    #visit;
    #room;
    #areDownloads;

    /**
     * @param {import("./visit.mjs").Visit} visit
     * @param {import("./room.mjs").Room} room
     * @param {boolean} areDownloads
     */
    constructor(visit, room, areDownloads) {
        this.#visit = visit;
        this.#room = room;
        this.#areDownloads = areDownloads;
    }

    /** Returns the file that was saved after the first `before` ones, when it is whole. */
    async one(before = 0) {
        if (this.#areDownloads) {
            const { name, path } = await this.download();
            return { name, bytes: readFileSync(path) };
        }
        await this.#visit.until(({ saved }, before) => saved()[before]?.state === "closed", "a file is saved", before);
        const { name, base64 } = await this.#visit.page.evaluate(async before => {
            const { saved } = /** @type {{ saved: Saved[] }} */ (/** @type {unknown} */ (globalThis));
            const { name, parts } = saved[before] ?? { name: "", parts: [] };
            const reader = new FileReader();
            const read = new Promise((resolve, reject) => Object.assign(reader, { onload: resolve, onerror: reject }));
            reader.readAsDataURL(new Blob(parts));
            await read;
            return { name, base64: String(reader.result).replace(/^[^,]*,/, "") };
        }, before);
        return { name, bytes: Buffer.from(base64, "base64") };
    }

    /** Returns the only download, when it is whole. */
    async download() {
        const deadline = Date.now() + this.#visit.wait;
        for (;;) {
            const names = this.#room.downloaded();
            const [name] = names;
            if (names.length === 1 && name !== undefined && !/\.(?:part|crdownload)$/.test(name)) {
                const path = join(this.#room.downloads, name);
                const { size } = statSync(path);
                await new Promise(resolve => setTimeout(resolve, 100));
                if (size > 0 && this.#room.downloaded().length === 1 && statSync(path).size === size) {
                    return { name, path };
                }
            }
            ok(Date.now() < deadline, `there is no download, but: ${names}`);
            await new Promise(resolve => setTimeout(resolve, 50));
        }
    }

    /** What was given to the dialogs so far, without its data. */
    all() {
        return this.#visit.page.evaluate(() => {
            const { saved = [] } = /** @type {{ saved?: Saved[] }} */ (/** @type {unknown} */ (globalThis));
            return saved.map(({ name, length, state, wrong }) => ({ name, length, state, wrong }));
        });
    }

    /**
     * Returns what lies in a directory of the folder that the browser keeps for the page: texts of files by their
     * paths, and empty texts of folders, whose paths end with a slash. @param {string} [directory]
     */
    inOrigin(directory) {
        return this.#visit.page.evaluate(async directory => {
            /** @type {Record<string, string>} */
            const found = {};
            /** @type {(folder: FileSystemDirectoryHandle, path: string) => Promise<void>} */
            const walk = async (folder, path) => {
                for await (const [name, handle] of folder.entries()) {
                    if (handle.kind === "file") {
                        found[path + name] = await (
                            await /** @type {FileSystemFileHandle} */ (handle).getFile()
                        ).text();
                    } else {
                        found[`${path}${name}/`] = "";
                        await walk(/** @type {FileSystemDirectoryHandle} */ (handle), `${path}${name}/`);
                    }
                }
            };
            const root = await navigator.storage.getDirectory();
            await walk(directory === undefined ? root : await root.getDirectoryHandle(directory), "");
            return found;
        }, directory);
    }
}

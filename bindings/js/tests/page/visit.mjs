/** One page that is open, and what a user does with it. */

import { equal, ok } from "./cases.mjs";
import { noPickers, pickersInMemory, pickersInOrigin, pickersThatCompare } from "./pickers.mjs";
import { Saves } from "./saves.mjs";
import { Watch } from "./watch.mjs";

/** @typedef {import("puppeteer-core").Page} Page */
/** @typedef {import("./pickers.mjs").Saved} Saved */
/** How the page saves. Firefox has no dialogs for saving. @typedef {"memory" | "none" | "origin" | number} Pickers */

const WAIT = 30_000;

export class Visit {
    /** @type {Page} */
    page;
    /** What the page has saved. */
    saves;
    #watch;

    /**
     * @param {import("./room.mjs").Room} room
     * @param {Page} page
     * @param {string} address
     * @param {Pickers | undefined} asked
     * @param {string} language
     */
    static async begin(room, page, address, asked, language) {
        const pickers = asked ?? (room.name === "chromium" ? "memory" : "none");
        page.setDefaultTimeout(WAIT);
        const watch = await Watch.begin(page, address);
        if (typeof pickers === "number") {
            await page.evaluateOnNewDocument(pickersThatCompare, pickers);
        } else {
            const functions = { memory: pickersInMemory, none: noPickers, origin: pickersInOrigin };
            await page.evaluateOnNewDocument(functions[pickers]);
        }
        if (room.name === "chromium") {
            const session = await page.createCDPSession();
            await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: room.downloads });
        }
        await page.goto(address);
        if ((await page.evaluate(() => document.documentElement.lang)) !== language) {
            await page.select("#language", language);
        }
        if (pickers === "origin") {
            await page.evaluate(async () => {
                const root = await navigator.storage.getDirectory();
                for await (const name of root.keys()) {
                    await root.removeEntry(name, { recursive: true });
                }
            });
        }
        return new Visit(room, page, watch, pickers);
    }

    /**
     * @param {import("./room.mjs").Room} room
     * @param {Page} page
     * @param {Watch} watch
     * @param {Pickers} pickers
     */
    constructor(room, page, watch, pickers) {
        this.page = page;
        this.saves = new Saves(this, room, pickers === "none");
        this.#watch = watch;
    }

    complaints() {
        return this.#watch.complaints();
    }

    /** Returns the text that an element shows. @param {string} selector */
    text(selector) {
        return this.page.$eval(selector, element => /** @type {HTMLElement} */ (element).innerText);
    }

    /** Sets the value of a field, as a manager of passphrases does. @param {string} selector @param {string} value */
    async fill(selector, value) {
        await this.page.$eval(
            selector,
            (field, value) => {
                /** @type {HTMLInputElement} */ (field).value = value;
                field.dispatchEvent(new Event("input", { bubbles: true }));
            },
            value,
        );
    }

    /** @param {string} selector @param {string[]} paths */
    async upload(selector, ...paths) {
        const input = /** @type {import("puppeteer-core").ElementHandle<HTMLInputElement>} */ (
            await this.page.$(selector)
        );
        await input.uploadFile(...paths);
        await input.dispose();
    }

    /** Presses a button inside of an element by the text of the button. @param {string} inside @param {string} text */
    async press(inside, text) {
        const pressed = await this.page.$$eval(
            `${inside} button`,
            (buttons, text) => {
                const wanted = /** @type {HTMLButtonElement[]} */ (buttons).find(button => button.textContent === text);
                wanted?.click();
                return wanted !== undefined;
            },
            text,
        );
        ok(pressed, `there is no button ${text}`);
    }

    /** Chooses a file to open, and waits until the page asks for a key. @param {string} path */
    async choose(path) {
        await this.upload("#open-file", path);
        await this.asks();
    }

    async asks() {
        await this.until(({ visible, filled }) => visible("#unlock") || filled("#trouble"), "the page asks for a key");
    }

    /**
     * Drops a file, which the page's own context makes, on an element.
     * @param {string} selector
     * @param {{ name: string, bytes: Uint8Array }[]} files
     */
    async drop(selector, ...files) {
        await this.page.$eval(
            selector,
            (zone, files) => {
                const dataTransfer = new DataTransfer();
                for (const { name, base64 } of files) {
                    const bytes = Uint8Array.from(atob(base64), symbol => symbol.charCodeAt(0));
                    dataTransfer.items.add(new File([bytes], name));
                }
                for (const type of ["dragenter", "dragover", "drop"]) {
                    zone.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
                }
            },
            files.map(({ name, bytes }) => ({ name, base64: Buffer.from(bytes).toString("base64") })),
        );
    }

    /**
     * Drops files or folders of the disk, as a user does. Only Chromium can be told to.
     * @param {string} selector
     * @param {string[]} files
     */
    async dropPaths(selector, files) {
        const session = await this.page.createCDPSession();
        const { x, y } = await this.page.$eval(selector, zone => {
            zone.scrollIntoView({ block: "center" });
            const box = zone.getBoundingClientRect();
            return { x: box.x + 5, y: box.y + 5 };
        });
        for (const type of /** @type {const} */ (["dragEnter", "dragOver", "drop"])) {
            const data = { items: [], files, dragOperationsMask: 1 };
            await session.send("Input.dispatchDragEvent", { type, x, y, data });
        }
        await session.detach();
    }

    /** Opens the chosen file, and waits for the result, good or bad. */
    async unlock() {
        await this.page.$eval("#unlock", form => /** @type {HTMLFormElement} */ (form).requestSubmit());
        await this.idle("#opened");
    }

    /** Waits until the page has ended its work, and shows an element or an error. @param {string} result */
    async idle(result) {
        await this.until(
            ({ visible, filled }, result) => !visible("#work") && (visible(result) || filled("#trouble")),
            `the page shows ${result} or an error`,
            result,
        );
    }

    /**
     * Opens a file with these keys and no others, and fails if it does not open. @param {string} path @param {Keys}
     * keys
     */
    async open(path, keys) {
        await this.choose(path);
        await this.page.$$eval("#unlock input, #unlock textarea", fields => {
            fields.forEach(field => Object.assign(field, { value: "" }));
        });
        await this.give(keys);
        await this.unlock();
        equal(await this.text("#trouble"), "", "trouble");
    }

    /**
     * @typedef {{ passphrase?: string, keys?: string[], shares?: string[], signers?: string }} Keys
     * @param {Keys} keys
     */
    async give({ passphrase, keys, shares, signers }) {
        if (passphrase !== undefined) {
            await this.fill("#open-passphrase", passphrase);
        }
        if (keys !== undefined) {
            await this.upload("#open-keys", ...keys);
        }
        if (shares !== undefined) {
            await this.upload("#open-shares", ...shares);
        }
        if (signers !== undefined) {
            await this.fill("#open-signers", signers);
        }
    }

    /** Presses a button that saves, and returns what it saves. @param {string} inside @param {string} text */
    async save(inside, text) {
        const before = (await this.saves.all()).length;
        await this.press(inside, text);
        return this.saves.one(before);
    }

    /**
     * Waits until a function returns true in the page.
     * @template {unknown[]} Args
     * @param {(look: Look, ...args: Args) => unknown} condition
     * @param {string} what
     * @param {Args} args
     */
    async until(condition, what, ...args) {
        const deadline = Date.now() + this.wait;
        const asked = `(${condition})((${looks})(), ...${JSON.stringify(args)})`;
        while (!(await this.page.evaluate(asked))) {
            if (Date.now() > deadline) {
                const said = (await this.text("main")).slice(-500);
                throw new Error(`not within ${this.wait / 1000} s: ${what}; the page says: ${said}`);
            }
            await new Promise(resolve => setTimeout(resolve, 20));
        }
    }

    /** How long the page may take, in milliseconds. */
    wait = WAIT;
}

/** @typedef {ReturnType<typeof looks>} Look */

/** What conditions see of the page. This function runs in the page. */
function looks() {
    /** @param {string} selector */
    const find = selector => document.querySelector(selector);
    return {
        find,
        /** @param {string} selector */
        visible: selector => find(selector)?.checkVisibility() ?? false,
        /** @param {string} selector */
        filled: selector => (find(selector)?.textContent ?? "") !== "",
        saved: () => /** @type {{ saved: Saved[] }} */ (/** @type {unknown} */ (globalThis)).saved,
    };
}

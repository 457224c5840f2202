/**
 * Watches a page: whatever asks for something outside of the page, opens a window, shows a dialog, throws an error that
 * nobody catches, or offends the policy, is a complaint.
 */

/** @typedef {import("puppeteer-core").Page} Page */

/** What the page itself may load: nothing but what it makes. */
const OWN = /^(?:blob|data):/;

/** What Firefox writes to the console if a download is canceled. */
const FAILED_STREAM = "Failed to read data from the ReadableStream";

/** Collects what a page does that it must not do. */
export class Watch {
    /** @type {string[]} */
    #complaints = [];
    /** @type {Page} */
    #page;
    /** @type {Set<string>} */
    #addresses = new Set();

    /**
     * @param {Page} page
     * @param {string} address the address of the page
     */
    static async begin(page, address) {
        const watch = new Watch(page);
        watch.#addresses.add(address);
        page.on("request", request => watch.#asked(request.url()));
        page.on("dialog", dialog => {
            watch.#add(`a dialog: ${dialog.message()}`);
            void dialog.dismiss().catch(() => {});
        });
        page.on("popup", () => watch.#add("a new window"));
        page.on("pageerror", why => {
            const message = why instanceof Error ? why.message : String(why);
            if (!message.startsWith(FAILED_STREAM)) {
                watch.#add(`an error: ${message}`);
            }
        });
        page.on("error", why => watch.#add(`the page crashed: ${why.message}`));
        page.on("console", message => {
            if (["error", "warn"].includes(message.type())) {
                watch.#add(`on the console: ${message.text()}`);
            }
        });
        await page.evaluateOnNewDocument(() => {
            /** @type {string[]} */
            const offenses = [];
            Object.assign(globalThis, { offenses });
            document.addEventListener("securitypolicyviolation", event => {
                offenses.push(`${event.effectiveDirective} ${event.blockedURI}`);
            });
        });
        return watch;
    }

    /** @param {Page} page */
    constructor(page) {
        this.#page = page;
    }

    /** Returns what the page did that it must not do, and forgets it. */
    async complaints() {
        const offenses = await this.#page.evaluate(() => {
            const { offenses } = /** @type {{ offenses?: string[] }} */ (/** @type {unknown} */ (globalThis));
            return offenses?.splice(0) ?? ["the watch is gone, because the page was replaced"];
        });
        return [...this.#complaints.splice(0), ...offenses.map(offense => `against the policy: ${offense}`)];
    }

    /** @param {string} url */
    #asked(url) {
        const plain = url.replace(/#.*$/, "");
        if (!OWN.test(plain) && !this.#addresses.has(plain)) {
            this.#add(`a request: ${url}`);
        }
    }

    /** @param {string} what */
    #add(what) {
        this.#complaints.push(what);
    }
}

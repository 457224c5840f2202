/**
 * Tests the page in a browser: node tests/page/run.mjs PAGE.html BROWSER [DEADPAN]
 *
 * BROWSER is chromium or firefox, and DEADPAN the command line, without which some cases are skipped. CASES, if it is
 * set, is a pattern for the names of the cases to run. With PAGE_LONG=1, the cases about long files take files of 5
 * GiB.
 */

import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { MissingError } from "../runner/browser.mjs";
import { cases, Skipped } from "./cases.mjs";
import { Room } from "./room.mjs";

/** @typedef {import("./cases.mjs").Case} Case */

const SECONDS = 90;
const CLOSING_SECONDS = 20;

class LateError extends Error {}

const [page, browser, deadpan] = process.argv.slice(2);
if (page === undefined || (browser !== "chromium" && browser !== "firefox")) {
    console.error("usage: node tests/page/run.mjs PAGE.html chromium|firefox [DEADPAN]");
    process.exit(2);
}
const folder = new URL("cases/", import.meta.url);
for (const name of readdirSync(folder).sort()) {
    await import(new URL(name, folder).href);
}
try {
    // A browser that hangs would keep this process alive.
    process.exit((await runAll(browser, page, deadpan && resolve(deadpan))) ? 0 : 1);
} catch (why) {
    if (!(why instanceof MissingError)) {
        throw why;
    }
    console.log(`skipped: the page in ${browser}: ${why.message}`);
}

/**
 * @param {import("../runner/browser.mjs").Name} browser
 * @param {string} page
 * @param {string | undefined} deadpan
 */
async function runAll(browser, page, deadpan) {
    const pattern = new RegExp(process.env.CASES ?? "");
    const wanted = cases.filter(({ name }) => pattern.test(name));
    const room = await Room.enter(browser, page, deadpan);
    /** @type {Record<Outcome["word"], number>} */
    const count = { ok: 0, FAILED: 0, skipped: 0 };
    let isLate = false;
    for (const one of wanted) {
        const start = Date.now();
        const { word, why, ...rest } = await outcome(room, one);
        const seconds = ((Date.now() - start) / 1000).toFixed(1);
        console.log(`${word} ${browser}: ${one.name}${why === undefined ? "" : `: ${why}`} (${seconds} s)`);
        count[word]++;
        isLate = rest.isLate === true;
        if (isLate) {
            // The case may still run, and would disturb the others.
            console.log(`FAILED ${browser}: the cases behind this one have not run`);
            break;
        }
    }
    await within(CLOSING_SECONDS, room.close()).catch(() => {});
    console.log(`${browser}: ${count.ok} passed, ${count.FAILED} failed, ${count.skipped} skipped`);
    return count.FAILED === 0 && count.ok > 0;
}

/** @typedef {{ word: "ok" | "FAILED" | "skipped", why?: string | undefined, isLate?: boolean }} Outcome */

/**
 * @param {Room} room
 * @param {Case} one
 * @returns {Promise<Outcome>}
 */
async function outcome(room, { run, only, seconds = SECONDS }) {
    if (only !== undefined && only !== room.name) {
        return { word: "skipped", why: `only ${only} can do this` };
    }
    try {
        const said = await within(seconds, run(room));
        await within(CLOSING_SECONDS, room.leave());
        return { word: "ok", why: said === undefined ? undefined : String(said) };
    } catch (why) {
        if (why instanceof LateError) {
            return { word: "FAILED", why: why.message, isLate: true };
        }
        await within(CLOSING_SECONDS, room.leave()).catch(() => {});
        if (why instanceof Skipped) {
            return { word: "skipped", why: why.message };
        }
        return { word: "FAILED", why: why instanceof Error ? why.stack : String(why) };
    }
}

/**
 * Waits for something, but not longer.
 * @template Result
 * @param {number} seconds
 * @param {Promise<Result>} something
 * @returns {Promise<Result>}
 */
async function within(seconds, something) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    /** @type {Promise<never>} */
    const late = new Promise((_, fail) => {
        timer = setTimeout(() => fail(new LateError(`no end after ${seconds} s`)), seconds * 1000);
    });
    try {
        return await Promise.race([something, late]);
    } finally {
        clearTimeout(timer);
    }
}

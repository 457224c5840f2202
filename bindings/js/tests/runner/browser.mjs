/** Starts an installed browser, without a window. */

import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import puppeteer from "puppeteer-core";

/** @typedef {"chromium" | "firefox"} Name */

// Puppeteer ends the process at SIGINT only.
process.once("SIGTERM", () => process.exit(143));
process.once("SIGHUP", () => process.exit(129));

/**
 * A browser with a profile of its own, which is removed when the browser ends. No process outlives this one, unless
 * this one is killed by SIGKILL.
 * @typedef {{ newPage(): Promise<import("puppeteer-core").Page>, close(): Promise<void> }} Browser
 */

/** The browser is not installed. */
export class MissingError extends Error {}

/**
 * Starts a browser. `firefox` is driven by WebDriver BiDi. Firefox takes preferences, and downloads into a folder.
 * @param {Name} name
 * @param {{ preferences?: Record<string, string | number | boolean>, downloads?: string }} [options]
 * @returns {Promise<Browser>}
 */
export async function launch(name, { preferences, downloads = "" } = {}) {
    const executablePath = PROGRAMS[name].map(onPath).find(path => path !== undefined);
    if (executablePath === undefined) {
        throw new MissingError(`${name} is missing`);
    }
    const folder = mkdtempSync(join(tmpdir(), `deadpan-${name}-`));
    const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    try {
        const browser = await puppeteer.launch({
            browser: name === "chromium" ? "chrome" : "firefox",
            executablePath,
            headless: true,
            userDataDir: join(folder, "profile"),
            env: { ...process.env, HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder },
            // A test may keep a page busy for minutes.
            protocolTimeout: 600_000,
            ...(name === "chromium"
                ? { args: CHROMIUM, pipe: true }
                : { extraPrefsFirefox: { ...FIREFOX, "browser.download.dir": downloads, ...preferences } }),
        });
        // Puppeteer's own listener, which kills the browser, has run before this one.
        process.once("exit", remove);
        return {
            newPage: () => browser.newPage(),
            async close() {
                await browser.close();
                process.off("exit", remove);
                remove();
            },
        };
    } catch (why) {
        remove();
        throw why;
    }
}

const PROGRAMS = {
    chromium: ["chromium", "chromium-browser", "google-chrome"],
    firefox: ["firefox-esr", "firefox"],
};

// The tests need no network, and what a browser fetches on its own would only disturb them. In containers, Chromium's
// sandbox does not work.
const CHROMIUM = [
    "--no-sandbox",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];
const FIREFOX = {
    "network.proxy.type": 0,
    "network.dns.disabled": true,
    "browser.download.folderList": 2,
    "browser.download.alwaysOpenPanel": false,
};

/**
 * @param {string} program
 * @returns {string | undefined}
 */
function onPath(program) {
    return (process.env.PATH ?? "")
        .split(delimiter)
        .map(folder => join(folder, program))
        .find(path => {
            try {
                accessSync(path, constants.X_OK);
                return true;
            } catch {
                return false;
            }
        });
}

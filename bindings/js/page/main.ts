/** The page: opens and seals files in the browser, and opens the file that may stand in the page itself. */

import { button, byId } from "./dom.ts";
import { hashInThread, isThread } from "./hashing.ts";
import { startKeys } from "./keypage.ts";
import { choose, hashBegins, startOpening } from "./opening.ts";
import { startSealing } from "./sealing.ts";
import { say, startTexts } from "./text.ts";
import { Missing, startWork, tell } from "./work.ts";

declare const VERSION: string;

const TABS = ["open", "seal", "key"] as const;

if (!isThread()) {
    document.addEventListener("DOMContentLoaded", start);
}

function start(): void {
    startTexts(byId("language"));
    const version = document.querySelector<HTMLElement>("[data-text=version]");
    if (version !== null) {
        say(version, "version", VERSION);
    }
    startTabs();
    startWork();
    startOpening();
    startSealing();
    startKeys();
    hashInThread(hashBegins);
    // A file that misses its place must not replace the page.
    for (const name of ["dragover", "drop"]) {
        document.addEventListener(name, event => event.preventDefault());
    }
    if (globalThis.crypto?.subtle === undefined) {
        tell(new Missing("insecure"));
    }
    void openInside();
}

/** Opens the sealed file that stands in the page, if there is one. */
async function openInside(): Promise<void> {
    const inside = document.getElementById("deadpan-sealed");
    if (inside === null) {
        return;
    }
    const text = inside.textContent ?? "";
    inside.remove();
    // A text that is too long for the browser is empty.
    if (text === "") {
        tell(new Missing("errorTooLarge"));
        return;
    }
    // The recipient came for this file alone. The rest of the page is one press away.
    const rest = [byId("tabs"), byId("open-drop")];
    for (const part of rest) {
        part.hidden = true;
    }
    await choose(nameOfPage(), new Blob([text]));
    say(byId("inside"), "inside");
    byId("inside").hidden = false;
    const more = button("otherFiles", () => {
        for (const part of rest) {
            part.hidden = false;
        }
        more.remove();
        byId("tab-open").focus();
    });
    byId("open").append(more);
}

function nameOfPage(): string {
    const name = location.pathname.split("/").at(-1) ?? "";
    try {
        return decodeURIComponent(name);
    } catch {
        // The name of the file is not UTF-8.
        return name;
    }
}

function startTabs(): void {
    const tabs = TABS.map(name => byId(`tab-${name}`));
    const select = (place: number) => {
        for (const [i, tab] of tabs.entries()) {
            tab.setAttribute("aria-selected", String(i === place));
            tab.tabIndex = i === place ? 0 : -1;
            byId(TABS[i]!).hidden = i !== place;
        }
    };
    for (const [place, tab] of tabs.entries()) {
        tab.addEventListener("click", () => select(place));
        tab.addEventListener("keydown", event => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (step !== undefined) {
                const next = (place + step + tabs.length) % tabs.length;
                select(next);
                tabs[next]!.focus();
            }
        });
    }
}

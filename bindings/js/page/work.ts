/** Work that takes time: one at a time, with progress, and a button that cancels it. Errors are told at the end. */

import {
    CostlyError,
    InvalidKeyError,
    LimitError,
    LockedKeyError,
    NewerError,
    NoKeyError,
    NotSealedError,
    PassphraseError,
    SignatureError,
    TamperedError,
    TruncatedError,
} from "../src/index.ts";
import { byId, said, make } from "./dom.ts";
import { say } from "./text.ts";
import type { TextName } from "./texts/en.ts";

/** What work can tell while it runs. */
export interface Progress {
    readonly signal: AbortSignal;
    /** Says what happens now. */
    now(name: TextName, ...parts: string[]): void;
    /** Says how much of it is done: a number from 0 to 1. */
    done(part: number): void;
    /** Passes data on, and counts them. */
    counted<Data extends Uint8Array>(stream: ReadableStream<Data>, total: number): ReadableStream<Data>;
}

let current: AbortController | undefined;

/** Runs some work. Work that is running is canceled. Failures are told to the user. */
export async function work(run: (progress: Progress) => Promise<void>): Promise<void> {
    current?.abort(new Canceled());
    const controller = new AbortController();
    current = controller;
    quiet();
    try {
        await run(progressOf(controller));
    } catch (why) {
        // Another piece of work has taken the place of a canceled one.
        if (current === controller) {
            tell(controller.signal.aborted ? controller.signal.reason : why);
        }
    } finally {
        if (current === controller) {
            current = undefined;
            byId("work").hidden = true;
        }
    }
}

/** Lets the button cancel. */
export function startWork(): void {
    byId("work-cancel").addEventListener("click", () => current?.abort(new Canceled()));
}

class Canceled extends Error {}

/** A request to the user to fill in something. */
export class Missing extends Error {
    readonly text: TextName;
    readonly field: HTMLElement | undefined;

    constructor(text: TextName, field?: HTMLElement) {
        super(text);
        this.text = text;
        this.field = field;
    }
}

/** A failure after some files were saved. */
export class Partly extends Error {
    constructor(why: unknown) {
        super(why instanceof Error ? why.message : String(why));
    }
}

function progressOf(controller: AbortController): Progress {
    const bar = byId<HTMLProgressElement>("work-bar");
    const mine = () => current === controller;
    return {
        signal: controller.signal,
        now(name, ...parts) {
            if (mine()) {
                byId("work").hidden = false;
                byId("work").scrollIntoView({ block: "nearest" });
                bar.removeAttribute("value");
                say(byId("work-text"), name, ...parts);
            }
        },
        done(part) {
            if (mine()) {
                bar.value = part;
            }
        },
        counted(stream, total) {
            let done = 0;
            const count = new TransformStream({
                transform: (piece, stream) => {
                    done += piece.length;
                    this.done(total === 0 ? 1 : done / total);
                    stream.enqueue(piece);
                },
            });
            return stream.pipeThrough(count, { signal: controller.signal });
        },
    };
}

/** Removes what was told about earlier work. */
export function quiet(): void {
    byId("trouble").replaceChildren();
}

/** Tells the user why something failed. */
export function tell(why: unknown): void {
    const trouble = byId("trouble");
    const sentence = said("p", why instanceof Missing ? why.text : nameOf(why));
    trouble.replaceChildren(sentence);
    if (why instanceof Missing) {
        why.field?.focus();
    } else if (!(why instanceof Canceled) && why instanceof Error && why.message !== "") {
        // The library's messages are in English, and have more detail.
        const detail = make("p", "soft", why.message);
        detail.lang = "en";
        trouble.append(detail);
    }
}

/** The most exact kinds of errors stand first. */
const NAMES: readonly (readonly [new (...args: never[]) => Error, TextName])[] = [
    [Canceled, "errorCanceled"],
    [Partly, "errorPartly"],
    [NotSealedError, "errorNotSealed"],
    [NewerError, "errorNewer"],
    [TruncatedError, "errorTruncated"],
    [SignatureError, "errorSignature"],
    [TamperedError, "errorTampered"],
    [LimitError, "errorLimit"],
    [PassphraseError, "errorPassphrase"],
    [CostlyError, "errorCostly"],
    [NoKeyError, "errorNoKey"],
    [LockedKeyError, "errorLocked"],
    [InvalidKeyError, "errorKey"],
];

function nameOf(why: unknown): TextName {
    // The user has closed the browser's dialog for files.
    if (why instanceof DOMException && why.name === "AbortError") {
        return "errorCanceled";
    }
    return NAMES.find(([kind]) => why instanceof kind)?.[1] ?? "errorOther";
}

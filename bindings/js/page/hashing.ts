/** Argon2id in a thread of its own, so that the page answers while a passphrase is tried. */

import { LimitError, setArgon2id, type Bytes, type Cost, type Hash } from "../src/index.ts";

interface Request {
    readonly password: Bytes;
    readonly salt: Bytes;
    readonly cost: Cost;
    readonly length: number;
}

type Answer = { readonly hashed: Bytes } | { readonly limit: string } | { readonly failure: string };

/** Answers requests, if this code runs in the thread. Returns whether it does. */
export function isThread(): boolean {
    if (typeof document !== "undefined") {
        return false;
    }
    const hash = setArgon2id(() => Promise.reject(new Error("unused")));
    addEventListener("message", async ({ data }: MessageEvent<Request>) => {
        let answer: Answer;
        try {
            answer = { hashed: await hash(data.password, data.salt, data.cost, data.length) };
        } catch (why) {
            const text = why instanceof Error ? why.message : String(why);
            answer = why instanceof LimitError ? { limit: text } : { failure: text };
        }
        postMessage(answer);
    });
    return true;
}

/** Lets the library hash in a thread, which runs the page's own code. `begins` is called before each hash. */
export function hashInThread(begins: () => { signal: AbortSignal } | undefined): void {
    setArgon2id((password, salt, cost, length) => inThread({ password, salt, cost, length }, begins()?.signal));
}

interface TrustedTypes {
    createPolicy(
        name: string,
        rules: { createScriptURL(url: string): string },
    ): { createScriptURL(url: string): string };
}

function inThread(request: Request, signal: AbortSignal | undefined): ReturnType<Hash> {
    const code = document.getElementById("code")!.textContent!;
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const worker = new Worker(policy?.createScriptURL(address) ?? address);
    return new Promise<Bytes>((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
        worker.addEventListener("error", event => reject(new Error(event.message || "the thread has failed")));
        worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
            if ("hashed" in data) {
                resolve(data.hashed);
            } else {
                reject("limit" in data ? new LimitError(data.limit) : new Error(data.failure));
            }
        });
        worker.postMessage(request);
    }).finally(() => {
        // Ends the thread, which also frees its memory.
        worker.terminate();
        URL.revokeObjectURL(address);
    });
}

// The page's policy refuses addresses of scripts that did not come through here.
const policy =
    typeof document === "undefined"
        ? undefined
        : (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("deadpan", {
              createScriptURL: url => url,
          });

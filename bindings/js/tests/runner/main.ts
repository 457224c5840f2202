/** Loads and runs the tests: in a page, or as a program. */

import { switchedOff, type Newer } from "../../src/crypto/platform.ts";
import { run } from "../harness.ts";

/** What a page hands to the runner at the end. */
type Finished = (count: { passed: number; failed: number; skipped: number }) => void;

/**
 * Loads the files and runs their tests. With `fallbacks` as argument or in the page's address, nothing of the newer
 * WebCrypto is used, and tests that need no WebCrypto are left out. The thorough tests run without it in Node.js.
 */
export async function main(files: Record<string, () => Promise<unknown>>): Promise<void> {
    const page = typeof document !== "undefined";
    const mode = page ? location.search.slice(1) : process.argv[2];
    const fallbacks = mode === "fallbacks";
    if (fallbacks) {
        Object.keys(NEWER).forEach(name => switchedOff.add(name as Newer));
    }
    for (const [name, load] of Object.entries(files)) {
        if (!fallbacks || !name.startsWith("folder")) {
            await load();
        }
    }
    const inNode = !page && !("Deno" in globalThis) && !("Bun" in globalThis);
    const count = await run(inNode && !fallbacks);
    // Here, promises that failed while nobody watched them end the program or are reported by the page.
    await new Promise(resolve => setTimeout(resolve, 50));
    if (page) {
        (globalThis as unknown as { finished: Finished }).finished(count);
        return;
    }
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
    process.exit(count.failed > 0 || count.passed === 0 ? 1 : 0);
}

const NEWER: Record<Newer, true> = {
    X25519: true,
    Ed25519: true,
    "ML-KEM-768": true,
    "ML-KEM-1024": true,
    "MLKEM768-X25519": true,
    "ML-DSA-44": true,
    "ML-DSA-65": true,
    "ChaCha20-Poly1305": true,
};

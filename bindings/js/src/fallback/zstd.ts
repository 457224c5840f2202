/**
 * The decoder of Zstandard itself, compiled to WebAssembly. Decoders in JavaScript are more lenient: data could then be
 * different data for different readers.
 */

import { ZSTDDecoder } from "zstddec";

let ready: Promise<ZSTDDecoder> | undefined;

/** Returns the decoder. */
export function decoder(): Promise<ZSTDDecoder> {
    ready ??= start();
    return ready;
}

async function start(): Promise<ZSTDDecoder> {
    const made = new ZSTDDecoder();
    // The package asks `fetch` for its own code at a `data:` address, which policies of pages forbid. `init` calls it
    // at once, so no other call comes between.
    const { fetch } = globalThis;
    globalThis.fetch = fromData as typeof globalThis.fetch;
    let started: Promise<void>;
    try {
        started = made.init();
    } finally {
        globalThis.fetch = fetch;
    }
    await started;
    return made;
}

async function fromData(address: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> }> {
    const code = Uint8Array.from(atob(address.slice(address.indexOf(",") + 1)), symbol => symbol.charCodeAt(0));
    return { arrayBuffer: async () => code.buffer };
}

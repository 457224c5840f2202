/** BLAKE3, loaded when the first folder needs it. */

import type { Bytes } from "../bytes.ts";

/** A hash in progress. */
export interface Hasher {
    update(bytes: Uint8Array): unknown;
    finalize(): Uint8Array;
}

export interface Blake3 {
    createHasher(): Hasher;
    hash(bytes: Bytes): Uint8Array;
}

export async function blake3(): Promise<Blake3> {
    return import("../fallback/blake3.ts");
}

/** The chunks of a payload: 64 KiB of data, encrypted with ChaCha20-Poly1305. */

import { number, type Bytes } from "../bytes.ts";
import { TamperedError, TruncatedError } from "../error.ts";
import { ChaCha, TAG } from "./chacha.ts";

/** The number of bytes of data in a full chunk. */
export const CHUNK = 2 ** 16;
/** The number of bytes in a full sealed chunk. */
export const SEALED_CHUNK = CHUNK + TAG;

/** How the payload of a file divides into chunks. */
export interface Shape {
    /** At least one. */
    readonly count: number;
    /** The number of bytes of data in all chunks. */
    readonly size: number;
}

/** Returns how many bytes of data sealed chunks of this length have in all. The last may be too short to have any. */
export function dataLength(sealed: number): number {
    return Math.floor(sealed / SEALED_CHUNK) * CHUNK + Math.max(0, (sealed % SEALED_CHUNK) - TAG);
}

/** Returns the shape of a payload whose chunks have this length in all. */
export function shapeOf(sealed: number): Shape {
    const count = Math.ceil(sealed / SEALED_CHUNK);
    if (count === 0 || sealed - (count - 1) * SEALED_CHUNK < TAG) {
        throw new TruncatedError();
    }
    return { count, size: dataLength(sealed) };
}

/** Seals and opens the chunks of one payload. */
export class Chunks {
    readonly #cipher: ChaCha;

    private constructor(cipher: ChaCha) {
        this.#cipher = cipher;
    }

    static async with(key: Bytes): Promise<Chunks> {
        return new Chunks(await ChaCha.with(key));
    }

    /** Seals consecutive chunks, all at once. All of them are full, but the last chunk of the file may be shorter. */
    async seal(first: number, hasLast: boolean, data: Bytes): Promise<Bytes> {
        const count = Math.max(1, Math.ceil(data.length / CHUNK));
        const sealed = new Uint8Array(data.length + count * TAG);
        await Promise.all(
            Array.from({ length: count }, (_, i) => {
                const part = data.subarray(i * CHUNK, (i + 1) * CHUNK);
                const output = sealed.subarray(i * SEALED_CHUNK, (i + 1) * SEALED_CHUNK);
                return this.#cipher.seal(nonce(first + i, hasLast && i === count - 1), part, output);
            }),
        );
        return sealed;
    }

    /**
     * Opens consecutive chunks into `data`, all at once. `hasLast` says whether they end with the last chunk of the
     * file. Returns where the first damage is, if there is any.
     */
    async open(first: number, hasLast: boolean, sealed: Bytes, data: Bytes): Promise<Damage | undefined> {
        // noble is slow for bytes that do not lie at a multiple of four.
        const aligned = sealed.byteOffset % 4 === 0 ? sealed : sealed.slice();
        const count = Math.max(1, Math.ceil(sealed.length / SEALED_CHUNK));
        const chunks = Array.from({ length: count }, (_, i) => ({
            chunk: first + i,
            last: hasLast && i === count - 1,
            sealed: aligned.subarray(i * SEALED_CHUNK, (i + 1) * SEALED_CHUNK),
            data: data.subarray(i * CHUNK, (i + 1) * CHUNK),
        }));
        const opened = await Promise.all(chunks.map(one => isWhole(one) && this.#opens(one)));
        const wrong = opened.indexOf(false);
        const damagedChunk = chunks[wrong];
        return damagedChunk && this.#damage(damagedChunk, wrong * CHUNK);
    }

    #opens({ chunk, last, sealed, data }: Chunk): Promise<boolean> {
        return this.#cipher.open(nonce(chunk, last), sealed, data);
    }

    /** Returns why a chunk does not open. If it opens in another place, the file was cut short, or bytes were added. */
    async #damage(one: Chunk, at: number): Promise<Damage> {
        if (one.sealed.length < TAG) {
            return { at, why: new TruncatedError() };
        }
        const mayBeMisplaced = isWhole(one) && (!one.last || one.data.length === CHUNK);
        if (!mayBeMisplaced || !(await this.#opens({ ...one, last: !one.last }))) {
            return { at, why: new TamperedError(`segment ${one.chunk} is damaged or was changed after sealing`) };
        }
        const why = one.last
            ? new TruncatedError()
            : new TamperedError("something stands after the end of the sealed data");
        return { at: at + one.data.length, why };
    }
}

/** Where a payload is damaged. */
export interface Damage {
    /** The number of opened bytes before the damage, which are authentic. */
    readonly at: number;
    readonly why: TamperedError;
}

interface Chunk {
    readonly chunk: number;
    readonly last: boolean;
    readonly sealed: Bytes;
    readonly data: Bytes;
}

/** Returns whether a chunk has a valid length. An empty chunk is valid only if it is all of the payload. */
function isWhole({ chunk, sealed }: Chunk): boolean {
    return sealed.length > TAG || (sealed.length === TAG && chunk === 0);
}

/** Returns the nonce of a chunk: its number in eleven bytes, and a byte that marks the last chunk. */
function nonce(chunk: number, last: boolean): Bytes {
    const bytes = new Uint8Array(12);
    bytes.set(number(chunk, 11));
    bytes[11] = last ? 1 : 0;
    return bytes;
}

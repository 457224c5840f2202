/** One header of an archive, whose fields are decoded on demand. */

import { concat, type Bytes } from "../bytes.ts";
import { TamperedError } from "../error.ts";
import { field, isOverflown } from "./number.ts";
import { SLASH } from "./path.ts";

export class Header {
    readonly #block: Bytes;

    /** Checks the checksum of a block. */
    constructor(block: Bytes, offset: number) {
        this.#block = block;
        const sum = field(block.subarray(148, 156));
        // The checksum counts spaces in place of itself. Some old programs added the bytes as signed numbers.
        let unsigned = 0;
        let signed = 0;
        for (const [at, found] of block.entries()) {
            const byte = at >= 148 && at < 156 ? 0x20 : found;
            unsigned += byte;
            signed += byte < 0x80 ? byte : byte - 0x100;
        }
        if (sum !== BigInt(unsigned) && sum !== BigInt(signed)) {
            throw new TamperedError(`at byte ${offset} there is no header of a tar archive`);
        }
    }

    /** The type, as a character; `"\0"` in old archives. */
    get type(): string {
        return String.fromCharCode(this.#block[156] ?? 0);
    }

    get isGnu(): boolean {
        return this.#magic === "ustar ";
    }

    /** The path, which a POSIX header may have in two fields. */
    get path(): Bytes {
        const name = this.#text(0, 100);
        const prefix = this.#magic === "ustar\0" ? this.#text(345, 500) : new Uint8Array();
        return prefix.length === 0 ? name.slice() : concat(prefix, Uint8Array.of(SLASH), name);
    }

    get target(): Bytes {
        return this.#text(157, 257).slice();
    }

    get mode(): bigint | undefined {
        return this.#number(100, 108);
    }

    get size(): bigint | undefined {
        return this.#number(124, 136);
    }

    get modified(): bigint | undefined {
        return this.#number(136, 148);
    }

    /** The size of a file with holes, in GNU's old format. */
    get realSize(): bigint | undefined {
        return this.#number(483, 495);
    }

    /** The lines of an old map that stand in the header. */
    get map(): Bytes {
        return this.#block.slice(386, 482);
    }

    /** Whether blocks with more lines of an old map follow. */
    get mapGoesOn(): boolean {
        return this.#block[482] !== 0;
    }

    /** Whether the zero byte at the end of a number stands in the field after it. */
    get overflows(): boolean {
        const fields = [
            [108, 116],
            [116, 124],
            [124, 136],
            [136, 148],
        ] as const;
        return fields.some(([begin, end]) => isOverflown(this.#block.subarray(begin, end)));
    }

    get #magic(): string {
        return String.fromCharCode(...this.#block.subarray(257, 263));
    }

    #number(begin: number, end: number): bigint | undefined {
        return field(this.#block.subarray(begin, end));
    }

    #text(begin: number, end: number): Bytes {
        const bytes = this.#block.subarray(begin, end);
        const zero = bytes.indexOf(0);
        return zero < 0 ? bytes : bytes.subarray(0, zero);
    }
}

/** The limit for the size of unpacked files, because a short archive can describe a file of an exbibyte. */

/** Holes of this total size are always accepted, since a new disk image has little data and large holes. */
const HOLES = 64 * 2 ** 30;
/** Larger holes are accepted up to this many times the stored bytes. */
const RATIO = 1000;

/** Counts the bytes of files that are stored, and those that are not: holes, and the files behind hard links. */
export class Limit {
    readonly #most: number | undefined;
    #stored = 0;
    #holes = 0;

    /** Without a number of bytes for all files together, only holes are limited. */
    constructor(most?: number) {
        this.#most = most;
    }

    /** Counts a file, or returns why it is too large. */
    refusal(size: number, stored: number): string | undefined {
        const all = this.#stored + stored;
        const holes = this.#holes + Math.max(size - stored, 0);
        if (this.#most !== undefined && all + holes > this.#most) {
            return `${tooLarge(size)}, and all files together may have at most ${this.#most}`;
        }
        if (!Number.isSafeInteger(size) || (this.#most === undefined && holes > Math.max(HOLES, all * RATIO))) {
            return (
                `${tooLarge(size)}, and all holes together may have at most 64 GiB, or 1000 times the stored bytes ` +
                "if that is more"
            );
        }
        this.#stored = all;
        this.#holes = holes;
        return undefined;
    }
}

function tooLarge(size: number): string {
    return `it is too large: with its holes it has ${size} bytes`;
}

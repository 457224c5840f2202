/** The maps of files with holes: where in the file the stored pieces of data belong. */

import { TamperedError } from "../error.ts";
import { rounded } from "./entry.ts";
import { decimal, field } from "./number.ts";

/** The most pieces with data, because the map is held in memory. */
const MOST_PIECES = 1 << 20;
/** The length of a line of an old map: an offset and a length of 12 bytes each. */
const LINE = 24;
const LINE_FEED = 0x0a;

/** A map that agrees with the sizes of its file. */
export interface HoleMap {
    /** The length of the map in the content, before the pieces. */
    begin: number;
    /** For each piece, where it belongs in the file, and its length. */
    offsets: readonly number[];
    lengths: readonly number[];
}

/** The pieces read so far. Each begins at or after the end of the one before. */
export class Pieces {
    readonly #offsets: number[] = [];
    readonly #lengths: number[] = [];
    #data = 0;
    #end = 0;

    add(offset: number, length: number): void {
        if (offset < this.#end || offset + length >= 2 ** 64) {
            throw misfit();
        }
        this.#end = offset + length;
        this.#data += length;
        // A piece without data only marks the end of the file.
        if (length === 0) {
            return;
        }
        if (this.#offsets.length === MOST_PIECES) {
            throw new TamperedError(`a file with holes has more than ${MOST_PIECES} pieces`);
        }
        this.#offsets.push(offset);
        this.#lengths.push(length);
    }

    /** Adds the pieces of an old GNU header, up to the first empty line. */
    addOld(bytes: Uint8Array): void {
        for (let at = 0; at + LINE <= bytes.length; at += LINE) {
            if (bytes[at] === 0 || bytes[at + 12] === 0) {
                return;
            }
            const [offset, length] = [field(bytes.subarray(at, at + 12)), field(bytes.subarray(at + 12, at + LINE))];
            if (offset === undefined || length === undefined || offset < 0n || length < 0n) {
                throw misfit();
            }
            this.add(Number(offset), Number(length));
        }
    }

    /** Returns the map, which takes `begin` of the `stored` bytes of the content, for a file of `realSize` bytes. */
    map(begin: number, stored: number, realSize: number): HoleMap {
        if (begin + this.#data !== stored || this.#end > realSize) {
            throw misfit();
        }
        return { begin, offsets: this.#offsets, lengths: this.#lengths };
    }
}

/** Reads a map in GNU's format 1.0: decimal numbers on lines of their own, in whole blocks before the data. */
export class MapReader {
    readonly #pieces = new Pieces();
    /** The digits of a number that goes on in the next bytes. */
    #digits: number[] = [];
    #left: bigint | undefined;
    #offset: number | undefined;
    #length = 0;

    /** Takes bytes of the content, and returns how many of them belonged to the map, or undefined if it goes on. */
    take(bytes: Uint8Array): number | undefined {
        for (const [at, byte] of bytes.entries()) {
            this.#length++;
            if (byte !== LINE_FEED) {
                // A number of 64 bits has at most twenty digits.
                if (this.#digits.length === 20) {
                    throw misfit();
                }
                this.#digits.push(byte);
            } else if (this.#number()) {
                return at + 1;
            }
        }
        return undefined;
    }

    /** Returns the map, once `take` has found its end. */
    map(stored: number, realSize: number): HoleMap {
        return this.#pieces.map(rounded(this.#length), stored, realSize);
    }

    /** Takes a whole number, and returns whether it was the last one. */
    #number(): boolean {
        const number = decimal(Uint8Array.from(this.#digits));
        if (number === undefined) {
            throw misfit();
        }
        this.#digits = [];
        if (this.#left === undefined) {
            this.#left = number;
        } else if (this.#offset === undefined) {
            this.#offset = Number(number);
        } else {
            this.#pieces.add(this.#offset, Number(number));
            this.#offset = undefined;
            this.#left -= 1n;
        }
        return this.#left === 0n && this.#offset === undefined;
    }
}

function misfit(): TamperedError {
    return new TamperedError("the map of a file with holes does not fit the file");
}

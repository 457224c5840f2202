/** Reads an archive in stretches, because each read of sealed data opens whole segments. */

import { concat, type Bytes } from "../bytes.ts";
import { TruncatedError } from "../error.ts";
import { take, type Source } from "../source.ts";

/** Stretches end at multiples of this length, as the segments of sealed data do. */
const STRETCH = 256 * 1024;
/** The length of a stretch in a long content. */
const LARGE = 4 * STRETCH;

interface Stretch {
    bytes: Bytes;
    begin: number;
}

export class Window {
    readonly size: number;
    readonly #source: Source;
    #stretch: Stretch = { bytes: new Uint8Array(), begin: 0 };
    #failure: { why: unknown } | undefined;

    constructor(source: Source) {
        this.#source = source;
        this.size = source.size;
    }

    /** Whether an error comes from the source, and not from what stands in it. */
    isFailure(why: unknown): boolean {
        return this.#failure !== undefined && this.#failure.why === why;
    }

    /** Returns exactly `length` bytes, which the caller must not keep. */
    async view(offset: number, length: number): Promise<Bytes> {
        const { bytes, begin } = await this.#load(offset, offset + length);
        return bytes.subarray(offset - begin, offset + length - begin);
    }

    /** Returns a copy of the next bytes: at least one, and at most the `most` bytes that the caller still wants. */
    async copy(offset: number, most: number): Promise<Bytes> {
        const large = Math.min(offset - (offset % STRETCH) + LARGE, offset + most - ((offset + most) % STRETCH));
        if (large > offset && !this.#has(offset)) {
            return (await this.#read(offset, large)).slice();
        }
        const { bytes, begin } = await this.#load(offset, offset + 1);
        return bytes.slice(offset - begin, offset - begin + most);
    }

    #has(offset: number): boolean {
        return offset >= this.#stretch.begin && offset < this.#stretch.begin + this.#stretch.bytes.length;
    }

    /** Returns a stretch with these bytes. Calls may overlap, so nothing of the last stretch is used after waiting. */
    async #load(offset: number, end: number): Promise<Stretch> {
        if (offset < 0 || end > this.size) {
            throw new TruncatedError("the archive ends too early");
        }
        const { bytes, begin } = this.#stretch;
        if (this.#has(offset) && end <= begin + bytes.length) {
            return this.#stretch;
        }
        const known = this.#has(offset) ? bytes.subarray(offset - begin) : new Uint8Array();
        const rest = await this.#read(offset + known.length, this.#stretchEnd(end));
        this.#stretch = { bytes: known.length > 0 ? concat(known, rest) : rest, begin: offset };
        return this.#stretch;
    }

    /** Returns the end of the stretch that has the byte before `end`. */
    #stretchEnd(end: number): number {
        return Math.min(Math.ceil(end / STRETCH) * STRETCH, this.size);
    }

    async #read(begin: number, end: number): Promise<Bytes> {
        try {
            return await take(this.#source, begin, end - begin);
        } catch (why) {
            this.#failure = { why };
            throw why;
        }
    }
}

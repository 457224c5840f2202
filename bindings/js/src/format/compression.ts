/** Compressed data: Zstandard frames of 4 MiB, and a table of their lengths. docs/format-seal.md, "Compression". */

import { concat, equal, fromHex, type Bytes } from "../bytes.ts";
import { TamperedError } from "../error.ts";
import { Pieces } from "../source.ts";

const FRAME = 4_194_304;
const MOST_FRAMES = 2 ** 24;
const MAGIC = fromHex("28b52ffd");
const TABLE_MAGIC = fromHex("5e2a4d18");
/** The end of a table after the number of frames. */
const FOOT = fromHex("00b1ea928f");
/** What a table has beside its lines: magic, length, number of frames, foot. */
const TABLE_EXTRA = 17;

/** Yields stored bytes from one offset up to another. */
export type StoredRange = (begin: number, end: number) => AsyncGenerator<Bytes, void, void>;

/** Stored bytes that can be read at any place, and the data in them. */
export class Expanded {
    /** The length of the data. */
    readonly length: number;
    readonly #range: StoredRange;
    /** The offsets of the frames, and of the table after them. */
    readonly #begins: readonly number[];

    private constructor(range: StoredRange, begins: readonly number[], length: number) {
        this.#range = range;
        this.#begins = begins;
        this.length = length;
    }

    static async open(range: StoredRange, stored: number): Promise<Expanded> {
        if (stored < TABLE_EXTRA) {
            throw malformed("the table is missing");
        }
        const foot = await gathered(range(stored - 9, stored));
        const count = new DataView(foot.buffer).getUint32(0, true);
        if (!equal(foot.subarray(4), FOOT) || count > MOST_FRAMES || stored < TABLE_EXTRA + 8 * count) {
            throw malformed("the table is missing");
        }
        const begin = stored - TABLE_EXTRA - 8 * count;
        const begins = [0];
        let length = 0;
        for (const line of readTable(await gathered(range(begin, stored)), count)) {
            checkLengths(line.stored, line.length, begins.length === count);
            begins.push(begins.at(-1)! + line.stored);
            length += line.length;
        }
        if (begins.at(-1) !== begin) {
            throw malformed("the table does not fit the frames");
        }
        return new Expanded(range, begins, length);
    }

    /** Yields the data from `begin` up to `end`. */
    async *range(begin: number, end: number): AsyncGenerator<Bytes, void, void> {
        const first = Math.floor(begin / FRAME);
        const last = Math.ceil(end / FRAME);
        if (first >= last) {
            return;
        }
        const pieces = new Pieces(this.#range(this.#begins[first]!, this.#begins[last]!));
        for (let i = first; i < last; i++) {
            const frame = await pieces.exactly(this.#begins[i + 1]! - this.#begins[i]!);
            const from = i * FRAME;
            const data = await expand(frame, Math.min(FRAME, this.length - from));
            yield data.subarray(Math.max(0, begin - from), Math.min(data.length, end - from));
        }
    }
}

/** Yields the data in a stream of stored bytes. */
export async function* expandStream(stored: AsyncGenerator<Bytes, void, void>): AsyncGenerator<Bytes, void, void> {
    const pieces = new Pieces(stored);
    const lines: { stored: number; length: number }[] = [];
    let last = false;
    for (;;) {
        const magic = await pieces.peek(4);
        if (equal(magic, TABLE_MAGIC)) {
            break;
        }
        if (last || lines.length === MOST_FRAMES) {
            throw malformed("a short frame stands before the last, or there are too many frames");
        }
        const { frame, length } = await nextFrame(pieces);
        checkLengths(frame.length, length, true);
        last = length < FRAME;
        lines.push({ stored: frame.length, length });
        yield await expand(frame, length);
    }
    const table = await pieces.exactly(TABLE_EXTRA + 8 * lines.length);
    const found = readTable(table, lines.length);
    const same = lines.every(({ stored, length }, i) => found[i]?.stored === stored && found[i]?.length === length);
    if (!same || (await pieces.peek(1)).length > 0) {
        throw malformed("the table does not fit the frames");
    }
}

function malformed(why: string): TamperedError {
    return new TamperedError(`the compressed data inside are malformed: ${why}`);
}

function readTable(table: Bytes, count: number): { stored: number; length: number }[] {
    const view = new DataView(table.buffer, table.byteOffset, table.length);
    const right =
        equal(table.subarray(0, 4), TABLE_MAGIC) &&
        view.getUint32(4, true) === 8 * count + 9 &&
        view.getUint32(table.length - 9, true) === count &&
        equal(table.subarray(-5), FOOT);
    if (!right) {
        throw malformed("the table has an invalid form");
    }
    return Array.from({ length: count }, (_, i) => ({
        stored: view.getUint32(8 + 8 * i, true),
        length: view.getUint32(12 + 8 * i, true),
    }));
}

/** The least bytes of a frame: magic, descriptor, length of the data, and one block. */
const LEAST_STORED = 9;

function checkLengths(stored: number, length: number, last: boolean): void {
    if (stored < LEAST_STORED || length > FRAME || length < 1 || (!last && length < FRAME)) {
        throw malformed("a frame has an invalid length");
    }
    if (stored > length + Math.floor(length / 256) + 64) {
        throw malformed("a frame is longer than its data need");
    }
}

/** What the header of a frame says: the length of the header, and of the data. */
function frameHeader(frame: Bytes): { header: number; length: number } {
    const descriptor = frame[4];
    if (descriptor === undefined || !equal(frame.subarray(0, 4), MAGIC)) {
        throw malformed("a frame has an invalid beginning");
    }
    if ((descriptor & 0x1f) !== 0) {
        throw malformed("a frame has a dictionary, a checksum or an unknown bit");
    }
    const single = (descriptor & 0x20) !== 0;
    const size = 1 << (descriptor >> 6);
    if (!single && size === 1) {
        throw malformed("a frame does not state the length of its data");
    }
    const at = single ? 5 : 6;
    if (!single) {
        const window = frame[5] ?? 0xff;
        const base = 2 ** (10 + (window >> 3));
        if (base + (base / 8) * (window & 7) > FRAME) {
            throw malformed("a frame needs too large a window");
        }
    }
    if (frame.length < at + size) {
        throw malformed("a frame ends too early");
    }
    let length = 0;
    for (let i = size - 1; i >= 0; i--) {
        length = length * 256 + frame[at + i]!;
    }
    return { header: at + size, length: size === 2 ? length + 256 : length };
}

/** The longest header of a frame. */
const LONGEST_HEADER = 4 + 1 + 1 + 8;

/** Takes a frame from a stream. The blocks tell where the frame ends. */
async function nextFrame(pieces: Pieces): Promise<{ frame: Bytes; length: number }> {
    const { header, length } = frameHeader(await pieces.peek(LONGEST_HEADER));
    checkLengths(LEAST_STORED, length, true);
    const most = length + Math.floor(length / 256) + 64;
    let end = header;
    for (let last = false; !last;) {
        const start = (await pieces.peek(end + 3)).subarray(end);
        if (start.length < 3) {
            throw malformed("a frame ends too early");
        }
        const block = blockHeader(start);
        last = block.last;
        end += 3 + block.stored;
        if (end > most) {
            throw malformed("a frame is longer than its data need");
        }
    }
    return { frame: await pieces.exactly(end), length };
}

function blockHeader(start: Bytes): { last: boolean; stored: number } {
    const bits = start[0]! | (start[1]! << 8) | (start[2]! << 16);
    const kind = (bits >> 1) & 3;
    const size = bits >> 3;
    if (kind === 3 || size > 2 ** 17) {
        throw malformed("a block has an unknown kind or an invalid length");
    }
    return { last: (bits & 1) === 1, stored: kind === 1 ? 1 : size };
}

/** Expands a frame that must have data of this length. */
async function expand(frame: Bytes, length: number): Promise<Bytes> {
    const stated = frameHeader(frame);
    if (stated.length !== length) {
        throw malformed("a frame has another length than its table says");
    }
    let at = stated.header;
    for (let last = false; !last;) {
        if (at + 3 > frame.length) {
            throw malformed("a frame ends too early");
        }
        const block = blockHeader(frame.subarray(at, at + 3));
        at += 3 + block.stored;
        last = block.last;
    }
    if (at !== frame.length) {
        throw malformed("a frame does not end with its last block");
    }
    const { decoder } = await import("../fallback/zstd.ts");
    const data = (await decoder()).decode(frame, length);
    // For a malformed frame, the decoder returns nothing, or less.
    if (data.length !== length) {
        throw malformed("a frame cannot be expanded, or to another length");
    }
    return data as Bytes;
}

async function gathered(data: AsyncIterable<Bytes>): Promise<Bytes> {
    const parts: Bytes[] = [];
    for await (const bytes of data) {
        parts.push(bytes);
    }
    return concat(...parts);
}

/** The table of an index, and the trailer of a pack, which say where the parts of the index stand. */

import { equal, Fields, isZero, text, type Bytes } from "../bytes.ts";
import { TamperedError, TruncatedError } from "../error.ts";
import { BLOCK, rounded } from "./entry.ts";
import type { Blake3 } from "./hash.ts";
import { order, pathFault } from "./path.ts";
import type { Window } from "./window.ts";

/** The length of the trailer, at the end of a pack. */
export const TRAILER = 64;
/** The length of the first fields of a part. */
export const HEAD = 12;
/** The length of the marker at the beginning of a pack. */
export const MARKER_LENGTH = 2 * BLOCK;
/** The longest table. */
export const LONGEST_TABLE = 16 << 20;
/** The last bytes of a pack. */
export const SIGNATURE = "DPNPACK\u0001";

const LONGEST_PART = 1 << 20;
/** The length of the shortest record, which describes a folder. */
const SHORTEST_RECORD = 8;
/** What stands before the part in the comment of an index block. */
export const INDEX_BLOCK = "deadpan index ";
/** The length of a tar record: packs are multiples of it. */
const TAR_RECORD = 10_240;

/** A line of the table. */
export interface Row {
    offset: number;
    length: number;
    count: number;
    hash: Bytes;
    /** The path of the first entry of the part. */
    first: Bytes;
}

export class Table {
    readonly rows: readonly Row[];
    readonly entries: number;
    /** Where the entries end, and the two blocks of zeros begin. */
    readonly end: number;
    /** Where each series of index blocks begins and ends. */
    readonly #blocks: readonly (readonly [begin: number, end: number])[];

    private constructor(rows: Row[], entries: number, table: number) {
        this.rows = rows;
        this.entries = entries;
        [this.#blocks, this.end] = layout(rows, table);
    }

    static async read(window: Window, { hash }: Blake3): Promise<Table> {
        const at = window.size - TRAILER;
        if (at < 0) {
            throw new TruncatedError("the archive ends too early");
        }
        const trailer = new Fields((await window.view(at, TRAILER)).slice(), () => damaged("a number is too large"));
        if (text(trailer.bytes.subarray(56)) !== SIGNATURE) {
            throw new TamperedError("the pack has no index at its end");
        }
        const [begin, length, entries] = [trailer.number(8), trailer.number(8), trailer.number(8)];
        const parts = trailer.number(4);
        const end = begin + length;
        // Packs of the first version have no zeros before the trailer.
        if (!isZero(trailer.take(4)) || end > at || (end !== at && end + zerosAfter(end) !== at)) {
            throw damaged("its table is not where the trailer says");
        }
        if (length > LONGEST_TABLE) {
            throw damaged("its table is longer than 16 MiB");
        }
        const bytes = (await window.view(begin, at - begin)).slice();
        if (!isZero(bytes.subarray(length))) {
            throw damaged("something stands between its table and its trailer");
        }
        const table = bytes.subarray(0, length);
        if (!equal(hash(table).subarray(0, 24), trailer.take(24))) {
            throw damaged("the hash of its table is wrong");
        }
        const rows = readRows(table);
        if (rows.length !== parts || rows.reduce((sum, row) => sum + row.count, 0) !== entries) {
            throw damaged("its counts do not agree");
        }
        return new Table(rows, entries, begin);
    }

    /** Whether two blocks of zeros stand where the archive ends. A program that appends to it replaces them. */
    async endsArchive(window: Window): Promise<boolean> {
        return isZero(await window.view(this.end, 2 * BLOCK));
    }

    /** Returns the number of the only part that can have this path. */
    partOf(path: Bytes): number {
        const after = search(this.rows, row => order(row.first, path) <= 0);
        return Math.max(after - 1, 0);
    }

    /** Returns where the next entry after an entry that ends at `end` begins: index blocks may stand between. */
    after(end: number): number {
        const block = this.#blocks[search(this.#blocks, ([begin]) => begin < end)];
        return block !== undefined && block[0] === end ? block[1] : end;
    }

    /** Returns where an entry that begins at `begin` can lie: between two series of index blocks. */
    room(begin: number): readonly [begin: number, end: number] {
        const next = search(this.#blocks, block => block[0] < begin);
        return [this.#blocks[next - 1]?.[1] ?? MARKER_LENGTH, this.#blocks[next]?.[0] ?? this.end];
    }
}

/** Returns the length of the zeros between a table that ends at `end` and the trailer. */
export function zerosAfter(end: number): number {
    const length = end + TRAILER;
    return Math.ceil(length / TAR_RECORD) * TAR_RECORD - length;
}

export function damaged(what: string): TamperedError {
    return new TamperedError(`the index of the archive is damaged: ${what}`);
}

/** Returns how many of the first elements have a property, which no element after them has. */
export function search<T>(list: readonly T[], has: (element: T) => boolean): number {
    let [low, high] = [0, list.length];
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (has(list[middle] as T)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

function readRows(bytes: Bytes): Row[] {
    const rows: Row[] = [];
    const fields = new Fields(bytes, () => damaged("its table ends within a row, or has a number that is too large"));
    let before: Bytes | undefined;
    while (fields.left > 0) {
        const [offset, length, count] = [fields.number(8), fields.number(4), fields.number(4)];
        const hash = fields.take(32);
        const first = fields.take(fields.number(2));
        if (length > LONGEST_PART || count === 0 || (length - HEAD) / SHORTEST_RECORD < count) {
            throw damaged("a part has an impossible length");
        }
        const isLater =
            before === undefined ? first.length === 0 : order(before, first) < 0 && pathFault(first, 0) === undefined;
        if (!isLater) {
            throw damaged("the paths in its table are not in order");
        }
        before = first;
        rows.push({ offset, length, count, hash, first });
    }
    if (rows.length === 0) {
        throw damaged("it is empty");
    }
    return rows;
}

/**
 * Finds the index blocks, and the end of the entries. The last parts follow each other after the end of the archive, up
 * to the table at `table`. All others stand in index blocks.
 */
function layout(rows: readonly Row[], table: number): [(readonly [number, number])[], number] {
    const outside = (): TamperedError => damaged("a part has an impossible position");
    let begin = table;
    let inside = rows.length;
    for (let row = rows[inside - 1]; row !== undefined && row.offset + row.length === begin; row = rows[inside - 1]) {
        begin = row.offset;
        inside--;
    }
    const end = begin - 2 * BLOCK;
    if (end % BLOCK !== 0 || end <= MARKER_LENGTH) {
        throw outside();
    }
    const blocks: [number, number][] = [];
    for (const row of rows.slice(0, inside)) {
        const record = recordLength(row.length);
        // A line feed follows the part in the record, and a header comes before the record.
        const content = row.offset + row.length + 1 - record;
        const from = content - BLOCK;
        const to = content + rounded(record);
        const last = blocks[blocks.length - 1];
        if (content % BLOCK !== 0 || from <= MARKER_LENGTH || to > end || (last !== undefined && last[1] > from)) {
            throw outside();
        }
        if (last !== undefined && last[1] === from) {
            last[1] = to;
        } else {
            blocks.push([from, to]);
        }
    }
    return [blocks, end];
}

/** Returns the length of the pax record with a part of `part` bytes. The length counts its own digits. */
function recordLength(part: number): number {
    const rest = " comment=".length + INDEX_BLOCK.length + part + 1;
    let length = rest;
    while (length !== rest + String(length).length) {
        length = rest + String(length).length;
    }
    return length;
}

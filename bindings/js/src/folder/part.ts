/** Decodes a part of an index: its head, and a record for each entry. */

import { equal, type Bytes } from "../bytes.ts";
import { type TamperedError } from "../error.ts";
import { BLOCK, endOf, Item, type Facts } from "./entry.ts";
import type { Blake3 } from "./hash.ts";
import { LONGEST_PATH, order, pathFault, SLASH } from "./path.ts";
import { damaged, HEAD, MARKER_LENGTH, type Row, type Table } from "./table.ts";

/** The kinds of entries, by the number in their records. A file with holes is a file. */
const KINDS = [undefined, "file", "folder", "symlink", "hardlink", "file"] as const;
const SPARSE = 5;

/** The paths of any consecutive entries may have this many bytes more than `RATIO` times the bytes of their records. */
export const MOST_DEBT = 64 << 20;
const RATIO = 16;

/** The entries of a part. */
export interface Part {
    items: Item[];
    /** Where the first entry begins, and where the last one ends. */
    begin: number;
    end: number;
    /** How many bytes the paths so far have beyond what their records allow. */
    debt: number;
}

/** Decodes part `number` of a table, with all checks that need no other part. */
export function readPart(bytes: Bytes, table: Table, number: number, debt: number, { hash }: Blake3): Part {
    const row = table.rows[number];
    if (row === undefined || bytes.length < HEAD || !equal(hash(bytes), row.hash)) {
        throw damaged("a part has the wrong hash");
    }
    const head = new DataView(bytes.buffer, bytes.byteOffset, HEAD);
    const begin = Number(head.getBigUint64(0));
    const [first, last] = table.room(begin);
    const isPlaced = begin % BLOCK === 0 && begin >= first && begin < last && (number > 0 || begin === MARKER_LENGTH);
    if (head.getUint32(8) !== row.count || !isPlaced) {
        throw damaged("the first fields of a part are not valid");
    }
    const reader = new RecordReader(bytes, begin, debt);
    const items: Item[] = [];
    for (let left = row.count; left > 0; left--) {
        const isFirst = items.length === 0;
        const expected = isFirst ? begin : table.after(reader.end);
        const facts = reader.next(isFirst);
        if (isFirst && order(facts.path, row.first) !== 0) {
            throw damaged("the first path of a part differs from its path in the table");
        }
        if (facts.begin !== expected) {
            throw damaged("an entry does not begin where the preceding one ends");
        }
        if (reader.end > table.room(expected)[1]) {
            throw damaged("an entry has an impossible length");
        }
        items.push(new Item(facts, table));
    }
    checkEnd(reader, table, row, table.rows[number + 1]);
    return { items, begin, end: reader.end, debt: reader.debt };
}

function checkEnd(reader: RecordReader, table: Table, row: Row, next: Row | undefined): void {
    if (reader.left > 0) {
        throw damaged("a part has bytes after its last entry");
    }
    if (row.offset < reader.end) {
        throw damaged("a part begins before the end of its entries");
    }
    if (next !== undefined) {
        reader.checkNext(0, next.first);
    } else if (table.after(reader.end) !== table.end) {
        throw damaged("entries are missing");
    }
}

/** Returns the debt after one more record, since later entries do not profit from long records before them. */
export function debtAfter(debt: number, path: number, record: number): number {
    return Math.max(debt + path - RATIO * record, 0);
}

class RecordReader {
    /** Where the entry before ends; at first, where the first entry begins. */
    end: number;
    debt: number;
    readonly #bytes: Bytes;
    #at = HEAD;
    /** The path of the entry before, and whether it is a folder. */
    #path: Bytes = new Uint8Array();
    #isFolder = false;
    #seconds = 0n;

    constructor(bytes: Bytes, begin: number, debt: number) {
        this.#bytes = bytes;
        this.end = begin;
        this.debt = debt;
    }

    get left(): number {
        return this.#bytes.length - this.#at;
    }

    next(isFirst: boolean): Facts {
        const start = this.#at;
        const code = this.#take(1)[0] ?? 0;
        const kind = KINDS[code];
        if (kind === undefined) {
            throw damaged("the kind of an entry is unknown");
        }
        const shared = this.#number();
        if (shared > this.#path.length) {
            throw damaged("a path shares more bytes than the preceding path has");
        }
        const suffix = this.#string("a path is longer than 65 535 bytes");
        const [gap, headers, mode] = [this.#number(), this.#number(), this.#number()];
        const difference = this.#signed();
        const nanoseconds = this.#number();
        const isFile = kind === "file";
        const size = isFile ? this.#number() : 0;
        const stored = code === SPARSE ? this.#number() : size;
        const hash = isFile ? this.#take(32) : undefined;
        const target =
            kind === "symlink" || kind === "hardlink" ? this.#string("a link has no valid target") : undefined;
        this.debt = debtAfter(this.debt, shared + suffix.length, this.#at - start);
        if (this.debt > MOST_DEBT) {
            throw damaged("its paths have more than 64 MiB, and more than 16 times the bytes of their records");
        }
        if (!isFirst) {
            this.checkNext(shared, suffix);
        } else if (suffix.length === 0 && kind !== "folder") {
            throw damaged("the root is not a folder");
        }
        const path = new Uint8Array(shared + suffix.length);
        path.set(this.#path.subarray(0, shared));
        path.set(suffix, shared);
        const fault = isFirst && path.length === 0 ? undefined : pathFault(path, shared);
        if (fault !== undefined) {
            throw damaged(fault);
        }
        const begin = this.end + gap * BLOCK;
        const content = begin + headers * BLOCK;
        if (isFirst && gap !== 0) {
            throw damaged("an entry does not begin where the preceding one ends");
        }
        if (headers === 0) {
            throw damaged("an entry has an impossible length");
        }
        if (mode > 0o7777) {
            throw damaged("a mode has more bits than modes have");
        }
        if (nanoseconds >= 1_000_000_000) {
            throw damaged("a time has a billion nanoseconds or more");
        }
        if (target !== undefined) {
            checkTarget(kind, path, target);
        }
        // The difference of two times can have 65 bits, but its sum has 64 again.
        this.#seconds = BigInt.asIntN(64, this.#seconds + difference);
        this.#path = path;
        this.#isFolder = kind === "folder";
        const [sparse, seconds] = [code === SPARSE, this.#seconds];
        const facts = { path, kind, sparse, mode, seconds, nanoseconds, size, begin, content, stored, target, hash };
        this.end = endOf(facts);
        return facts;
    }

    /** Checks that a path may come next: it is later in the order, and its folder is an earlier entry. */
    checkNext(shared: number, suffix: Bytes): void {
        const before = this.#path;
        if (order(before.subarray(shared), suffix) >= 0) {
            throw damaged("its paths are not in order");
        }
        const slash = suffix.lastIndexOf(SLASH);
        const parent = slash >= 0 ? shared + slash : Math.max(before.subarray(0, shared).lastIndexOf(SLASH), 0);
        // The paths may share more bytes than the record says.
        let isSame = true;
        for (let at = shared; at < parent; at++) {
            isSame &&= before[at] === suffix[at - shared];
        }
        const isFolder =
            before.length === parent
                ? this.#isFolder
                : before.length > parent && (parent === 0 || before[parent] === SLASH);
        if (!isSame || !isFolder) {
            throw damaged("the folder of a path is missing");
        }
    }

    #take(length: number): Bytes {
        if (length > this.left) {
            throw damaged("a part ends within a record");
        }
        this.#at += length;
        return this.#bytes.subarray(this.#at - length, this.#at);
    }

    #string(why: string): Bytes {
        const length = this.#number();
        if (length > LONGEST_PATH) {
            throw damaged(why);
        }
        return this.#take(length);
    }

    /** Reads a number in LEB128. Above 2^53 it may be rounded, and no length or place in a pack is as large. */
    #number(): number {
        let value = 0;
        let scale = 1;
        for (let place = 0; ; place++, scale *= 128) {
            const byte = this.#bytes[this.#at++];
            if (byte === undefined) {
                throw damaged("a part ends within a record");
            }
            // The tenth byte has the last of 64 bits, and a zero byte at the end would be a longer form.
            if ((place === 9 && byte > 1) || (place > 0 && byte === 0)) {
                throw malformed();
            }
            value += (byte & 0x7f) * scale;
            if (byte < 0x80) {
                return value;
            }
        }
    }

    /** Reads a signed number in zigzag form. */
    #signed(): bigint {
        const start = this.#at;
        let value = BigInt(this.#number());
        if (value >= 2n ** 53n) {
            value = 0n;
            for (let at = this.#at - 1; at >= start; at--) {
                value = (value << 7n) | BigInt((this.#bytes[at] ?? 0) & 0x7f);
            }
        }
        return (value >> 1n) ^ -(value & 1n);
    }
}

function checkTarget(kind: Facts["kind"], path: Bytes, target: Bytes): void {
    if (kind === "hardlink") {
        if (pathFault(target, 0) !== undefined || order(target, path) >= 0) {
            throw damaged("the target of a hard link is not an earlier file or link");
        }
    } else if (target.length === 0 || target.includes(0)) {
        throw damaged("a link has no valid target");
    }
}

function malformed(): TamperedError {
    return damaged("a number is not valid LEB128");
}

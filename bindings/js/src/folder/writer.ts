/** Writes the index of a pack. */

import { concat, number, utf8, type Bytes } from "../bytes.ts";
import { LimitError } from "../error.ts";
import { BLOCK, endOf, type Facts } from "./entry.ts";
import type { Blake3 } from "./hash.ts";
import { debtAfter, MOST_DEBT } from "./part.ts";
import { sharedLength } from "./path.ts";
import { HEAD, INDEX_BLOCK, LONGEST_TABLE, SIGNATURE, zerosAfter } from "./table.ts";
import { commentHeader } from "./ustar.ts";

/** A part of this length gets no further records. */
const PART = 128 << 10;
/** When complete parts of this length wait, they go into the archive. */
const WAITING = 4 << 20;
/** The length of a row of the table without its path. */
const ROW = 8 + 4 + 4 + 32 + 2;

interface Part {
    first: Bytes;
    count: number;
    pieces: Bytes[];
    length: number;
}

export class IndexWriter {
    readonly #blake3: Blake3;
    /** The parts that are not written yet. The last one grows. */
    readonly #parts: Part[] = [];
    /** The bytes of the complete parts among them. */
    #waiting = 0;
    readonly #rows: Bytes[] = [];
    #tableLength = 0;
    #entries = 0;
    #path: Bytes = new Uint8Array();
    #seconds = 0n;
    #end = 0;
    #debt = 0;

    constructor(blake3: Blake3) {
        this.#blake3 = blake3;
    }

    /** Adds a file with its hash, or a folder. Its path is without the root. */
    add(facts: Facts): void {
        const last = this.#parts[this.#parts.length - 1];
        const part = last === undefined || last.length >= PART ? this.#begin(facts, last) : last;
        const shared = sharedLength(facts.path, this.#path);
        const suffix = facts.path.subarray(shared);
        const record = concat(
            Uint8Array.of(facts.kind === "folder" ? 2 : 1, ...varint(shared), ...varint(suffix.length)),
            suffix,
            Uint8Array.of(
                ...varint((facts.begin - this.#end) / BLOCK),
                ...varint((facts.content - facts.begin) / BLOCK),
                ...varint(facts.mode),
                ...signed(facts.seconds - this.#seconds),
                ...varint(facts.nanoseconds),
                ...(facts.kind === "folder" ? [] : varint(facts.size)),
            ),
            facts.hash ?? new Uint8Array(),
        );
        part.pieces.push(record);
        part.length += record.length;
        part.count++;
        this.#entries++;
        this.#path = facts.path;
        this.#seconds = facts.seconds;
        this.#end = endOf(facts);
        this.#debt = debtAfter(this.#debt, facts.path.length, record.length);
        if (this.#debt > MOST_DEBT || this.#tableLength > LONGEST_TABLE) {
            throw new LimitError("there are too many files, or their paths are too long");
        }
    }

    /** Returns an index block for `position`, if enough complete parts are waiting. */
    block(position: number): Bytes | undefined {
        if (this.#waiting < WAITING) {
            return undefined;
        }
        const part = this.#take();
        if (part === undefined) {
            return undefined;
        }
        this.#waiting -= part.bytes.length;
        const block = commentHeader(concat(utf8(INDEX_BLOCK), part.bytes));
        // The record of the block ends with the part and a line feed, and then come zeros up to a whole block.
        const record = Number.parseInt(String.fromCharCode(...block.subarray(BLOCK, BLOCK + 8)), 10);
        this.#row(position + BLOCK + record - 1 - part.bytes.length, part);
        return block;
    }

    /** Yields all parts that are not written yet, and then the table, the zeros and the trailer. */
    *rest(position: number): Generator<Bytes> {
        let at = position;
        for (let part = this.#take(); part !== undefined; part = this.#take()) {
            this.#row(at, part);
            at += part.bytes.length;
            yield part.bytes;
        }
        // There may be too many rows for one call of `concat`.
        const table = new Uint8Array(this.#tableLength);
        let length = 0;
        for (const row of this.#rows) {
            table.set(row, length);
            length += row.length;
        }
        yield table;
        yield new Uint8Array(zerosAfter(at + table.length));
        yield concat(
            ...[number(at, 8), number(table.length, 8), number(this.#entries, 8)],
            ...[number(this.#rows.length, 4), new Uint8Array(4)],
            ...[this.#blake3.hash(table).subarray(0, 24), utf8(SIGNATURE)],
        );
    }

    #begin(facts: Facts, last: Part | undefined): Part {
        this.#waiting += last?.length ?? 0;
        this.#tableLength += ROW + facts.path.length;
        const head = concat(number(facts.begin, 8), new Uint8Array(4));
        const part = { first: facts.path, count: 0, pieces: [head], length: HEAD };
        this.#parts.push(part);
        this.#path = new Uint8Array();
        this.#seconds = 0n;
        this.#end = facts.begin;
        return part;
    }

    #take(): { first: Bytes; count: number; bytes: Bytes } | undefined {
        const part = this.#parts.shift();
        if (part === undefined) {
            return undefined;
        }
        const bytes = concat(...part.pieces);
        bytes.set(number(part.count, 4), 8);
        return { first: part.first, count: part.count, bytes };
    }

    #row(position: number, { first, count, bytes }: { first: Bytes; count: number; bytes: Bytes }): void {
        const numbers = concat(number(position, 8), number(bytes.length, 4), number(count, 4));
        this.#rows.push(concat(numbers, this.#blake3.hash(bytes), number(first.length, 2), first));
    }
}

/** Returns a number in LEB128. */
function varint(value: number): number[] {
    const bytes: number[] = [];
    let rest = value;
    while (rest >= 0x80) {
        bytes.push((rest % 0x80) + 0x80);
        rest = Math.floor(rest / 0x80);
    }
    return [...bytes, rest];
}

/** Returns a number with a sign, in zigzag form. */
function signed(value: bigint): number[] {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (rest >= 0x80n) {
        bytes.push(Number(rest & 0x7fn) + 0x80);
        rest >>= 7n;
    }
    return [...bytes, Number(rest)];
}

/** Builds archives and packs byte by byte, also hostile ones, as docs/format-pack.md says. */

import { concat, number, utf8, type Bytes } from "../src/bytes.ts";
import { blake3 } from "../src/folder/hash.ts";

export interface HeaderFields {
    size?: number;
    target?: string;
    mode?: string;
    modified?: number;
    magic?: string;
}

/** The time of all entries that are built here. */
export const MODIFIED = 1_000_000_000;

/** A header with the right checksum. */
export function header(path: string | Bytes, type: string, fields: HeaderFields = {}): Bytes {
    const block = new Uint8Array(512);
    block.set(typeof path === "string" ? utf8(path) : path);
    block.set(utf8(fields.mode ?? (type === "5" ? "0000755\0" : "0000644\0")), 100);
    block.set(utf8(octal(fields.size ?? 0)), 124);
    block.set(utf8(octal(fields.modified ?? MODIFIED)), 136);
    block.set(utf8(type), 156);
    block.set(utf8(fields.target ?? ""), 157);
    block.set(utf8(fields.magic ?? "ustar\x0000"), 257);
    return sum(block);
}

/** Sets the checksum of a header. */
export function sum(block: Bytes): Bytes {
    block.fill(0x20, 148, 156);
    const total = block.reduce((all, byte) => all + byte, 0);
    block.set(utf8(`${total.toString(8).padStart(6, "0")}\0 `), 148);
    return block;
}

function filled(bytes: Bytes): Bytes {
    const whole = new Uint8Array(Math.ceil(bytes.length / 512) * 512);
    whole.set(bytes);
    return whole;
}

export function file(path: string | Bytes, content: string | Bytes = ""): Bytes {
    const bytes = typeof content === "string" ? utf8(content) : content;
    return concat(header(path, "0", { size: bytes.length }), filled(bytes));
}

export function folder(path: string): Bytes {
    return header(path, "5");
}

export function symlink(path: string, target: string): Bytes {
    return header(path, "2", { target });
}

export function hardLink(path: string, target: string): Bytes {
    return header(path, "1", { target });
}

/** A pax header of type `x` or `g`, or a header with a long name of type `L` or `K`. */
export function extended(type: string, bytes: Bytes): Bytes {
    return concat(header("pax", type, { size: bytes.length }), filled(bytes));
}

export function pax(records: Record<string, string | Bytes>, type = "x"): Bytes {
    return extended(type, concat(...Object.entries(records).map(([key, value]) => record(key, value))));
}

function record(key: string, value: string | Bytes): Bytes {
    const bytes = typeof value === "string" ? utf8(value) : value;
    const bare = key.length + bytes.length + 3;
    let length = bare;
    while (length !== bare + String(length).length) {
        length = bare + String(length).length;
    }
    return concat(utf8(`${length} ${key}=`), bytes, utf8("\n"));
}

/** Adds the end of an archive. */
export function ended(...parts: Bytes[]): Bytes {
    return concat(...parts, new Uint8Array(1024));
}

/** An entry of a pack: its blocks in the archive, and what the index says of it. */
export interface Packed {
    blocks: Bytes;
    kind: 1 | 2 | 3 | 4 | 5;
    path: string | Bytes;
    headers: number;
    mode: number;
    seconds: number;
    nanoseconds: number;
    /** The content, as it is stored, or the target of a link. */
    content: Bytes;
    size?: number;
    hash?: Bytes;
    gap?: number;
}

function entry(kind: Packed["kind"], path: string, blocks: Bytes, content: string | Bytes = ""): Packed {
    const bytes = typeof content === "string" ? utf8(content) : content;
    const mode = kind === 2 ? 0o755 : 0o644;
    return { blocks, kind, path, headers: 1, mode, seconds: MODIFIED, nanoseconds: 0, content: bytes };
}

export const root = (): Packed => entry(2, "", folder("root/"));
export const aFolder = (path: string): Packed => entry(2, path, folder(`root/${path}/`));
export const aLink = (path: string, target: string): Packed => entry(3, path, symlink(`root/${path}`, target), target);
export const aHardLink = (path: string, target: string): Packed =>
    entry(4, path, hardLink(`root/${path}`, `root/${target}`), target);

export function aFile(path: string, content: string | Bytes = ""): Packed {
    return entry(1, path, file(`root/${path}`, content), content);
}

/** A file with one piece of data at its end. */
export function aFileWithHoles(path: string, size: number, piece: string): Packed {
    const map = filled(utf8(piece === "" ? "0\n" : `1\n${size - piece.length}\n${piece.length}\n`));
    const content = concat(map, utf8(piece));
    const records = pax({
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": `root/${path}`,
        "GNU.sparse.realsize": String(size),
    });
    return { ...entry(5, path, concat(records, file("root/GNUSparseFile.0/x", content)), content), headers: 3, size };
}

/** What to spoil in a pack, each time before the hashes over it are made. */
export interface Spoiling {
    /** Which entries go into which part of the index, by their numbers; all go into one by default. */
    parts?: Packed[][];
    part?: (bytes: Bytes, number: number) => Bytes;
    table?: (bytes: Bytes) => Bytes;
    trailer?: (bytes: Bytes) => Bytes;
    /** The first version had no zeros before the trailer. */
    withoutZeros?: boolean;
    /** The parts that go into the archive behind their entries. */
    blocks?: number;
}

/** Writes a pack. */
export async function packOf(entries: Packed[], spoiling: Spoiling = {}): Promise<Bytes> {
    const { hash } = await blake3();
    const pieces = [pax({ comment: "deadpan pack 1" }, "g")];
    let position = 1024;
    const add = (bytes: Bytes): void => {
        pieces.push(bytes);
        position += bytes.length;
    };
    const rows: Bytes[] = [];
    const addRow = (offset: number, part: Bytes, list: Packed[]): void => {
        const first = rawPath(list[0]?.path ?? "");
        const numbers = concat(number(offset, 8), number(part.length, 4), number(list.length, 4));
        rows.push(concat(numbers, hash(part), number(first.length, 2), first));
    };
    const waiting: { part: Bytes; list: Packed[] }[] = [];
    for (const [place, list] of (spoiling.parts ?? [entries]).entries()) {
        const plain = await partOf(list, position);
        const part = spoiling.part?.(plain, place) ?? plain;
        list.forEach(({ blocks }) => add(blocks));
        if (place >= (spoiling.blocks ?? 0)) {
            waiting.push({ part, list });
            continue;
        }
        const block = pax({ comment: concat(utf8("deadpan index "), part) }, "g");
        const length = String.fromCharCode(...block.subarray(512, 520)).split(" ")[0];
        addRow(position + 512 + Number(length) - 1 - part.length, part, list);
        add(block);
    }
    add(new Uint8Array(1024));
    for (const { part, list } of waiting) {
        addRow(position, part, list);
        add(part);
    }
    const table = spoiling.table?.(concat(...rows)) ?? concat(...rows);
    const begin = position;
    add(table);
    const zeros = spoiling.withoutZeros ? 0 : Math.ceil((position + 64) / 10_240) * 10_240 - position - 64;
    add(new Uint8Array(zeros));
    const numbers = concat(number(begin, 8), number(table.length, 8), number(entries.length, 8));
    const trailer = concat(
        numbers,
        number(rows.length, 4),
        new Uint8Array(4),
        hash(table).slice(0, 24),
        utf8("DPNPACK\x01"),
    );
    add(spoiling.trailer?.(trailer) ?? trailer);
    return concat(...pieces);
}

/** A part of the index, for entries that begin at `begin`. */
async function partOf(entries: Packed[], begin: number): Promise<Bytes> {
    const { hash } = await blake3();
    const pieces = [concat(number(begin, 8), number(entries.length, 4))];
    let [before, seconds]: [Bytes, number] = [new Uint8Array(), 0];
    for (const one of entries) {
        const path = rawPath(one.path);
        let shared = 0;
        while (shared < Math.min(path.length, before.length) && path[shared] === before[shared]) {
            shared++;
        }
        const difference = one.seconds - seconds;
        const numbers = [one.gap ?? 0, one.headers, one.mode, difference < 0 ? -2 * difference - 1 : 2 * difference];
        pieces.push(
            concat(Uint8Array.of(one.kind), varint(shared), varint(path.length - shared), path.subarray(shared)),
            concat(...[...numbers, one.nanoseconds].map(varint)),
        );
        if (one.kind === 1 || one.kind === 5) {
            pieces.push(varint(one.size ?? one.content.length));
            pieces.push(one.kind === 5 ? varint(one.content.length) : new Uint8Array());
            pieces.push(one.hash ?? new Uint8Array(hash(one.content)));
        } else if (one.kind !== 2) {
            pieces.push(concat(varint(one.content.length), one.content));
        }
        [before, seconds] = [path, one.seconds];
    }
    return concat(...pieces);
}

export function varint(value: number): Bytes {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) {
        bytes.push((rest % 0x80) + 0x80);
    }
    return Uint8Array.of(...bytes, rest);
}

/** Decodes an archive from a text in which a number between tildes stands for as many zero bytes. */
export function unfolded(text: string): Bytes {
    return utf8(text.replace(/~(\d+)~/g, (_, zeros: string) => "\0".repeat(Number(zeros))));
}

function octal(value: number): string {
    return `${value.toString(8).padStart(11, "0")}\0`;
}

function rawPath(path: string | Bytes): Bytes {
    return typeof path === "string" ? utf8(path) : path;
}

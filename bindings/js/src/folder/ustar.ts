/** Writes the headers of an entry. */

import { concat, utf8, type Bytes } from "../bytes.ts";
import { BLOCK, rounded, type Facts } from "./entry.ts";
import { components, SLASH } from "./path.ts";

/** A pax header has the beginning of the name of its entry: at most this many bytes. */
const LONGEST_HINT = 80;

/** Returns the headers of a file or a folder, which has no target and no holes. Its path begins with the root. */
export function headersOf(facts: Facts): Bytes {
    const { path, seconds, nanoseconds, stored } = facts;
    const [prefix, name] = split(path) ?? [new Uint8Array(), path.subarray(0, 100)];
    const records: Bytes[] = [];
    if (split(path) === undefined) {
        records.push(record("path", path));
    }
    const size = octal(stored, 12);
    if (size === undefined) {
        records.push(record("size", utf8(String(stored))));
    }
    const modified = seconds < 0n ? undefined : octal(Number(seconds), 12);
    if (modified === undefined || nanoseconds > 0) {
        records.push(record("mtime", utf8(decimal(seconds, nanoseconds))));
    }
    const header = new Uint8Array(BLOCK);
    header.set(name);
    header.set(prefix, 345);
    header.set(octal(facts.mode, 8) ?? zeros(8), 100);
    header.set(zeros(8), 108);
    header.set(zeros(8), 116);
    header.set(size ?? zeros(12), 124);
    header.set(modified ?? zeros(12), 136);
    header.set(utf8(facts.kind === "folder" ? "5" : "0"), 156);
    finish(header);
    if (records.length === 0) {
        return header;
    }
    const names = components(path[path.length - 1] === SLASH ? path.subarray(0, -1) : path);
    const last = names[names.length - 1] ?? path;
    const hint = concat(utf8("PaxHeaders/"), last.subarray(0, LONGEST_HINT));
    return concat(extension("x", hint, concat(...records)), header);
}

/** Returns a global header with a comment. Other readers of archives ignore it. */
export function commentHeader(comment: Bytes): Bytes {
    return extension("g", utf8("pax_global_header"), record("comment", comment));
}

/** Returns a pax header for the next entry, of type `x`, or for all, of type `g`. */
function extension(type: "x" | "g", name: Bytes, records: Bytes): Bytes {
    const whole = new Uint8Array(BLOCK + rounded(records.length));
    const header = whole.subarray(0, BLOCK);
    header.set(name);
    header.set(utf8("0000644\0"), 100);
    header.set(zeros(8), 108);
    header.set(zeros(8), 116);
    header.set(octal(records.length, 12) ?? zeros(12), 124);
    header.set(zeros(12), 136);
    header.set(utf8(type), 156);
    finish(header);
    whole.set(records, BLOCK);
    return whole;
}

function finish(header: Bytes): void {
    header.set(utf8("ustar\x0000"), 257);
    header.fill(0x20, 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.set(utf8(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
}

/** Returns a number in octal digits with a zero byte at the end, or undefined if the field is too short for it. */
function octal(value: number, length: number): Bytes | undefined {
    const digits = value.toString(8);
    return digits.length < length ? utf8(`${digits.padStart(length - 1, "0")}\0`) : undefined;
}

function zeros(length: number): Bytes {
    return utf8(`${"0".repeat(length - 1)}\0`);
}

/** Returns `LENGTH KEY=VALUE` and a line feed. The length counts its own digits. */
function record(key: string, value: Bytes): Bytes {
    const rest = key.length + value.length + 3;
    let length = rest;
    while (length !== rest + String(length).length) {
        length = rest + String(length).length;
    }
    return concat(utf8(`${length} ${key}=`), value, utf8("\n"));
}

/** Splits a path into a prefix and a name that fit their fields, with the shortest prefix. */
function split(path: Bytes): [prefix: Bytes, name: Bytes] | undefined {
    if (path.length <= 100) {
        return [new Uint8Array(), path];
    }
    // The slash at the end of a folder belongs to the name.
    const slash = path.indexOf(SLASH, Math.max(path.length - 101, 1));
    const fits = slash > 0 && slash <= 155 && slash + 1 < path.length;
    return fits ? [path.subarray(0, slash), path.subarray(slash + 1)] : undefined;
}

/** Returns a time as seconds with as many decimals as it needs. */
function decimal(seconds: bigint, nanoseconds: number): string {
    if (nanoseconds === 0) {
        return String(seconds);
    }
    // Half a second before 1970 is second −1 and 500 000 000 nanoseconds.
    const isNegative = seconds < 0n;
    const whole = isNegative ? -(seconds + 1n) : seconds;
    const part = isNegative ? 1_000_000_000 - nanoseconds : nanoseconds;
    return `${isNegative ? "-" : ""}${whole}.${String(part).padStart(9, "0")}`.replace(/0+$/, "");
}

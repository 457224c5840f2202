/** The records of a pax header. */

import { text, type Bytes } from "../bytes.ts";
import { TamperedError } from "../error.ts";
import { decimal, isDigit } from "./number.ts";
import { Pieces } from "./sparse.ts";

/** A time to the nanosecond: seconds rounded down, and nanoseconds below 10^9. */
export interface Time {
    seconds: bigint;
    nanoseconds: number;
}

/** The values that records set. */
export interface Records {
    path?: Bytes | undefined;
    target?: Bytes | undefined;
    size?: number | undefined;
    modified?: Time | undefined;
    /** The records about holes, in GNU's three versions. */
    major?: number | undefined;
    minor?: number | undefined;
    sparseName?: Bytes | undefined;
    realSize?: number | undefined;
    /** The map of the versions 0.0 and 0.1. */
    pieces?: Pieces | undefined;
    /** In version 0.0, the offset of a piece whose length was not read yet. */
    offset?: number | undefined;
}

const SPACE = 0x20;
const EQUALS = 0x3d;
const LINE = 0x0a;
const MINUS = 0x2d;
const POINT = 0x2e;
const COMMA = 0x2c;

/** Reads the records of a header for one entry, over the values of the global headers. */
export function entryRecords(bytes: Bytes, global: Records): Records {
    const found = { ...global };
    for (const { key, value } of recordsOf(bytes)) {
        takeRecord(found, key, value);
    }
    if (found.offset !== undefined) {
        throw malformed();
    }
    return found;
}

/** Reads the records of a global header into `global`, and returns its comment. */
export function globalRecords(bytes: Bytes, global: Records): Bytes | undefined {
    let comment: Bytes | undefined;
    for (const { key, value } of recordsOf(bytes)) {
        if (key === "comment") {
            comment = value;
        } else if (key === "mtime" || key === "uid" || key === "gid") {
            takeRecord(global, key, value);
        } else if (key === "path" || key === "linkpath" || key === "size") {
            throw new TamperedError("a global header names a path or a size, which cannot be meant for all entries");
        } else if (key.startsWith("GNU.sparse.")) {
            throw malformed();
        }
    }
    return comment;
}

/** Returns the records one by one. A record is `LENGTH KEY=VALUE` and a line feed; the length counts itself. */
function* recordsOf(bytes: Bytes): Generator<{ key: string; value: Bytes }> {
    for (let at = 0; at < bytes.length;) {
        const space = bytes.subarray(at, at + 8).indexOf(SPACE);
        const length = space < 0 ? undefined : decimal(bytes.subarray(at, at + space));
        if (length === undefined || length > BigInt(bytes.length - at)) {
            throw malformed();
        }
        const end = at + Number(length);
        const key = at + space + 1;
        const equals = bytes.indexOf(EQUALS, key);
        if (bytes[end - 1] !== LINE || equals <= key || equals >= end - 1) {
            throw malformed();
        }
        // A key that is not UTF-8 is none of the known ones.
        yield { key: text(bytes.subarray(key, equals)) ?? "", value: bytes.subarray(equals + 1, end - 1) };
        at = end;
    }
}

function takeRecord(records: Records, key: string, value: Bytes): void {
    // An empty value cancels an earlier record.
    const given = value.length === 0 ? undefined : value;
    switch (key) {
        case "path":
            records.path = given;
            break;
        case "linkpath":
            records.target = given;
            break;
        case "size":
            records.size = given && number(given);
            break;
        case "uid":
        case "gid":
            // Owners are not restored, but an invalid number is an error nevertheless.
            void (given && number(given));
            break;
        case "mtime":
            records.modified = given && time(given);
            break;
        case "GNU.sparse.major":
            records.major = number(value);
            break;
        case "GNU.sparse.minor":
            records.minor = number(value);
            break;
        case "GNU.sparse.name":
            records.sparseName = given;
            break;
        case "GNU.sparse.realsize":
        case "GNU.sparse.size":
            records.realSize = number(value);
            break;
        case "GNU.sparse.map":
            records.pieces = line(value);
            break;
        case "GNU.sparse.numblocks":
            records.pieces ??= new Pieces();
            break;
        case "GNU.sparse.offset":
            if (records.offset !== undefined) {
                throw malformed();
            }
            records.offset = number(value);
            break;
        case "GNU.sparse.numbytes":
            if (records.offset === undefined) {
                throw malformed();
            }
            records.pieces ??= new Pieces();
            records.pieces.add(records.offset, number(value));
            records.offset = undefined;
    }
}

/** Reads a map of version 0.1: offsets and lengths between commas. */
function line(value: Bytes): Pieces {
    const pieces = new Pieces();
    let offset: number | undefined;
    for (let begin = 0; begin < value.length;) {
        const comma = value.indexOf(COMMA, begin);
        const end = comma < 0 ? value.length : comma;
        if (end > begin) {
            const found = number(value.subarray(begin, end));
            if (offset === undefined) {
                offset = found;
            } else {
                pieces.add(offset, found);
                offset = undefined;
            }
        }
        begin = end + 1;
    }
    if (offset !== undefined) {
        throw malformed();
    }
    return pieces;
}

/** Reads a number. Numbers above 2^53 may be rounded, and no archive is as long. */
function number(value: Uint8Array): number {
    const found = decimal(value);
    if (found === undefined) {
        throw malformed();
    }
    return Number(found);
}

/** Reads seconds with a fraction of any length, of which nine digits count. */
function time(value: Uint8Array): Time {
    const negative = value[0] === MINUS;
    const digits = negative ? value.subarray(1) : value;
    const point = digits.indexOf(POINT);
    const whole = decimal(point < 0 ? digits : digits.subarray(0, point));
    const fraction = point < 0 ? new Uint8Array() : digits.subarray(point + 1);
    if (whole === undefined || !fraction.every(isDigit)) {
        throw malformed();
    }
    const nine = String.fromCharCode(...fraction.subarray(0, 9)).padEnd(9, "0");
    let nanoseconds = Number(nine);
    let seconds = negative ? -whole : whole;
    if (negative && nanoseconds > 0) {
        seconds -= 1n;
        nanoseconds = 1_000_000_000 - nanoseconds;
    }
    if (BigInt.asIntN(64, seconds) !== seconds) {
        throw malformed();
    }
    return { seconds, nanoseconds };
}

function malformed(): TamperedError {
    return new TamperedError("a pax header is not well-formed");
}

/** The metadata box: what was sealed. docs/format-seal.md, "Metadata box". */

import { concat, Fields, isZero, number, text, utf8, type Bytes } from "../bytes.ts";
import { Gcm, random } from "../crypto/symmetric.ts";
import { NewerError, TamperedError } from "../error.ts";
import { derive, PREAMBLE } from "./header.ts";

const KINDS = ["bytes", "file", "folder"] as const;
export type Kind = (typeof KINDS)[number];

/** A time: seconds since 1970, which a `Date` or a number cannot always hold, and nanoseconds. */
export interface Time {
    readonly seconds: bigint;
    readonly nanoseconds: number;
}

export interface Metadata {
    readonly kind: Kind;
    readonly hiddenLength: boolean;
    readonly compressed: boolean;
    readonly modified?: Time;
    readonly mode?: number;
    /** The name's bytes, which may be no UTF-8. */
    readonly name?: Bytes;
}

/** Metadata, with the bytes of their fields, which a signature covers. */
export interface ReadMetadata extends Metadata {
    readonly fields: Bytes;
}

/** Opens the box in a header whose MAC is right. */
export async function openBox(box: Bytes, fileKey: Bytes, preamble: Bytes): Promise<ReadMetadata> {
    const key = await Gcm.with(await derive(fileKey, "deadpan v1 metadata", preamble));
    const opened = await key.open(box.slice(0, 12), box.slice(12), preamble);
    if (opened === undefined) {
        throw new TamperedError("the header was changed after sealing");
    }
    return readMetadata(opened);
}

export async function sealBox(metadata: Metadata, fileKey: Bytes): Promise<Bytes> {
    const key = await Gcm.with(await derive(fileKey, "deadpan v1 metadata", PREAMBLE));
    const iv = random(12);
    return concat(iv, await key.seal(iv, writeMetadata(metadata), PREAMBLE));
}

function readMetadata(box: Bytes): ReadMetadata {
    const fields = new Fields(box, damaged);
    const kind = KINDS[fields.number(1)];
    const padding = fields.number(1);
    const follows = fields.number(1);
    if (kind === undefined || padding > 1 || follows > 15) {
        throw new NewerError("sealed with metadata that this version does not know");
    }
    const found: { -readonly [Key in keyof Metadata]: Metadata[Key] } = {
        kind,
        hiddenLength: padding === 1,
        compressed: false,
    };
    if (follows & 1) {
        const seconds = new DataView(fields.take(8).slice().buffer).getBigInt64(0);
        const nanoseconds = fields.number(4);
        if (nanoseconds >= 1e9) {
            throw damaged("a time is out of bounds");
        }
        found.modified = { seconds, nanoseconds };
    }
    if (follows & 2) {
        found.mode = fields.number(2);
        if (found.mode > 0o7777) {
            throw damaged("permission bits are out of bounds");
        }
    }
    if (follows & 4) {
        found.name = fields.take(fields.number(2)).slice();
        if (!isName(found.name)) {
            throw damaged("a name is not allowed");
        }
    }
    if (follows & 8) {
        if (fields.number(1) !== 1) {
            throw new NewerError("sealed with a compression that this version does not know");
        }
        found.compressed = true;
    }
    const raw = box.slice(0, fields.at);
    const padded = fields.rest();
    // The box is the smallest one that holds the fields, so equal fields have equal boxes.
    if (padded.length >= 256 || !isZero(padded)) {
        throw damaged("the metadata go on after their end");
    }
    return { ...found, fields: raw };
}

function damaged(why: string): TamperedError {
    return new TamperedError(`the header is damaged: ${why}`);
}

/** Returns whether bytes are the last component of a path. */
export function isName(name: Bytes): boolean {
    const plain = text(name);
    const leadsElsewhere = name.some(byte => byte === 0x2f || byte === 0x5c || byte === 0);
    return name.length >= 1 && name.length <= 4096 && !leadsElsewhere && plain !== "." && plain !== "..";
}

function writeMetadata(metadata: Metadata): Bytes {
    const { modified, mode, name, compressed } = metadata;
    const follows =
        (modified ? 1 : 0) | (mode === undefined ? 0 : 2) | (name === undefined ? 0 : 4) | (compressed ? 8 : 0);
    const parts = [Uint8Array.of(KINDS.indexOf(metadata.kind), metadata.hiddenLength ? 1 : 0, follows)];
    if (modified !== undefined) {
        const time = new DataView(new ArrayBuffer(12));
        time.setBigInt64(0, modified.seconds);
        time.setUint32(8, modified.nanoseconds);
        parts.push(new Uint8Array(time.buffer));
    }
    if (mode !== undefined) {
        parts.push(number(mode, 2));
    }
    if (name !== undefined) {
        parts.push(number(name.length, 2), name);
    }
    if (compressed) {
        parts.push(Uint8Array.of(1));
    }
    const fields = concat(...parts);
    return concat(fields, new Uint8Array(Math.ceil(fields.length / 256) * 256 - fields.length));
}

/** Returns the time of a `Date` or of milliseconds since 1970. */
export function timeOf(milliseconds: number): Time {
    const seconds = Math.floor(milliseconds / 1000);
    return { seconds: BigInt(seconds), nanoseconds: Math.floor((milliseconds - seconds * 1000) * 1e6) };
}

/** Returns a name as it is sealed, or undefined if it is not allowed as a name. */
export function nameOf(name: string): Bytes | undefined {
    const bytes = utf8(name);
    return isName(bytes) ? bytes : undefined;
}

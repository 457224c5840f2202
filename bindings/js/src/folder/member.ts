/** Combines all headers of an entry. */

import type { Bytes } from "../bytes.ts";
import { TamperedError } from "../error.ts";
import { BLOCK, type Facts, type Refused } from "./entry.ts";
import type { Header } from "./header.ts";
import { pathRefusal, plainPath, shown, SLASH } from "./path.ts";
import type { Records } from "./pax.ts";
import { ODDITIES, type Member, type Scan } from "./scan.ts";
import { Pieces, type HoleMap } from "./sparse.ts";

/** What the headers before an entry's own header say. */
export interface Before {
    /** Where the first of them begins. */
    begin: number | undefined;
    records: Records | undefined;
    path: Bytes | undefined;
    target: Bytes | undefined;
}

/** Where the header stands, and how to read on. */
export interface Around {
    begin: number;
    global: Records;
    nextBlock(): Promise<Bytes>;
    position(): number;
}

/** An entry, unless the header describes none, and the length of the content that follows. */
export interface Found {
    member?: Member | Refused;
    length: number;
}

/** The longest content, and the longest file with holes. */
const LARGEST = 2 ** 60;

/** Reads the own header of an entry. */
export async function readMember(scan: Scan, header: Header, before: Before, around: Around): Promise<Found> {
    const records = before.records ?? around.global;
    const path = records.sparseName ?? records.path ?? before.path ?? header.path;
    const target = records.target ?? before.target ?? header.target;
    const natural = (number: bigint | undefined): number => {
        if (number === undefined || number < 0n) {
            throw new TamperedError(`the header of ${shown(path)} has a field that is not a number`);
        }
        return Number(number);
    };
    const size = records.size ?? natural(header.size);
    checkSize(size, path);
    const type = typeOf(header, path, scan.isPack);
    if (type === "nothing") {
        return { length: size };
    }
    if (type === "acl") {
        scan.oddities.add(ODDITIES.solarisAcl);
        return { length: size };
    }
    if (typeof type !== "string") {
        return { member: { path, why: `it is ${type.what}` }, length: type.hasContent ? size : 0 };
    }
    const hasHoles = type === "file" && (records.major !== undefined || records.pieces !== undefined);
    const isOldMap = type === "old holes";
    const kind = isOldMap ? "file" : type;
    const stored = kind === "file" ? size : 0;
    const seconds = records.modified?.seconds ?? header.modified;
    if (seconds === undefined) {
        throw new TamperedError(`the header of ${shown(path)} has a field that is not a number`);
    }
    const facts: Facts = {
        path,
        kind,
        sparse: hasHoles || isOldMap,
        mode: natural(header.mode === undefined || header.mode < 0n ? undefined : header.mode & 0o7777n),
        seconds,
        nanoseconds: records.modified?.nanoseconds ?? 0,
        size: stored,
        begin: before.begin ?? around.begin,
        content: around.begin + BLOCK,
        stored,
        target: undefined,
        hash: undefined,
    };
    if (header.overflows) {
        scan.oddities.add(ODDITIES.overflow);
    }
    const length = header.type === "D" ? size : stored;
    const why = place(scan, facts, target);
    if (why !== undefined) {
        // If blocks of the map follow, nobody knows where the content begins, so the whole archive is refused.
        if (isOldMap && header.mapGoesOn) {
            throw new TamperedError(`${shown(path)}: ${why}`);
        }
        return { member: { path: facts.path, why }, length };
    }
    let map: HoleMap | undefined;
    if (isOldMap) {
        const pieces = await oldPieces(header, around);
        facts.content = around.position();
        facts.size = Number(header.realSize ?? -1n);
        map = pieces.map(0, stored, facts.size < 0 ? Infinity : facts.size);
        checkSize(facts.size < 0 ? Infinity : facts.size, path);
    } else if (hasHoles) {
        map = holes(facts, records);
    }
    return { member: { facts, map }, length };
}

type Type = Facts["kind"] | "old holes" | "acl" | "nothing" | { what: string; hasContent: boolean };

function typeOf(header: Header, path: Bytes, isPack: boolean): Type {
    switch (header.type) {
        case "0":
        case "7":
        case "\0":
            // Old archives have folders as files whose names end with a slash.
            return !isPack && path[path.length - 1] === SLASH ? "folder" : "file";
        case "1":
            return "hardlink";
        case "2":
            return "symlink";
        case "3":
        case "4":
            return { what: "a device", hasContent: false };
        case "5":
            return "folder";
        case "6":
            return { what: "a FIFO", hasContent: false };
        case "M":
            return { what: "the rest of a file from another volume", hasContent: true };
        case "V":
            return "nothing";
        case "D":
        case "A":
            if (!isPack) {
                return header.type === "D" ? "folder" : "acl";
            }
            break;
        case "S":
            if (header.isGnu) {
                return "old holes";
            }
    }
    // POSIX takes an unknown type as a file, but its content could be anything.
    return { what: "of a type that is not known", hasContent: true };
}

/** Checks the path and the target of an entry, removes the root from them, and returns why the entry is refused. */
function place(scan: Scan, facts: Facts, target: Bytes): string | undefined {
    if (scan.isPack && facts.kind === "folder" && facts.path[facts.path.length - 1] === SLASH) {
        facts.path = facts.path.subarray(0, -1);
    }
    if (scan.isPack && scan.root === undefined) {
        const isName = facts.path.length > 0 && !facts.path.includes(SLASH) && pathRefusal(facts.path) === undefined;
        if (!isName || facts.kind !== "folder") {
            throw new TamperedError("a pack begins with its root, a folder with a plain name");
        }
        scan.root = facts.path;
        facts.path = new Uint8Array();
        return undefined;
    }
    const root = scan.isPack ? scan.root : undefined;
    const rest = (path: Bytes): Bytes | undefined => (root === undefined ? plainPath(path) : below(path, root));
    const refusal = (path: Bytes): string | undefined => pathRefusal(rest(path) ?? path);
    const inner = (path: Bytes): Bytes => {
        const found = rest(path);
        if (found === undefined || (root !== undefined && found.length === 0)) {
            throw new TamperedError(`${shown(path)} is not in the root folder of the pack`);
        }
        return found;
    };
    const why = refusal(facts.path);
    if (why !== undefined) {
        return why;
    }
    facts.path = inner(facts.path);
    if (facts.kind === "hardlink") {
        const wrong = refusal(target);
        if (wrong !== undefined) {
            return `it is a hard link, and of its target ${wrong}`;
        }
        facts.target = inner(target);
    } else if (facts.kind === "symlink") {
        if (target.length === 0 || target.includes(0)) {
            return "the link has no valid target";
        }
        facts.target = target;
    }
    return facts.path.length === 0 && facts.kind !== "folder" ? "the entry has no name" : undefined;
}

/** Returns the rest of a path after the root and its slash, or undefined for a path elsewhere. */
function below(path: Bytes, root: Bytes): Bytes | undefined {
    const isBelow = path[root.length] === SLASH && root.every((byte, at) => byte === path[at]);
    return isBelow ? path.subarray(root.length + 1) : undefined;
}

/** Reads the map of GNU's old format, which begins in the header. */
async function oldPieces(header: Header, around: Around): Promise<Pieces> {
    const pieces = new Pieces();
    pieces.addOld(header.map);
    for (let goesOn = header.mapGoesOn; goesOn;) {
        const block = await around.nextBlock();
        pieces.addOld(block.subarray(0, 504));
        goesOn = block[504] !== 0;
    }
    return pieces;
}

/** Returns the map in the records, or undefined if it stands in the content. */
function holes(facts: Facts, records: Records): HoleMap | undefined {
    const { major, minor, pieces, realSize } = records;
    if (realSize !== undefined && realSize <= LARGEST) {
        facts.size = realSize;
        if (major === 1 && minor === 0 && pieces === undefined && facts.stored > 0) {
            return undefined;
        }
        if ((major === undefined || major === 0) && pieces !== undefined) {
            return pieces.map(0, facts.stored, realSize);
        }
    }
    throw new TamperedError(`${shown(facts.path)} has holes in an unknown format`);
}

function checkSize(size: number, path: Bytes): void {
    if (size > LARGEST) {
        throw new TamperedError(`the header of ${shown(path)} gives an impossible size: ${size} bytes`);
    }
}

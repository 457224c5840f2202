/** The entries of a packed folder. */

import type { Bytes } from "../bytes.ts";
import { pathText } from "./path.ts";

/** A block of an archive: a header takes one, and contents are padded to whole blocks. */
export const BLOCK = 512;

/** An entry of a folder. */
export interface FolderEntry {
    /**
     * The path without the name of the packed folder, with `/` between the components; empty for the folder itself.
     * Bytes that are not UTF-8 are U+FFFD.
     */
    readonly path: string;
    /** The path as bytes. */
    readonly rawPath: Bytes;
    readonly kind: "file" | "folder" | "symlink" | "hardlink";
    /** The length of a file in bytes, holes included; 0 for folders and links. */
    readonly size: number;
    /** Permission bits, at most 0o7777. */
    readonly mode: number;
    /** The time of the last change, in seconds since 1970, with a fraction. */
    readonly modified: number;
    /** The target of a link: of a hard link, the path of an earlier entry. */
    readonly target?: string;
}

/** What is known of an entry: the fields of its record in the index, or of its headers. */
export interface Facts {
    path: Bytes;
    kind: FolderEntry["kind"];
    /** Whether the file has holes. */
    sparse: boolean;
    mode: number;
    seconds: bigint;
    nanoseconds: number;
    size: number;
    /** Where the first header of the entry begins. */
    begin: number;
    /** Where the content begins. */
    content: number;
    /** The length of the content in the archive. */
    stored: number;
    target: Bytes | undefined;
    /** BLAKE3 of the content in the archive, if an index gives it. */
    hash: Bytes | undefined;
}

/** An entry with its place in the archive. */
export class Item implements FolderEntry {
    readonly path: string;
    readonly kind: FolderEntry["kind"];
    readonly size: number;
    readonly mode: number;
    readonly modified: number;
    readonly target?: string;
    /** The archive of the entry, since an entry means nothing in another archive. */
    readonly #owner: object;
    readonly #facts: Facts;
    /** The file behind a hard link, where it is known from the beginning. */
    #file: Item | undefined;

    constructor(facts: Facts, owner: object) {
        this.path = pathText(facts.path);
        this.kind = facts.kind;
        this.size = facts.size;
        this.mode = facts.mode;
        this.modified = Number(facts.seconds) + facts.nanoseconds / 1e9;
        if (facts.target !== undefined) {
            this.target = pathText(facts.target);
        }
        this.#owner = owner;
        this.#facts = facts;
    }

    get rawPath(): Bytes {
        return this.#facts.path.slice();
    }

    get facts(): Facts {
        return this.#facts;
    }

    get file(): Item | undefined {
        return this.#file;
    }

    set file(file: Item | undefined) {
        this.#file = file;
    }

    isOf(owner: object): boolean {
        return this.#owner === owner;
    }
}

/** An entry that is never unpacked. */
export interface Refused {
    path: Bytes;
    why: string;
}

/** Returns where the content of an entry ends, rounded up to whole blocks. */
export function endOf(entry: Facts): number {
    return entry.content + rounded(entry.stored);
}

/** Rounds a length up to whole blocks. */
export function rounded(length: number): number {
    return Math.ceil(length / BLOCK) * BLOCK;
}

/** Whether all fields of two descriptions of an entry agree, except for the hash. */
export function agree(one: Facts, other: Facts): boolean {
    return (
        one.kind === other.kind &&
        one.sparse === other.sparse &&
        one.mode === other.mode &&
        one.seconds === other.seconds &&
        one.nanoseconds === other.nanoseconds &&
        one.size === other.size &&
        one.begin === other.begin &&
        one.content === other.content &&
        one.stored === other.stored &&
        same(one.path, other.path) &&
        (one.target === undefined ? other.target === undefined : same(one.target, other.target))
    );
}

function same(one: Bytes, other: Bytes | undefined): boolean {
    return other !== undefined && one.length === other.length && one.every((byte, at) => byte === other[at]);
}

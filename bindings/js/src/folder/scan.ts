/** Reads the headers of an archive one entry after the other, and skips the contents. */

import { equal, isZero, utf8, type Bytes } from "../bytes.ts";
import { NewerError, TamperedError, TruncatedError } from "../error.ts";
import { BLOCK, rounded, type Facts, type Refused } from "./entry.ts";
import { Header } from "./header.ts";
import { readMember, type Before } from "./member.ts";
import { entryRecords, globalRecords, type Records } from "./pax.ts";
import type { HoleMap } from "./sparse.ts";
import type { Window } from "./window.ts";

/** The comment at the beginning of each pack. */
export const MARKER = "deadpan pack 1";

/** The longest pax header, and the longest name in a header for long names. */
const LONGEST_PAX = 1 << 20;
const LONGEST_NAME = 1 << 16;

/** An entry, with the map of a file with holes unless the map stands in the content. */
export interface Member {
    facts: Facts;
    map: HoleMap | undefined;
}

/** How to read an archive. */
export interface ScanOptions {
    /** Where the first header begins. */
    at?: number;
    /** Whether `at` is an entry of a pack. */
    isPack?: boolean;
    /** The name of the root of the pack; none if `at` is the entry of the root. */
    root?: Bytes;
    /** Whether to ignore the marker of a pack. */
    isForeign?: boolean;
}

/** Notes on archives that other tar readers accept, too. */
export const ODDITIES = {
    empty: "the archive is empty",
    noEnd: "the archive has no end: it may have been cut short between two entries",
    loneZeroBlock: "the archive ends with one block of zeros instead of two; what follows it is ignored",
    repeated: "an entry of the archive has the same extended header twice; the last one counts",
    overflow: "a number in the archive is too long for its field, and runs into the next one",
    stale:
        "another program has changed this archive since it was packed: its index is not used, and contents are not " +
        "checked",
    solarisAcl: "access control lists in Solaris' form are not restored",
} as const;

export class Scan {
    /** Whether the archive has the marker of a pack, once the first entry was read. */
    isPack: boolean;
    /** The name of the root of a pack, once it was read. */
    root: Bytes | undefined;
    /** Where the archive ends, after its blocks of zeros; undefined before the end, or if these blocks are missing. */
    end: number | undefined;
    readonly oddities = new Set<string>();
    readonly #window: Window;
    readonly #isForeign: boolean;
    readonly #global: Records = {};
    #at: number;

    constructor(window: Window, options: ScanOptions = {}) {
        this.#window = window;
        this.#at = options.at ?? 0;
        this.root = options.root;
        this.isPack = options.isPack ?? false;
        this.#isForeign = options.isForeign ?? false;
    }

    /** Returns the next entry, or undefined at the end of the archive. */
    async next(): Promise<Member | Refused | undefined> {
        const before: Before = { begin: undefined, records: undefined, path: undefined, target: undefined };
        for (;;) {
            if (this.#at === this.#window.size && this.#at > 0 && before.begin === undefined && !this.isPack) {
                this.oddities.add(ODDITIES.noEnd);
                return undefined;
            }
            const begin = this.#at;
            const block = await this.#take(BLOCK);
            if (isZero(block)) {
                if (before.begin !== undefined) {
                    throw new TamperedError("the archive ends after the headers of an entry");
                }
                return this.#finish(begin);
            }
            // The window may move on while the header is needed.
            const header = new Header(block.slice(), begin);
            if ("xXgLK".includes(header.type)) {
                await this.#extension(header, before, begin);
                continue;
            }
            const found = await readMember(this, header, before, {
                begin,
                global: this.#global,
                nextBlock: () => this.#take(BLOCK),
                position: () => this.#at,
            });
            this.#at += rounded(found.length);
            if (found.member !== undefined) {
                return found.member;
            }
            before.begin = before.records = before.path = before.target = undefined;
        }
    }

    async #take(length: number): Promise<Bytes> {
        const bytes = await this.#window.view(this.#at, length);
        this.#at += length;
        return bytes;
    }

    /** Ends the archive after one block of zeros at `begin`. */
    async #finish(begin: number): Promise<undefined> {
        if (this.#at === this.#window.size) {
            if (this.isPack) {
                throw new TruncatedError("the archive ends too early");
            }
            this.oddities.add(begin === 0 ? ODDITIES.empty : ODDITIES.noEnd);
            return undefined;
        }
        const next = this.#at;
        if (isZero(await this.#take(BLOCK))) {
            if (begin === 0) {
                this.oddities.add(ODDITIES.empty);
            }
        } else if (this.isPack) {
            throw new TamperedError(`at byte ${next} the archive goes on after its end`);
        } else {
            this.oddities.add(ODDITIES.loneZeroBlock);
        }
        this.end = this.#at;
        return undefined;
    }

    /** Reads a header that extends the next one, or all others. */
    async #extension(header: Header, before: Before, begin: number): Promise<void> {
        const isName = header.type === "L" || header.type === "K";
        const longest = isName ? LONGEST_NAME : LONGEST_PAX;
        const size = header.size;
        if (size === undefined || size < 0n) {
            throw new TamperedError("a header has no size");
        }
        if (size > BigInt(longest)) {
            throw new TamperedError(`a header of ${size} bytes is longer than the ${longest} that may be`);
        }
        const length = Number(size);
        const isGlobal = header.type === "g";
        if (isGlobal && before.begin !== undefined && this.isPack) {
            throw new TamperedError("a global header stands between an entry's headers");
        }
        const bytes = (await this.#take(length)).slice();
        this.#at += rounded(length) - length;
        if (isGlobal) {
            this.#globalHeader(bytes, begin);
            return;
        }
        before.begin ??= begin;
        const field = header.type === "L" ? "path" : header.type === "K" ? "target" : "records";
        if (before[field] !== undefined && this.isPack) {
            throw new TamperedError("an entry has the same header twice");
        }
        if (before[field] !== undefined) {
            this.oddities.add(ODDITIES.repeated);
        }
        if (field === "records") {
            before.records = entryRecords(bytes, this.#global);
        } else {
            const zero = bytes.indexOf(0);
            before[field] = zero < 0 ? bytes : bytes.subarray(0, zero);
        }
    }

    #globalHeader(bytes: Bytes, begin: number): void {
        const comment = globalRecords(bytes, this.#global);
        const words = comment && String.fromCharCode(...comment.subarray(0, MARKER.length + 1));
        if (begin !== 0 || this.#isForeign || words === undefined || !words.startsWith("deadpan pack ")) {
            return;
        }
        if (words !== MARKER) {
            throw new NewerError("the folder was packed by a newer deadpan");
        }
        // The header of the marker has no other record.
        this.isPack = equal(bytes, utf8(`26 comment=${MARKER}\n`));
    }
}

/**
 * Packs that another program has changed, for example `tar r`. It overwrites the blocks of zeros at the end of the
 * archive, and perhaps some of the index. The rest of the index is stale and must not be used.
 */

import { isZero, text, type Bytes } from "../bytes.ts";
import { BLOCK } from "./entry.ts";
import type { Blake3 } from "./hash.ts";
import { order, SLASH } from "./path.ts";
import { Scan } from "./scan.ts";
import { SIGNATURE, Table, TRAILER, zerosAfter } from "./table.ts";
import type { Window } from "./window.ts";

/** The longest tar record that programs fill with zeros in practice. */
const LONGEST_RECORD = 64 << 10;

/** Reads the table of a pack. Returns undefined if another program has changed the archive. */
export async function currentTable(window: Window, blake3: Blake3): Promise<Table | undefined> {
    let table: Table;
    try {
        table = await Table.read(window, blake3);
    } catch (why) {
        if (!window.isFailure(why) && (await endsElsewhere(window))) {
            return undefined;
        }
        throw why;
    }
    return (await table.endsArchive(window)) ? table : undefined;
}

/** Whether a pack without a right index has a complete archive, with other bytes than an index after its end. */
async function endsElsewhere(window: Window): Promise<boolean> {
    const scan = new Scan(window, { isForeign: true });
    let isOther: boolean;
    try {
        isOther = await hasOtherEntries(scan);
    } catch (why) {
        if (window.isFailure(why)) {
            throw why;
        }
        return false;
    }
    const end = scan.end;
    // A pack ends with blocks of zeros, and all of its entries are in order and in the root.
    if (end === undefined) {
        return false;
    }
    if (isOther) {
        return true;
    }
    const next = (await window.view(end, Math.min(window.size - end, LONGEST_RECORD))).slice();
    if (next.length === 0 || (next.length >= BLOCK && isZero(next.subarray(0, BLOCK)))) {
        // The first bytes of an index are never all zero. More zeros than a record has are an end that was lost.
        return next.length < LONGEST_RECORD || !isZero(next);
    }
    return endsInTable(window, end);
}

/** Whether the trailer of the old index is still there, and the archive ends within its table. */
async function endsInTable(window: Window, end: number): Promise<boolean> {
    const at = window.size - TRAILER;
    if (at < end) {
        return false;
    }
    const trailer = (await window.view(at, TRAILER)).slice();
    const numbers = new DataView(trailer.buffer);
    const table = Number(numbers.getBigUint64(0));
    const behind = table + Number(numbers.getBigUint64(8));
    return (
        text(trailer.subarray(56)) === SIGNATURE && behind <= at && behind + zerosAfter(behind) === at && table < end
    );
}

/** Reads all entries, and returns whether one is not below the first one, or not in order. */
async function hasOtherEntries(scan: Scan): Promise<boolean> {
    let root: Bytes | undefined;
    let before: Bytes | undefined;
    let isOther = false;
    for (let found = await scan.next(); found !== undefined; found = await scan.next()) {
        if ("why" in found) {
            continue;
        }
        const path = found.facts.path;
        root ??= path;
        const isBelow = root.every((byte, at) => byte === path[at]) && [undefined, SLASH].includes(path[root.length]);
        isOther ||= (root.length > 0 && !isBelow) || (before !== undefined && order(before, path) >= 0);
        before = path;
    }
    return isOther;
}

/** Reads the contents of files, and compares entries with the index. */

import { equal, type Bytes } from "../bytes.ts";
import { TamperedError } from "../error.ts";
import type { Archive } from "./archive.ts";
import { agree, type Facts, type Item } from "./entry.ts";
import type { Contents } from "./contents.ts";
import { shown } from "./path.ts";
import { Scan } from "./scan.ts";
import { MapReader, type HoleMap } from "./sparse.ts";
import type { Window } from "./window.ts";

/** The longest headers of an entry of a pack: a pax header of a megabyte, and several others. */
const LONGEST_HEADERS = 4 << 20;
/** Zeros are handed out in pieces of this length. */
const ZEROS = 256 * 1024;

/**
 * Yields the content of a file, each time in memory of its own. If the content does not have its hash, the last bytes
 * are not yielded.
 */
export async function* contentOf(
    window: Window,
    store: Contents | Archive,
    file: Item,
): AsyncGenerator<Bytes, void, void> {
    const map = await checkHeaders(window, store, file);
    const stored = storedOf(window, store, file.facts);
    yield* file.facts.sparse ? withHoles(stored, file.facts, map) : stored;
}

/** Compares an entry of a pack with its headers. Returns the map of a file with holes, if it stands in the headers. */
export async function checkHeaders(
    window: Window,
    store: Contents | Archive,
    item: Item,
): Promise<HoleMap | undefined> {
    const facts = item.facts;
    const isPack = store.root !== undefined;
    if (!isPack && !facts.sparse) {
        return undefined;
    }
    if (isPack && facts.content - facts.begin > LONGEST_HEADERS) {
        throw new TamperedError(`the headers of ${shown(facts.path)} are too long`);
    }
    const isRoot = isPack && facts.path.length === 0;
    const scan = new Scan(window, {
        at: facts.begin,
        ...(isPack ? { isPack, ...(isRoot ? {} : { root: store.root }) } : { isForeign: true }),
    });
    const found = await scan.next();
    const isSame =
        found !== undefined &&
        "facts" in found &&
        (isPack ? agree(found.facts, facts) : found.facts.content === facts.content && found.facts.sparse) &&
        (!isRoot || (scan.root !== undefined && equal(scan.root, store.root)));
    if (!isSame) {
        throw changed(facts, "its headers were changed, or it was moved");
    }
    return found.map;
}

/** Yields the content as the archive stores it. */
async function* storedOf(window: Window, store: Contents | Archive, facts: Facts): AsyncGenerator<Bytes, void, void> {
    const { content, stored, hash } = facts;
    const hasher = store.blake3?.createHasher();
    const verify = (): void => {
        if (hasher !== undefined && (hash === undefined || !equal(hasher.finalize(), hash))) {
            throw changed(facts, "its contents were changed");
        }
    };
    if (stored === 0) {
        verify();
    }
    for (let at = 0; at < stored;) {
        const bytes = await window.copy(content + at, stored - at);
        hasher?.update(bytes);
        at += bytes.length;
        if (at === stored) {
            verify();
        }
        yield bytes;
    }
}

/** Puts the stored pieces of a file at their places, with zeros between them. */
async function* withHoles(
    stored: AsyncGenerator<Bytes, void, void>,
    facts: Facts,
    headerMap: HoleMap | undefined,
): AsyncGenerator<Bytes, void, void> {
    const reader = new MapReader();
    let map = headerMap;
    /** The bytes of the content so far, and those of the file. */
    let seen = 0;
    let place = 0;
    let piece = 0;
    /** The bytes of the current piece so far. */
    let given = 0;
    for await (const bytes of stored) {
        const begin = seen;
        seen += bytes.length;
        if (map === undefined) {
            if (reader.take(bytes) === undefined) {
                continue;
            }
            map = reader.map(facts.stored, facts.size);
        }
        for (let data = bytes.subarray(Math.max(map.begin - begin, 0)); data.length > 0;) {
            const [offset, length] = [map.offsets[piece], map.lengths[piece]];
            if (offset === undefined || length === undefined) {
                throw changed(facts, "its contents were changed");
            }
            yield* zeros(offset + given - place);
            // The consumer may transfer the memory of what it gets, so pieces of one stretch do not share it.
            const next = data.slice(0, length - given);
            data = data.subarray(next.length);
            given += next.length;
            place = offset + given;
            if (given === length) {
                piece++;
                given = 0;
            }
            yield next;
        }
    }
    if (map === undefined) {
        throw new TamperedError("the map of a file with holes is longer than its content");
    }
    yield* zeros(facts.size - place);
}

function* zeros(length: number): Generator<Bytes> {
    for (let left = length; left > 0; left -= ZEROS) {
        yield new Uint8Array(Math.min(left, ZEROS));
    }
}

function changed(facts: Facts, what: string): TamperedError {
    return new TamperedError(`${shown(facts.path)} is not what the index says: ${what}`);
}

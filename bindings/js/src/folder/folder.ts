/** Packed folders: docs/format-pack.md. */

import { utf8, type Bytes } from "../bytes.ts";
import { DeadpanError, LimitError } from "../error.ts";
import { source, streamOf, type Source, type SourceLike } from "../source.ts";
import { Archive } from "./archive.ts";
import { checkHeaders, contentOf } from "./content.ts";
import { Item, type FolderEntry } from "./entry.ts";
import { blake3 } from "./hash.ts";
import { Limit } from "./limit.ts";
import { Contents } from "./contents.ts";
import { pathText, shown } from "./path.ts";
import { ODDITIES, Scan } from "./scan.ts";
import { currentTable } from "./stale.ts";
import { damaged } from "./table.ts";
import type { UnpackTarget } from "./target.ts";
import { unpackInto, type Unpacked, type UnpackOptions } from "./unpack.ts";
import { Window } from "./window.ts";

export type { FolderEntry };

/** A note: about an entry that is refused, or with an empty path, about the whole archive. */
export interface FolderNote {
    path: string;
    why: string;
}

/** The most bytes that `read` returns if the caller sets no limit. */
const MOST_READ = 2 ** 31;
/** The most notes that are kept. There may be one for each entry. */
const MOST_NOTES = 1000;

/** A folder, from the data of a sealed folder, from a pack, or from an archive of another program. */
export class Folder {
    /** The name of the packed folder; undefined for the archive of another program. */
    readonly name: string | undefined;
    /** How many entries there are. In a pack, one of them is the folder itself. */
    readonly count: number;
    /** What is odd about the archive of another program, and the first 1000 of its entries that are refused. */
    readonly notes: readonly FolderNote[];
    readonly #data: Source;
    readonly #store: Contents | Archive;

    private constructor(data: Source, store: Contents | Archive, notes: FolderNote[]) {
        this.#data = data;
        this.#store = store;
        this.name = store.root && pathText(store.root);
        this.count = store.count;
        this.notes = notes;
    }

    /** Opens a folder. Of a pack, only the end is read, and of any other archive, all headers. */
    static async open(data: SourceLike): Promise<Folder> {
        const from = source(data);
        const window = new Window(from);
        const scan = new Scan(window);
        let failure: { why: unknown } | undefined;
        const first = await scan.next().catch((why: unknown) => {
            failure = { why };
        });
        if (failure !== undefined && (!scan.isPack || window.isFailure(failure.why))) {
            throw failure.why;
        }
        if (!scan.isPack) {
            return Folder.#foreign(from, window, []);
        }
        const hashing = await blake3();
        const table = await currentTable(window, hashing);
        if (table === undefined) {
            return Folder.#foreign(from, window, [ODDITIES.stale]);
        }
        if (failure !== undefined) {
            throw failure.why;
        }
        if (scan.root === undefined || !first || "why" in first) {
            throw damaged("the root is missing");
        }
        return new Folder(from, new Contents(from, scan.root, table, hashing), []);
    }

    static async #foreign(from: Source, window: Window, oddities: string[]): Promise<Folder> {
        const scan = new Scan(window, { isForeign: true });
        const archive = await Archive.read(scan);
        const notes = [...oddities, ...scan.oddities].map(why => ({ path: "", why }));
        const refused = archive.refused.slice(0, MOST_NOTES).map(({ path, why }) => ({ path: shown(path), why }));
        return new Folder(from, archive, [...notes, ...refused]);
    }

    /**
     * Yields the entries, in the order of the archive, as the index claims them: only what is read or unpacked is
     * compared with the archive. Of equal paths in the archive of another program, only the last one counts.
     */
    async *entries(): AsyncGenerator<FolderEntry, void, void> {
        for await (const item of this.#store.items()) {
            if (item instanceof Item) {
                yield item;
            }
        }
    }

    /** Returns all entries. */
    async list(): Promise<FolderEntry[]> {
        const entries: FolderEntry[] = [];
        for await (const entry of this.entries()) {
            entries.push(entry);
        }
        return entries;
    }

    /** Returns the entry with exactly this path, or undefined. Reads only a small part of the index of a pack. */
    async entry(path: string | Uint8Array): Promise<FolderEntry | undefined> {
        return this.#store.find(typeof path === "string" ? utf8(path) : path.slice());
    }

    /** Returns the content of a file or a hard link. If it is damaged, the stream fails before its last bytes. */
    stream(entry: FolderEntry): ReadableStream<Bytes> {
        return streamOf(this.#content(this.#own(entry)));
    }

    /** Returns the whole content of a file or a hard link, which has at most `limit` bytes. */
    async read(entry: FolderEntry, limit = MOST_READ): Promise<Bytes> {
        const item = this.#own(entry);
        const file = await this.#file(item);
        if (file.size > limit) {
            throw new LimitError(`${shown(file.facts.path)} has ${file.size} bytes, and at most ${limit} are wanted`);
        }
        const whole = allocated(file);
        let at = 0;
        for await (const bytes of this.#content(item)) {
            whole.set(bytes, at);
            at += bytes.length;
        }
        return whole;
    }

    /**
     * Unpacks all entries, or some. Entries that are refused are noted, and the others are still unpacked. An entry
     * that differs from the index, or data that are damaged, end the unpacking.
     */
    async unpack(target: UnpackTarget, options: UnpackOptions = {}): Promise<Unpacked> {
        return unpackInto(this.#data, this.#store, target, options);
    }

    #own(entry: FolderEntry): Item {
        if (!(entry instanceof Item) || !this.#store.isOwn(entry)) {
            throw new TypeError("the entry is not from this folder");
        }
        if (entry.kind === "folder" || entry.kind === "symlink") {
            throw new TypeError(`a ${entry.kind} has no content`);
        }
        return entry;
    }

    async *#content(item: Item): AsyncGenerator<Bytes, void, void> {
        const window = new Window(this.#data);
        const file = await this.#file(item);
        if (file !== item) {
            await checkHeaders(window, this.#store, item);
        }
        const why = new Limit().refusal(file.size, file.facts.stored);
        if (why !== undefined) {
            throw new LimitError(`${shown(file.facts.path)}: ${why}`);
        }
        yield* contentOf(window, this.#store, file);
    }

    /** Returns the file of an entry, which may be a hard link. */
    async #file(item: Item): Promise<Item> {
        const file = item.kind === "hardlink" ? await this.#store.file(item) : item;
        if (file.kind !== "file") {
            throw new DeadpanError(`${shown(item.facts.path)} is a hard link to a symbolic link, which has no content`);
        }
        return file;
    }
}

function allocated(file: Item): Bytes {
    try {
        return new Uint8Array(file.size);
    } catch {
        throw new LimitError(`${shown(file.facts.path)} has ${file.size} bytes, and there is no memory for them`);
    }
}

/** Packs files and folders: docs/format-pack.md. */

import { concat, utf8, type Bytes } from "../bytes.ts";
import { source, type Source } from "../source.ts";
import { rounded, type Facts } from "./entry.ts";
import { blake3, type Blake3 } from "./hash.ts";
import { pathText, SLASH } from "./path.ts";
import { MARKER } from "./scan.ts";
import { planned, type Planned } from "./tree.ts";
import { commentHeader, headersOf } from "./ustar.ts";
import { IndexWriter } from "./writer.ts";

/** A file or folder to pack. */
export interface PackInput {
    /** The names from the packed folder down to this one. An empty path is the packed folder itself. */
    path: string[];
    kind: "file" | "folder";
    /** The content of a file. */
    data?: Blob | Source;
    /** The length of the content, if it is known from before. Packing fails if it has changed. */
    size?: number;
    /**
     * When it was changed last, in seconds since 1970, with a fraction. Without it, a file is from 1970, and a folder
     * as old as the newest file in it.
     */
    modified?: number;
    /** Permission bits. */
    mode?: number;
}

/** Contents are read in pieces of this length. */
const PIECE = 1 << 20;
/** Short pieces are joined up to about this length. */
const BATCH = 256 * 1024;

/**
 * Packs files and folders, in any order, under the name of a folder. Folders that only the paths of others name go in,
 * too. Contents are read when they are packed, and never held as a whole.
 */
export async function* packFolder(
    name: string,
    entries: AsyncIterable<PackInput> | Iterable<PackInput>,
): AsyncGenerator<Bytes, void, void> {
    const root = utf8(name);
    if (name === "" || name === "." || name === ".." || /[/\0]/.test(name) || root.length > 255) {
        throw new RangeError("the folder has no name that can be packed");
    }
    const hashing = await blake3();
    const batch = new Batch();
    const index = new IndexWriter(hashing);
    yield* batch.add(commentHeader(utf8(MARKER)));
    for await (const entry of planned(entries)) {
        yield* packed(entry, root, index, batch, hashing);
        for (let block = index.block(batch.position); block !== undefined; block = index.block(batch.position)) {
            yield* batch.add(block);
        }
    }
    yield* batch.add(new Uint8Array(1024));
    for (const piece of index.rest(batch.position)) {
        yield* batch.add(piece);
    }
    yield* batch.flush();
}

/** Packs one entry, and adds its record to the index. */
async function* packed(
    entry: Planned,
    root: Bytes,
    index: IndexWriter,
    batch: Batch,
    { createHasher }: Blake3,
): AsyncGenerator<Bytes, void, void> {
    const data = entry.input?.data && source(entry.input.data);
    const size = data?.size ?? 0;
    if (entry.input?.size !== undefined && entry.input.size !== size) {
        throw new Error(`${pathText(entry.path)} was changed while it was packed`);
    }
    const seconds = Math.floor(entry.modified);
    // A number cannot hold a time of today to the nanosecond, but to the microsecond.
    const microseconds = Math.round((entry.modified - seconds) * 1e6);
    const facts: Facts = {
        path: entry.path,
        kind: entry.kind,
        sparse: false,
        mode: entry.mode,
        seconds: BigInt(seconds) + (microseconds === 1e6 ? 1n : 0n),
        nanoseconds: (microseconds % 1e6) * 1000,
        size,
        begin: batch.position,
        content: 0,
        stored: size,
        target: undefined,
        hash: undefined,
    };
    const slash = Uint8Array.of(SLASH);
    const path = concat(
        root,
        slash,
        entry.path,
        entry.kind === "folder" && entry.path.length > 0 ? slash : new Uint8Array(),
    );
    yield* batch.add(headersOf({ ...facts, path }));
    facts.content = batch.position;
    if (entry.kind === "file") {
        const hasher = createHasher();
        for (let at = 0; data !== undefined && at < size;) {
            const bytes = await readPiece(data, at, Math.min(PIECE, size - at), entry.path);
            hasher.update(bytes);
            at += bytes.length;
            yield* batch.add(bytes);
        }
        yield* batch.add(new Uint8Array(rounded(size) - size));
        facts.hash = hasher.finalize().slice();
    }
    index.add(facts);
}

async function readPiece(data: Source, offset: number, length: number, path: Bytes): Promise<Bytes> {
    let bytes: Bytes;
    try {
        // The consumer may transfer the memory of what it gets, and the data may be somebody's bytes.
        bytes = (await data.read(offset, length)).slice();
    } catch (why) {
        throw new Error(`${pathText(path)} cannot be read`, { cause: why });
    }
    if (bytes.length !== length) {
        throw new Error(`${pathText(path)} was changed while it was packed`);
    }
    return bytes;
}

/** Joins short pieces, and counts all bytes. */
class Batch {
    /** How many bytes were added. */
    position = 0;
    #held: Bytes[] = [];
    #length = 0;

    *add(bytes: Bytes): Generator<Bytes> {
        this.position += bytes.length;
        this.#held.push(bytes);
        this.#length += bytes.length;
        if (this.#length >= BATCH) {
            yield* this.flush();
        }
    }

    *flush(): Generator<Bytes> {
        const joined = this.#held.length === 1 ? this.#held[0] : concat(...this.#held);
        this.#held = [];
        this.#length = 0;
        if (joined !== undefined && joined.length > 0) {
            yield joined;
        }
    }
}

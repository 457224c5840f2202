/** Unpacks a folder into any target: a directory of the browser, a disk, memory. */

import type { Source } from "../source.ts";
import type { Archive } from "./archive.ts";
import { Clashes } from "./clash.ts";
import { checkHeaders, contentOf } from "./content.ts";
import { DirectoryTarget, type DirectoryOptions } from "./directory.ts";
import { Item, type FolderEntry } from "./entry.ts";
import type { Folder } from "./folder.ts";
import { Limit } from "./limit.ts";
import type { Contents } from "./contents.ts";
import { pathText, shown } from "./path.ts";
import { RefusedError, type UnpackFile, type UnpackTarget } from "./target.ts";
import { Window } from "./window.ts";

/** Options of unpacking. */
export interface UnpackOptions {
    /** Chooses the entries to unpack. The folders above them are made, too. */
    only?: (entry: FolderEntry) => boolean;
    /**
     * The most bytes of all files together, with their holes. Without it, holes and the files behind hard links may
     * have 64 GiB, or 1000 times the stored bytes if that is more.
     */
    maxSize?: number;
    signal?: AbortSignal;
    /** Hears of each piece that was written: its length in bytes. */
    progress?: (bytes: number) => void;
}

/** What was unpacked. */
export interface Unpacked {
    files: number;
    /** The folders that have entries of their own. */
    folders: number;
    symlinks: number;
    /** The bytes of all files, with their holes. */
    bytes: number;
    /** How many entries were noted and not made. */
    refused: number;
}

/** Unpacks into a directory of the browser. Symbolic links are noted, because they cannot be made there. */
export async function unpackToDirectory(
    folder: Folder,
    handle: FileSystemDirectoryHandle,
    options: UnpackOptions & DirectoryOptions = {},
): Promise<Unpacked> {
    return folder.unpack(new DirectoryTarget(handle, options), options);
}

/** Unpacks entries in their order, with one pass over the data except for hard links. */
export async function unpackInto(
    data: Source,
    store: Contents | Archive,
    target: UnpackTarget,
    options: UnpackOptions,
): Promise<Unpacked> {
    const unpacking = new Unpacking(data, store, target, options);
    for await (const item of store.items()) {
        options.signal?.throwIfAborted();
        if (!(item instanceof Item)) {
            unpacking.refuse(shown(item.path), item.why);
        } else if (options.only?.(item) ?? true) {
            await unpacking.entry(item);
        }
    }
    return unpacking.done;
}

class Unpacking {
    readonly done: Unpacked = { files: 0, folders: 0, symlinks: 0, bytes: 0, refused: 0 };
    readonly #store: Contents | Archive;
    readonly #target: UnpackTarget;
    readonly #options: UnpackOptions;
    readonly #limit: Limit;
    /** The windows for the entries in order, and for the files behind hard links. */
    readonly #window: Window;
    readonly #linked: Window;
    /** The names of the folder that was made last, below the folders that contain it. */
    #way: string[] = [];
    readonly #clashes = new Clashes();

    constructor(data: Source, store: Contents | Archive, target: UnpackTarget, options: UnpackOptions) {
        this.#store = store;
        this.#target = target;
        this.#options = options;
        this.#limit = new Limit(options.maxSize);
        this.#window = new Window(data);
        this.#linked = new Window(data);
    }

    /** Unpacks an entry. An entry that differs from the index ends the unpacking. */
    async entry(item: Item): Promise<void> {
        // The headers of a file are compared when its content is read.
        if (item.kind !== "file") {
            await checkHeaders(this.#window, this.#store, item);
        }
        if (item.path === "") {
            return;
        }
        try {
            if (this.#clashes.has(item.path, item.facts.path)) {
                throw new RefusedError("its path is not UTF-8, and another path is the same as text");
            }
            await this.#make(item, item.path.split("/"));
        } catch (why) {
            if (!(why instanceof RefusedError)) {
                throw why;
            }
            this.refuse(shown(item.facts.path), why.message);
        }
    }

    refuse(path: string, why: string): void {
        this.done.refused++;
        this.#target.note(path, why);
    }

    async #make(item: Item, path: string[]): Promise<void> {
        if (item.kind === "folder") {
            await this.#folders(path);
            this.done.folders++;
            return;
        }
        const file = item.kind === "hardlink" ? await this.#store.file(item) : item;
        if (file.kind === "symlink") {
            if (this.#target.symlink === undefined) {
                throw new RefusedError("it is a symbolic link, and none can be made here");
            }
            if (file !== item) {
                await checkHeaders(this.#linked, this.#store, file);
            }
            await this.#folders(path.slice(0, -1));
            await this.#target.symlink(path, pathText(file.facts.target ?? new Uint8Array()));
            this.done.symlinks++;
            return;
        }
        // The content of a hard link is written once more, and so counts like a hole.
        const why = this.#limit.refusal(file.size, file === item ? file.facts.stored : 0);
        if (why !== undefined) {
            throw new RefusedError(why);
        }
        await this.#folders(path.slice(0, -1));
        await this.#write(await this.#target.file(path, file.modified, file.size), file, file !== item);
    }

    async #write(output: UnpackFile, file: Item, isLinked: boolean): Promise<void> {
        try {
            for await (const bytes of contentOf(isLinked ? this.#linked : this.#window, this.#store, file)) {
                this.#options.signal?.throwIfAborted();
                const length = bytes.length;
                await output.write(bytes);
                this.done.bytes += length;
                this.#options.progress?.(length);
            }
            await output.close();
        } catch (why) {
            // What went wrong first counts.
            await output.abort(why).catch(() => undefined);
            throw why;
        }
        this.done.files++;
    }

    /** Makes a folder and those above it that are not there. */
    async #folders(path: string[]): Promise<void> {
        let common = 0;
        while (common < path.length && common < this.#way.length && path[common] === this.#way[common]) {
            common++;
        }
        this.#way = path.slice(0, common);
        for (const name of path.slice(common)) {
            const folder = [...this.#way, name];
            await this.#target.folder(folder);
            this.#way = folder;
        }
    }
}

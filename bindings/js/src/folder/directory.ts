/** Unpacking into directories of the browser. */

import type { Bytes } from "../bytes.ts";
import { RefusedError, type UnpackFile, type UnpackTarget } from "./target.ts";

/** Options of unpacking into a directory. */
export interface DirectoryOptions {
    /** Whether files that are there already are replaced. Otherwise they are noted, and stay. */
    overwrite?: boolean;
    /** Hears of an entry that is not unpacked. */
    note?: (path: string, why: string) => void;
}

/** A directory of the browser as a target. Nothing is made outside of it. */
export class DirectoryTarget implements UnpackTarget {
    readonly #options: DirectoryOptions;
    /** The directory, and the folders in it down to the one that was used last, with their names. */
    readonly #way: { name: string; handle: FileSystemDirectoryHandle }[];
    /** The files so far, in a form that is the same for names that some systems take for equal. */
    readonly #made = new Set<string>();

    constructor(handle: FileSystemDirectoryHandle, options: DirectoryOptions = {}) {
        this.#way = [{ name: "", handle }];
        this.#options = options;
    }

    async folder(path: string[]): Promise<void> {
        await this.#reach(path);
    }

    async file(path: string[]): Promise<UnpackFile> {
        const name = checked(path[path.length - 1]);
        const folder = await this.#reach(path.slice(0, -1));
        const isThere = await exists(folder, name);
        const folded = path.join("/").normalize("NFC").toLowerCase();
        if (isThere && this.#made.has(folded)) {
            throw new RefusedError(
                "another entry differs from it only in case or accents, and both have the same file",
            );
        }
        if (isThere && !(this.#options.overwrite ?? false)) {
            throw new RefusedError("it exists already");
        }
        const handle = await allowed(folder.getFileHandle(name, { create: true }));
        const drop = async (): Promise<void> => (isThere ? undefined : folder.removeEntry(name));
        let writable: FileSystemWritableFileStream;
        try {
            writable = await handle.createWritable();
        } catch (why) {
            await drop().catch(() => undefined);
            throw why;
        }
        this.#made.add(folded);
        return {
            write: async (bytes: Bytes) => writable.write(bytes),
            close: async () => writable.close(),
            abort: async (why: unknown) => {
                await writable.abort(why).catch(() => undefined);
                await drop();
            },
        };
    }

    note(path: string, why: string): void {
        this.#options.note?.(path, why);
    }

    /** Returns a folder, and makes it and those above it if they are not there. */
    async #reach(path: string[]): Promise<FileSystemDirectoryHandle> {
        let depth = 0;
        while (depth < path.length && this.#way[depth + 1]?.name === path[depth]) {
            depth++;
        }
        this.#way.length = depth + 1;
        let folder = this.#way[depth]?.handle;
        for (const name of path.slice(depth)) {
            folder = await allowed(folder?.getDirectoryHandle(checked(name), { create: true }));
            this.#way.push({ name, handle: folder });
        }
        if (folder === undefined) {
            throw new RefusedError("there is no directory");
        }
        return folder;
    }
}

/** Refuses a name that could mean another place. The browser refuses more names, by the rules of its system. */
function checked(name: string | undefined): string {
    if (name === undefined || name === "" || name === "." || name === ".." || /[/\\\x00-\x1f\x7f]/.test(name)) {
        throw new RefusedError("a directory of a browser cannot have a name of its path");
    }
    return name;
}

async function exists(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
    try {
        await allowed(folder.getFileHandle(name));
        return true;
    } catch (why) {
        if (isNamed(why, "NotFoundError")) {
            return false;
        }
        throw why;
    }
}

/** Waits for a handle. Names that the browser refuses, and names that are taken, refuse only the entry. */
async function allowed<T>(handle: Promise<T> | undefined): Promise<T> {
    try {
        if (handle !== undefined) {
            return await handle;
        }
    } catch (why) {
        if (isNamed(why, "TypeMismatchError")) {
            throw new RefusedError("something of another kind is in its way");
        }
        if (!(why instanceof TypeError)) {
            throw why;
        }
    }
    throw new RefusedError("the browser allows no file of this name");
}

function isNamed(why: unknown, name: string): boolean {
    return typeof why === "object" && why !== null && "name" in why && why.name === name;
}

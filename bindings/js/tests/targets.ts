/** Targets for unpacking that lie in memory. */

import { concat, utf8, type Bytes } from "../src/bytes.ts";
import type { UnpackFile, UnpackTarget } from "../src/folder/target.ts";
import type { Source } from "../src/source.ts";

/** What was unpacked: contents, `folder`, or `-> TARGET` by path. */
export class MemoryTarget implements UnpackTarget {
    readonly made: Record<string, Bytes | string> = {};
    readonly notes: string[] = [];
    aborted = 0;
    readonly symlink?: (path: string[], target: string) => Promise<void>;

    constructor(hasLinks = false) {
        if (hasLinks) {
            this.symlink = async (path, target) => {
                this.made[path.join("/")] = `-> ${target}`;
            };
        }
    }

    async folder(path: string[]): Promise<void> {
        this.made[path.join("/")] = "folder";
    }

    async file(path: string[], _modified: number, size: number): Promise<UnpackFile> {
        const parts: Bytes[] = [];
        return {
            write: async bytes => {
                parts.push(bytes.slice());
                // What was handed out belongs to the target.
                bytes.fill(0xee);
            },
            close: async () => {
                const whole = concat(...parts);
                if (whole.length !== size) {
                    throw new Error(`${path.join("/")} has ${whole.length} bytes instead of ${size}`);
                }
                this.made[path.join("/")] = whole;
            },
            abort: async () => {
                this.aborted++;
            },
        };
    }

    note(path: string, why: string): void {
        this.notes.push(`${path}: ${why}`);
    }
}

/** A source that counts what is read. */
export class Counting implements Source {
    readonly size: number;
    reads = 0;
    bytes = 0;
    readonly #data: Bytes;

    constructor(data: Bytes) {
        this.#data = data;
        this.size = data.length;
    }

    async read(offset: number, length: number): Promise<Bytes> {
        this.reads++;
        this.bytes += length;
        return this.#data.slice(offset, offset + length);
    }
}

type Named = { name: string };

/** A directory like one of the browser, in memory. */
export class MemoryDirectory {
    readonly kind = "directory";
    readonly names = new Map<string, MemoryDirectory | MemoryFile>();
    readonly name: string;
    /** Whether names that differ only in case are the same, as on many systems. */
    readonly #folds: boolean;

    constructor(name = "", folds = false) {
        this.name = name;
        this.#folds = folds;
    }

    get handle(): FileSystemDirectoryHandle {
        return this as unknown as FileSystemDirectoryHandle;
    }

    async getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<MemoryDirectory> {
        return this.#get(name, options?.create ?? false, MemoryDirectory, () => new MemoryDirectory(name, this.#folds));
    }

    async getFileHandle(name: string, options?: { create?: boolean }): Promise<MemoryFile> {
        return this.#get(name, options?.create ?? false, MemoryFile, () => new MemoryFile(name));
    }

    async removeEntry(name: string): Promise<void> {
        this.names.delete(this.#key(name));
    }

    async *entries(): AsyncGenerator<[string, MemoryDirectory | MemoryFile]> {
        for (const entry of this.names.values()) {
            yield [entry.name, entry];
        }
    }

    /** Returns all that is in the directory, as `MemoryTarget.made`. */
    all(prefix = ""): Record<string, Bytes | string> {
        const found: Record<string, Bytes | string> = {};
        for (const entry of this.names.values()) {
            if (entry instanceof MemoryFile) {
                found[prefix + entry.name] = entry.content;
            } else {
                found[prefix + entry.name] = "folder";
                Object.assign(found, entry.all(`${prefix}${entry.name}/`));
            }
        }
        return found;
    }

    #key(name: string): string {
        return this.#folds ? name.toLowerCase() : name;
    }

    #get<T extends Named>(name: string, create: boolean, kind: new (name: string) => T, make: () => T): T {
        if (name === "" || name === "." || name === ".." || /[/\\:]/.test(name) || name.endsWith("~")) {
            throw new TypeError("Name is not allowed.");
        }
        const found = this.names.get(this.#key(name));
        if (found instanceof kind) {
            return found;
        }
        if (found !== undefined || !create) {
            throw new DOMException("no", found === undefined ? "NotFoundError" : "TypeMismatchError");
        }
        const made = make();
        this.names.set(this.#key(name), made as unknown as MemoryFile);
        return made;
    }
}

class MemoryFile {
    readonly kind = "file";
    readonly name: string;
    content: Bytes = new Uint8Array();

    constructor(name: string) {
        this.name = name;
    }

    async getFile(): Promise<File> {
        return new File([this.content], this.name, { lastModified: 1_500_000_000_250 });
    }

    async createWritable(): Promise<unknown> {
        const parts: Bytes[] = [];
        return {
            write: async (bytes: Bytes) => {
                parts.push(bytes);
            },
            close: async () => {
                this.content = concat(...parts);
            },
            abort: async () => undefined,
        };
    }
}

/** Returns what `MemoryTarget.made` or `MemoryDirectory.all` has for texts in place of bytes. */
export function madeOf(entries: Record<string, string>): Record<string, Bytes | string> {
    const isPlain = (what: string): boolean => what === "folder" || what.startsWith("-> ");
    return Object.fromEntries(Object.entries(entries).map(([path, what]) => [path, isPlain(what) ? what : utf8(what)]));
}

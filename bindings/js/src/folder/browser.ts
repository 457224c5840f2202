/** The files that a browser hands out, as inputs of `packFolder`. */

import type { PackInput } from "./pack.ts";

/** Yields everything in a directory of the browser, at any depth. */
export async function* fromDirectory(handle: FileSystemDirectoryHandle): AsyncGenerator<PackInput, void, void> {
    const folders: { path: string[]; handle: FileSystemDirectoryHandle }[] = [{ path: [], handle }];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
        for await (const [name, entry] of folder.handle.entries()) {
            const path = [...folder.path, name];
            if (isFile(entry)) {
                yield ofFile(path, await entry.getFile());
            } else if (isDirectory(entry)) {
                yield { path, kind: "folder" };
                folders.push({ path, handle: entry });
            }
        }
    }
}

/**
 * Yields files, for example those of an `<input>`. If it let its user choose a directory, each path begins with the
 * name of the directory; this name is left out, because the pack has a name of its own.
 */
export function* fromFiles(files: Iterable<File>): Generator<PackInput, void, void> {
    const list = [...files];
    const isIn = directoryName(list) !== undefined;
    for (const file of list) {
        const path = namesOf(file);
        yield ofFile(isIn ? path.slice(1) : path, file);
    }
}

/** Returns the name of the directory that the user has chosen, or undefined if the files are not from one. */
export function directoryName(files: Iterable<File>): string | undefined {
    let name: string | undefined;
    for (const file of files) {
        const [first, second] = namesOf(file);
        if (second === undefined || (name !== undefined && name !== first)) {
            return undefined;
        }
        name = first;
    }
    return name;
}

function namesOf(file: File): string[] {
    // Not every system that has files has this property.
    const path: string | undefined = file.webkitRelativePath;
    return path ? path.split("/") : [file.name];
}

function ofFile(path: string[], file: File): PackInput {
    return { path, kind: "file", data: file, size: file.size, modified: file.lastModified / 1000, mode: 0o644 };
}

function isFile(handle: FileSystemHandle): handle is FileSystemFileHandle {
    return handle.kind === "file";
}

function isDirectory(handle: FileSystemHandle): handle is FileSystemDirectoryHandle {
    return handle.kind === "directory";
}

/** What the user has chosen to seal: a file, or files and folders that are sealed as one folder. */

import { directoryName, fromFiles, type PackInput } from "../src/index.ts";

export interface Gathered {
    readonly name: string;
    readonly size: number;
    /** The only file, or undefined if a folder is sealed. */
    readonly file: File | undefined;
    readonly entries: readonly PackInput[];
}

/** Gathers files that were chosen, or what was dropped. */
export async function gather(from: readonly File[] | DataTransfer): Promise<Gathered | undefined> {
    if (Array.isArray(from)) {
        return ofFiles(from as readonly File[]);
    }
    // The list of dropped items is empty after the first await.
    const entries = Array.from((from as DataTransfer).items).flatMap(item => item.webkitGetAsEntry() ?? []);
    const only = entries.length === 1 ? entries[0] : undefined;
    if (only?.isFile) {
        return ofFile(await fileOf(only as FileSystemFileEntry));
    }
    const found: PackInput[] = [];
    if (only !== undefined) {
        await walk(only as FileSystemDirectoryEntry, [], found);
        return ofEntries(only.name, found);
    }
    for (const entry of entries) {
        await add(entry, [], found);
    }
    return found.length === 0 ? undefined : ofEntries("files", found);
}

function ofFiles(files: readonly File[]): Gathered | undefined {
    const first = files[0];
    if (first === undefined) {
        return undefined;
    }
    const folder = directoryName(files);
    if (files.length === 1 && folder === undefined) {
        return ofFile(first);
    }
    return ofEntries(folder ?? "files", Array.from(fromFiles(files)));
}

function ofFile(file: File): Gathered {
    return { name: file.name, size: file.size, file, entries: [] };
}

function ofEntries(name: string, entries: readonly PackInput[]): Gathered {
    return { name, size: entries.reduce((sum, entry) => sum + (entry.data?.size ?? 0), 0), file: undefined, entries };
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
    return new Promise((resolve, reject) => entry.file(resolve, reject));
}

async function add(entry: FileSystemEntry, above: readonly string[], found: PackInput[]): Promise<void> {
    const path = [...above, entry.name];
    if (entry.isFile) {
        const file = await fileOf(entry as FileSystemFileEntry);
        found.push({ path, kind: "file", data: file, modified: file.lastModified / 1000 });
    } else {
        found.push({ path, kind: "folder" });
        await walk(entry as FileSystemDirectoryEntry, path, found);
    }
}

async function walk(folder: FileSystemDirectoryEntry, path: readonly string[], found: PackInput[]): Promise<void> {
    const reader = folder.createReader();
    for (;;) {
        // Browsers hand entries out in parts, and an empty part at the end.
        const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (part.length === 0) {
            return;
        }
        for (const entry of part) {
            await add(entry, path, found);
        }
    }
}

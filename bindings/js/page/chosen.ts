/** What the user has chosen to seal: a file, or files and folders that are sealed as one folder. */

import { directoryName, fromDirectory, fromFiles, type PackInput } from "../src/index.ts";

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
    const items = Array.from((from as DataTransfer).items).filter(({ kind }) => kind === "file");
    const dropped = (await Promise.all(items.map(droppedItem))).filter(item => item !== undefined);
    const only = dropped.length === 1 ? dropped[0] : undefined;
    if (only instanceof File) {
        return ofFile(only);
    }
    const found: PackInput[] = [];
    if (only !== undefined) {
        await walk(only, [], found);
        return ofEntries(only.name, found);
    }
    for (const item of dropped) {
        await add(item, [], found);
    }
    return found.length === 0 ? undefined : ofEntries("files", found);
}

/** Chromium reads handles everywhere, and entries not in a page that is a file itself. Firefox has entries. */
type Dropped = File | FileSystemDirectoryHandle | FileSystemDirectoryEntry;

interface ItemWithHandle {
    getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
}

async function droppedItem(item: DataTransferItem): Promise<Dropped | undefined> {
    const file = item.getAsFile() ?? undefined;
    const entry = item.webkitGetAsEntry();
    const handle = await (item as ItemWithHandle).getAsFileSystemHandle?.().catch(() => null);
    if (handle?.kind === "directory") {
        return handle as FileSystemDirectoryHandle;
    }
    return entry?.isDirectory ? (entry as FileSystemDirectoryEntry) : file;
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

async function add(item: Dropped, above: readonly string[], found: PackInput[]): Promise<void> {
    const path = [...above, item.name];
    if (item instanceof File) {
        found.push({ path, kind: "file", data: item, modified: item.lastModified / 1000 });
    } else {
        found.push({ path, kind: "folder" });
        await walk(item, path, found);
    }
}

async function walk(
    folder: FileSystemDirectoryHandle | FileSystemDirectoryEntry,
    path: readonly string[],
    found: PackInput[],
): Promise<void> {
    if (folder instanceof FileSystemDirectoryHandle) {
        for await (const entry of fromDirectory(folder)) {
            found.push({ ...entry, path: [...path, ...entry.path] });
        }
        return;
    }
    const reader = folder.createReader();
    for (;;) {
        // Browsers hand entries out in parts, and an empty part at the end.
        const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (part.length === 0) {
            return;
        }
        for (const entry of part) {
            const file = entry.isFile ? await fileOf(entry as FileSystemFileEntry) : undefined;
            await add(file ?? (entry as FileSystemDirectoryEntry), path, found);
        }
    }
}

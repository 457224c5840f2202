/**
 * Saving: into a file that the user chooses, where the browser can write such files, or as a download.
 *
 * A failure in the middle leaves no file: a chosen file gets its content when all of it was written, and a download
 * begins when all of it is there.
 */

import { fileName, shown } from "./shown.ts";
import type { Progress } from "./work.ts";

interface FilePicker {
    showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
}

/** Saves a stream under a name that the user can change. `begin` starts the stream after the user has chosen. */
export async function save(
    name: string,
    begin: () => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>,
    total: number,
    progress: Progress,
): Promise<void> {
    const suggestedName = fileName(name);
    const pick = (window as FilePicker).showSaveFilePicker;
    if (pick !== undefined) {
        const handle = await pick.call(window, { suggestedName });
        progress.now("saving", shown(suggestedName));
        const stream = progress.counted(await begin(), total);
        await stream.pipeTo(await handle.createWritable(), { signal: progress.signal });
        return;
    }
    progress.now("saving", shown(suggestedName));
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
    const written = progress.counted(await begin(), total).pipeTo(writable, { signal: progress.signal });
    // The browser keeps the content of an answer where it keeps downloads, on the disk if there is much of it.
    const all = new Response(readable, { headers: { "Content-Type": "application/octet-stream" } }).blob();
    // An answer does not tell why its stream has failed.
    all.catch(() => {});
    await written;
    const blob = await all;
    progress.signal.throwIfAborted();
    download(suggestedName, blob);
}

/** Hands a file over as a download. */
function download(name: string, blob: Blob): void {
    const address = URL.createObjectURL(blob);
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    // The browser reads the file after the click. A minute later, the download has begun.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Sealing bytes, files, streams and folders. */

import { sealAgeStream } from "./age/age.ts";
import { concat, plainBytes, type Bytes } from "./bytes.ts";
import { fromDirectory, fromFiles } from "./folder/browser.ts";
import { packFolder, type PackInput } from "./folder/pack.ts";
import { armored } from "./format/armor.ts";
import { FIXED, MAC, PREAMBLE, writeHeader, type Recipient } from "./format/header.ts";
import { nameOf, sealBox, timeOf, type Kind, type Metadata } from "./format/metadata.ts";
import { padded } from "./format/padme.ts";
import { FLOE_HEADER, sealSegments, SegmentKeys } from "./format/payload.ts";
import { toKey, toPassphrase } from "./format/recipients.ts";
import { random } from "./crypto/symmetric.ts";
import { PublicKey } from "./key/key.ts";
import { checkOptions } from "./option.ts";
import { Passphrase } from "./passphrase.ts";
import { isSource, isStream, streamFrom, streamOf, take, type Source, type StreamLike } from "./source.ts";

/** To whom a file is sealed: public keys and passphrases. */
export type To = PublicKey | Passphrase;

/** What can be sealed. A text is sealed in UTF-8. */
export type Sealable = string | Uint8Array | ArrayBuffer | Blob | Source | StreamLike;

/** Options of functions that seal. */
export interface SealOptions {
    /** The name that is sealed with the data. A `File` has its own. */
    name?: string;
    /** When the data were changed, in milliseconds since 1970. A `File` has its own. */
    modified?: number;
    /** Unix's permission bits. */
    mode?: number;
    /** Pads the data, so that the sealed length does not show the length. */
    hideLength?: boolean;
    /** Writes text, for places where only text can go. */
    armor?: boolean;
    /** Writes an age file, which has no name and no time. */
    age?: boolean;
    /** Allows classical keys beside others. A quantum computer can then open the whole file. */
    allowMixed?: boolean;
    signal?: AbortSignal;
}

const OPTIONS = ["name", "modified", "mode", "hideLength", "armor", "age", "allowMixed", "signal"];

/** Seals data, and returns the sealed bytes. */
export async function seal(data: Sealable, to: To | readonly To[], options: SealOptions = {}): Promise<Bytes> {
    const parts: Bytes[] = [];
    for await (const piece of await sealed(data, to, options)) {
        parts.push(piece);
    }
    return concat(...parts);
}

/** Seals data as text, for places where only text can go. */
export async function sealText(
    data: Sealable,
    to: To | readonly To[],
    options: Omit<SealOptions, "armor"> = {},
): Promise<string> {
    return new TextDecoder().decode(await seal(data, to, { ...options, armor: true }));
}

/** Seals data in constant memory. What comes out of the stream is a sealed file when the stream has ended. */
export async function sealStream(
    data: Sealable,
    to: To | readonly To[],
    options: SealOptions = {},
): Promise<ReadableStream<Bytes>> {
    const input = isStream(data) ? streamFrom(data) : undefined;
    // If the stream is already being read, canceling fails here, and the reader cancels the stream.
    const cancel = async (why: unknown) => input?.cancel(why).catch(() => {});
    try {
        return streamOf(await sealed(input ?? data, to, options), cancel);
    } catch (why) {
        await cancel(why);
        throw why;
    }
}

/** What can be sealed as a folder: a directory of the browser, files that the user has chosen, or a list. */
export type FolderLike = FileSystemDirectoryHandle | Iterable<File> | Iterable<PackInput> | AsyncIterable<PackInput>;

/** Seals a folder with an index, in constant memory. */
export async function sealFolder(
    name: string,
    folder: FolderLike,
    to: To | readonly To[],
    options: Omit<SealOptions, "name" | "modified" | "mode"> = {},
): Promise<ReadableStream<Bytes>> {
    const pack = packFolder(name, entriesOf(folder));
    return streamOf(await sealAll(pack, undefined, "folder", to, { ...options, name }));
}

function entriesOf(folder: FolderLike): Iterable<PackInput> | AsyncIterable<PackInput> {
    if ("kind" in folder && folder.kind === "directory") {
        return fromDirectory(folder);
    }
    if (Symbol.iterator in folder) {
        const list = Array.from(folder as Iterable<File | PackInput>);
        const files = typeof File !== "undefined" && list.every(entry => entry instanceof File);
        return files ? fromFiles(list as File[]) : (list as PackInput[]);
    }
    return folder as AsyncIterable<PackInput>;
}

/** Data as a stream, with their length where it is known. */
function sealed(data: Sealable, to: To | readonly To[], options: SealOptions): Promise<AsyncGenerator<Bytes>> {
    if (typeof data === "string") {
        const bytes = new TextEncoder().encode(data);
        return sealAll(once(bytes), bytes.length, kindOf(options), to, options);
    }
    if (isStream(data)) {
        return sealAll(read(streamFrom(data)), undefined, kindOf(options), to, options);
    }
    if (typeof Blob !== "undefined" && data instanceof Blob) {
        const file = typeof File !== "undefined" && data instanceof File ? data : undefined;
        // A file may have a name that cannot be sealed. It is sealed without a name then.
        const named = file !== undefined && nameOf(file.name) !== undefined;
        const own = file && { modified: file.lastModified, ...(named ? { name: file.name } : {}) };
        return sealAll(read(data.stream()), data.size, file ? "file" : kindOf(options), to, { ...own, ...options });
    }
    if (isSource(data)) {
        return sealAll(pieces(data), data.size, kindOf(options), to, options);
    }
    const bytes = plainBytes(data as Uint8Array | ArrayBuffer);
    return sealAll(once(bytes), bytes.length, kindOf(options), to, options);
}

/** Data with a name are a file. */
function kindOf(options: SealOptions): Kind {
    return options.name === undefined ? "bytes" : "file";
}

async function* once(bytes: Bytes): AsyncGenerator<Bytes, void, void> {
    yield bytes;
}

async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Bytes, void, void> {
    const reader = stream.getReader();
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) {
                return;
            }
            yield plainBytes(value);
        }
    } finally {
        await reader.cancel().catch(() => {});
    }
}

async function* pieces(data: Source): AsyncGenerator<Bytes, void, void> {
    const step = 1 << 20;
    for (let at = 0; at < data.size; at += step) {
        yield take(data, at, Math.min(step, data.size - at));
    }
}

async function sealAll(
    data: AsyncGenerator<Bytes, void, void>,
    length: number | undefined,
    kind: Kind,
    to: To | readonly To[],
    options: SealOptions,
): Promise<AsyncGenerator<Bytes, void, void>> {
    checkOptions(options, OPTIONS);
    const list = recipientList(to, options.allowMixed ?? false);
    const input = watched(data, length, options.signal);
    if (options.age) {
        if (options.hideLength) {
            throw new TypeError("an age file cannot hide the length of its data");
        }
        const file = sealAgeStream(input, list, { allowMixed: options.allowMixed ?? false });
        return options.armor ? armored(file, "AGE ENCRYPTED FILE") : file;
    }
    const file = sealDeadpan(input, length, kind, list, options);
    return options.armor ? armored(file) : file;
}

/** Refuses an empty list, and a list that is classical as a whole because of a part of it. */
function recipientList(to: To | readonly To[], allowMixed: boolean): readonly To[] {
    const list = Array.isArray(to) ? (to as readonly To[]) : [to as To];
    if (list.length === 0) {
        throw new TypeError("no recipient");
    }
    for (const one of list) {
        if (!(one instanceof PublicKey) && !(one instanceof Passphrase)) {
            throw new TypeError("a recipient is a PublicKey or a Passphrase");
        }
    }
    if (list.filter(one => one instanceof Passphrase).length > 1) {
        throw new TypeError("a file has at most one passphrase");
    }
    const keys = list.filter(one => one instanceof PublicKey);
    const classical = keys.find(key => key.kem.mode === "classical");
    if (!allowMixed && classical !== undefined && keys.some(key => key.kem.mode !== "classical")) {
        throw new TypeError(`a key of ${classical.kind} is classical, which would make the whole file classical`);
    }
    return list;
}

/** Refuses data that turn out to have another length than they had before. */
async function* watched(
    data: AsyncGenerator<Bytes, void, void>,
    length: number | undefined,
    signal: AbortSignal | undefined,
): AsyncGenerator<Bytes, void, void> {
    let seen = 0;
    for await (const piece of data) {
        signal?.throwIfAborted();
        seen += piece.length;
        yield piece;
    }
    signal?.throwIfAborted();
    if (length !== undefined && seen !== length) {
        throw new Error("the data changed their length while they were sealed");
    }
}

async function* sealDeadpan(
    data: AsyncGenerator<Bytes, void, void>,
    length: number | undefined,
    kind: Kind,
    to: readonly To[],
    options: SealOptions,
): AsyncGenerator<Bytes, void, void> {
    const fileKey = random(32);
    const recipients: Recipient[] = [];
    for (const one of to) {
        recipients.push(
            one instanceof Passphrase
                ? await toPassphrase(one, fileKey, PREAMBLE)
                : await toKey(one, fileKey, PREAMBLE),
        );
    }
    const box = await sealBox(metadataOf(kind, options), fileKey);
    yield await writeHeader(fileKey, recipients, box, slackOf(recipients, box, length));
    const [keys, floe] = await SegmentKeys.create(fileKey, PREAMBLE);
    yield floe;
    yield* sealSegments(options.hideLength ? padded(data) : data, keys);
}

function metadataOf(kind: Kind, options: SealOptions): Metadata {
    const name = options.name === undefined ? undefined : nameOf(options.name);
    if (options.name !== undefined && name === undefined) {
        throw new RangeError("a name is the last part of a path, of at most 4096 bytes, without slashes");
    }
    if (options.mode !== undefined && !(options.mode >= 0 && options.mode <= 0o7777)) {
        throw new RangeError("permission bits are a number up to 0o7777");
    }
    return {
        kind,
        hiddenLength: options.hideLength ?? false,
        compressed: false,
        ...(options.modified === undefined ? {} : { modified: timeOf(options.modified) }),
        ...(options.mode === undefined ? {} : { mode: options.mode }),
        ...(name === undefined ? {} : { name }),
    };
}

/** Above this length, a header has slack, so that its recipients can be changed in place. */
const SHORT = 524_224;
const SLACK = 9376;
const ALIGNMENT = 4096;

/** Returns the slack after which the first segment begins on a multiple of 4096. */
function slackOf(recipients: readonly Recipient[], box: Bytes, length: number | undefined): number {
    if (length === undefined || length <= SHORT) {
        return 0;
    }
    const bodies = recipients.reduce((sum, { body }) => sum + 4 + body.length, 0);
    const least = FIXED + bodies + 4 + box.length + SLACK + MAC + FLOE_HEADER;
    return SLACK + (Math.ceil(least / ALIGNMENT) * ALIGNMENT - least);
}

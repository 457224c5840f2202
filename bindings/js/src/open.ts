/** Opening sealed files, of Deadpan's format and of age. */

import { isAge, openAge, openAgeStream } from "./age/age.ts";
import { equal, text, utf8, type Bytes } from "./bytes.ts";
import { LimitError, NotSealedError, SignatureError, TamperedError, TruncatedError } from "./error.ts";
import { Folder } from "./folder/folder.ts";
import { armorSource, isArmor, WINDOW } from "./format/armor.ts";
import { Expanded, expandStream } from "./format/compression.ts";
import { derive, FIXED, headerLength, readHeader, type Header } from "./format/header.ts";
import { openBox, type Kind, type ReadMetadata, type Time } from "./format/metadata.ts";
import { unpadded, unpaddedLength } from "./format/padme.ts";
import { FLOE_HEADER, openSegments, Payload, SegmentKeys } from "./format/payload.ts";
import { findFileKey, MAX_COST, type Found, type MaxCost } from "./format/recipients.ts";
import { Share } from "./format/threshold.ts";
import { StreamVerifier, Trailer } from "./format/trailer.ts";
import { PrivateKey } from "./key/key.ts";
import { SshKey } from "./key/openssh.ts";
import type { SignerKey } from "./key/signer.ts";
import { checkOptions } from "./option.ts";
import { Passphrase } from "./passphrase.ts";
import { Pieces, source, streamFrom, streamOf, take, type Source, type SourceLike, type StreamLike } from "./source.ts";

/** What can open a file: private keys, passphrases, shares of a threshold, and keys of OpenSSH for age files. */
export type Key = PrivateKey | Passphrase | Share | SshKey;

/** Options of functions that open. */
export interface OpenOptions {
    /**
     * What a try of a passphrase may cost at most. The sender chooses the cost. The default is 2.5 GiB and 3 passes.
     */
    maxCost?: MaxCost;
    /** Who has to have signed: one of these keys. Without this option, signatures are verified, but not required. */
    signers?: readonly SignerKey[];
    /**
     * With `signers`, also accepts a file that they have sealed for somebody else. Such a file was forwarded: its
     * signers may not have meant it for you.
     */
    allowForwarded?: boolean;
}

const OPTIONS = ["maxCost", "signers", "allowForwarded"];

/** Who signed a file, and for whom. All signatures were verified. */
export interface Signatures {
    readonly signers: readonly SignerKey[];
    /** When they signed, in seconds since 1970. */
    readonly time: number;
    /** How many recipients they sealed for, or undefined if they sealed for anyone. */
    readonly recipients: number | undefined;
    /** Whether the recipient that opened the file is not among those: somebody has forwarded the file. */
    readonly forwarded: boolean;
}

/** What is sealed beside the data. */
export interface Description {
    readonly format: "deadpan" | "age";
    readonly kind: Kind;
    /** The name of the file or folder. Bytes that are not UTF-8 are shown as U+FFFD. */
    readonly name?: string;
    /** The name's bytes. */
    readonly rawName?: Bytes;
    readonly modified?: Time;
    /** Unix's permission bits. */
    readonly mode?: number;
    readonly hiddenLength: boolean;
    readonly compressed: boolean;
}

/** Options of functions that hand out data. */
export interface StreamOptions {
    offset?: number;
    length?: number;
    signal?: AbortSignal;
}

/** A file that is open: its data can be read at any place. Each piece is verified before it is handed out. */
export class OpenedFile implements Source {
    readonly description: Description;
    /** The length of the data. */
    readonly size: number;
    readonly signatures: Signatures | undefined;
    readonly #range: (begin: number, end: number) => AsyncGenerator<Bytes, void, void>;

    /** @internal */
    constructor(
        description: Description,
        size: number,
        signatures: Signatures | undefined,
        range: (begin: number, end: number) => AsyncGenerator<Bytes, void, void>,
    ) {
        this.description = description;
        this.size = size;
        this.signatures = signatures;
        this.#range = range;
    }

    /** Returns the data from an offset on. A range that ends after the data is a `RangeError`. */
    async read(offset: number, length: number): Promise<Bytes> {
        this.#check(offset, length);
        const data = allocated(length);
        let at = 0;
        for await (const piece of this.#range(offset, offset + length)) {
            data.set(piece, at);
            at += piece.length;
        }
        return data;
    }

    /** Returns all data. */
    bytes(): Promise<Bytes> {
        return this.read(0, this.size);
    }

    /** Returns the data, or a part of them, as a stream. If the stream fails, what came out of it is not all. */
    stream(options: StreamOptions = {}): ReadableStream<Bytes> {
        checkOptions(options, ["offset", "length", "signal"]);
        const offset = options.offset ?? 0;
        const length = options.length ?? Math.max(0, this.size - offset);
        this.#check(offset, length);
        return streamOf(abortable(this.#range(offset, offset + length), options.signal));
    }

    /** Opens the folder that the data are. */
    async folder(): Promise<Folder> {
        // An age file does not tell whether its data are a folder.
        if (this.description.format === "deadpan" && this.description.kind !== "folder") {
            throw new TypeError("the data are not a folder");
        }
        return Folder.open(this);
    }

    #check(offset: number, length: number): void {
        if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) {
            throw new RangeError("an offset and a length are whole numbers from 0 on");
        }
        if (offset + length > this.size) {
            throw new RangeError(`the range ends after the data, which have ${this.size} bytes`);
        }
    }
}

function allocated(length: number): Bytes {
    try {
        return new Uint8Array(length);
    } catch {
        throw new LimitError(`the data have ${length} bytes, which do not fit into memory`);
    }
}

/** Yields the data, and fails as soon as the signal aborts, even if a read of the data never ends. */
async function* abortable(
    data: AsyncGenerator<Bytes, void, void>,
    signal: AbortSignal | undefined,
): AsyncGenerator<Bytes, void, void> {
    if (signal === undefined) {
        return yield* data;
    }
    signal.throwIfAborted();
    // `Promise.race` with one promise for all pieces would keep all pieces in memory.
    let fail = (_why: unknown): void => {};
    const abort = () => fail(signal.reason);
    signal.addEventListener("abort", abort);
    try {
        for (;;) {
            const { done, value } = await new Promise<IteratorResult<Bytes, void>>((resolve, reject) => {
                fail = reject;
                data.next().then(resolve, reject);
            });
            if (done) {
                return;
            }
            yield value;
            signal.throwIfAborted();
        }
    } catch (why) {
        // What was waited for may have failed because it was aborted.
        signal.throwIfAborted();
        throw why;
    } finally {
        signal.removeEventListener("abort", abort);
        data.return().catch(() => {});
    }
}

/** Opens sealed bytes, a `Blob` or armored text, and returns all data. */
export async function open(
    data: SourceLike | string,
    keys: Key | readonly Key[],
    options: OpenOptions = {},
): Promise<Bytes> {
    return (await openFile(data, keys, options)).bytes();
}

/**
 * Opens a sealed file for reading at any place. `data` is bytes, a `Blob`, or any object with `size` and `read`, such
 * as a file on a server (`remote`). The header, the last segment and all signatures are verified at once, and each
 * other segment before its data are handed out.
 */
export async function openFile(
    data: SourceLike | string,
    keys: Key | readonly Key[],
    options: OpenOptions = {},
): Promise<OpenedFile> {
    checkOptions(options, OPTIONS);
    const given = keyList(keys);
    const maxCost = options.maxCost ?? MAX_COST;
    let from = source(typeof data === "string" ? utf8(data) : data);
    let start = await startOf(from);
    if (isArmor(start)) {
        from = await armorSource(from);
        start = await startOf(from);
    }
    if (isAge(start)) {
        return openedAge(await openAge(from, ageKeys(given), maxCost), options);
    }
    const header = await headerOf(from);
    const { fileKey, mark } = await verifiedKey(header, given, maxCost);
    const metadata = await openBox(header.box, fileKey, header.preamble);
    const trailer = header.signed ? await Trailer.open(from, header, fileKey, metadata) : undefined;
    const end = trailer?.begin ?? from.size;
    const payload = await Payload.open(from, header.raw.length, end, fileKey, header.preamble);
    if (trailer !== undefined) {
        trailer.belongsTo(payload.segments, payload.length);
        payload.check = (segment, bytes) => trailer.check(segment, bytes);
    }
    const signatures = trailer && (await signaturesOf(trailer, mark));
    require(signatures, options);
    await payload.openLast();
    const stored = metadata.hiddenLength ? await unpaddedLength(payload) : payload.length;
    const range = (begin: number, end: number) => payload.range(begin, end);
    if (!metadata.compressed) {
        return new OpenedFile(descriptionOf(metadata), stored, signatures, range);
    }
    const expanded = await Expanded.open(range, stored);
    const expandedRange = (begin: number, end: number) => expanded.range(begin, end);
    return new OpenedFile(descriptionOf(metadata), expanded.length, signatures, expandedRange);
}

/** Sealed data that arrive in order. */
export interface OpenedStream {
    readonly description: Description;
    /** The data. If the stream fails, what came out of it is not all. */
    readonly stream: ReadableStream<Bytes>;
    /**
     * The signatures, which are known at the end of the stream only: data of a signed file that come out before are
     * authentic for the recipients, and not proven to be the signers'. Rejects if the stream fails.
     */
    readonly signatures: Promise<Signatures | undefined>;
}

/**
 * Opens sealed data that arrive in order, such as a download, in constant memory. Use `openFile` where data can be read
 * at any place: it verifies signatures first.
 */
export async function openStream(
    data: StreamLike,
    keys: Key | readonly Key[],
    options: OpenOptions & { signal?: AbortSignal } = {},
): Promise<OpenedStream> {
    checkOptions(options, [...OPTIONS, "signal"]);
    const given = keyList(keys);
    const maxCost = options.maxCost ?? MAX_COST;
    const pieces = new Pieces(streamFrom(data));
    const canceled = (why: unknown) => pieces.cancel(why).catch(() => {});
    // A source that stalls would not notice.
    options.signal?.addEventListener("abort", () => void canceled(options.signal?.reason));
    try {
        options.signal?.throwIfAborted();
        const start = await pieces.peek(WINDOW);
        if (isArmor(start)) {
            // The end of armor decides whether it is valid, so no data could be handed out earlier.
            const { signal: _, ...rest } = options;
            const opened = await openFile(await pieces.blob(), given, rest);
            return {
                description: opened.description,
                stream: opened.stream(options.signal === undefined ? {} : { signal: options.signal }),
                signatures: Promise.resolve(opened.signatures),
            };
        }
        if (isAge(start)) {
            require(undefined, options);
            const opened = await openAgeStream(pieces, ageKeys(given), maxCost);
            return {
                description: AGE,
                stream: streamOf(abortable(opened, options.signal), canceled),
                signatures: Promise.resolve(undefined),
            };
        }
        const fixed = await pieces.peek(FIXED);
        const length = headerLength(fixed);
        if (fixed.length < FIXED) {
            throw new TruncatedError();
        }
        return await streamed(pieces, readHeader((await pieces.exactly(length)).slice()), given, maxCost, options);
    } catch (why) {
        void canceled(why);
        options.signal?.throwIfAborted();
        throw why;
    }
}

async function streamed(
    pieces: Pieces,
    header: Header,
    keys: readonly Key[],
    maxCost: MaxCost,
    options: OpenOptions & { signal?: AbortSignal },
): Promise<OpenedStream> {
    const { fileKey, mark } = await verifiedKey(header, keys, maxCost);
    const metadata = await openBox(header.box, fileKey, header.preamble);
    if (!header.signed) {
        require(undefined, options);
    }
    const payloadKey = await derive(fileKey, "deadpan v1 payload", header.preamble);
    const segmentKeys = await SegmentKeys.open(await pieces.exactly(FLOE_HEADER), payloadKey, header.preamble);
    let resolve!: (signatures: Signatures | undefined) => void;
    let reject!: (why: unknown) => void;
    const signatures = new Promise<Signatures | undefined>((yes, no) => ([resolve, reject] = [yes, no]));
    const canceled = async (why: unknown) => {
        reject(new Error("the stream was not read to its end"));
        await pieces.cancel(why).catch(() => {});
    };
    // Who does not ask for signatures hears of the failure from the stream.
    signatures.catch(() => {});

    async function* segments(): AsyncGenerator<Bytes, void, void> {
        const verifier = header.signed ? new StreamVerifier() : undefined;
        let i = 0;
        for await (const segment of openSegments(pieces, segmentKeys)) {
            verifier?.add(i++, segment);
            yield segment;
        }
        if (verifier === undefined) {
            if (await pieces.has(1)) {
                throw new TamperedError("something stands after the end of the sealed data");
            }
            resolve(undefined);
            return;
        }
        const trailer = await verifier.finish(source(await pieces.blob()), header, fileKey, metadata);
        const found = await signaturesOf(trailer, mark);
        require(found, options);
        resolve(found);
    }
    async function* data(): AsyncGenerator<Bytes, void, void> {
        try {
            let stored: AsyncGenerator<Bytes, void, void> = segments();
            stored = metadata.hiddenLength ? unpadded(stored) : stored;
            yield* metadata.compressed ? expandStream(stored) : stored;
        } catch (why) {
            reject(why);
            throw why;
        } finally {
            await canceled(undefined);
        }
    }
    return {
        description: descriptionOf(metadata),
        stream: streamOf(abortable(data(), options.signal), canceled),
        signatures,
    };
}

export function keyList(keys: Key | readonly Key[]): readonly Key[] {
    const list = Array.isArray(keys) ? (keys as readonly Key[]) : [keys as Key];
    for (const key of list) {
        const known = [PrivateKey, Passphrase, Share, SshKey].some(kind => key instanceof kind);
        if (!known) {
            throw new TypeError("a key is a PrivateKey, a Passphrase, a Share or an SshKey");
        }
    }
    return list;
}

function ageKeys(keys: readonly Key[]) {
    return {
        privateKeys: keys.filter(key => key instanceof PrivateKey),
        sshKeys: keys.filter(key => key instanceof SshKey),
        passphrases: keys.filter(key => key instanceof Passphrase),
    };
}

async function startOf(from: Source): Promise<Bytes> {
    return take(from, 0, Math.min(from.size, WINDOW));
}

/** Reads the header of a file. */
export async function headerOf(from: Source): Promise<Header> {
    const start = await take(from, 0, Math.min(from.size, FIXED));
    if (start.length === 0) {
        throw new NotSealedError("not a sealed file: it is empty");
    }
    const length = headerLength(start);
    return readHeader((await take(from, 0, length)).slice());
}

async function verifiedKey(header: Header, keys: readonly Key[], maxCost: MaxCost): Promise<Found> {
    const found = await findFileKey(
        header,
        keys.filter((key): key is Exclude<Key, SshKey> => !(key instanceof SshKey)),
        maxCost,
    );
    await header.verify(found.fileKey);
    return found;
}

async function signaturesOf(trailer: Trailer, mark: Bytes): Promise<Signatures> {
    const { time, audience } = trailer.statement;
    const forwarded = !(await trailer.names(mark));
    return { signers: trailer.signers, time, recipients: audience?.marks.length, forwarded };
}

/** Refuses a file that none of the wanted signers has signed for the recipient who opens it. */
function require(signatures: Signatures | undefined, { signers: wanted, allowForwarded }: OpenOptions): void {
    if (wanted === undefined) {
        return;
    }
    if (signatures === undefined) {
        throw new SignatureError("the file is not signed");
    }
    if (!signatures.signers.some(({ ssh }) => wanted.some(key => equal(key.ssh, ssh)))) {
        throw new SignatureError("none of the expected signers has signed the file");
    }
    if (signatures.forwarded && allowForwarded !== true) {
        throw new SignatureError("signed, but for others: somebody has forwarded the file");
    }
}

function descriptionOf({ kind, name, modified, mode, hiddenLength, compressed }: ReadMetadata): Description {
    return {
        format: "deadpan",
        kind,
        ...(name === undefined ? {} : { name: text(name) ?? new TextDecoder().decode(name), rawName: name }),
        ...(modified === undefined ? {} : { modified }),
        ...(mode === undefined ? {} : { mode }),
        hiddenLength,
        compressed,
    };
}

const AGE: Description = { format: "age", kind: "bytes", hiddenLength: false, compressed: false };

function openedAge(data: Source, options: OpenOptions): OpenedFile {
    require(undefined, options);
    return new OpenedFile(AGE, data.size, undefined, async function* (begin, end) {
        const step = 1 << 20;
        for (let at = begin; at < end; at += step) {
            yield take(data, at, Math.min(step, end - at));
        }
    });
}

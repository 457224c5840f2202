/** The payload: FLOE with AES-256-GCM and SHA-384. docs/format-seal.md, "Payload". */

import { concat, equal, Fields, number, type Bytes } from "../bytes.ts";
import { Gcm, hkdfExpand, label, random } from "../crypto/symmetric.ts";
import { LimitError, NewerError, TamperedError, TruncatedError } from "../error.ts";
import { take, type Pieces, type Source } from "../source.ts";
import { derive } from "./header.ts";

/** The length of FLOE's header. */
export const FLOE_HEADER = 74;
/** What a segment has in addition to its data. */
export const OVERHEAD = 32;
/** The segment length that writers use. */
export const SEGMENT = 262_144;
const ROTATION = 2 ** 20;
const MOST_SEGMENTS = 2 ** 40;
/** This many segments are opened or sealed at a time: WebCrypto works on several cores. */
const IN_FLIGHT = 4;

/** A function that looks at each opened segment before it is released, and throws if it is not what was signed. */
export type SegmentCheck = (segment: number, data: Bytes) => Promise<void>;

/** The keys of a payload, which open and seal single segments. */
export class SegmentKeys {
    /** The length of a segment, S. */
    readonly segment: number;
    readonly #prefix: Bytes;
    readonly #aad: Bytes;
    readonly #messageKey: Bytes;
    readonly #rotation: number;
    #ciphers = new Map<number, Promise<Gcm>>();

    private constructor(segment: number, prefix: Bytes, aad: Bytes, messageKey: Bytes, rotation: number) {
        this.segment = segment;
        this.#prefix = prefix;
        this.#aad = aad;
        this.#messageKey = messageKey;
        this.#rotation = rotation;
    }

    /**
     * Makes the keys of the payload that begins with this header. `rotation` differs in FLOE's published vectors only.
     */
    static async open(header: Bytes, key: Bytes, aad: Bytes, least = 4096, rotation = ROTATION): Promise<SegmentKeys> {
        const fields = new Fields(header);
        const suite = fields.number(2);
        const segment = fields.number(4);
        const iv = fields.number(4);
        if (suite !== 0 || iv !== 32) {
            throw new NewerError("sealed with a cipher that this version does not know");
        }
        if (segment < least || segment > 2 ** 24) {
            throw new LimitError("the header asks for more than is allowed: its segments have an invalid length");
        }
        const prefix = header.slice(0, 42);
        const tag = await hkdfExpand("SHA-384", key, concat(prefix, label("HEADER_TAG:", aad)), 32);
        if (!equal(tag, header.subarray(42))) {
            throw new TamperedError("the header was changed after sealing");
        }
        return new SegmentKeys(segment, prefix, aad, await SegmentKeys.#message(key, prefix, aad), rotation);
    }

    /** Makes keys for a new payload, and returns them with FLOE's header. */
    static async create(fileKey: Bytes, preamble: Bytes, segment = SEGMENT): Promise<[SegmentKeys, Bytes]> {
        const key = await derive(fileKey, "deadpan v1 payload", preamble);
        const prefix = concat(number(0, 2), number(segment, 4), number(32, 4), random(32));
        const tag = await hkdfExpand("SHA-384", key, concat(prefix, label("HEADER_TAG:", preamble)), 32);
        const message = await SegmentKeys.#message(key, prefix, preamble);
        return [new SegmentKeys(segment, prefix, preamble, message, ROTATION), concat(prefix, tag)];
    }

    static #message(key: Bytes, prefix: Bytes, aad: Bytes): Promise<Bytes> {
        return hkdfExpand("SHA-384", key, concat(prefix, label("MESSAGE_KEY:", aad)), 48);
    }

    /** Opens a segment. Its length tells the caller whether it can be the last one. */
    async open(i: number, final: boolean, segment: Bytes): Promise<Bytes> {
        const begins = new DataView(segment.buffer, segment.byteOffset).getUint32(0);
        if (begins !== (final ? segment.length : 0xffffffff)) {
            throw new TamperedError(`segment ${i} is damaged or was changed after sealing`);
        }
        const cipher = await this.#cipher(i);
        const data = await cipher.open(segment.subarray(4, 16), segment.subarray(16), this.#number(i, final));
        if (data === undefined) {
            throw new TamperedError(`segment ${i} is damaged or was changed after sealing`);
        }
        return data;
    }

    async seal(i: number, final: boolean, data: Bytes): Promise<Bytes> {
        const iv = random(12);
        const sealed = await (await this.#cipher(i)).seal(iv, data, this.#number(i, final));
        return concat(number(final ? data.length + OVERHEAD : 0xffffffff, 4), iv, sealed);
    }

    #number(i: number, final: boolean): Bytes {
        return concat(number(i, 8), number(final ? 1 : 0, 1));
    }

    /** Returns the cipher of a segment. Each 2^20 segments have a key of their own. */
    #cipher(i: number): Promise<Gcm> {
        const period = i - (i % this.#rotation);
        let cipher = this.#ciphers.get(period);
        if (cipher === undefined) {
            const purpose = label("DEK:", number(period, 8), this.#aad);
            cipher = hkdfExpand("SHA-384", this.#messageKey, concat(this.#prefix, purpose), 32).then(Gcm.with);
            // Segments of two periods may be in flight. Older periods are not needed any more.
            if (this.#ciphers.size > 1) {
                this.#ciphers.delete(this.#ciphers.keys().next().value!);
            }
            this.#ciphers.set(period, cipher);
        }
        return cipher;
    }
}

/** A payload in a source, any part of which can be opened. */
export class Payload {
    readonly segments: number;
    /** The length of the data, which is authentic as soon as the last segment was opened. */
    readonly length: number;
    readonly segment: number;
    check: SegmentCheck | undefined;
    readonly #source: Source;
    readonly #keys: SegmentKeys;
    readonly #at: number;
    readonly #lastLength: number;
    #lastOpened = false;

    private constructor(source: Source, keys: SegmentKeys, at: number, end: number) {
        this.#source = source;
        this.#keys = keys;
        this.#at = at;
        this.segment = keys.segment;
        const rest = end - at;
        this.segments = Math.ceil(rest / this.segment);
        this.#lastLength = rest - (this.segments - 1) * this.segment;
        if (rest < OVERHEAD || this.#lastLength < OVERHEAD) {
            throw new TruncatedError();
        }
        if (this.segments > MOST_SEGMENTS) {
            throw new LimitError("the sealed data have more segments than are allowed");
        }
        this.length = rest - OVERHEAD * this.segments;
    }

    /** Reads FLOE's header at `begin`. The payload ends at `end`. */
    static async open(source: Source, begin: number, end: number, fileKey: Bytes, preamble: Bytes): Promise<Payload> {
        const key = await derive(fileKey, "deadpan v1 payload", preamble);
        if (begin + FLOE_HEADER > end) {
            throw new TruncatedError();
        }
        const keys = await SegmentKeys.open(await take(source, begin, FLOE_HEADER), key, preamble);
        return new Payload(source, keys, begin + FLOE_HEADER, end);
    }

    /** The data of a segment that is not the last. */
    get step(): number {
        return this.segment - OVERHEAD;
    }

    async openSegment(i: number): Promise<Bytes> {
        const final = i === this.segments - 1;
        const length = final ? this.#lastLength : this.segment;
        return this.#opened(i, await take(this.#source, this.#at + i * this.segment, length));
    }

    /** Opens the last segment, so that the length of the data is authentic. */
    async openLast(): Promise<void> {
        if (!this.#lastOpened) {
            await this.openSegment(this.segments - 1);
            this.#lastOpened = true;
        }
    }

    /** Yields the data from `begin` up to `end`, in pieces of at most a segment. */
    async *range(begin: number, end: number): AsyncGenerator<Bytes, void, void> {
        await this.openLast();
        const last = Math.ceil(end / this.step);
        // While the segments of one stretch are opened, the next stretches are read. Long stretches need more memory.
        // They are faster only if each read takes long.
        const { segments, stretches } = this.#source.slow
            ? { segments: 16, stretches: 2 }
            : { segments: 6, stretches: 1 };
        const each = atOnce(segments, this.segment);
        const reads: Promise<Bytes>[] = [];
        const ending = new Ending();
        let next = Math.floor(begin / this.step);
        const readAhead = (): void => {
            while (next < last && reads.length < stretches && !ending.failed) {
                const from = this.#at + next * this.segment;
                const to = Math.min(this.#at + Math.min(next + each, last) * this.segment, this.#end);
                const read = take(this.#source, from, to - from);
                // An error that comes while the consumer waits is not unhandled: a later turn awaits the promise.
                read.catch(() => {});
                reads.push(read);
                next += each;
            }
        };
        let at = next;
        readAhead();
        const flying: { readonly from: number; readonly data: Promise<Bytes> }[] = [];
        while (flying.length > 0 || reads.length > 0) {
            while (reads.length > 0 && flying.length < IN_FLIGHT) {
                const bytes = await ending.unless(reads.shift()!);
                if (bytes === undefined) {
                    reads.length = 0;
                    break;
                }
                readAhead();
                for (let place = 0; place < bytes.length; place += this.segment, at++) {
                    const data = this.#opened(at, bytes.subarray(place, place + this.segment));
                    data.catch(() => {});
                    flying.push({ from: at * this.step, data });
                }
            }
            const first = flying.shift();
            if (first !== undefined) {
                const opened = await first.data;
                const piece = opened.subarray(
                    Math.max(0, begin - first.from),
                    Math.min(opened.length, end - first.from),
                );
                if (piece.length > 0) {
                    yield piece;
                }
            }
        }
        ending.throw();
    }

    get #end(): number {
        return this.#at + (this.segments - 1) * this.segment + this.#lastLength;
    }

    async #opened(i: number, segment: Bytes): Promise<Bytes> {
        const data = await this.#keys.open(i, i === this.segments - 1, segment);
        await this.check?.(i, data);
        return data;
    }
}

/** Yields the data of a payload in a stream, and ends after the last segment. */
export async function* openSegments(pieces: Pieces, keys: SegmentKeys): AsyncGenerator<Bytes, void, void> {
    const flying: Promise<Bytes>[] = [];
    const most = atOnce(IN_FLIGHT, keys.segment);
    const ending = new Ending();
    let final = false;
    const next = async (i: number): Promise<Bytes> => {
        const start = await pieces.peek(4);
        if (start.length < 4) {
            throw new TruncatedError();
        }
        const length = new DataView(start.buffer, start.byteOffset).getUint32(0);
        final = length !== 0xffffffff;
        if (final && (length < OVERHEAD || length > keys.segment)) {
            throw new TamperedError(`segment ${i} is damaged or was changed after sealing`);
        }
        return pieces.exactly(final ? length : keys.segment);
    };
    for (let i = 0; !final || flying.length > 0; i++) {
        const segment = final ? undefined : await ending.unless(next(i));
        if (segment !== undefined) {
            const opened = keys.open(i, final, segment);
            opened.catch(() => {});
            flying.push(opened);
        }
        final ||= ending.failed;
        if (flying.length > 0 && (final || flying.length === most)) {
            yield await flying.shift()!;
        }
    }
    ending.throw();
}

/** Keeps the error of a read until all data before the failed read are handed out. */
class Ending {
    #why: { readonly error: unknown } | undefined;

    get failed(): boolean {
        return this.#why !== undefined;
    }

    /** Returns what was read, or `undefined` if reading fails. */
    async unless<Result>(read: Promise<Result>): Promise<Result | undefined> {
        try {
            return await read;
        } catch (error) {
            this.#why = { error };
            return undefined;
        }
    }

    throw(): void {
        if (this.#why !== undefined) {
            throw this.#why.error;
        }
    }
}

/** Seals what a stream yields, as segments. */
export async function* sealSegments(data: AsyncIterable<Bytes>, keys: SegmentKeys): AsyncGenerator<Bytes, void, void> {
    const flying: Promise<Bytes>[] = [];
    const most = atOnce(IN_FLIGHT, keys.segment);
    let i = 0;
    for await (const { piece, final } of equalPieces(data, keys.segment - OVERHEAD)) {
        const sealed = keys.seal(i, final, piece);
        sealed.catch(() => {});
        flying.push(sealed);
        i++;
        if (flying.length === most) {
            yield await flying.shift()!;
        }
    }
    for (const sealed of flying) {
        yield await sealed;
    }
}

interface Piece {
    readonly piece: Bytes;
    readonly final: boolean;
}

/**
 * Cuts a stream into pieces of one length. The last piece is shorter, or full, and is empty only if there are no data.
 */
async function* equalPieces(data: AsyncIterable<Bytes>, step: number): AsyncGenerator<Piece, void, void> {
    let held = new Uint8Array(step);
    let filled = 0;
    for await (let bytes of data) {
        while (bytes.length > 0) {
            // A full piece is kept until something follows it, because it may be the last.
            if (filled === step) {
                yield { piece: held, final: false };
                held = new Uint8Array(step);
                filled = 0;
            }
            const part = bytes.subarray(0, step - filled);
            held.set(part, filled);
            filled += part.length;
            bytes = bytes.subarray(part.length);
        }
    }
    yield { piece: held.subarray(0, filled), final: true };
}

/** Returns how many segments to have at a time: `most`, or fewer, so that large segments do not need much memory. */
function atOnce(most: number, segment: number): number {
    return Math.max(2, Math.min(most, Math.floor((most * SEGMENT) / segment)));
}

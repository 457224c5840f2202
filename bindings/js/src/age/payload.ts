/** Payloads: a nonce, and chunks. Payloads are opened at any place or as a stream, and sealed as a stream. */

import { plainBytes, type Bytes } from "../bytes.ts";
import { random } from "../crypto/symmetric.ts";
import { TruncatedError } from "../error.ts";
import { take, type Pieces, type Source } from "../source.ts";
import { CHUNK, Chunks, dataLength, SEALED_CHUNK, shapeOf } from "./chunks.ts";
import { payloadKey } from "./file-key.ts";

const NONCE = 16;
/** The number of chunks that are read and opened at once: 2 MiB. */
const AT_ONCE = 32;

/** The data of a payload, which can be read at any place. */
export class PayloadSource implements Source {
    readonly size: number;
    readonly #chunks: Chunks;
    readonly #sealed: Source;
    readonly #begin: number;
    readonly #end: number;
    readonly #count: number;
    /** The chunk that was read last, because short reads often follow each other in one chunk. */
    #held: { chunk: number; data: Promise<Bytes> } | undefined;

    private constructor(chunks: Chunks, sealed: Source, begin: number, end: number) {
        const shape = shapeOf(end - begin);
        this.#chunks = chunks;
        this.#sealed = sealed;
        this.#begin = begin;
        this.#end = end;
        this.#count = shape.count;
        this.size = shape.size;
    }

    /** Opens the payload that begins here. The last chunk is opened, so that the length is authentic. */
    static async open(sealed: Source, begin: number, fileKey: Bytes): Promise<PayloadSource> {
        const end = sealed.size;
        if (end < begin + NONCE) {
            throw new TruncatedError("the nonce of the sealed data is missing");
        }
        const chunks = await Chunks.with(await payloadKey(fileKey, await take(sealed, begin, NONCE)));
        const payload = new PayloadSource(chunks, sealed, begin + NONCE, end);
        await payload.#chunk(payload.#count - 1);
        return payload;
    }

    async read(offset: number, length: number): Promise<Bytes> {
        if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) {
            throw new RangeError("an offset and a length must be numbers without a sign or a fraction");
        }
        const end = Math.min(offset + length, this.size);
        if (offset >= end) {
            return new Uint8Array();
        }
        const first = Math.floor(offset / CHUNK);
        const after = Math.ceil(end / CHUNK);
        const from = first * CHUNK;
        if (after - first === 1) {
            return (await this.#chunk(first)).slice(offset - from, end - from);
        }
        const data = new Uint8Array(Math.min(after * CHUNK, this.size) - from);
        let sealed = this.#take(first, after);
        for (let at = first; at < after; at += AT_ONCE) {
            const now = await sealed;
            // The next chunks are read while these are opened.
            sealed = this.#take(at + AT_ONCE, after);
            const output = data.subarray((at - first) * CHUNK, (at - first + AT_ONCE) * CHUNK);
            await this.#open(at, Math.min(at + AT_ONCE, after), now, output);
        }
        return data.subarray(offset - from, end - from);
    }

    /** Reads the next sealed chunks, but none from `after` on. */
    #take(at: number, after: number): Promise<Bytes> {
        if (at >= after) {
            return Promise.resolve(new Uint8Array());
        }
        const begin = this.#begin + at * SEALED_CHUNK;
        const end = Math.min(this.#begin + Math.min(at + AT_ONCE, after) * SEALED_CHUNK, this.#end);
        const bytes = take(this.#sealed, begin, end - begin);
        // A failure counts when the bytes are wanted. If the chunks before are damaged, they never are.
        bytes.catch(() => undefined);
        return bytes;
    }

    async #open(first: number, after: number, sealed: Bytes, data: Bytes): Promise<void> {
        const damage = await this.#chunks.open(first, after === this.#count, sealed, data);
        if (damage !== undefined) {
            throw damage.why;
        }
    }

    #chunk(chunk: number): Promise<Bytes> {
        if (this.#held?.chunk === chunk) {
            return this.#held.data;
        }
        const data = this.#take(chunk, chunk + 1).then(async sealed => {
            const data = new Uint8Array(dataLength(sealed.length));
            await this.#open(chunk, chunk + 1, sealed, data);
            return data;
        });
        const held = { chunk, data };
        this.#held = held;
        data.catch(() => {
            if (this.#held === held) {
                this.#held = undefined;
            }
        });
        return data;
    }
}

/** Yields the data of a payload, whose nonce is the next of the pieces. */
export async function* openPayload(pieces: Pieces, fileKey: Bytes): AsyncGenerator<Bytes, void, void> {
    const nonce = await pieces.upTo(NONCE);
    if (nonce.length < NONCE) {
        throw new TruncatedError("the nonce of the sealed data is missing");
    }
    const chunks = await Chunks.with(await payloadKey(fileKey, nonce));
    let first = 0;
    // The first bytes come soon, and later ones in pieces that are opened fast.
    for (let count = 1; ; count = Math.min(2 * count, AT_ONCE)) {
        const hasMore = await pieces.has(count * SEALED_CHUNK + 1);
        const sealed = await pieces.upTo(count * SEALED_CHUNK);
        const data = new Uint8Array(dataLength(sealed.length));
        const damage = await chunks.open(first, !hasMore, sealed, data);
        const authentic = damage === undefined ? data : data.subarray(0, damage.at);
        if (authentic.length > 0) {
            yield authentic;
        }
        if (damage !== undefined) {
            throw damage.why;
        }
        if (!hasMore) {
            return;
        }
        first += count;
    }
}

/** Yields a payload with its nonce. */
export async function* sealPayload(data: AsyncIterable<Uint8Array>, fileKey: Bytes): AsyncGenerator<Bytes, void, void> {
    const nonce = random(NONCE);
    const chunks = await Chunks.with(await payloadKey(fileKey, nonce));
    yield nonce;
    const held = new Uint8Array(AT_ONCE * CHUNK);
    let length = 0;
    let first = 0;
    for await (const piece of data) {
        let rest = plainBytes(piece);
        while (rest.length > 0) {
            // Full chunks are sealed only when more data follow, because the last chunk is sealed in another way.
            if (length === held.length) {
                yield await chunks.seal(first, false, held);
                first += AT_ONCE;
                length = 0;
            }
            const part = rest.subarray(0, held.length - length);
            held.set(part, length);
            length += part.length;
            rest = rest.subarray(part.length);
        }
    }
    yield await chunks.seal(first, true, held.subarray(0, length));
}

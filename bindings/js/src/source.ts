/** Sources of bytes that can be read at any place: memory, a `Blob`, a file on a server. */

import { concat, plainBytes, type Bytes } from "./bytes.ts";
import { TruncatedError } from "./error.ts";

/** Bytes that can be read at any place. `read` returns `length` bytes, or fewer if the source became shorter. */
export interface Source {
    readonly size: number;
    read(offset: number, length: number): Promise<Uint8Array>;
}

/** What functions accept as data that can be read at any place. */
export type SourceLike = Uint8Array | ArrayBuffer | Blob | Source;

export function isSource(value: unknown): value is Source {
    return typeof value === "object" && value !== null && "size" in value && "read" in value;
}

/** Returns a source for bytes, a `Blob`, or any object with `size` and `read`. */
export function source(data: SourceLike): Source {
    if (data instanceof Uint8Array || data instanceof ArrayBuffer) {
        return new Memory(plainBytes(data));
    }
    if (typeof Blob !== "undefined" && data instanceof Blob) {
        return {
            size: data.size,
            read: async (offset, length) => new Uint8Array(await data.slice(offset, offset + length).arrayBuffer()),
        };
    }
    if (isSource(data)) {
        return data;
    }
    throw new TypeError("data must be bytes, a Blob, or an object with size and read(offset, length)");
}

class Memory implements Source {
    readonly size: number;
    readonly #bytes: Bytes;

    constructor(bytes: Bytes) {
        this.#bytes = bytes;
        this.size = bytes.length;
    }

    async read(offset: number, length: number): Promise<Bytes> {
        return this.#bytes.subarray(offset, offset + length);
    }
}

/** Reads exactly `length` bytes. The length is checked before anything is read. */
export async function take(from: Source, offset: number, length: number): Promise<Bytes> {
    if (offset < 0 || offset + length > from.size) {
        throw new TruncatedError();
    }
    const bytes = plainBytes(await from.read(offset, length));
    if (bytes.length !== length) {
        throw new TruncatedError("the source became shorter while it was read");
    }
    return bytes;
}

/** A part of another source. */
export function slice(from: Source, begin: number, end: number): Source {
    return { size: end - begin, read: (offset, length) => from.read(begin + offset, length) };
}

/** Options of `remote`. */
export interface RemoteOptions {
    /** Another function than the global `fetch`. */
    fetch?: typeof fetch;
    /** Headers of each request, for example for authorization. */
    headers?: Record<string, string>;
    signal?: AbortSignal;
}

/**
 * Returns a source for a file on a web server, which reads parts of the file with requests for ranges. The server has to
 * support these: the function fails if the answer is the whole file. If the file changes meanwhile, reading fails.
 */
export async function remote(url: string | URL, options: RemoteOptions = {}): Promise<Source> {
    const get = options.fetch ?? fetch;
    const request = async (offset: number, length: number, etag: string | null): Promise<Response> => {
        const headers: Record<string, string> = {
            ...options.headers,
            Range: `bytes=${offset}-${offset + length - 1}`,
            ...(etag === null ? {} : { "If-Match": etag }),
        };
        return get(url, { headers, ...(options.signal ? { signal: options.signal } : {}) });
    };
    const first = await request(0, 1, null);
    const total = /^bytes (?:0-0|\*)\/(\d+)$/.exec(first.headers.get("Content-Range") ?? "")?.[1];
    await first.body?.cancel();
    if (first.status === 416 && total === "0") {
        return new Memory(new Uint8Array());
    }
    if (first.status !== 206 || total === undefined) {
        throw new Error(
            first.ok
                ? `${url}: the server does not answer requests for ranges`
                : `${url}: the server answered ${first.status}`,
        );
    }
    // A weak tag cannot be compared with If-Match.
    const tag = first.headers.get("ETag");
    const etag = tag !== null && !tag.startsWith("W/") ? tag : null;
    const size = Number(total);
    return {
        size,
        async read(offset, length) {
            if (length === 0) {
                return new Uint8Array();
            }
            const answer = await request(offset, length, etag);
            const range = `bytes ${offset}-${offset + length - 1}/${size}`;
            if (answer.status === 412 || (answer.status === 206 && answer.headers.get("Content-Range") !== range)) {
                await answer.body?.cancel();
                throw new Error(`${url}: the file has changed while it was read`);
            }
            if (answer.status !== 206) {
                await answer.body?.cancel();
                throw new Error(`${url}: the server answered ${answer.status}`);
            }
            return new Uint8Array(await answer.arrayBuffer());
        },
    };
}

/** A stream that is read in pieces of chosen lengths. */
export class Pieces {
    readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
    #held: Bytes[] = [];
    #length = 0;
    #ended = false;

    constructor(stream: ReadableStream<Uint8Array>) {
        this.#reader = stream.getReader();
    }

    /** Waits until at least `length` bytes are there, or the stream has ended, and returns whether they are. */
    async has(length: number): Promise<boolean> {
        while (this.#length < length && !this.#ended) {
            const { done, value } = await this.#reader.read();
            if (done) {
                this.#ended = true;
            } else if (value.length > 0) {
                const bytes = plainBytes(value);
                this.#held.push(bytes);
                this.#length += bytes.length;
            }
        }
        return this.#length >= length;
    }

    /** Returns the first bytes without taking them: at most `length`, fewer only at the end. */
    async peek(length: number): Promise<Bytes> {
        await this.has(length);
        this.#join();
        return this.#held[0]?.subarray(0, length) ?? new Uint8Array();
    }

    /** Takes at most `length` bytes, fewer only at the end. */
    async upTo(length: number): Promise<Bytes> {
        await this.has(length);
        const wanted = Math.min(length, this.#length);
        const parts: Bytes[] = [];
        let missing = wanted;
        while (missing > 0) {
            const first = this.#held[0]!;
            if (first.length <= missing) {
                parts.push(first);
                this.#held.shift();
                missing -= first.length;
            } else {
                parts.push(first.subarray(0, missing));
                this.#held[0] = first.subarray(missing);
                missing = 0;
            }
        }
        this.#length -= wanted;
        return parts.length === 1 ? parts[0]! : concat(...parts);
    }

    /** Takes exactly `length` bytes. */
    async exactly(length: number): Promise<Bytes> {
        const bytes = await this.upTo(length);
        if (bytes.length !== length) {
            throw new TruncatedError();
        }
        return bytes;
    }

    /** Takes the rest, which may lie on the disk. */
    async blob(): Promise<Blob> {
        const parts = this.#held;
        this.#held = [];
        this.#length = 0;
        // A Blob of many small parts is slow, so the parts are joined from time to time.
        let joined = new Blob();
        while (await this.has(1)) {
            parts.push(...this.#held);
            this.#held = [];
            this.#length = 0;
            if (parts.length >= 64) {
                joined = new Blob([joined, ...parts.splice(0)]);
            }
        }
        return new Blob([joined, ...parts]);
    }

    async cancel(reason?: unknown): Promise<void> {
        await this.#reader.cancel(reason);
    }

    #join(): void {
        if (this.#held.length > 1) {
            this.#held = [concat(...this.#held)];
        }
    }
}

/**
 * Returns a stream of what a generator yields, with back-pressure: the generator runs only when data are wanted. `cancel`
 * is called if the stream is canceled, because a generator that was never started cannot clean up.
 */
export function streamOf(
    generator: AsyncGenerator<Bytes, void, void>,
    cancel: (why: unknown) => Promise<void> = async () => {},
): ReadableStream<Bytes> {
    return new ReadableStream<Bytes>(
        {
            async pull(controller) {
                try {
                    const { done, value } = await generator.next();
                    if (done) {
                        controller.close();
                    } else {
                        controller.enqueue(value);
                    }
                } catch (why) {
                    controller.error(why);
                }
            },
            async cancel(why) {
                await generator.return();
                await cancel(why);
            },
        },
        { highWaterMark: 0 },
    );
}

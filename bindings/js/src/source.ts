/** Sources of bytes that can be read at any place: memory, a `Blob`, a file on a server. */

import { plainBytes, type Bytes } from "./bytes.ts";
import { TruncatedError } from "./error.ts";

/**
 * Bytes that can be read at any place. `read` returns `length` bytes, or fewer if the source became shorter. Several
 * calls of `read` may run at a time. `read` must not change the bytes of an earlier result.
 */
export interface Source {
    readonly size: number;
    /** Whether each read takes long. Large files are then read in longer pieces, several at a time. */
    readonly slow?: boolean;
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
            slow: true,
            read: async (offset, length) => new Uint8Array(await data.slice(offset, offset + length).arrayBuffer()),
        };
    }
    if (isSource(data)) {
        if (!Number.isSafeInteger(data.size) || data.size < 0) {
            throw new TypeError("the size of a source is a whole number from 0 on");
        }
        return data;
    }
    const hint = "fromFileHandle and remote return promises of such an object";
    throw new TypeError(`data must be bytes, a Blob, or an object with size and read(offset, length); ${hint}`);
}

/** An open file: a `FileHandle` of Node.js, Deno or Bun. */
export interface FileHandleLike {
    stat(): Promise<{ readonly size: number }>;
    read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
}

/** Returns a source for an open file of Node.js. The caller closes the file. */
export async function fromFileHandle(handle: FileHandleLike): Promise<Source> {
    if (typeof handle?.stat !== "function" || typeof handle.read !== "function") {
        throw new TypeError("fromFileHandle takes an open file: await open(path) of node:fs/promises");
    }
    return {
        size: (await handle.stat()).size,
        async read(offset, length) {
            const bytes = new Uint8Array(length);
            let filled = 0;
            while (filled < length) {
                const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
                if (bytesRead === 0) {
                    break;
                }
                filled += bytesRead;
            }
            return bytes.subarray(0, filled);
        },
    };
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
    if (bytes.length > length) {
        throw new TypeError("read(offset, length) of the source returned more than length bytes");
    }
    if (bytes.length < length) {
        throw new TruncatedError("the source became shorter while it was read");
    }
    return bytes;
}

/** Reads the body of an answer, but no more than was asked for: a server may send without an end. */
async function body(answer: Response, length: number, url: string | URL): Promise<Bytes> {
    const data = new Uint8Array(length);
    let filled = 0;
    if (answer.body !== null) {
        const reader = answer.body.getReader();
        for (;;) {
            const { done, value } = await reader.read();
            if (done) {
                break;
            }
            if (value.length > length - filled) {
                await reader.cancel().catch(() => {});
                throw new RemoteError(`${url}: the server sends more than was asked for`, answer.status);
            }
            data.set(value, filled);
            filled += value.length;
        }
    }
    return data.subarray(0, filled);
}

/** A part of another source. */
export function slice(from: Source, begin: number, end: number): Source {
    const { slow = false } = from;
    return { size: end - begin, slow, read: (offset, length) => from.read(begin + offset, length) };
}

/** A web server does not hand out the file. */
export class RemoteError extends Error {
    override name = "RemoteError";
    /** The status of the answer. */
    readonly status: number;

    constructor(message: string, status: number) {
        super(message);
        this.status = status;
    }
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
 * Returns a source for a file on a web server, which reads parts of the file with requests for ranges. The server has
 * to support these: the function fails if the answer is the whole file. If the file changes meanwhile, reading fails.
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
        const why = first.ok ? "the server does not answer requests for ranges" : `the server answered ${first.status}`;
        throw new RemoteError(`${url}: ${why}`, first.status);
    }
    // A weak tag cannot be compared with If-Match.
    const tag = first.headers.get("ETag");
    const etag = tag !== null && !tag.startsWith("W/") ? tag : null;
    const size = Number(total);
    return {
        size,
        slow: true,
        async read(offset, length) {
            if (length === 0) {
                return new Uint8Array();
            }
            const answer = await request(offset, length, etag);
            const range = `bytes ${offset}-${offset + length - 1}/${size}`;
            if (answer.status === 412 || (answer.status === 206 && answer.headers.get("Content-Range") !== range)) {
                await answer.body?.cancel();
                throw new RemoteError(`${url}: the file has changed while it was read`, answer.status);
            }
            if (answer.status !== 206) {
                await answer.body?.cancel();
                throw new RemoteError(`${url}: the server answered ${answer.status}`, answer.status);
            }
            return body(answer, length, url);
        },
    };
}

/** A stream: of the browser, of Node.js, or anything that yields bytes. */
export type StreamLike = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export function isStream(value: unknown): value is StreamLike {
    return (
        value instanceof ReadableStream ||
        (typeof value === "object" && value !== null && Symbol.asyncIterator in value)
    );
}

/** Returns a stream of the platform. */
export function streamFrom(data: StreamLike): ReadableStream<Uint8Array> {
    if (data instanceof ReadableStream) {
        return data;
    }
    if (isStream(data)) {
        const iterator = data[Symbol.asyncIterator]();
        const { once, destroy } = data as { once?: unknown; destroy?: unknown };
        if (typeof once === "function") {
            // A stream of Node.js may fail before it is read. Without a listener, the failure would end the process.
            once.call(data, "error", () => {});
        }
        async function* generator(): AsyncGenerator<Bytes, void, void> {
            for await (const bytes of { [Symbol.asyncIterator]: () => iterator }) {
                yield plainBytes(bytes);
            }
        }
        return streamOf(generator(), async () => {
            if (typeof destroy === "function") {
                destroy.call(data);
            } else {
                iterator.return?.()?.then(undefined, () => {});
            }
        });
    }
    throw new TypeError("a stream is a ReadableStream, or yields bytes asynchronously");
}

/** A stream, or what a generator yields, in pieces of chosen lengths. */
export class Pieces {
    readonly #next: () => Promise<{ done?: boolean; value?: Uint8Array | undefined | void }>;
    readonly #stop: (why: unknown) => Promise<unknown>;
    #buffer: Bytes = new Uint8Array();
    /** Where the bytes begin and end in the buffer that were read and not taken. */
    #from = 0;
    #to = 0;
    #ended = false;

    constructor(from: ReadableStream<Uint8Array> | AsyncGenerator<Bytes, void, void>) {
        if (from instanceof ReadableStream) {
            const reader = from.getReader();
            this.#next = () => reader.read();
            this.#stop = why => reader.cancel(why);
        } else {
            this.#next = () => from.next();
            this.#stop = () => from.return();
        }
    }

    /** Waits until at least `length` bytes are there, or the stream has ended, and returns whether they are. */
    async has(length: number): Promise<boolean> {
        while (this.#to - this.#from < length && !this.#ended) {
            const { done, value } = await this.#next();
            if (done) {
                this.#ended = true;
            } else if (value instanceof Uint8Array) {
                this.#append(value);
            } else {
                throw new TypeError("a stream yields bytes");
            }
        }
        return this.#to - this.#from >= length;
    }

    /**
     * Returns the first bytes without taking them: at most `length`, fewer only at the end. Valid until the next call.
     */
    async peek(length: number): Promise<Bytes> {
        await this.has(length);
        return this.#buffer.subarray(this.#from, Math.min(this.#from + length, this.#to));
    }

    /** Takes at most `length` bytes, fewer only at the end. */
    async upTo(length: number): Promise<Bytes> {
        await this.has(length);
        const end = Math.min(this.#from + length, this.#to);
        const taken = this.#buffer.slice(this.#from, end);
        this.#from = end;
        return taken;
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
        let joined = new Blob();
        for (;;) {
            const part = await this.upTo(1 << 24);
            if (part.length === 0) {
                return joined;
            }
            joined = new Blob([joined, part]);
        }
    }

    async cancel(reason?: unknown): Promise<void> {
        await this.#stop(reason);
    }

    /** Appends bytes. A stream may come in many small pieces, so the buffer grows to twice of what it holds. */
    #append(bytes: Uint8Array): void {
        const held = this.#to - this.#from;
        if (this.#buffer.length - this.#to < bytes.length) {
            const room =
                held + bytes.length <= this.#buffer.length / 2 ? this.#buffer.length : 2 * (held + bytes.length);
            const buffer = new Uint8Array(Math.max(room, 65536));
            buffer.set(this.#buffer.subarray(this.#from, this.#to));
            this.#buffer = buffer;
            this.#from = 0;
            this.#to = held;
        }
        this.#buffer.set(bytes, this.#to);
        this.#to += bytes.length;
    }
}

/**
 * Returns a stream of what a generator yields, with back-pressure: the generator runs only when data are wanted.
 * `cancel` is called if the stream is canceled, because a generator that was never started cannot clean up.
 */
export function streamOf(
    generator: AsyncGenerator<Bytes, void, void>,
    cancel: (why: unknown) => Promise<void> = async () => {},
): ReadableStream<Bytes> {
    let waiting = false;
    return new ReadableStream<Bytes>(
        {
            async pull(controller) {
                waiting = true;
                try {
                    const { done, value } = await generator.next();
                    if (done) {
                        controller.close();
                    } else {
                        controller.enqueue(value);
                    }
                } catch (why) {
                    controller.error(why);
                } finally {
                    waiting = false;
                }
            },
            async cancel(why) {
                // If the generator waits for the input, it ends only after the input was canceled. If it waits for a
                // read that never ends, nobody waits for the generator.
                await cancel(why);
                const ended = generator.return();
                if (waiting) {
                    ended.catch(() => {});
                } else {
                    await ended;
                }
            },
        },
        { highWaterMark: 0 },
    );
}

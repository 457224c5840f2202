/** Bytes: joining, comparing, and reading big-endian fields. */

import { TamperedError } from "./error.ts";

/** Bytes in memory that WebCrypto accepts, so not in a `SharedArrayBuffer`. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the bytes of a text in UTF-8. */
export function utf8(text: string): Bytes {
    return encoder.encode(text);
}

/** Returns the text of bytes in UTF-8, or undefined if the bytes are not UTF-8. */
export function text(bytes: Uint8Array): string | undefined {
    try {
        return decoder.decode(bytes);
    } catch {
        return undefined;
    }
}

/** Returns bytes as WebCrypto accepts them, copied only if they lie in shared memory. */
export function plainBytes(data: ArrayBuffer | ArrayBufferView | Uint8Array): Bytes {
    if (data instanceof ArrayBuffer) {
        return new Uint8Array(data);
    }
    if (!ArrayBuffer.isView(data)) {
        throw new TypeError("bytes must be a Uint8Array, another view or an ArrayBuffer");
    }
    const view = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return data.buffer instanceof ArrayBuffer ? (view as Bytes) : new Uint8Array(view);
}

/** Returns the parts, joined. */
export function concat(...parts: readonly Uint8Array[]): Bytes {
    const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
        joined.set(part, at);
        at += part.length;
    }
    return joined;
}

/**
 * Compares secrets of a fixed length without a branch that depends on their bytes. The engine may still compile the
 * loop in a way that depends on the bytes. The lengths may leak.
 */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
    if (a.length !== b.length) {
        return false;
    }
    let difference = 0;
    for (let i = 0; i < a.length; i++) {
        difference |= a[i]! ^ b[i]!;
    }
    return difference === 0;
}

/** Returns a negative number, 0 or a positive number, in the order of the bytes. Time depends on public bytes. */
export function compare(a: Uint8Array, b: Uint8Array): number {
    const shared = Math.min(a.length, b.length);
    for (let i = 0; i < shared; i++) {
        if (a[i] !== b[i]) {
            return a[i]! - b[i]!;
        }
    }
    return a.length - b.length;
}

export function isZero(bytes: Uint8Array): boolean {
    let any = 0;
    for (let i = 0; i < bytes.length; i++) {
        any |= bytes[i]!;
    }
    return any === 0;
}

export function hex(bytes: Uint8Array): string {
    return Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(digits: string): Bytes {
    return Uint8Array.from(digits.match(/../g) ?? [], pair => Number.parseInt(pair, 16));
}

/** Returns a big-endian number of `length` bytes. The number is at most 2^53 − 1. */
export function number(value: number, length: number): Bytes {
    const bytes = new Uint8Array(length);
    let rest = value;
    for (let i = length - 1; i >= 0; i--) {
        bytes[i] = rest % 256;
        rest = Math.floor(rest / 256);
    }
    return bytes;
}

/** Reads big-endian fields from bytes, which may end too early. Each failure is the error that `fail` makes. */
export class Fields {
    readonly bytes: Bytes;
    at = 0;
    readonly #fail: (why: string) => Error;

    constructor(bytes: Bytes, fail: (why: string) => Error = why => new TamperedError(why)) {
        this.bytes = bytes;
        this.#fail = fail;
    }

    get left(): number {
        return this.bytes.length - this.at;
    }

    take(length: number): Bytes {
        if (length > this.left) {
            throw this.#fail("a field does not end where its length says");
        }
        this.at += length;
        return this.bytes.subarray(this.at - length, this.at);
    }

    /** Returns an unsigned number. Numbers of 2^53 and more fail, because no valid length or count is that large. */
    number(length: number): number {
        let value = 0;
        for (const byte of this.take(length)) {
            value = value * 256 + byte;
        }
        if (!Number.isSafeInteger(value)) {
            throw this.#fail("a number is too large");
        }
        return value;
    }

    rest(): Bytes {
        return this.take(this.left);
    }
}

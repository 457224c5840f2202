/** Hidden length: the data, `80`, and zeros up to a length that Padmé allows. docs/format-seal.md, "Hidden length". */

import { type Bytes } from "../bytes.ts";
import { TamperedError } from "../error.ts";
import type { Payload } from "./payload.ts";

/** Returns the length to which Padmé rounds up. */
export function padme(length: number): number {
    if (length < 2) {
        return length;
    }
    const exponent = exponentOf(length);
    const step = 2 ** (exponent - (exponentOf(exponent) + 1));
    return step < 1 ? length : Math.ceil(length / step) * step;
}

/** Returns ⌊log2 n⌋. Math.log2 may round the logarithm of a number just below a power of two up. */
function exponentOf(n: number): number {
    const rounded = Math.floor(Math.log2(n));
    return 2 ** rounded > n ? rounded - 1 : rounded;
}

/** Yields the data of a stream, and the padding after them. */
export async function* padded(data: AsyncIterable<Bytes>): AsyncGenerator<Bytes, void, void> {
    let length = 0;
    for await (const bytes of data) {
        length += bytes.length;
        yield bytes;
    }
    yield Uint8Array.of(0x80);
    for (let zeros = padme(length + 1) - length - 1; zeros > 0; zeros -= 65536) {
        yield new Uint8Array(Math.min(zeros, 65536));
    }
}

/** Looks for the `80` from the end of a payload, and returns the length of the data before it. */
export async function unpaddedLength(payload: Payload): Promise<number> {
    for (let i = payload.segments - 1; i >= 0; i--) {
        const data = await payload.openSegment(i);
        const at = lastNonZero(data);
        if (at >= 0) {
            check(data[at]!, i * payload.step + at, payload.length);
            return i * payload.step + at;
        }
    }
    throw wrong();
}

/** Yields the data of a padded stream. Zeros are given out only when something follows them. */
export async function* unpadded(data: AsyncIterable<Bytes>): AsyncGenerator<Bytes, void, void> {
    let total = 0;
    // The last byte that is not zero so far, and how many zeros follow it.
    let mark: Bytes = new Uint8Array();
    let zeros = 0;
    for await (const bytes of data) {
        total += bytes.length;
        const at = lastNonZero(bytes);
        if (at < 0) {
            zeros += bytes.length;
            continue;
        }
        yield mark;
        for (; zeros > 0; zeros -= Math.min(zeros, 65536)) {
            yield new Uint8Array(Math.min(zeros, 65536));
        }
        yield bytes.subarray(0, at);
        mark = bytes.slice(at, at + 1);
        zeros = bytes.length - at - 1;
    }
    if (mark.length === 0) {
        throw wrong();
    }
    check(mark[0]!, total - zeros - 1, total);
}

/** Refuses padding that does not follow from the length of the data. */
function check(mark: number, length: number, total: number): void {
    if (mark !== 0x80 || padme(length + 1) !== total) {
        throw wrong();
    }
}

function lastNonZero(data: Uint8Array): number {
    let at = data.length - 1;
    while (at >= 0 && data[at] === 0) {
        at--;
    }
    return at;
}

function wrong(): TamperedError {
    return new TamperedError("the padding inside is not what the header says");
}

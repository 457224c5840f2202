/** Strict DER (X.690), as far as keys need it: docs/format-keys.md, "DER". */

import { concat, number, type Bytes } from "../bytes.ts";
import { Excessive, Malformed } from "./trouble.ts";

export const INTEGER = 0x02;
export const BIT_STRING = 0x03;
export const OCTET_STRING = 0x04;
export const NULL = 0x05;
export const OID = 0x06;
export const SEQUENCE = 0x30;
export const SET = 0x31;

/** Reads values one after the other. */
export class Der {
    readonly #bytes: Bytes;
    #at = 0;

    constructor(bytes: Bytes) {
        this.#bytes = bytes;
    }

    /** The tag of the next value, or undefined at the end. */
    get tag(): number | undefined {
        return this.#bytes[this.#at];
    }

    /** Returns the contents of the next value, whose tag must be this one. */
    take(tag: number): Bytes {
        const contents = this.maybe(tag);
        if (contents === undefined) {
            throw notDer();
        }
        return contents;
    }

    /** Returns the contents of the next value if it has this tag. */
    maybe(tag: number): Bytes | undefined {
        return this.tag === tag ? this.any() : undefined;
    }

    /** Returns the contents of the next value, whatever its tag is. */
    any(): Bytes {
        const head = this.#bytesOf(2);
        const [tag, first] = [head[0]!, head[1]!];
        // Tags of several bytes stand for numbers above 30, and no key has one.
        if ((tag & 0x1f) === 0x1f) {
            throw notDer();
        }
        return this.#bytesOf(first < 0x80 ? first : this.#length(first));
    }

    /** Returns a reader for the next value, which must be a sequence. */
    sequence(): Der {
        return new Der(this.take(SEQUENCE));
    }

    /** Returns a number that is not negative and has at most 64 bits. */
    number(): bigint {
        const bytes = this.take(INTEGER);
        const [first, second] = bytes;
        if (first === 0 && second !== undefined && second < 0x80) {
            throw notDer();
        }
        if (first === undefined || first >= 0x80) {
            throw new Malformed("a number in it is negative or empty");
        }
        const digits = first === 0 && bytes.length > 1 ? bytes.subarray(1) : bytes;
        if (digits.length > 8) {
            throw new Excessive("a number with more than 64 bits");
        }
        return digits.reduce((value, digit) => (value << 8n) | BigInt(digit), 0n);
    }

    /** Returns the bytes of a bit string, whose bits must be whole bytes. */
    bitString(): Bytes {
        return wholeBytes(this.take(BIT_STRING));
    }

    /** Checks that nothing is left. */
    end(): void {
        if (this.#at < this.#bytes.length) {
            throw new Malformed("something stands behind its end");
        }
    }

    /** Lengths have at most two bytes, and no shorter form. */
    #length(first: number): number {
        const count = first - 0x80;
        if (count !== 1 && count !== 2) {
            throw notDer();
        }
        const length = this.#bytesOf(count).reduce((value, byte) => value * 256 + byte, 0);
        if (length < (count === 1 ? 0x80 : 0x100)) {
            throw notDer();
        }
        return length;
    }

    #bytesOf(count: number): Bytes {
        if (count > this.#bytes.length - this.#at) {
            throw notDer();
        }
        this.#at += count;
        return this.#bytes.subarray(this.#at - count, this.#at);
    }
}

/** Returns a reader for the only value in these bytes, which must be a sequence. */
export function onlySequence(bytes: Bytes): Der {
    const outside = new Der(bytes);
    const inside = outside.sequence();
    outside.end();
    return inside;
}

/** Returns the bytes in the contents of a bit string. */
export function wholeBytes(contents: Bytes): Bytes {
    if (contents[0] !== 0) {
        throw new Malformed("a bit string in it does not hold whole bytes");
    }
    return contents.subarray(1);
}

/** The tag `[n]` of a value whose contents are the bytes of a string. */
export function context(n: number): number {
    return 0x80 | n;
}

/** The tag `[n]` of a value whose contents are complete values. */
export function contextOf(n: number): number {
    return 0xa0 | n;
}

/** Writes a value of at most 65 535 bytes. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Bytes {
    const contents = concat(...parts);
    const { length } = contents;
    const count = length < 0x80 ? 0 : length < 0x100 ? 1 : 2;
    const head = count === 0 ? [tag, length] : [tag, 0x80 + count];
    return concat(new Uint8Array(head), number(length, count), contents);
}

/** Writes a number below 2^53. */
export function derNumber(value: number): Bytes {
    // A zero byte follows in front of a digit that would make the number negative.
    let length = 1;
    while (value >= 128 * 256 ** (length - 1)) {
        length++;
    }
    return der(INTEGER, number(value, length));
}

function notDer(): Malformed {
    return new Malformed("it is not strict DER, or cut short");
}

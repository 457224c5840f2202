/** Base64 in the only form that age allows: the standard alphabet, and no bits that belong to no byte. */

import type { Bytes } from "../bytes.ts";
import { fromBase64, toBase64 } from "../key/base64.ts";

/** Returns bytes in base64 without padding, as headers have it. */
export function encodeBase64(bytes: Uint8Array): string {
    return toBase64(bytes).replaceAll("=", "");
}

/** Returns the bytes of base64 without padding, or undefined if the text is not in the only allowed form. */
export function decodeBase64(text: string): Bytes | undefined {
    return text.includes("=") ? undefined : fromBase64(text.padEnd(Math.ceil(text.length / 4) * 4, "="));
}

/**
 * Decodes a line of armor, which has padding, into `output`, and returns the number of bytes. Returns -1 if the line is
 * not in the only allowed form.
 */
export function decodeLine(text: Bytes, begin: number, end: number, output: Bytes, at: number): number {
    if ((end - begin) % 4 !== 0) {
        return -1;
    }
    let last = end;
    for (let padding = 0; padding < 2 && last > begin && text[last - 1] === PADDING; padding++) {
        last--;
    }
    const rest = (last - begin) % 4;
    const whole = last - rest;
    // Values are below 64, so a higher bit in this number is from a symbol that is not in the alphabet.
    let all = 0;
    let to = at;
    for (let from = begin; from < whole; from += 4) {
        const [a, b, c, d] = [value(text, from), value(text, from + 1), value(text, from + 2), value(text, from + 3)];
        all |= a | b | c | d;
        output[to++] = (a << 2) | (b >> 4);
        output[to++] = (b << 4) | (c >> 2);
        output[to++] = (c << 6) | d;
    }
    // Padding stands for one or two symbols, so two or three are left.
    if (rest > 0) {
        const [a, b, c] = [value(text, whole), value(text, whole + 1), rest === 3 ? value(text, whole + 2) : 0];
        const unused = rest === 3 ? c & 3 : b & 15;
        all |= a | b | c | (unused > 0 ? INVALID : 0);
        output[to++] = (a << 2) | (b >> 4);
        if (rest === 3) {
            output[to++] = (b << 4) | (c >> 2);
        }
    }
    return all < 64 ? to - at : -1;
}

const PADDING = 0x3d;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const INVALID = 0xff;
const VALUES = new Uint8Array(256).fill(INVALID);
for (let value = 0; value < ALPHABET.length; value++) {
    VALUES[ALPHABET.charCodeAt(value)] = value;
}

function value(text: Bytes, at: number): number {
    return VALUES[text[at] ?? 0] ?? INVALID;
}

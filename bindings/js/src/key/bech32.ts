/** Bech32 (BIP 173) as age uses it: texts of any length. */

import type { Bytes } from "../bytes.ts";

const LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const CHECK = 6;

/** Returns the text of a prefix and data. The case of the prefix, which has letters, is the case of the text. */
export function encodeBech32(prefix: string, data: Uint8Array): string {
    const values = prefixValues(prefix);
    const start = values.length;
    let [held, bits] = [0, 0];
    for (const byte of data) {
        held = ((held << 8) | byte) & 0xfff;
        for (bits += 8; bits >= 5; bits -= 5) {
            values.push((held >> (bits - 5)) & 31);
        }
    }
    if (bits > 0) {
        values.push((held << (5 - bits)) & 31);
    }
    // The remainder of the text with its checksum is 1.
    const sum = remainder([...values, ...new Array<number>(CHECK).fill(0)]) ^ 1;
    for (let i = CHECK - 1; i >= 0; i--) {
        values.push((sum >> (5 * i)) & 31);
    }
    let text = prefix + "1";
    for (const value of values.slice(start)) {
        text += LETTERS[value]!;
    }
    return prefix === prefix.toLowerCase() ? text : text.toUpperCase();
}

/**
 * Returns the data of `text`, which follows a prefix and `1`, or undefined if it is damaged. The case of the prefix is
 * that of the text.
 */
export function decodeBech32(prefix: string, text: string): Bytes | undefined {
    const isLower = caseOf(prefix) === "lower";
    if (text.length < CHECK || (isLower ? text.toLowerCase() : text.toUpperCase()) !== text) {
        return undefined;
    }
    const values = prefixValues(prefix);
    const start = values.length;
    let known = true;
    for (const letter of text.toLowerCase()) {
        const value = LETTERS.indexOf(letter);
        known &&= value >= 0;
        values.push(value);
    }
    if (!known || remainder(values) !== 1) {
        return undefined;
    }
    const end = values.length - CHECK;
    const data = new Uint8Array(Math.floor(((end - start) * 5) / 8));
    let [held, bits, at] = [0, 0, 0];
    for (let i = start; i < end; i++) {
        held = ((held << 5) | values[i]!) & 0xfff;
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            data[at++] = held >> bits;
        }
    }
    // The bits left over are zero, and fewer than a letter has.
    return bits < 5 && (held & ((1 << bits) - 1)) === 0 ? data : undefined;
}

/** Returns the case of a text, or undefined if it has letters of both cases or none. */
export function caseOf(text: string): "lower" | "upper" | undefined {
    const [lower, upper] = [/[a-z]/.test(text), /[A-Z]/.test(text)];
    return lower === upper ? undefined : lower ? "lower" : "upper";
}

/** The checksum is over the prefix in lower case. */
function prefixValues(prefix: string): number[] {
    const codes = Array.from(prefix.toLowerCase(), letter => letter.charCodeAt(0));
    return [...codes.map(code => code >> 5), 0, ...codes.map(code => code & 31)];
}

const POLYNOMIAL = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const;

/** The remainder modulo the polynomial of BIP 173 over GF(32). */
function remainder(values: readonly number[]): number {
    let sum = 1;
    for (const value of values) {
        const top = sum >>> 25;
        sum = ((sum & 0x1ffffff) << 5) ^ value;
        POLYNOMIAL.forEach((term, bit) => {
            sum ^= term & -((top >> bit) & 1);
        });
    }
    return sum;
}

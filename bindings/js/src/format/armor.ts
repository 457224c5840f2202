/** A sealed file as text, also inside a page that opens it: docs/format-seal.md, "Armor". */

import { utf8, text, type Bytes } from "../bytes.ts";
import { TamperedError } from "../error.ts";
import { slice, source, type Source, type SourceLike } from "../source.ts";
import { PREAMBLE } from "./header.ts";

const LABEL = "DEADPAN SEALED FILE";
const BEGIN = `-----BEGIN ${LABEL}-----`;
const END = `-----END ${LABEL}-----`;
/** The first line of armor lies within this many bytes. */
export const WINDOW = 4096;
/** How a page begins that has armor behind it, and where this armor begins at the latest. */
const PAGE = /^(?:\u00ef\u00bb\u00bf)?<!doctype html>(?:\r\n|\n|\r)<!-- Deadpan page -->(?:\r\n|\n|\r)/;
const LONGEST_PAGE = 4_194_304;
const CLOSED = "</script>";

/** Returns whether a file that begins with these bytes is armor, or a page with armor in it. */
export function isArmor(start: Bytes): boolean {
    return start[0] !== PREAMBLE[0] && (isPage(start) || lineOf(start) !== undefined);
}

function isPage(start: Bytes): boolean {
    return PAGE.test(latin1(start.subarray(0, 64)));
}

/** Returns the number of the line at which armor begins, counted from 1. */
function lineOf(start: Bytes): number | undefined {
    const lines = latin1(start.subarray(0, WINDOW)).split(/\r\n|\n|\r/);
    const place = lines.findIndex(line => line.replace(/^(?:\u00ef\u00bb\u00bf)?[ \t\v\f>]*/, "").startsWith(BEGIN));
    return place < 0 ? undefined : place + 1;
}

/** Returns the file in armor. All of the text is read and checked. */
export async function armorSource(from: Source): Promise<Source> {
    const start = await read(from, 0, WINDOW);
    const page = isPage(start);
    const begin = page ? await pageLength(from) : 0;
    const decoder = new Decoder(page ? 1 : (lineOf(start) ?? 1), page);
    const armor = slice(from, begin, from.size);
    const parts: Bytes[] = [];
    for (let at = 0; at < armor.size; at += 1 << 20) {
        parts.push(decoder.add(await read(armor, at, 1 << 20)));
    }
    parts.push(decoder.finish());
    // A Blob can lie on the disk.
    return source(new Blob(parts));
}

/** Returns a source without its armor, so that it is decoded once, even if it is opened several times. */
export async function withoutArmor(data: SourceLike): Promise<Source> {
    const from = source(data);
    return isArmor(await read(from, 0, WINDOW)) ? armorSource(from) : from;
}

async function read(from: Source, offset: number, length: number): Promise<Bytes> {
    return new Uint8Array(await from.read(offset, Math.min(length, from.size - offset)));
}

/** Returns where the armor begins in a page. */
async function pageLength(from: Source): Promise<number> {
    const page = latin1(await read(from, 0, LONGEST_PAGE + BEGIN.length));
    const at = page.search(new RegExp(`(?<=[\r\n])${BEGIN}`));
    if (at < 0) {
        throw new TamperedError("the armor is damaged: the page has no sealed file in it");
    }
    return at;
}

function latin1(bytes: Bytes): string {
    let joined = "";
    for (let at = 0; at < bytes.length; at += 8192) {
        joined += String.fromCharCode(...bytes.subarray(at, at + 8192));
    }
    return joined;
}

const SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const [NONE, SPACE, LINE, PADDING] = [0xff, 0xfe, 0xfd, 0xfc];
/** What each byte means in armor: six bits, or one of the values above. */
const MEANING = new Uint8Array(256).fill(NONE);
for (const [value, symbol] of [...SYMBOLS].entries()) {
    MEANING[symbol.charCodeAt(0)] = value;
}
for (const space of " \t\v\f") {
    MEANING[space.charCodeAt(0)] = SPACE;
}
MEANING[0x0a] = MEANING[0x0d] = LINE;
MEANING[0x3d] = PADDING;

/** Reads armor piece by piece. The sealed data are public, so the time may depend on them. */
class Decoder {
    #phase: "before" | "inside" | "after" = "before";
    /** The text of the current line, where it is not symbols. */
    #line: number[] = [];
    #atLineStart = true;
    /** Whether the current line is collected as text and not read as symbols. */
    #collecting = true;
    #bits = 0;
    #held = 0;
    #padding = 0;
    #first = true;
    readonly #begins: number;
    /** Whether the end of the page's element may follow. */
    #closing: boolean;

    constructor(begins: number, page: boolean) {
        this.#begins = begins;
        this.#closing = page;
    }

    /** Reads a piece of the text, and returns the bytes in it. */
    add(piece: Bytes): Bytes {
        const out = new Uint8Array(Math.ceil(piece.length * 0.75) + 3);
        let written = 0;
        let from = 0;
        if (this.#first) {
            this.#first = false;
            from = text(piece.slice(0, 3)) === "\ufeff" ? 3 : 0;
        }
        for (let at = from; at < piece.length; at++) {
            while (this.#atUsualLine && isUsualLine(piece, at, out, written)) {
                at += COLUMNS + 1;
                written += (COLUMNS / 4) * 3;
            }
            const byte = piece[at];
            if (byte === undefined) {
                break;
            }
            const meaning = MEANING[byte]!;
            if (meaning < 64 && !this.#collecting && !this.#atLineStart) {
                // Nearly all bytes come here.
                this.#bits = (this.#bits << 6) | meaning;
                if (++this.#held === 4) {
                    out[written++] = this.#bits >> 16;
                    out[written++] = this.#bits >> 8;
                    out[written++] = this.#bits;
                    this.#bits = this.#held = 0;
                }
                if (this.#padding > 0) {
                    throw damaged("symbols follow the padding");
                }
                continue;
            }
            if (meaning === LINE) {
                this.#endLine();
            } else if (this.#atLineStart && (meaning === SPACE || byte === 0x3e)) {
                // White space, and `>`, with which mail quotes a text.
            } else if (this.#atLineStart && this.#phase === "inside" && byte !== 0x2d) {
                this.#atLineStart = this.#collecting = false;
                at--;
            } else if (this.#atLineStart) {
                this.#atLineStart = false;
                this.#collecting = true;
                at--;
            } else if (this.#collecting) {
                // No line of text is longer than the first one, but any white space may follow it.
                if (this.#line.length <= BEGIN.length) {
                    this.#line.push(byte);
                } else if (meaning !== SPACE) {
                    throw this.#otherText();
                }
            } else if (meaning === PADDING) {
                this.#padding++;
            } else if (meaning !== SPACE) {
                throw damaged(byte === 0x3a ? "it has a header" : "it has a symbol that is not base64");
            }
        }
        return out.subarray(0, written);
    }

    /** Whether a line of whole groups of symbols may begin here. */
    get #atUsualLine(): boolean {
        return this.#atLineStart && this.#phase === "inside" && this.#held === 0 && this.#padding === 0;
    }

    /** Refuses text that ends too early, and returns the last one or two bytes. */
    finish(): Bytes {
        this.#endLine();
        if (this.#phase !== "after") {
            throw damaged("its end is missing");
        }
        const bits = this.#bits << (6 * (4 - this.#held));
        return Uint8Array.of(bits >> 16, bits >> 8).subarray(0, Math.max(0, this.#held - 1));
    }

    #endLine(): void {
        if (this.#collecting && this.#line.length > 0) {
            const line = String.fromCharCode(...this.#line).replace(/[ \t\v\f]+$/, "");
            if (this.#phase === "before") {
                if (line !== BEGIN) {
                    throw this.#otherText();
                }
                this.#phase = "inside";
            } else if (this.#phase === "inside") {
                if (line !== END) {
                    throw damaged("its last line is not the end of a sealed file");
                }
                this.#endSymbols();
                this.#phase = "after";
            } else if (this.#closing && line === CLOSED) {
                this.#closing = false;
            } else {
                throw damaged("other text follows it");
            }
        }
        this.#line = [];
        this.#atLineStart = this.#collecting = true;
    }

    #otherText(): TamperedError {
        return this.#phase === "before"
            ? damaged(`other text stands before it; it begins in line ${this.#begins}`)
            : damaged("other text follows it");
    }

    #endSymbols(): void {
        const right =
            (this.#held === 0 && this.#padding === 0) ||
            (this.#held === 2 && this.#padding === 2 && (this.#bits & 15) === 0) ||
            (this.#held === 3 && this.#padding === 1 && (this.#bits & 3) === 0);
        if (!right) {
            throw damaged("its padding is wrong");
        }
    }
}

/** Writers put this many symbols into a line. */
const COLUMNS = 64;

/** Returns whether a line of 64 symbols begins here, and decodes it. Nearly all lines are such lines. */
function isUsualLine(piece: Bytes, begin: number, out: Bytes, written: number): boolean {
    if (piece[begin + COLUMNS] !== 0x0a) {
        return false;
    }
    let all = 0;
    for (let at = begin, to = written; at < begin + COLUMNS; at += 4, to += 3) {
        const a = MEANING[piece[at]!]!;
        const b = MEANING[piece[at + 1]!]!;
        const c = MEANING[piece[at + 2]!]!;
        const d = MEANING[piece[at + 3]!]!;
        all |= a | b | c | d;
        out[to] = (a << 2) | (b >> 4);
        out[to + 1] = (b << 4) | (c >> 2);
        out[to + 2] = (c << 6) | d;
    }
    // What is not a symbol has a larger meaning than 63.
    return all < 64;
}

function damaged(why: string): TamperedError {
    return new TamperedError(`the armor is damaged: ${why}`);
}

/** Yields what a stream yields as a PEM block, which is the form of armor of Deadpan and of age. */
export async function* armored(sealed: AsyncIterable<Bytes>, label = LABEL): AsyncGenerator<Bytes, void, void> {
    yield utf8(`-----BEGIN ${label}-----\n`);
    let held: Bytes = new Uint8Array();
    for await (const bytes of sealed) {
        const all = new Uint8Array(held.length + bytes.length);
        all.set(held);
        all.set(bytes, held.length);
        const whole = all.length - (all.length % 48);
        yield linesOf(all.subarray(0, whole));
        held = all.slice(whole);
    }
    yield linesOf(held);
    yield utf8(`-----END ${label}-----\n`);
}

/** The symbols of base64, as bytes. */
const ALPHABET = utf8(SYMBOLS);

/** Returns the lines for bytes: 48 bytes in each, fewer only in the last. */
function linesOf(bytes: Bytes): Bytes {
    const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4 + Math.ceil(bytes.length / 48));
    let written = 0;
    for (let line = 0; line < bytes.length; line += 48) {
        const end = Math.min(line + 48, bytes.length);
        for (let at = line; at < end; at += 3) {
            const bits = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
            out[written++] = ALPHABET[bits >> 18]!;
            out[written++] = ALPHABET[(bits >> 12) & 63]!;
            out[written++] = at + 1 < end ? ALPHABET[(bits >> 6) & 63]! : 0x3d;
            out[written++] = at + 2 < end ? ALPHABET[bits & 63]! : 0x3d;
        }
        out[written++] = 0x0a;
    }
    return out;
}

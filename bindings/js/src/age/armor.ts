/**
 * age's armor, which represents files as text in strict PEM.
 *
 * Only one form is valid. Between the markers are only lines of canonical base64. Each line has 64 symbols, but the
 * last line may be shorter. White space may stand before and after the armor. Lines end in `\n` or `\r\n`.
 */

import { compare, concat, utf8, type Bytes } from "../bytes.ts";
import { TamperedError, TruncatedError } from "../error.ts";
import { toPem } from "../key/base64.ts";
import { source, take, type Pieces, type Source } from "../source.ts";
import { decodeLine } from "./base64.ts";

const LABEL = "AGE ENCRYPTED FILE";
const BEGIN = utf8(`-----BEGIN ${LABEL}-----`);
const END = utf8(`-----END ${LABEL}-----`);
const LINE_BYTES = 48;
const COLUMNS = 64;
/** The greatest number of bytes of white space before or after the armor. */
const MOST_SPACE = 1024;
/** No line with anything else than white space is longer. */
const LONGEST = 80;
/** The greatest number of bytes that wait for being put into a Blob. */
const MOST_HELD = 2 ** 26;
const PIECE = 2 ** 20;

/** Returns the armor of an age file. */
export function ageArmor(bytes: Uint8Array): string {
    return toPem(LABEL, bytes);
}

/** Returns whether data that begin with these bytes are in age's armor. */
export function isAgeArmor(start: Uint8Array): boolean {
    const at = start.findIndex(byte => !isSpace(byte));
    return at >= 0 && compare(start.subarray(at, at + BEGIN.length), BEGIN) === 0;
}

/** Returns the bytes in armor. All of the text is read and checked. */
export async function unarmored(armored: Source): Promise<Source> {
    const armor = new Armor();
    let parts: BlobPart[] = [];
    let held = 0;
    for (let at = 0; at < armored.size; at += PIECE) {
        const bytes = armor.read(await take(armored, at, Math.min(PIECE, armored.size - at)));
        parts.push(bytes);
        held += bytes.length;
        if (held >= MOST_HELD) {
            // Browsers can move a Blob to the disk.
            parts = [new Blob(parts)];
            held = 0;
        }
    }
    armor.end();
    return source(new Blob(parts));
}

/** Yields the bytes in a stream of armor. */
export async function* unarmoredPieces(armored: Pieces): AsyncGenerator<Bytes, void, void> {
    const armor = new Armor();
    for (;;) {
        const text = await armored.upTo(COLUMNS * 1024);
        if (text.length === 0) {
            break;
        }
        const bytes = armor.read(text);
        if (bytes.length > 0) {
            yield bytes;
        }
    }
    armor.end();
}

/** A reader of armor that comes in pieces. */
class Armor {
    #place: "before" | "inside" | "last line" | "after" = "before";
    /** The beginning of a line whose end has not come yet. */
    #line: Bytes = new Uint8Array();
    #space = 0;

    /** Takes the next piece of the text, and returns the bytes in it. */
    read(more: Bytes): Bytes {
        const text = this.#line.length > 0 ? concat(this.#line, more) : more;
        const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
        let length = 0;
        let at = 0;
        while (this.#place !== "after") {
            const end = text.indexOf(LINE_FEED, at);
            if (end < 0) {
                break;
            }
            length += this.#next(text, at, end > at && text[end - 1] === RETURN ? end - 1 : end, bytes, length);
            at = end + 1;
        }
        if (this.#place === "after") {
            this.#after(text.subarray(at));
            at = text.length;
        }
        this.#line = text.slice(at);
        if (this.#line.length > (this.#place === "before" ? LONGEST + MOST_SPACE : LONGEST)) {
            throw damaged("a line that is too long");
        }
        return bytes.subarray(0, length);
    }

    /** Checks that the armor is complete. Its last line may have no line end. */
    end(): void {
        if (this.#place === "before") {
            throw damaged("it has no first line");
        }
        if (this.#place !== "after" && compare(this.#line, END) !== 0) {
            throw new TruncatedError("the armor is damaged: it ends too early");
        }
    }

    /** Reads a line, without its line end, and returns how many bytes were in it. */
    #next(text: Bytes, begin: number, end: number, bytes: Bytes, at: number): number {
        if (this.#place === "before") {
            const line = text.subarray(begin, end);
            if (!line.every(isSpace)) {
                if (compare(line, BEGIN) !== 0) {
                    throw damaged("its first line");
                }
                this.#place = "inside";
                this.#space = 0;
                return 0;
            }
            this.#count(line.length + 1);
            return 0;
        }
        if (text[begin] === HYPHEN && compare(text.subarray(begin, end), END) === 0) {
            this.#place = "after";
            return 0;
        }
        if (this.#place === "last line") {
            throw damaged("a line that is too short");
        }
        if (begin === end || end - begin > COLUMNS) {
            throw damaged("a line that is empty or too long");
        }
        const length = decodeLine(text, begin, end, bytes, at);
        if (length < 0) {
            throw damaged("it is not base64");
        }
        this.#place = length < LINE_BYTES ? "last line" : "inside";
        return length;
    }

    #after(text: Bytes): void {
        if (!text.every(isSpace)) {
            throw damaged("something stands after it");
        }
        this.#count(text.length);
    }

    #count(space: number): void {
        this.#space += space;
        if (this.#space > MOST_SPACE) {
            throw damaged("too much white space stands around it");
        }
    }
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const HYPHEN = 0x2d;

function isSpace(byte: number): boolean {
    return byte === 0x20 || byte === 0x09 || byte === LINE_FEED || byte === 0x0c || byte === RETURN;
}

function damaged(what: string): TamperedError {
    return new TamperedError(`the armor is damaged: ${what}`);
}

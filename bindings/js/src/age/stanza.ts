/** Stanzas: a line of arguments and a body in base64. Each stanza is for one recipient. */

import { concat, type Bytes } from "../bytes.ts";
import { TamperedError, TruncatedError } from "../error.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";

/** A stanza. */
export interface Stanza {
    /** The first argument, which is the type. */
    readonly type: string;
    /** The other arguments. */
    readonly args: readonly string[];
    readonly body: Bytes;
}

/** Returns the error for a header that is not well formed. */
export function damaged(what: string): TamperedError {
    return new TamperedError(`the header is damaged: ${what}`);
}

/** Returns an argument that the form of the stanza promises, decoded. */
export function argument(stanza: Stanza, number: number): Bytes {
    const bytes = decodeBase64(stanza.args[number] ?? "");
    if (bytes === undefined) {
        throw damaged("the form of a recipient");
    }
    return bytes;
}

/** Returns the text of a stanza. */
export function stanzaText({ type, args, body }: Stanza): string {
    let text = `-> ${[type, ...args].join(" ")}\n`;
    // The last line is shorter than a full line. It is empty if the body fills all lines before.
    for (let at = 0; at <= body.length; at += LINE_BYTES) {
        text += `${encodeBase64(body.subarray(at, at + LINE_BYTES))}\n`;
    }
    return text;
}

const COLUMNS = 64;
const LINE_BYTES = 48;
const ARROW = "-> ";
/** Printable ASCII without the space. */
const ARGUMENT = /^[!-~]+$/;

/** The lines of a header, read one after the other. */
export class Lines {
    readonly #text: string;
    at = 0;

    /** Takes a text with one character for each byte. */
    constructor(text: string) {
        this.#text = text;
    }

    /** Returns whether the next line begins like this. */
    begins(start: string): boolean {
        return this.#text.startsWith(start, this.at);
    }

    /** Returns the rest, which is not read by this. */
    get rest(): string {
        return this.#text.slice(this.at);
    }

    line(): string {
        const end = this.#text.indexOf("\n", this.at);
        if (end < 0) {
            throw new TruncatedError("the header ends too early");
        }
        const line = this.#text.slice(this.at, end);
        this.at = end + 1;
        return line;
    }

    stanza(): Stanza {
        if (!this.begins(ARROW)) {
            throw damaged("the beginning of a stanza");
        }
        const [type = "", ...args] = this.line().slice(ARROW.length).split(" ");
        if (![type, ...args].every(argument => ARGUMENT.test(argument))) {
            throw damaged("an argument of a stanza");
        }
        const body: Bytes[] = [];
        for (;;) {
            const line = this.line();
            if (line.length > COLUMNS) {
                throw damaged("a line of more than 64 columns in a stanza");
            }
            const bytes = decodeBase64(line);
            if (bytes === undefined) {
                throw damaged("the base64 in a stanza");
            }
            body.push(bytes);
            if (line.length < COLUMNS) {
                return { type, args, body: concat(...body) };
            }
        }
    }
}

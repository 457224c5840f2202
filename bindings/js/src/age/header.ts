/** Headers: a version, a stanza for each recipient, and a MAC. */

import { equal, utf8, type Bytes } from "../bytes.ts";
import { LimitError, NewerError, NotSealedError, TamperedError, TruncatedError } from "../error.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { headerMac } from "./file-key.ts";
import { kindOf, type StanzaKind } from "./kind.ts";
import { damaged, Lines, stanzaText, type Stanza } from "./stanza.ts";

/** A header that is well formed. It is not trusted until `verify` has returned. */
export interface Header {
    readonly stanzas: readonly { readonly kind: StanzaKind; readonly stanza: Stanza }[];
    /** The number of bytes before the payload. */
    readonly length: number;
    /** Throws a `TamperedError` if the file key does not belong to the header, or the header was changed. */
    verify(fileKey: Bytes): Promise<void>;
}

/** The beginning of a header of any version. */
const ANY_VERSION = "age-encryption.org/";
const VERSION = `${ANY_VERSION}v1\n`;
/** The beginning of the last line. The MAC covers it, too. */
const END = "---";
/** The length of the last line: the hyphens, a space, 43 symbols of base64, and a line feed. */
const LAST_LINE = END.length + 1 + 43 + 1;
const LONGEST = 2 ** 20;
const FIRST_LOOK = 4096;

/** Returns whether data that begin with these bytes are a binary age file, of any version. */
export function isAgeHeader(start: Uint8Array): boolean {
    const text = latin1(start.subarray(0, ANY_VERSION.length));
    return text.length >= 4 && ANY_VERSION.startsWith(text);
}

/** Reads a header. `peek` returns at most that many of the first bytes, and fewer only if there are no more. */
export async function readHeader(peek: (length: number) => Promise<Uint8Array>): Promise<Header> {
    let begun = { line: 0, searched: 0 };
    for (let wanted = FIRST_LOOK; ; wanted = Math.min(4 * wanted, LONGEST)) {
        const bytes = await peek(wanted);
        checkVersion(bytes);
        const end = endOf(bytes, begun);
        if (typeof end === "number") {
            return parse(bytes.slice(0, end));
        }
        if (bytes.length < wanted) {
            throw new TruncatedError("the header ends too early");
        }
        if (wanted === LONGEST) {
            throw new LimitError("the header asks for more than is allowed: a header of more than one megabyte");
        }
        begun = end;
    }
}

/** Returns a header with these stanzas. */
export async function buildHeader(fileKey: Bytes, stanzas: readonly Stanza[]): Promise<Bytes> {
    const text = `${VERSION}${stanzas.map(stanzaText).join("")}${END}`;
    const header = utf8(`${text} ${encodeBase64(await headerMac(fileKey, utf8(text)))}\n`);
    if (header.length > LONGEST) {
        throw new RangeError("the recipients do not fit a header of one megabyte");
    }
    return header;
}

/** Returns the length of the header, or how far it was searched if its end is not among the bytes. */
function endOf(
    bytes: Uint8Array,
    begun: { line: number; searched: number },
): number | { line: number; searched: number } {
    let { line, searched } = begun;
    for (;;) {
        const feed = bytes.indexOf(0x0a, searched);
        if (
            latin1(bytes.subarray(line, line + END.length)) === END &&
            (feed >= 0 || bytes.length >= line + LAST_LINE)
        ) {
            // A last line of another length is not valid, and `parse` refuses it.
            return Math.min(feed < 0 ? Infinity : feed + 1, line + LAST_LINE);
        }
        if (feed < 0) {
            return { line, searched: bytes.length };
        }
        line = searched = feed + 1;
    }
}

function checkVersion(bytes: Uint8Array): void {
    const start = latin1(bytes.subarray(0, VERSION.length));
    if (start.length === VERSION.length && start !== VERSION) {
        if (!start.startsWith(ANY_VERSION)) {
            throw new NotSealedError("the data are not an age file");
        }
        throw start.startsWith("v1", ANY_VERSION.length)
            ? damaged("its first line")
            : new NewerError("sealed with another version of age, which this version does not know");
    }
}

function parse(bytes: Bytes): Header {
    const lines = new Lines(latin1(bytes));
    lines.at = VERSION.length;
    const stanzas = [];
    while (!lines.begins(END)) {
        const stanza = lines.stanza();
        stanzas.push({ kind: kindOf(stanza), stanza });
    }
    if (stanzas.length === 0) {
        throw damaged("it has no recipients");
    }
    if (stanzas.length > 1 && stanzas.some(({ kind }) => kind === "passphrase")) {
        throw damaged("a passphrase beside other recipients");
    }
    const covered = bytes.subarray(0, lines.at + END.length);
    const symbols = /^--- (.{43})\n$/.exec(lines.rest)?.[1];
    const mac = symbols === undefined ? undefined : decodeBase64(symbols);
    if (mac?.length !== 32) {
        throw damaged("its last line");
    }
    return {
        stanzas,
        length: bytes.length,
        async verify(fileKey) {
            if (!equal(await headerMac(fileKey, covered), mac)) {
                throw new TamperedError("the header was changed after sealing");
            }
        },
    };
}

/** Returns a text with one character for each byte. Only ASCII characters stand for themselves. */
function latin1(bytes: Uint8Array): string {
    return decoder.decode(bytes);
}

const decoder = new TextDecoder("latin1");

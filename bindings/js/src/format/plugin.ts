/** The recipient of a plugin, which this package reads only to refuse malformed ones: docs/format-seal.md. */

import { text } from "../bytes.ts";

const MOST_STANZAS = 16;
const ARGUMENTS = /^-> [\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
const FULL_LINE = /^[A-Za-z0-9+/]{64}$/;

/** Returns whether bytes are 1 to 16 stanzas in the form of an age header. */
export function isStanzas(bytes: Uint8Array): boolean {
    const lines = text(bytes)?.split("\n");
    // The text ends with a line feed.
    if (lines?.pop() !== "") {
        return false;
    }
    let stanzas = 0;
    for (let at = 0; at < lines.length; stanzas++) {
        if (!ARGUMENTS.test(lines[at++]!)) {
            return false;
        }
        while (at < lines.length && FULL_LINE.test(lines[at]!)) {
            at++;
        }
        if (at === lines.length || !isShortLine(lines[at++]!)) {
            return false;
        }
    }
    return stanzas >= 1 && stanzas <= MOST_STANZAS;
}

/** The last line of a body: shorter than 64 symbols, canonical base64 without padding. */
function isShortLine(line: string): boolean {
    if (!/^[A-Za-z0-9+/]{0,63}$/.test(line) || line.length % 4 === 1) {
        return false;
    }
    const unused = line.length % 4 === 2 ? /[AQgw]$/ : /[AEIMQUYcgkosw048]$/;
    return line.length % 4 === 0 || unused.test(line);
}

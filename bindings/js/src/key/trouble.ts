/** The reasons why a key is refused. `file.ts` adds the place of the key. */

import { InvalidKeyError, LimitError, LockedKeyError, PassphraseError } from "../error.ts";

/** The key is damaged. After a passphrase, this may mean that the passphrase is wrong. */
export class Malformed extends InvalidKeyError {}

/** The key asks for more memory or work than a reader spends. */
export class Excessive extends InvalidKeyError {
    constructor(what: string) {
        super(`the key asks for more than is allowed: ${what}`);
    }
}

/** The key is of a known kind or form that is not supported. */
export class Unsupported extends InvalidKeyError {
    constructor(what: string) {
        super(`${what} is not supported`);
    }
}

/** Returns the error for callers, with the place of the key. Errors that are not about the key stay as they are. */
export function at(place: string, why: unknown): unknown {
    for (const kind of [LockedKeyError, InvalidKeyError, PassphraseError, LimitError]) {
        if (why instanceof kind) {
            return new kind(`${place}: ${why.message}`);
        }
    }
    return why;
}

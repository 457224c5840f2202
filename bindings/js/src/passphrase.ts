/** A passphrase in its Unicode forms: docs/format-seal.md, "The passphrase recipient". */

import { equal, plainBytes, text, utf8, type Bytes } from "./bytes.ts";

/** A passphrase. It remembers its last hashes, so that a file that is read twice is not hashed for twice. */
export class Passphrase {
    readonly #typed: Bytes;
    readonly #hashes = new Map<string, Promise<Bytes>>();

    /** Takes a text, or bytes, which may be no UTF-8. An empty passphrase protects nothing and is an error. */
    constructor(typed: string | Uint8Array) {
        this.#typed = typeof typed === "string" ? utf8(typed) : plainBytes(typed).slice();
        if (this.#typed.length === 0) {
            throw new RangeError("an empty passphrase protects nothing");
        }
    }

    /** Returns what to seal with: normalization form C. */
    get sealed(): Bytes {
        const typed = text(this.#typed);
        return typed === undefined ? this.#typed : utf8(typed.normalize("NFC"));
    }

    /** Returns what to try: the passphrase as typed, in NFC and in NFD, each once. */
    get forms(): Bytes[] {
        const typed = text(this.#typed);
        const forms = [this.#typed];
        for (const form of typed === undefined ? [] : [utf8(typed.normalize("NFC")), utf8(typed.normalize("NFD"))]) {
            if (!forms.some(known => equal(known, form))) {
                forms.push(form);
            }
        }
        return forms;
    }

    /** Returns a hash that `compute` has made before for the same name, or lets it make one. Keeps the last eight. */
    remember(name: string, compute: () => Promise<Bytes>): Promise<Bytes> {
        const known = this.#hashes.get(name);
        if (known !== undefined) {
            return known;
        }
        const made = compute();
        made.catch(() => this.#hashes.delete(name));
        this.#hashes.set(name, made);
        if (this.#hashes.size > 8) {
            this.#hashes.delete(this.#hashes.keys().next().value!);
        }
        return made;
    }
}

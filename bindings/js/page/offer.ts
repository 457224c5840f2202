/** Passphrases that the page suggests: 120 random bits in letters and digits that are easy to tell apart. */

import { say } from "./text.ts";

// 32 symbols, so that each stands for five random bits. Without i, l, o and u.
const SYMBOLS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns a new passphrase: six groups of four symbols. */
export function suggestion(): string {
    const random = crypto.getRandomValues(new Uint8Array(24));
    const symbols = Array.from(random, byte => SYMBOLS[byte & 31]);
    return Array.from({ length: 6 }, (_, group) => symbols.slice(group * 4, group * 4 + 4).join("")).join("-");
}

/** Passphrases that are shorter can be guessed. */
const SHORT = 16;

/** Warns of a short passphrase while it is typed. */
export function warnOfShort(field: HTMLInputElement, note: HTMLElement): void {
    field.addEventListener("input", () => {
        if (field.value !== "" && field.value.length < SHORT) {
            say(note, "short");
        } else {
            note.replaceChildren();
            delete note.dataset["text"];
        }
    });
}

/** Writes a new passphrase into a field, and shows it, because its user has to note it. */
export function offer(field: HTMLInputElement, shows: HTMLButtonElement): void {
    field.value = suggestion();
    if (field.type === "password") {
        shows.click();
    }
    field.dispatchEvent(new Event("input"));
    field.focus();
    field.select();
}

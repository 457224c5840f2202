/** Finds different paths that are the same as text, because bytes that are not UTF-8 become U+FFFD. */

import { hex, type Bytes } from "../bytes.ts";
import { components } from "./path.ts";

export class Clashes {
    /** For each name that is not UTF-8, and the names below it: the bytes that it stood for, and its number. */
    readonly #seen = new Map<string, { raw: string; number: number }>();

    /** Whether an earlier path with other bytes has the same text, or a folder above it does. */
    has(text: string, path: Bytes): boolean {
        if (!text.includes("\ufffd")) {
            return false;
        }
        const names = text.split("/");
        const first = names.findIndex(name => name.includes("\ufffd"));
        // Above the first such name, texts and bytes correspond. Below, a number stands for the folder.
        let folder = `${names.slice(0, first).join("/")}/`;
        for (const [place, name] of components(path).entries()) {
            if (place < first) {
                continue;
            }
            const key = `${folder}\0${names[place] ?? ""}`;
            const raw = hex(name);
            const known = this.#seen.get(key) ?? { raw, number: this.#seen.size };
            if (known.raw !== raw) {
                return true;
            }
            this.#seen.set(key, known);
            folder = String(known.number);
        }
        return false;
    }
}

/** The entries of a pack, from its index. */

import type { Bytes } from "../bytes.ts";
import type { Source } from "../source.ts";
import type { Item } from "./entry.ts";
import type { Blake3 } from "./hash.ts";
import { order } from "./path.ts";
import { readPart, type Part } from "./part.ts";
import { damaged, search, type Table } from "./table.ts";
import { Window } from "./window.ts";

/** How many parts stay in memory for single entries, and how many bytes of paths all of them may have. */
const KEPT_PARTS = 4;
const KEPT_PATHS = 16 << 20;

export class Contents {
    /** The name of the packed folder. */
    readonly root: Bytes;
    readonly count: number;
    readonly blake3: Blake3;
    readonly #table: Table;
    readonly #window: Window;
    readonly #kept: { number: number; part: Part; paths: number }[] = [];

    constructor(data: Source, root: Bytes, table: Table, blake3: Blake3) {
        this.root = root;
        this.count = table.entries;
        this.blake3 = blake3;
        this.#table = table;
        this.#window = new Window(data);
    }

    /** Returns all entries, in the order of the archive. */
    async *items(): AsyncGenerator<Item, void, void> {
        let end: number | undefined;
        let debt = 0;
        for (const number of this.#table.rows.keys()) {
            const part = await this.#part(number, debt);
            if (end !== undefined && end !== part.begin) {
                throw damaged("a part does not begin where the preceding one ends");
            }
            yield* part.items;
            end = this.#table.after(part.end);
            debt = part.debt;
        }
    }

    /** Returns the entry with a path, and reads only one part. */
    async find(path: Bytes): Promise<Item | undefined> {
        const { items } = await this.#partFor(path);
        const found = items[search(items, item => order(item.facts.path, path) < 0)];
        return found !== undefined && order(found.facts.path, path) === 0 ? found : undefined;
    }

    /** Returns the file or symbolic link that a hard link means. */
    async file(link: Item): Promise<Item> {
        const target = link.facts.target;
        const found = target && (await this.find(target));
        if (!found || found.kind === "folder" || found.kind === "hardlink") {
            throw damaged("the target of a hard link is not an earlier file or link");
        }
        return found;
    }

    isOwn(item: Item): boolean {
        return item.isOf(this.#table);
    }

    async #partFor(path: Bytes): Promise<Part> {
        const number = this.#table.partOf(path);
        const known = this.#kept.find(kept => kept.number === number);
        if (known !== undefined) {
            return known.part;
        }
        const part = await this.#part(number, 0);
        const paths = part.items.reduce((sum, item) => sum + item.facts.path.length, 0);
        this.#kept.push({ number, part, paths });
        while (
            this.#kept.length > KEPT_PARTS ||
            (this.#kept.length > 1 && this.#kept.reduce((sum, kept) => sum + kept.paths, 0) > KEPT_PATHS)
        ) {
            this.#kept.shift();
        }
        return part;
    }

    async #part(number: number, debt: number): Promise<Part> {
        const row = this.#table.rows[number];
        if (row === undefined) {
            throw damaged("a part is missing");
        }
        const bytes = (await this.#window.view(row.offset, row.length)).slice();
        return readPart(bytes, this.#table, number, debt, this.blake3);
    }
}

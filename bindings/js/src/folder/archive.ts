/** The entries of an archive without an index, from its headers. */

import { hex, type Bytes } from "../bytes.ts";
import { TamperedError } from "../error.ts";
import { Item, type Refused } from "./entry.ts";
import { components, pathText, shown } from "./path.ts";
import type { Scan } from "./scan.ts";

/** How many folders without entries of their own an archive may name, and one more for how many of its bytes. */
const FREE_FOLDERS = 4096;
const BYTES_PER_FOLDER = 64;

const NO_FILE = "it is a hard link, and its target is not an earlier file or link of the archive";
const IN_THE_WAY = "something that is not a folder is in its way";

/** A name in the tree of what an archive would make. */
interface Node {
    /** The entry; a folder that only paths name has none. */
    item: Item | undefined;
    /** The names in a folder. */
    names: Map<string, Node> | undefined;
}

export class Archive {
    readonly root = undefined;
    readonly blake3 = undefined;
    /** The entries that count and those that are refused, in order. */
    readonly #items: (Item | Refused)[] = [];
    readonly #tree: Node = { item: undefined, names: new Map() };
    /** Entries that later ones with the same paths replace. */
    readonly #replaced = new Set<Item>();
    #implied = 0;

    private constructor() {}

    /** Reads all headers. */
    static async read(scan: Scan): Promise<Archive> {
        const archive = new Archive();
        for (let found = await scan.next(); found !== undefined; found = await scan.next()) {
            if ("why" in found) {
                archive.#items.push(found);
                continue;
            }
            const item = new Item(found.facts, archive);
            const why = archive.#place(item);
            archive.#items.push(why === undefined ? item : { path: item.facts.path, why });
        }
        return archive;
    }

    /** The entries that are refused. */
    get refused(): Refused[] {
        return this.#items.filter((item): item is Refused => !(item instanceof Item));
    }

    get count(): number {
        return this.#items.length - this.refused.length - this.#replaced.size;
    }

    async *items(): AsyncGenerator<Item | Refused, void, void> {
        for (const item of this.#items) {
            if (!(item instanceof Item) || !this.#replaced.has(item)) {
                yield item;
            }
        }
    }

    async find(path: Bytes): Promise<Item | undefined> {
        return this.#node(path)?.item;
    }

    async file(link: Item): Promise<Item> {
        if (link.file === undefined) {
            throw new TamperedError(`${shown(link.facts.path)}: ${NO_FILE}`);
        }
        return link.file;
    }

    isOwn(item: Item): boolean {
        return item.isOf(this);
    }

    /** Finds the place of an entry, or returns why the entry is refused. */
    #place(item: Item): string | undefined {
        const { path, kind } = item.facts;
        if (path.length === 0) {
            this.#put(this.#tree, item);
            return undefined;
        }
        const names = components(path).map(key);
        const last = names.pop() ?? "";
        if (this.#areTooMany(names, item.facts.content)) {
            return (
                "its folders have no entries, and the archive names too many of these: more than 4096, and more than " +
                "one for each 64 of its bytes"
            );
        }
        let folder = this.#tree;
        for (const name of names) {
            const inner = folder.names?.get(name) ?? this.#imply(folder, name);
            if (inner.names === undefined) {
                return inner.item?.kind === "symlink" ? "it would have to be made through a symbolic link" : IN_THE_WAY;
            }
            folder = inner;
        }
        const there = folder.names?.get(last);
        if (there !== undefined && (there.names === undefined) === (kind === "folder")) {
            return kind === "folder" ? IN_THE_WAY : "a folder is in its way";
        }
        if (kind === "hardlink") {
            const found = this.#node(item.facts.target ?? new Uint8Array());
            const file = found?.item?.file ?? found?.item;
            if (file === undefined || file.kind === "folder") {
                return NO_FILE;
            }
            item.file = file;
        }
        const node = there ?? { item: undefined, names: kind === "folder" ? new Map<string, Node>() : undefined };
        folder.names?.set(last, node);
        this.#put(node, item);
        return undefined;
    }

    #put(node: Node, item: Item): void {
        if (node.item !== undefined) {
            this.#replaced.add(node.item);
        }
        node.item = item;
    }

    #imply(folder: Node, name: string): Node {
        const node: Node = { item: undefined, names: new Map() };
        folder.names?.set(name, node);
        this.#implied++;
        return node;
    }

    /**
     * Whether an entry would add too many folders without entries. A short archive could otherwise name very many.
     * `position` is where the content begins, because the length of a content may be a lie.
     */
    #areTooMany(names: readonly string[], position: number): boolean {
        let missing = names.length;
        for (let node: Node | undefined = this.#tree; missing > 0; missing--) {
            node = node.names?.get(names[names.length - missing] ?? "");
            if (node === undefined) {
                break;
            }
        }
        return this.#implied + missing > Math.max(FREE_FOLDERS, Math.floor(position / BYTES_PER_FOLDER));
    }

    #node(path: Bytes): Node | undefined {
        let node: Node | undefined = this.#tree;
        for (const name of path.length === 0 ? [] : components(path).map(key)) {
            node = node?.names?.get(name);
        }
        return node;
    }
}

/** Returns a text that stands for exactly this name, also if it is not UTF-8. */
function key(name: Bytes): string {
    const text = pathText(name);
    return text.includes("\ufffd") ? `\0${hex(name)}` : text;
}

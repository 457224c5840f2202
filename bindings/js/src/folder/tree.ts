/** The files and folders to pack, in the order of a pack. */

import { compare, concat, utf8, type Bytes } from "../bytes.ts";
import { DEEPEST_PATH, LONGEST_PATH, shown, SLASH } from "./path.ts";
import type { PackInput } from "./pack.ts";

/** An input with its place. */
export interface Planned {
    /** The path in bytes, without the root. */
    path: Bytes;
    kind: PackInput["kind"];
    mode: number;
    modified: number;
    /** The input of a file. */
    input: PackInput | undefined;
}

interface Node {
    input: PackInput | undefined;
    /** The names in a folder, or undefined for a file. */
    names: Map<string, Node> | undefined;
    /** The latest time of what lies in a folder. */
    latest: number;
}

const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;

/** Takes all inputs, and yields them in order, with the folders that only paths name. The root comes first. */
export async function* planned(
    inputs: AsyncIterable<PackInput> | Iterable<PackInput>,
): AsyncGenerator<Planned, void, void> {
    const root: Node = { input: undefined, names: new Map(), latest: -Infinity };
    for await (const input of inputs) {
        add(root, input);
    }
    yield* walk(root);
}

function add(root: Node, input: PackInput): void {
    const modified = input.modified ?? -Infinity;
    if (input.modified !== undefined && !isTime(modified)) {
        throw new RangeError(`${input.path.join("/")}: the time is not a number of seconds`);
    }
    if (input.mode !== undefined && !(Number.isInteger(input.mode) && input.mode >= 0 && input.mode <= 0o7777)) {
        throw new RangeError(`${input.path.join("/")}: permission bits are a number up to 0o7777`);
    }
    if (input.kind === "file" && input.data === undefined) {
        throw new TypeError(`${input.path.join("/")}: a file has data`);
    }
    const names = input.path;
    if (names.length > DEEPEST_PATH) {
        throw new RangeError("a path has at most 1024 components");
    }
    let node = root;
    for (const [depth, name] of names.entries()) {
        if (name === "" || name === "." || name === ".." || name.includes("/") || name.includes("\0")) {
            throw new RangeError(`${names.join("/")}: a name is empty, . or .., or has a slash or a zero`);
        }
        node.latest = Math.max(node.latest, modified);
        const isFolder = depth < names.length - 1 || input.kind === "folder";
        const inner = node.names?.get(name) ?? empty(isFolder);
        if ((inner.names !== undefined) !== isFolder) {
            throw new TypeError(`${names.join("/")}: a name is both a file and a folder`);
        }
        node.names?.set(name, inner);
        node = inner;
    }
    if (node.input !== undefined || (names.length === 0 && input.kind === "file")) {
        throw new TypeError(`${names.join("/")}: this path occurs twice`);
    }
    node.input = input;
}

function isTime(seconds: number): boolean {
    return Number.isFinite(seconds) && Math.abs(seconds) <= Number.MAX_SAFE_INTEGER;
}

function empty(isFolder: boolean): Node {
    return { input: undefined, names: isFolder ? new Map<string, Node>() : undefined, latest: -Infinity };
}

function* walk(root: Node): Generator<Planned> {
    // The stack has the entries that come next, the first of them last.
    const stack: { path: Bytes; node: Node }[] = [{ path: new Uint8Array(), node: root }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
        const { path, node } = next;
        if (path.length > LONGEST_PATH) {
            throw new RangeError(`the path ${shown(path)} is too long: a path has at most 65 535 bytes`);
        }
        const isFolder = node.names !== undefined;
        yield {
            path,
            kind: isFolder ? "folder" : "file",
            mode: node.input?.mode ?? (isFolder ? FOLDER_MODE : FILE_MODE),
            modified: node.input?.modified ?? (node.latest > -Infinity ? node.latest : 0),
            input: isFolder ? undefined : node.input,
        };
        const names = [...(node.names ?? [])].map(([name, inner]) => ({ name: utf8(name), node: inner }));
        names.sort((one, other) => compare(other.name, one.name));
        const folder = path.length === 0 ? path : concat(path, Uint8Array.of(SLASH));
        for (const [place, { name, node: inner }] of names.entries()) {
            const before = names[place - 1];
            if (before !== undefined && compare(before.name, name) === 0) {
                throw new TypeError(`${shown(concat(folder, name))}: two names are the same in UTF-8`);
            }
            stack.push({ path: concat(folder, name), node: inner });
        }
    }
}

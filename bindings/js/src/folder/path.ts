/** Paths of entries: their order, and which of them are accepted. They are bytes with `/` between the components. */

import { concat, type Bytes } from "../bytes.ts";

/** The length of the longest path, in bytes. */
export const LONGEST_PATH = 65_535;
/** The depth of the deepest path, in components. */
export const DEEPEST_PATH = 1024;

export const SLASH = 0x2f;

const DOT = 0x2e;
/** The bytes of a path that messages show at most. */
const SHOWN = 200;

// A byte order mark is part of a name, so the decoder keeps it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the text of a name or path. Bytes that are not UTF-8 become U+FFFD. */
export function pathText(path: Uint8Array): string {
    return decoder.decode(path);
}

/** Returns a path for messages: its beginning, with escapes for characters that are invisible or control a terminal. */
export function shown(path: Uint8Array): string {
    const text = pathText(path.subarray(0, SHOWN)).replace(
        /[\p{C}\p{Zl}\p{Zp}\\]/gu,
        character => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    );
    return path.length > SHOWN ? `${text}…` : text;
}

/** Compares two paths component by component, so that the contents of a folder directly follow the folder. */
export function order(one: Uint8Array, other: Uint8Array): number {
    const shared = sharedLength(one, other);
    if (shared === one.length || shared === other.length) {
        return one.length - other.length;
    }
    // No component has a byte 0, so a slash that is compared as 0 ends a component before all longer ones.
    const rank = (byte: number | undefined): number => (byte === SLASH ? 0 : (byte ?? 0));
    return rank(one[shared]) - rank(other[shared]);
}

/** Returns how many bytes two paths share at their beginnings. */
export function sharedLength(one: Uint8Array, other: Uint8Array): number {
    const most = Math.min(one.length, other.length);
    let at = 0;
    while (at < most && one[at] === other[at]) {
        at++;
    }
    return at;
}

/** Returns what is wrong with a path in an index, or undefined. The first `known` bytes were checked before. */
export function pathFault(path: Uint8Array, known: number): string | undefined {
    if (path.length > LONGEST_PATH) {
        return "a path is longer than 65 535 bytes";
    }
    const begin = known === 0 ? 0 : path.lastIndexOf(SLASH, known - 1) + 1;
    if (path.indexOf(0, begin) >= 0 || components(path.subarray(begin)).some(leadsElsewhere)) {
        return "a path leads out of its folder, or is not in its plain form";
    }
    return depth(path) > DEEPEST_PATH ? "a path has more than 1024 components" : undefined;
}

/** Returns why an entry with this path is refused, or undefined. The empty path is the path of the root. */
export function pathRefusal(path: Uint8Array): string | undefined {
    if (path.length === 0) {
        return undefined;
    }
    if (path.length > LONGEST_PATH) {
        return "the path is longer than 65535 bytes";
    }
    if (path.includes(0)) {
        return "the path has a zero byte";
    }
    if (path[0] === SLASH) {
        return "the path begins with /, which leads out of the target folder";
    }
    if (depth(path) > DEEPEST_PATH) {
        return "the path is deeper than 1024 components";
    }
    const bad = components(path).find(leadsElsewhere);
    switch (bad?.length) {
        case undefined:
            return undefined;
        case 0:
            return "the path has a component without a name";
        case 1:
            return "the path has . as a component";
        default:
            return "the path has .. as a component, which leads out of the target folder";
    }
}

/** Removes empty components and `.` from the path of another program's archive. An absolute path stays absolute. */
export function plainPath(path: Bytes): Bytes {
    const bare = path[path.length - 1] === SLASH ? path.subarray(0, -1) : path;
    const isName = (component: Bytes): boolean =>
        component.length > 0 && !(component.length === 1 && component[0] === DOT);
    if (components(bare).every(isName)) {
        return bare;
    }
    const slash = Uint8Array.of(SLASH);
    const names = components(path).filter(isName);
    const joined = concat(...names.flatMap((name, place) => (place === 0 ? [name] : [slash, name])));
    return path[0] === SLASH ? concat(slash, joined) : joined;
}

/** Returns the components of a path. The empty path has one, which is empty. */
export function components(path: Bytes | Uint8Array): Bytes[] {
    const found: Bytes[] = [];
    let begin = 0;
    for (let slash = path.indexOf(SLASH); slash >= 0; slash = path.indexOf(SLASH, begin)) {
        found.push(path.subarray(begin, slash) as Bytes);
        begin = slash + 1;
    }
    found.push(path.subarray(begin) as Bytes);
    return found;
}

/** Returns the number of components. */
export function depth(path: Uint8Array): number {
    let slashes = 0;
    for (const byte of path) {
        slashes += byte === SLASH ? 1 : 0;
    }
    return slashes + 1;
}

function leadsElsewhere(component: Uint8Array): boolean {
    return component.length < 3 && component.every(byte => byte === DOT);
}

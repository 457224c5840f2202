/** Tests that run in Node.js, Deno, Bun and browsers alike. */

type Body = () => Promise<void> | void;

const tests: { name: string; body: Body; everywhere: boolean }[] = [];

/** Registers a test. */
export function test(name: string, body: Body): void {
    tests.push({ name, body, everywhere: true });
}

/** Registers a test that takes seconds and finds the same on each platform. It runs in one place only, in Node.js. */
export function thorough(name: string, body: Body): void {
    tests.push({ name, body, everywhere: false });
}

/** Compares numbers, texts, bytes, arrays and plain objects with all that is in them. */
export function equal(found: unknown, wanted: unknown, why = ""): void {
    const where = difference(found, wanted, "");
    if (where !== undefined) {
        throw new Error(`${shown(found)} instead of ${shown(wanted)}${where && `, at ${where}`}${why && `: ${why}`}`);
    }
}

export function ok(condition: unknown, why: string): asserts condition {
    if (!condition) {
        throw new Error(why);
    }
}

/** Expects that a promise or a function fails with an error of this class, whose message fits the pattern. */
export async function rejects(
    what: Promise<unknown> | (() => unknown),
    // The parameters of constructors differ.
    kind: new (...parameters: any[]) => Error,
    pattern?: RegExp,
): Promise<void> {
    let result: unknown;
    try {
        result = await (typeof what === "function" ? what() : what);
    } catch (why) {
        if (!(why instanceof kind)) {
            throw new Error(`it failed, and not with ${kind.name}: ${String(why)}`, { cause: why });
        }
        if (pattern !== undefined && !pattern.test(why.message)) {
            throw new Error(`it failed with ${JSON.stringify(why.message)}, which does not fit ${pattern}`);
        }
        return;
    }
    throw new Error(`it did not fail with ${kind.name}, and returned ${shown(result)}`);
}

/** Ends a test, which counts as skipped. */
export function skipped(why: string): never {
    throw new Skipped(why);
}

/** The files of the repository. Paths are relative to its root. */
export const files = {
    /** Returns what is in a file, or undefined if there is no such file. */
    async read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
        if (inBrowser) {
            const answer = await fetched("files", path);
            return answer && new Uint8Array(await answer.arrayBuffer());
        }
        const { readFile } = await import("node:fs/promises");
        const data = await unlessMissing(readFile(`${await root()}/${path}`));
        return data && new Uint8Array(data);
    },

    /** Returns the names in a folder, sorted. There are none if there is no such folder. */
    async list(folder: string): Promise<string[]> {
        if (inBrowser) {
            const answer = await fetched("list", folder);
            return answer ? ((await answer.json()) as string[]) : [];
        }
        const { readdir } = await import("node:fs/promises");
        const names = await unlessMissing(readdir(`${await root()}/${folder}`));
        return names?.sort() ?? [];
    },
};

/** Runs the tests one after the other, and prints which of them failed, were skipped or are slow. */
export async function run(all = true): Promise<{ passed: number; failed: number; skipped: number }> {
    const count = { passed: 0, failed: 0, skipped: 0 };
    for (const { name, body } of tests.filter(({ everywhere }) => everywhere || all)) {
        const start = performance.now();
        try {
            await inTime(body);
            count.passed++;
        } catch (why) {
            if (why instanceof Skipped) {
                count.skipped++;
                console.log(`skipped: ${name}: ${why.message}`);
            } else {
                count.failed++;
                console.log(`FAILED: ${name}\n${story(why)}`);
            }
        }
        const seconds = (performance.now() - start) / 1000;
        if (seconds > SLOW_SECONDS) {
            console.log(`slow: ${name}: ${seconds.toFixed(1)} s`);
        }
    }
    return count;
}

class Skipped extends Error {}

const inBrowser = typeof document !== "undefined";
const LIMIT_SECONDS = 60;
const SLOW_SECONDS = 5;

async function inTime(body: Body): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`it took more than ${LIMIT_SECONDS} s`)), LIMIT_SECONDS * 1000);
    });
    try {
        await Promise.race([body(), late]);
    } finally {
        clearTimeout(timer);
    }
}

/** Returns an error with its stack and its causes. The stacks of Firefox do not begin with the message. */
function story(why: unknown): string {
    if (!(why instanceof Error)) {
        return `thrown: ${shown(why)}`;
    }
    const stack = why.stack ?? "";
    const told = stack.includes(why.message) ? stack : `${why.name}: ${why.message}\n${stack}`;
    return why.cause === undefined ? told : `${told}\ncaused by ${story(why.cause)}`;
}

/** Returns where two values differ, which is "" for the values themselves, or undefined if they are equal. */
function difference(a: unknown, b: unknown, at: string): string | undefined {
    if (a instanceof Uint8Array && b instanceof Uint8Array) {
        const first = a.findIndex((byte, i) => byte !== b[i]);
        return first < 0 && a.length === b.length ? undefined : `${at}[${first < 0 ? a.length : first}]`;
    }
    if (Array.isArray(a) && Array.isArray(b)) {
        return a.length === b.length ? firstOf(a.keys(), i => difference(a[i], b[i], `${at}[${i}]`)) : at;
    }
    if (isPlain(a) && isPlain(b)) {
        const names = new Set([...Object.keys(a), ...Object.keys(b)]);
        return firstOf(names, name => difference(a[name], b[name], `${at}.${name}`));
    }
    return Object.is(a, b) ? undefined : at;
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
    for (const item of items) {
        const found = find(item);
        if (found !== undefined) {
            return found;
        }
    }
    return undefined;
}

function isPlain(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

const SHOWN_BYTES = 48;

function shown(value: unknown): string {
    if (value instanceof Uint8Array) {
        const digits = Array.from(value.subarray(0, SHOWN_BYTES), byte => byte.toString(16).padStart(2, "0")).join("");
        return value.length > SHOWN_BYTES ? `${digits}… (${value.length} bytes)` : `0x${digits}`;
    }
    if (Array.isArray(value)) {
        return `[${value.map(shown).join(", ")}]`;
    }
    if (isPlain(value)) {
        return `{${Object.entries(value)
            .map(([name, part]) => `${name}: ${shown(part)}`)
            .join(", ")}}`;
    }
    if (typeof value === "bigint") {
        return `${value}n`;
    }
    return typeof value === "string" ? JSON.stringify(value) : String(value);
}

async function fetched(kind: "files" | "list", path: string): Promise<Response | undefined> {
    // One segment: a browser would resolve `..` in several.
    const answer = await fetch(`/${kind}/${encodeURIComponent(path)}`);
    if (answer.status === 204) {
        return undefined;
    }
    if (!answer.ok) {
        throw new Error(`the server answers ${answer.status} for ${path}`);
    }
    return answer;
}

const MISSING = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

async function unlessMissing<T>(what: Promise<T>): Promise<T | undefined> {
    try {
        return await what;
    } catch (why) {
        if (why instanceof Error && "code" in why && MISSING.has(String(why.code))) {
            return undefined;
        }
        throw why;
    }
}

/** Returns the root of the repository: the first folder above the working directory that has the frozen files. */
async function root(): Promise<string> {
    const { access } = await import("node:fs/promises");
    const { dirname, join } = await import("node:path");
    let folder = process.cwd();
    while ((await unlessMissing(access(join(folder, "tests/frozen")).then(() => true))) === undefined) {
        if (folder === dirname(folder)) {
            throw new Error("the working directory is not in the repository");
        }
        folder = dirname(folder);
    }
    return folder;
}

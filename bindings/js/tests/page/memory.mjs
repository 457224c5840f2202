/** How much memory the processes of a browser take, from /proc. */

import { readdirSync, readFileSync } from "node:fs";

/**
 * Returns the memory of a process and of all its descendants in MiB: the sum of their proportional set sizes, in which
 * pages that several processes share count once.
 * @param {number} pid
 */
export function memoryOf(pid) {
    const children = childrenOf();
    let sum = 0;
    for (const found = [pid]; found.length > 0;) {
        const one = found.pop() ?? 0;
        sum += proportional(one);
        found.push(...(children.get(one) ?? []));
    }
    return Math.round(sum / 1024);
}

/**
 * Measures while something runs, and returns by how many MiB the memory grew at most.
 * @param {number} pid
 * @param {() => Promise<void>} run
 */
export async function growthOf(pid, run) {
    const before = memoryOf(pid);
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, memoryOf(pid))), 250);
    try {
        await run();
    } finally {
        clearInterval(timer);
    }
    return Math.max(most, memoryOf(pid)) - before;
}

function childrenOf() {
    /** @type {Map<number, number[]>} */
    const children = new Map();
    for (const name of readdirSync("/proc").filter(name => /^\d+$/.test(name))) {
        const parent = parentOf(name);
        if (parent !== undefined) {
            children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
        }
    }
    return children;
}

/** @param {string} pid */
function parentOf(pid) {
    try {
        // The name of the program stands in parentheses, and may have any characters.
        const [, parent] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
        return Number(parent);
    } catch {
        return undefined;
    }
}

/** @param {number} pid */
function proportional(pid) {
    try {
        const [, kibibytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")) ?? [];
        return Number(kibibytes ?? 0);
    } catch {
        // The process has ended.
        return 0;
    }
}

/** Cases: what they are, and how they say that something is wrong. */

import { isDeepStrictEqual } from "node:util";

/** @typedef {import("../runner/browser.mjs").Name} Name */
/** @typedef {import("./room.mjs").Room} Room */
/** @typedef {{ only?: Name, seconds?: number }} Needs */
/** A case returns what its line says besides its name. @typedef {(room: Room) => Promise<string | void>} Run */
/** @typedef {{ name: string, run: Run } & Needs} Case */

/** @type {Case[]} */
export const cases = [];

/** The case cannot run here. */
export class Skipped extends Error {}

/**
 * Adds a case. `only` is the browser that can do it, and `seconds` is how long it may take.
 * @param {string} name
 * @param {Run} run
 * @param {Needs} [needs]
 */
export function test(name, run, needs = {}) {
    cases.push({ name, run, ...needs });
}

/**
 * @param {unknown} condition
 * @param {string} message
 * @returns {asserts condition}
 */
export function ok(condition, message) {
    if (!condition) {
        throw new Error(message);
    }
}

/**
 * @param {unknown} found
 * @param {unknown} wanted
 * @param {string} what
 */
export function equal(found, wanted, what) {
    if (!isDeepStrictEqual(found, wanted)) {
        throw new Error(`${what}: ${short(found)} instead of ${short(wanted)}`);
    }
}

/**
 * @param {string} found
 * @param {string} wanted
 * @param {string} what
 */
export function includes(found, wanted, what) {
    ok(found.includes(wanted), `${what}: ${short(wanted)} is missing in ${short(found)}`);
}

/** @param {unknown} value */
function short(value) {
    const text = JSON.stringify(value) ?? String(value);
    return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/**
 * What takes the place of the browser's dialogs for saving. These functions run in the page, before its own code, and
 * must not use anything from outside of them.
 */

/**
 * Something that was saved, or begun.
 * @typedef {{ name: string, length: number, parts: Uint8Array<ArrayBuffer>[], state: "open" | "closed" | "aborted",
 *     why?: string, wrong: number }} Saved
 */

/** The page has no dialogs, so everything is a download. */
export function noPickers() {
    Object.assign(globalThis, { showSaveFilePicker: undefined, showDirectoryPicker: undefined });
}

/** Each file that the page saves stays in memory. */
export function pickersInMemory() {
    /** @type {Saved[]} */
    const saved = [];
    Object.assign(globalThis, {
        saved,
        /** @param {{ suggestedName: string }} options */
        showSaveFilePicker: async ({ suggestedName: name }) => ({
            kind: "file",
            name,
            createWritable: async () => {
                /** @type {Saved} */
                const one = { name, length: 0, parts: [], state: "open", wrong: 0 };
                saved.push(one);
                return new WritableStream({
                    write(piece) {
                        one.parts.push(piece.slice());
                        one.length += piece.length;
                    },
                    close() {
                        one.state = "closed";
                    },
                    abort(why) {
                        one.state = "aborted";
                        one.why = String(why);
                    },
                });
            },
        }),
    });
}

/**
 * Each file that the page saves is counted, compared with what `blocks` of fixtures.mjs made, and forgotten. Each write
 * waits for `delay` milliseconds.
 * @param {number} delay
 */
export function pickersThatCompare(delay) {
    const BLOCK = 1 << 20;
    /** @type {Saved[]} */
    const saved = [];
    Object.assign(globalThis, {
        saved,
        showDirectoryPicker: undefined,
        /** @param {{ suggestedName: string }} options */
        showSaveFilePicker: async ({ suggestedName: name }) => ({
            kind: "file",
            name,
            createWritable: async () => {
                /** @type {Saved} */
                const one = { name, length: 0, parts: [], state: "open", wrong: 0 };
                saved.push(one);
                return new WritableStream({
                    async write(piece) {
                        for (let i = 0; i < piece.length; i++) {
                            const at = one.length + i;
                            const place = at % BLOCK;
                            const wanted =
                                place < 4 ? (Math.floor(at / BLOCK) >>> (8 * place)) & 255 : (place * 167) & 255;
                            if (piece[i] !== wanted) {
                                one.wrong++;
                            }
                        }
                        one.length += piece.length;
                        if (delay > 0) {
                            await new Promise(resolve => setTimeout(resolve, delay));
                        }
                    },
                    close() {
                        one.state = "closed";
                    },
                    abort(why) {
                        one.state = "aborted";
                        one.why = String(why);
                    },
                });
            },
        }),
    });
}

/** What the page saves goes into the folder that the browser keeps for the page: real files, with real semantics. */
export function pickersInOrigin() {
    const room = () => navigator.storage.getDirectory();
    Object.assign(globalThis, {
        /** @param {{ suggestedName: string }} options */
        showSaveFilePicker: async ({ suggestedName }) => (await room()).getFileHandle(suggestedName, { create: true }),
        showDirectoryPicker: async () => (await room()).getDirectoryHandle("chosen", { create: true }),
    });
}

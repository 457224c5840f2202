/** Does the same with many hostile texts, inside of the page, where this takes little time. */

/**
 * What to do: to open files, to seal files that have a name, or to write texts into a field and press a button.
 * @typedef {{ do: "open" | "seal", files: { name: string, base64: string }[] }
 *     | { do: "write", field: string, press: string, texts: string[] }} Task
 */
/**
 * What was seen with one of the texts: all texts that were shown, the names under which something would be saved, and
 * how many elements of each kind there were.
 * @typedef {{ shown: string[], saved: string[], elements: Record<string, number> }} Seen
 */

/**
 * Does it with all texts. Dialogs for saving are replaced. This function runs in the page, and must not use anything
 * from outside of it. @param {Task} task @returns {Promise<Seen[]>}
 */
export async function drive(task) {
    /** @type {string[]} */
    const saved = [];
    Object.assign(globalThis, {
        /** @param {{ suggestedName: string }} options */
        showSaveFilePicker: async ({ suggestedName }) => {
            saved.push(suggestedName);
            return { createWritable: async () => new WritableStream() };
        },
    });
    /** @param {string} selector @returns {any} */
    const find = selector => document.querySelector(selector);
    /** @param {string} selector @returns {boolean} */
    const visible = selector => find(selector)?.checkVisibility() ?? false;
    /** @param {string} selector @returns {string} */
    const text = selector => find(selector)?.innerText ?? "";
    /** @param {() => boolean} condition @param {string} what */
    const until = async (condition, what) => {
        for (const end = Date.now() + 10_000; !condition();) {
            if (Date.now() > end) {
                throw new Error(`${what} does not come; trouble: ${text("#trouble")}`);
            }
            await new Promise(resolve => setTimeout(resolve, 1));
        }
    };
    const untrouble = () => {
        if (text("#trouble") !== "") {
            throw new Error(text("#trouble"));
        }
    };
    /** @param {string} name @param {string} base64 */
    const transfer = (name, base64) => {
        const bytes = Uint8Array.from(atob(base64), symbol => symbol.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], name));
        return data;
    };
    /** @param {string[]} shown @returns {Seen} */
    const seen = shown => {
        /** @type {Record<string, number>} */
        const elements = {};
        for (const { tagName } of document.querySelectorAll("*")) {
            elements[tagName] = (elements[tagName] ?? 0) + 1;
        }
        if ("xss" in globalThis) {
            throw new Error("a script has run");
        }
        return { shown, saved: saved.splice(0), elements };
    };

    /** @type {Seen[]} */
    const all = [];
    if (task.do === "write") {
        for (const text_ of task.texts) {
            find(task.field).value = text_;
            find(task.press).click();
            await until(() => !visible("#work") && text("#trouble") !== "", "an error");
            all.push(seen([text("#trouble")]));
        }
        return all;
    }
    for (const { name, base64 } of task.files) {
        const dataTransfer = transfer(name, base64);
        if (task.do === "open") {
            find("#open-drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
            await until(() => visible("#unlock") && !visible("#work"), "the form");
            find("#unlock").requestSubmit();
            await until(() => (visible("#opened") || text("#trouble") !== "") && !visible("#work"), "the data");
            untrouble();
            find("#opened-saves button").click();
            await until(() => visible("#opened-signed [role=status]"), "a note");
            const label = find("#opened-saves button").getAttribute("aria-label");
            all.push(seen([text("#opened-title"), text("#about"), text("#opened-signed"), label]));
        } else {
            find("#seal-files").files = dataTransfer.files;
            find("#seal-files").dispatchEvent(new Event("change"));
            await until(() => text("#seal-chosen") !== "", "the file");
            find("#seal-form").requestSubmit();
            await until(() => (visible("#sealed") || text("#trouble") !== "") && !visible("#work"), "the sealed file");
            untrouble();
            all.push(seen([text("#seal-chosen"), text("#sealed-view")]));
        }
        find("#opened-signed").replaceChildren();
        find("#seal-chosen").textContent = "";
    }
    return all;
}

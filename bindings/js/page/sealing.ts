/** The part of the page that seals files, folders and texts. */

import { Passphrase, readPublicKeys, seal, sealFolder, sealStream, type PackInput, type To } from "../src/index.ts";
import { gather, type Gathered } from "./chosen.ts";
import { byId, button, dropZone, make, said, show, showButton } from "./dom.ts";
import { copy } from "./opening.ts";
import { offer, warnOfShort } from "./offer.ts";
import { save } from "./save.ts";
import { shown, size } from "./shown.ts";
import { say } from "./text.ts";
import { Missing, work, type Progress } from "./work.ts";

let gathered: Gathered | undefined;

/** Connects the elements that seal. */
export function startSealing(): void {
    const files = byId<HTMLInputElement>("seal-files");
    const folder = byId<HTMLInputElement>("seal-folder");
    byId("seal-choose").addEventListener("click", () => files.click());
    byId("seal-choose-folder").addEventListener("click", () => folder.click());
    for (const input of [files, folder]) {
        input.addEventListener("change", () => {
            const list = Array.from(input.files ?? []);
            input.value = "";
            void take(gather(list));
        });
    }
    dropZone(byId("seal-drop"), data => void take(gather(data)));
    showButton(byId("seal-show"), byId("seal-passphrase"));
    warnOfShort(byId("seal-passphrase"), byId("seal-weak"));
    byId("seal-remove").addEventListener("click", () => {
        choose(undefined);
        byId("seal-choose").focus();
    });
    byId("seal-offer").addEventListener("click", () => offer(byId("seal-passphrase"), byId("seal-show")));
    byId("seal-form").addEventListener("submit", event => {
        event.preventDefault();
        void sealChosen();
    });
}

async function take(choice: Promise<Gathered | undefined>): Promise<void> {
    await work(async progress => {
        const found = await choice;
        progress.signal.throwIfAborted();
        if (found !== undefined) {
            choose(found);
        }
    });
}

/** Remembers what is sealed, and shows it. */
function choose(found: Gathered | undefined): void {
    gathered = found;
    const note = byId("seal-chosen");
    byId("seal-remove").hidden = found === undefined;
    if (found === undefined) {
        note.replaceChildren();
        delete note.dataset["text"];
    } else {
        say(note, "chosen", shown(found.name), size(found.size));
    }
}

async function sealChosen(): Promise<void> {
    byId("sealed").hidden = true;
    await work(async progress => {
        const text = byId<HTMLTextAreaElement>("seal-text").value;
        if (gathered === undefined && text === "") {
            throw new Missing("needWhat", byId("seal-choose"));
        }
        // Sealing one of them would lose the other in silence.
        if (gathered !== undefined && text !== "") {
            throw new Missing("needOne", byId("seal-text"));
        }
        const to = await recipients();
        progress.now("sealing");
        const armor = byId<HTMLInputElement>("seal-armor").checked;
        const options = {
            hideLength: byId<HTMLInputElement>("seal-hide").checked,
            armor,
            signal: progress.signal,
        };
        if (gathered === undefined) {
            await showText(await seal(text, to, { ...options, armor: true }), progress);
            return;
        }
        const { name, size: total, file, entries } = gathered;
        const output = `${name}.dpn${armor ? ".asc" : ""}`;
        const begin = async () =>
            file === undefined ? sealFolder(name, entries, to, options) : sealStream(file, to, options);
        await save(output, begin, total, progress);
        showSaved(output);
    });
}

async function recipients(): Promise<To[]> {
    const field = byId<HTMLTextAreaElement>("seal-keys");
    const to: To[] = [];
    if (field.value.trim() !== "") {
        to.push(...(await readPublicKeys(field.value)));
    }
    for (const file of byId<HTMLInputElement>("seal-key-files").files ?? []) {
        to.push(...(await readPublicKeys(new Uint8Array(await file.arrayBuffer()))));
    }
    const passphrase = byId<HTMLInputElement>("seal-passphrase").value;
    if (passphrase !== "") {
        to.push(new Passphrase(passphrase));
    }
    if (to.length === 0) {
        throw new Missing("needWhom", field);
    }
    return to;
}

async function showText(armor: Uint8Array, progress: Progress): Promise<void> {
    progress.signal.throwIfAborted();
    const text = new TextDecoder().decode(armor);
    const row = make("div", "row");
    row.append(
        button("copy", () => void copy(text, row)),
        button("save", () => void saveText(text)),
    );
    showSealed(make("pre", "", text), row, passphraseNote());
}

async function saveText(text: string): Promise<void> {
    await work(async progress => {
        const blob = new Blob([text]);
        await save(
            "text.dpn.asc",
            async () => blob.stream() as ReadableStream<Uint8Array<ArrayBuffer>>,
            blob.size,
            progress,
        );
    });
}

function showSaved(name: string): void {
    showSealed(said("p", "sealedSaved", shown(name)), passphraseNote());
}

function showSealed(...parts: Node[]): void {
    byId("sealed-view").replaceChildren(...parts);
    show(byId("sealed"));
}

function passphraseNote(): Node {
    const needed = byId<HTMLInputElement>("seal-passphrase").value !== "";
    return needed ? said("p", "tellPassphrase") : document.createTextNode("");
}

export type { PackInput };

/** The part of the page that makes a key. */

import { fingerprint, generateKey, Passphrase, privateKeyToPem, publicKeyToPem } from "../src/index.ts";
import { byId, button, make, said, show, showButton } from "./dom.ts";
import { copy } from "./opening.ts";
import { offer, warnOfShort } from "./offer.ts";
import { save } from "./save.ts";
import { Missing, work } from "./work.ts";

/** Connects the elements that make a key. */
export function startKeys(): void {
    const field = byId<HTMLInputElement>("key-passphrase");
    showButton(byId("key-show"), field);
    warnOfShort(field, byId("key-weak"));
    byId("key-offer").addEventListener("click", () => offer(field, byId("key-show")));
    byId("key-form").addEventListener("submit", event => {
        event.preventDefault();
        void makeKey(field);
    });
}

async function makeKey(field: HTMLInputElement): Promise<void> {
    byId("made").hidden = true;
    await work(async progress => {
        if (field.value === "") {
            throw new Missing("needPassphrase", field);
        }
        progress.now("making");
        const key = await generateKey();
        const locked = await privateKeyToPem(key, new Passphrase(field.value));
        const open = publicKeyToPem(key.publicKey);
        const name = await fingerprint(key.publicKey);
        progress.signal.throwIfAborted();
        const row = make("div", "row");
        row.append(
            button("savePrivate", () => void saveKey("deadpan.key", locked)),
            button("savePublic", () => void saveKey("deadpan.pub", open)),
            button("copy", () => void copy(open, row)),
        );
        byId("made-view").replaceChildren(
            said("p", "keyFingerprint", name),
            make("pre", "", open),
            row,
            said("p", "keyNext"),
        );
        show(byId("made"));
    });
}

async function saveKey(name: string, text: string): Promise<void> {
    await work(async progress => {
        const blob = new Blob([text]);
        await save(name, async () => blob.stream() as ReadableStream<Uint8Array<ArrayBuffer>>, blob.size, progress);
    });
}

/** The part of the page that opens files. */

import {
    fingerprint,
    inspect,
    openFile,
    Passphrase,
    readIdentities,
    readSigners,
    Share,
    withoutArmor,
    type Inspected,
    type Key,
    type OpenedFile,
    type Signatures,
    type SignerKey,
    type Source,
} from "../src/index.ts";
import { byId, button, dropZone, make, said, show, showButton } from "./dom.ts";
import { folderView, type View } from "./folder.ts";
import { save } from "./save.ts";
import { shown, size, time } from "./shown.ts";
import { say, t } from "./text.ts";
import { Missing, quiet, tell, work, type Progress } from "./work.ts";

/** Data of at most this many bytes are shown, if they are text. */
const LONGEST_TEXT = 262_144;

/** What the user has chosen to open. */
interface Chosen {
    readonly name: string;
    readonly data: Source;
    readonly seen: Inspected;
}

let chosen: Chosen | undefined;
let hashing: Progress | undefined;

/** Returns the work that waits for a passphrase, and says so. */
export function hashBegins(): Progress | undefined {
    hashing?.now("hashing");
    return hashing;
}

/** Connects the elements that open files. */
export function startOpening(): void {
    const input = byId<HTMLInputElement>("open-file");
    const text = byId<HTMLTextAreaElement>("open-text");
    byId("open-choose").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
        const file = input.files?.[0];
        if (file !== undefined) {
            void choose(file.name, file);
        }
        // The same file can be chosen again.
        input.value = "";
    });
    dropZone(byId("open-drop"), data => {
        const file = data.files[0];
        if (file !== undefined) {
            void choose(file.name, file);
        }
    });
    const box = byId("open-text-box");
    byId("open-paste").addEventListener("click", () => {
        box.hidden = !box.hidden;
        byId("open-paste").setAttribute("aria-expanded", String(!box.hidden));
        if (!box.hidden) {
            text.focus();
        }
    });
    byId("open-text-use").addEventListener("click", () => void choose("", new Blob([armorIn(text.value)])));
    showButton(byId("open-show"), byId("open-passphrase"));
    byId("unlock").addEventListener("submit", event => {
        event.preventDefault();
        void openChosen();
    });
}

/** Returns the armor in a text. People copy more of a mail than that. */
function armorIn(text: string): string {
    const found = /-----BEGIN ([A-Z ]+)-----[^]*?-----END \1-----/.exec(text);
    return found === null ? text : found[0];
}

/** Looks at a file that the user wants to open, and asks for a key. */
export async function choose(name: string, file: Blob): Promise<void> {
    byId("inside").hidden = true;
    byId("unlock").hidden = true;
    byId("opened").hidden = true;
    chosen = undefined;
    await work(async progress => {
        progress.now("reading", shown(name));
        const data = await withoutArmor(file);
        const seen = await inspect(data);
        // The user may have chosen another file meanwhile.
        progress.signal.throwIfAborted();
        chosen = { name, data, seen };
        if (name === "") {
            say(byId("about"), "aboutText", size(file.size));
        } else {
            say(byId("about"), "about", shown(name), size(file.size));
        }
        askFor(seen);
        say(byId("sealed-to"), "sealedTo", recipientsOf(seen));
        byId("unlock").hidden = false;
        byId("open-passphrase").focus();
    });
}

/** Asks for what can open the file alone. */
function askFor({ format, recipients }: Inspected): void {
    const hasPassphrase = format === "age" || recipients.some(({ type }) => type === "passphrase");
    const hasKey = format === "age" || recipients.some(({ type }) => type !== "passphrase");
    byId("open-keys-part").hidden = !hasKey;
    const label = hasPassphrase ? (hasKey ? "openPassphrase" : "openPassphraseOnly") : "openPassphraseOfKey";
    say(byId("open-passphrase-label"), label);
}

function recipientsOf({ format, recipients }: Inspected): string {
    if (format === "age") {
        return t("kindAge");
    }
    const texts = recipients.map(recipient => {
        switch (recipient.type) {
            case "key":
                return t("kindKey", recipient.kind);
            case "passphrase":
                return t("kindPassphrase");
            case "plugin":
                return t("kindPlugin");
            case "share":
                return t("kindShares", String(recipient.needed), String(recipient.of));
        }
    });
    return Array.from(new Set(texts)).join(", ");
}

async function openChosen(): Promise<void> {
    if (chosen === undefined) {
        return;
    }
    const { name, data } = chosen;
    byId("opened").hidden = true;
    await work(async progress => {
        hashing = progress;
        try {
            progress.now("opening");
            const signers = await wantedSigners();
            const keys = await givenKeys();
            const opened = await openFile(data, keys, signers.length > 0 ? { signers } : {});
            progress.signal.throwIfAborted();
            await showOpened(opened, withoutEnding(name), signers, progress);
        } finally {
            // Another try may have begun meanwhile.
            if (hashing === progress) {
                hashing = undefined;
            }
        }
    });
}

/** Returns the name of a file without the ending of a sealed one. */
function withoutEnding(name: string): string {
    return name.replace(/\.(?:dpn|age|asc|html)$/i, "");
}

async function givenKeys(): Promise<Key[]> {
    const field = byId<HTMLInputElement>("open-passphrase");
    const passphrase = field.value === "" ? undefined : new Passphrase(field.value);
    const keys: Key[] = [];
    for (const file of byId<HTMLInputElement>("open-keys").files ?? []) {
        keys.push(...(await readIdentities(new Uint8Array(await file.arrayBuffer()), passphrase)));
    }
    const shares = byId<HTMLInputElement>("open-shares").files ?? [];
    for (const file of shares) {
        // A share travels sealed to the person who collects shares.
        keys.push(new Share(await (await openFile(file, keys)).bytes()));
    }
    if (passphrase !== undefined) {
        keys.push(passphrase);
    }
    if (keys.length === 0) {
        throw new Missing("needKeys", field);
    }
    return keys;
}

async function wantedSigners(): Promise<SignerKey[]> {
    const text = byId<HTMLTextAreaElement>("open-signers").value;
    return text.trim() === "" ? [] : readSigners(text);
}

/** Shows what was opened. Nothing of it is shown before all of it is there: the user may have chosen another file. */
async function showOpened(
    opened: OpenedFile,
    name: string,
    signers: readonly SignerKey[],
    progress: Progress,
): Promise<void> {
    const { description, size: bytes, signatures } = opened;
    const title = description.name ?? name;
    const signed = await signedTexts(signatures, signers);
    const { view, saves } =
        description.kind === "folder"
            ? await folderView(await opened.folder(), opened, title)
            : await fileView(opened, title);
    progress.signal.throwIfAborted();
    say(byId("opened-title"), "openedTitle", shown(title));
    if (description.modified === undefined) {
        say(byId("opened-about"), "openedAboutShort", size(bytes));
    } else {
        say(byId("opened-about"), "openedAbout", size(bytes), time(Number(description.modified.seconds)));
    }
    byId("opened-signed").replaceChildren(...signed);
    byId("opened-view").replaceChildren(...view);
    byId("opened-saves").replaceChildren(...saves);
    show(byId("opened"));
}

async function fileView(opened: OpenedFile, title: string): Promise<View> {
    const saves = [button("save", () => void saveData(opened, title, opened.size), t("saveNamed", shown(title)))];
    const text = await textOf(opened);
    if (text === undefined) {
        return { view: [], saves };
    }
    saves.push(button("copy", () => void copy(text, byId("opened-saves"))));
    return { view: [make("pre", "", text)], saves };
}

async function signedTexts(signatures: Signatures | undefined, wanted: readonly SignerKey[]): Promise<Node[]> {
    if (signatures === undefined) {
        return [said("p", "notSigned")];
    }
    const texts: Node[] = [];
    for (const signer of signatures.signers) {
        const name = await fingerprint(signer);
        const expected = wanted.some(
            ({ ssh }) => ssh.length === signer.ssh.length && ssh.every((byte, i) => byte === signer.ssh[i]),
        );
        const line = said("p", expected ? "signedExpected" : "signedBy", name, time(signatures.time));
        line.className = expected ? "good" : "";
        texts.push(line);
    }
    if (signatures.forwarded) {
        const line = said("p", "forwarded");
        line.className = "bad";
        texts.push(line);
    }
    return texts;
}

/** Returns data as text if they are a short text. */
async function textOf(opened: OpenedFile): Promise<string | undefined> {
    if (opened.size === 0 || opened.size > LONGEST_TEXT) {
        return undefined;
    }
    try {
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await opened.bytes());
        return /[\0-\x08\x0e-\x1f]/.test(text) ? undefined : text;
    } catch (why) {
        if (why instanceof TypeError) {
            return undefined;
        }
        throw why;
    }
}

/** Saves data, and says so. */
export async function saveData(from: OpenedFile, name: string, total: number): Promise<void> {
    await work(async progress => {
        await save(name, async () => from.stream({ signal: progress.signal }), total, progress);
        savedNote(name);
    });
}

/** Says that something was saved. */
export function savedNote(name: string): void {
    const note = said("p", "saved", shown(name));
    note.setAttribute("role", "status");
    byId("opened-signed").querySelector("[role=status]")?.remove();
    byId("opened-signed").append(note);
}

/** Copies a text, and says so beside the button. */
export async function copy(text: string, beside: HTMLElement): Promise<void> {
    quiet();
    try {
        await navigator.clipboard.writeText(text);
    } catch (why) {
        tell(why);
        return;
    }
    beside.querySelector("[role=status]")?.remove();
    const note = said("span", "copied");
    note.setAttribute("role", "status");
    beside.append(note);
}

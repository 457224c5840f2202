/** The view of an opened folder: one level at a time, a search for names, and buttons that save. */

import { unpackToDirectory, type Folder, type FolderEntry, type OpenedFile } from "../src/index.ts";
import { button, make, said } from "./dom.ts";
import { savedNote, saveData } from "./opening.ts";
import { save } from "./save.ts";
import { shown, size } from "./shown.ts";
import { say, t } from "./text.ts";
import { Partly, work } from "./work.ts";

/** This many entries are shown at a time. */
const SHOWN = 200;

interface DirectoryPicker {
    showDirectoryPicker?(options: { mode: "readwrite" }): Promise<FileSystemDirectoryHandle>;
}

/** What is shown of something that was opened, and the buttons that save it. */
export interface View {
    readonly view: Node[];
    readonly saves: Node[];
}

/** Returns the entries of a folder, with a button for each file, and buttons for everything. */
export async function folderView(folder: Folder, opened: OpenedFile, name: string): Promise<View> {
    const entries = (await folder.list()).filter(({ path }) => path !== "");
    const notes = make("div", "soft");
    const saves: Node[] = [];
    if ((window as DirectoryPicker).showDirectoryPicker !== undefined) {
        saves.push(button("saveAll", () => void saveAll(folder, opened.size, notes)));
    }
    saves.push(button("saveTar", () => void saveData(opened, `${name}.tar`, opened.size)));
    const list = new EntryList(folder, entries);
    for (const { path, why } of folder.notes) {
        notes.append(said("p", "notes", shown(path === "" ? why : `${path}: ${why}`)));
    }
    return { view: [list.element, notes], saves };
}

/** Writes all entries into a directory that the user chooses. */
async function saveAll(folder: Folder, total: number, notes: HTMLElement): Promise<void> {
    await work(async progress => {
        const handle = await (window as DirectoryPicker).showDirectoryPicker!({ mode: "readwrite" });
        progress.now("saving", shown(folder.name ?? handle.name));
        notes.replaceChildren();
        let done = 0;
        try {
            await unpackToDirectory(folder, handle, {
                signal: progress.signal,
                progress: bytes => {
                    done += bytes;
                    progress.done(total === 0 ? 1 : done / total);
                },
                note: (path, why) => notes.append(said("p", "notes", shown(`${path}: ${why}`))),
            });
        } catch (why) {
            progress.signal.throwIfAborted();
            throw new Partly(why);
        }
        savedNote(folder.name ?? handle.name);
    });
}

/** The list of what is in one folder, or of what a search has found. */
class EntryList {
    readonly element = make("div", "");
    readonly #folder: Folder;
    readonly #entries: readonly FolderEntry[];
    readonly #search: HTMLInputElement;
    readonly #place = make("p", "");
    readonly #list = make("ul", "entries");
    readonly #more: HTMLButtonElement;
    #path = "";
    #limit = SHOWN;

    constructor(folder: Folder, entries: readonly FolderEntry[]) {
        this.#folder = folder;
        this.#entries = entries;
        const label = said("label", "search");
        label.htmlFor = "search";
        this.#search = make("input", "");
        this.#search.type = "search";
        this.#search.id = "search";
        this.#search.autocomplete = "off";
        this.#search.addEventListener("input", () => this.#show(this.#path));
        this.#more = button("moreEntries", () => {
            this.#limit += SHOWN;
            this.#render();
        });
        this.#place.tabIndex = -1;
        this.element.append(label, this.#search, this.#place, this.#list, this.#more);
        this.#show("");
    }

    #show(path: string): void {
        this.#path = path;
        this.#limit = SHOWN;
        this.#render();
    }

    /** Goes into a folder. The place is focused, because the button that was pressed is gone. */
    #go(path: string): void {
        this.#search.value = "";
        this.#show(path);
        this.#place.focus();
    }

    #render(): void {
        const wanted = this.#search.value.toLowerCase();
        const found = this.#entries.filter(({ path }) =>
            wanted === "" ? parentOf(path) === this.#path : path.toLowerCase().includes(wanted),
        );
        if (wanted === "" && this.#path !== "") {
            say(this.#place, "folderName", shown(this.#path));
        } else {
            say(this.#place, "entries", String(found.length));
        }
        const rows = found.slice(0, this.#limit).map(entry => this.#row(entry, wanted !== ""));
        if (wanted === "" && this.#path !== "") {
            const up = make(
                "li",
                "",
                button("up", () => this.#go(parentOf(this.#path))),
            );
            rows.unshift(up);
        }
        this.#list.replaceChildren(...rows);
        this.#more.hidden = found.length <= this.#limit;
    }

    #row(entry: FolderEntry, whole: boolean): HTMLLIElement {
        const name = shown(whole ? entry.path : (entry.path.split("/").at(-1) ?? entry.path));
        // The direction of a name does not spread to what stands beside it.
        const text = make("bdi", "name", name);
        switch (entry.kind) {
            case "folder":
                text.textContent = t("folderName", name);
                return make(
                    "li",
                    "",
                    text,
                    button("goInto", () => this.#go(entry.path), t("folderName", name)),
                );
            case "symlink":
                text.textContent = t("linkTo", name, shown(entry.target ?? ""));
                return make("li", "", text);
            default:
                return make(
                    "li",
                    "",
                    text,
                    make("span", "soft", size(entry.size)),
                    button("save", () => void this.#save(entry), t("saveNamed", name)),
                );
        }
    }

    async #save(entry: FolderEntry): Promise<void> {
        const name = entry.path.split("/").at(-1) ?? entry.path;
        await work(async progress => {
            await save(name, async () => this.#folder.stream(entry), entry.size, progress);
            savedNote(name);
        });
    }
}

function parentOf(path: string): string {
    return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

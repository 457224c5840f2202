/** Elements of the page. Nothing here or elsewhere makes elements from text: names are hostile. */

import { say } from "./text.ts";
import type { TextName } from "./texts/en.ts";

/** Returns an element that the page has. */
export function byId<Kind extends HTMLElement>(id: string): Kind {
    const found = document.getElementById(id);
    if (found === null) {
        throw new Error(`the page has no element ${id}`);
    }
    return found as Kind;
}

/** Makes an element with text or elements in it. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    name: string,
    ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
    const made = document.createElement(tag);
    if (name !== "") {
        made.className = name;
    }
    made.append(...children);
    return made;
}

/** Makes an element that shows a text of the page. */
export function said<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    name: TextName,
    ...parts: string[]
): HTMLElementTagNameMap[Tag] {
    const made = document.createElement(tag);
    say(made, name, ...parts);
    return made;
}

/** Makes a button. `label` is what a screen reader says, where the text alone does not tell the buttons apart. */
export function button(name: TextName, press: () => void, label?: string): HTMLButtonElement {
    const made = said("button", name);
    made.type = "button";
    if (label !== undefined) {
        made.setAttribute("aria-label", label);
    }
    made.addEventListener("click", press);
    return made;
}

/** Moves to a part of the page that has just appeared, so that screen readers read it. */
export function show(part: HTMLElement): void {
    part.hidden = false;
    part.focus();
}

/** Lets a button show and hide what is typed into a field. */
export function showButton(press: HTMLButtonElement, field: HTMLInputElement): void {
    press.addEventListener("click", () => {
        const hidden = field.type === "password";
        field.type = hidden ? "text" : "password";
        press.setAttribute("aria-pressed", String(hidden));
    });
}

/** Calls a function with the files that a user chooses or drops. */
export function dropZone(zone: HTMLElement, dropped: (data: DataTransfer) => void): void {
    zone.addEventListener("dragover", event => {
        event.preventDefault();
        zone.classList.add("over");
    });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", event => {
        event.preventDefault();
        event.stopPropagation();
        zone.classList.remove("over");
        if (event.dataTransfer !== null) {
            dropped(event.dataTransfer);
        }
    });
}

/** The texts of the page in the language of its user. */

import { de } from "./texts/de.ts";
import { en, type TextName, type Texts } from "./texts/en.ts";
import { es } from "./texts/es.ts";
import { ja } from "./texts/ja.ts";
import { ko } from "./texts/ko.ts";

const LANGUAGES: Readonly<Record<string, { name: string; texts: Texts }>> = {
    en: { name: "English", texts: en },
    de: { name: "Deutsch", texts: de },
    es: { name: "Español", texts: es },
    ja: { name: "日本語", texts: ja },
    ko: { name: "한국어", texts: ko },
};

let language = "en";

/** Returns a text, with what stands in the place of {0}, {1} and so on. */
export function t(name: TextName, ...parts: string[]): string {
    return LANGUAGES[language]!.texts[name].replace(/\{(\d)\}/g, (_, digit: string) => parts[Number(digit)] ?? "");
}

/** Shows a text in an element. If the user chooses another language, the element shows its text in this language. */
export function say(element: HTMLElement, name: TextName, ...parts: string[]): void {
    element.dataset["text"] = name;
    element.dataset["parts"] = JSON.stringify(parts);
    element.textContent = t(name, ...parts);
}

/** Lets the user choose a language, and shows all texts in the language of the browser. */
export function startTexts(choice: HTMLSelectElement): void {
    for (const [code, { name }] of Object.entries(LANGUAGES)) {
        const option = document.createElement("option");
        option.value = code;
        option.lang = code;
        option.textContent = name;
        choice.append(option);
    }
    const wanted = navigator.languages.map(tag => tag.split("-")[0]!.toLowerCase());
    language = wanted.find(code => code in LANGUAGES) ?? "en";
    choice.value = language;
    choice.addEventListener("change", () => {
        language = choice.value;
        translate();
    });
    translate();
}

/** The language that is shown. */
export function shownLanguage(): string {
    return language;
}

function translate(): void {
    document.documentElement.lang = language;
    for (const element of document.querySelectorAll<HTMLElement>("[data-text]")) {
        const parts = JSON.parse(element.dataset["parts"] ?? "[]") as string[];
        element.textContent = t(element.dataset["text"] as TextName, ...parts);
    }
    for (const element of document.querySelectorAll<HTMLElement>("[data-label]")) {
        element.setAttribute("aria-label", t(element.dataset["label"] as TextName));
    }
}

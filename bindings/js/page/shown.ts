/** How names, sizes and times are shown, and names under which the browser may save. */

import { shownLanguage } from "./text.ts";

/**
 * Returns a name as it is shown. Characters that have no shape or that change the direction of a text are shown as
 * numbers, so that a name cannot look like another one. A joiner inside emoji stays.
 */
export function shown(name: string): string {
    return name.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu, symbol =>
        symbol === "\u200d" || symbol === "\ufe0f" ? symbol : `\\u{${symbol.codePointAt(0)!.toString(16)}}`,
    );
}

/** Names of files have at most 255 bytes on most systems. Some of them are for what browsers add. */
const LONGEST = 200;

/** Returns a name that every system takes for a file in the folder that the user chooses. */
export function fileName(name: string): string {
    const plain = shortened(name.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}<>:"/\\|?*]/gu, "_")).replace(
        /^[. ]+|[. ]+$/g,
        "_",
    );
    // Names of devices in Windows, whatever their extension is.
    const reserved = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³]) *(?:\.|$)/i.test(plain);
    return plain === "" ? "file" : reserved ? `_${plain}` : plain;
}

/** Cuts a long name, and keeps its extension. */
function shortened(name: string): string {
    const extension = /\.[^.]{1,16}$/u.exec(name)?.[0] ?? "";
    const symbols = Array.from(name.slice(0, name.length - extension.length));
    const length = (text: string) => new TextEncoder().encode(text).length;
    let left = LONGEST - length(extension);
    const kept = symbols.findIndex(symbol => (left -= length(symbol)) < 0);
    return symbols.slice(0, kept < 0 ? symbols.length : kept).join("") + extension;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Returns a number of bytes for people. */
export function size(bytes: number): string {
    let unit = 0;
    let value = bytes;
    while (value >= 1000 && unit < UNITS.length - 1) {
        value /= 1000;
        unit++;
    }
    const digits = unit === 0 || value >= 100 ? 0 : 1;
    return new Intl.NumberFormat(shownLanguage(), {
        style: "unit",
        unit: UNITS[unit]!,
        // The short form of a byte has no plural.
        unitDisplay: unit === 0 ? "long" : "short",
        maximumFractionDigits: digits,
    }).format(value);
}

/** Returns a time in seconds since 1970 for people. Times that JavaScript does not know are shown as their number. */
export function time(seconds: number): string {
    const date = new Date(seconds * 1000);
    if (Number.isNaN(date.getTime())) {
        return String(seconds);
    }
    return new Intl.DateTimeFormat(shownLanguage(), { dateStyle: "medium", timeStyle: "short" }).format(date);
}

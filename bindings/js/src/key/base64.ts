/** Base64 of RFC 4648, section 4, and PEM blocks of RFC 7468. */

import type { Bytes } from "../bytes.ts";

export function toBase64(bytes: Uint8Array): string {
    let binary = "";
    // The number of arguments of a call is limited.
    for (let at = 0; at < bytes.length; at += 4096) {
        binary += String.fromCharCode(...bytes.subarray(at, at + 4096));
    }
    return btoa(binary);
}

/** Returns the bytes of a text without white space, or undefined if the text is not exactly how they are written. */
export function fromBase64(text: string): Bytes | undefined {
    let binary: string;
    try {
        binary = atob(text);
    } catch {
        return undefined;
    }
    // `atob` also accepts white space, missing padding, and bits that belong to no byte.
    return btoa(binary) === text ? Uint8Array.from(binary, symbol => symbol.charCodeAt(0)) : undefined;
}

/** Writes a PEM block with lines of 64 columns. */
export function toPem(label: string, contents: Uint8Array): string {
    const lines = toBase64(contents).match(/.{1,64}/g) ?? [];
    return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

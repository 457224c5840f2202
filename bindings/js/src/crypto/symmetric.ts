/** AES-GCM, HMAC, HKDF and SHA-2, from WebCrypto. */

import { concat, number, utf8, type Bytes } from "../bytes.ts";
import { subtle } from "./platform.ts";

export type Sha = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512";

export function random(length: number): Bytes {
    const bytes = new Uint8Array(length);
    // One call fills at most 65 536 bytes.
    for (let at = 0; at < length; at += 65536) {
        crypto.getRandomValues(bytes.subarray(at, at + 65536));
    }
    return bytes;
}

export async function digest(hash: Sha, data: Bytes): Promise<Bytes> {
    return new Uint8Array(await subtle().digest(hash, data));
}

export async function hmac(hash: Sha, key: Bytes, data: Bytes): Promise<Bytes> {
    // WebCrypto refuses an empty key. HMAC fills keys with zeros, so a zero byte is the same key.
    const raw = key.length > 0 ? key : new Uint8Array(1);
    const imported = await subtle().importKey("raw", raw, { name: "HMAC", hash }, false, ["sign"]);
    return new Uint8Array(await subtle().sign("HMAC", imported, data));
}

/** HKDF of RFC 5869: extract and expand. */
export async function hkdf(hash: Sha, salt: Bytes, key: Bytes, info: Bytes, length: number): Promise<Bytes> {
    const imported = await subtle().importKey("raw", key, "HKDF", false, ["deriveBits"]);
    return new Uint8Array(await subtle().deriveBits({ name: "HKDF", hash, salt, info }, imported, length * 8));
}

/** HKDF-Expand of RFC 5869 alone, which WebCrypto does not offer. */
export async function hkdfExpand(hash: Sha, key: Bytes, info: Bytes, length: number): Promise<Bytes> {
    const imported = await subtle().importKey("raw", key, { name: "HMAC", hash }, false, ["sign"]);
    let block: Bytes = new Uint8Array();
    let expanded: Bytes = new Uint8Array();
    for (let counter = 1; expanded.length < length; counter++) {
        block = new Uint8Array(await subtle().sign("HMAC", imported, concat(block, info, number(counter, 1))));
        expanded = concat(expanded, block);
    }
    return expanded.slice(0, length);
}

/** An AES-GCM key. */
export class Gcm {
    readonly #key: CryptoKey;

    private constructor(key: CryptoKey) {
        this.#key = key;
    }

    static async with(key: Bytes): Promise<Gcm> {
        return new Gcm(await subtle().importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]));
    }

    /** Returns the ciphertext with its tag. */
    async seal(iv: Bytes, data: Bytes, aad: Bytes): Promise<Bytes> {
        const parameters = { name: "AES-GCM", iv, additionalData: aad };
        return new Uint8Array(await subtle().encrypt(parameters, this.#key, data));
    }

    /** Returns the data of a ciphertext with its tag, or undefined if the tag is wrong. */
    async open(iv: Bytes, sealed: Bytes, aad: Bytes): Promise<Bytes | undefined> {
        try {
            const parameters = { name: "AES-GCM", iv, additionalData: aad };
            return new Uint8Array(await subtle().decrypt(parameters, this.#key, sealed));
        } catch (why) {
            if (why instanceof Error && why.name === "OperationError") {
                return undefined;
            }
            throw why;
        }
    }
}

/** HMAC-SHA-384 or HKDF with a text as purpose. */
export function label(purpose: string, ...more: Bytes[]): Bytes {
    return concat(utf8(purpose), ...more);
}

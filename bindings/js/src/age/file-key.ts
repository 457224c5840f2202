/** The key of one age file, and the keys that are derived from it. */

import { utf8, type Bytes } from "../bytes.ts";
import { hkdf, hmac, random } from "../crypto/symmetric.ts";
import { ChaCha } from "./chacha.ts";

/** The number of bytes in a file key. */
export const FILE_KEY = 16;
/** The number of bytes in a sealed file key. */
export const SEALED_FILE_KEY = FILE_KEY + 16;

export function newFileKey(): Bytes {
    return random(FILE_KEY);
}

/** Returns the MAC of a header up to and including the hyphens of its last line. */
export async function headerMac(fileKey: Bytes, header: Bytes): Promise<Bytes> {
    return hmac("SHA-256", await derive(fileKey, new Uint8Array(), "header"), header);
}

/** Returns the key of the payload with this nonce. */
export function payloadKey(fileKey: Bytes, nonce: Bytes): Promise<Bytes> {
    return derive(fileKey, nonce, "payload");
}

/** Seals a file key. The wrapping key must seal nothing else, because the nonce is constant. */
export async function sealFileKey(wrapping: Bytes, fileKey: Bytes, nonce: Bytes = NONCE): Promise<Bytes> {
    const sealed = new Uint8Array(SEALED_FILE_KEY);
    await (await ChaCha.with(wrapping)).seal(nonce, fileKey, sealed);
    return sealed;
}

/** Opens a file key. Returns undefined if it was sealed under another wrapping key. */
export async function openFileKey(wrapping: Bytes, sealed: Bytes, nonce: Bytes = NONCE): Promise<Bytes | undefined> {
    const fileKey = new Uint8Array(FILE_KEY);
    return (await (await ChaCha.with(wrapping)).open(nonce, sealed, fileKey)) ? fileKey : undefined;
}

/** Derives 32 bytes with HKDF-SHA-256. */
export function derive(secret: Bytes, salt: Bytes, info: string): Promise<Bytes> {
    return hkdf("SHA-256", salt, secret, utf8(info), 32);
}

const NONCE = new Uint8Array(12);

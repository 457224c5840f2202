/** X25519 recipients: `age1…`. */

import { concat, type Bytes } from "../bytes.ts";
import { isCanonical25519, x25519, type CurveKey } from "../crypto/curve.ts";
import { derive, openFileKey, sealFileKey } from "./file-key.ts";
import { encodeBase64 } from "./base64.ts";
import { argument, damaged, type Stanza } from "./stanza.ts";

const INFO = "age-encryption.org/v1/X25519";

/** Seals a file key to a public key. */
export async function sealToX25519(publicKey: Bytes, fileKey: Bytes): Promise<Stanza> {
    const once = await x25519.key(await x25519.generate());
    const shared = await once.agree(publicKey);
    if (shared === undefined) {
        throw new TypeError("the public key is not valid");
    }
    const wrapping = await derive(shared, concat(once.publicKey, publicKey), INFO);
    return { type: "X25519", args: [encodeBase64(once.publicKey)], body: await sealFileKey(wrapping, fileKey) };
}

/** Returns the file key in a stanza, or undefined if the stanza is for another key. */
export async function openWithX25519(key: CurveKey, stanza: Stanza): Promise<Bytes | undefined> {
    const share = argument(stanza, 0);
    return openFileKey(await derive(await agreed(key, share), concat(share, key.publicKey), INFO), stanza.body);
}

/** Returns the secret that a key shares with the one-time key in a stanza. */
export async function agreed(key: CurveKey, share: Bytes): Promise<Bytes> {
    const shared = await key.agree(reduced(share));
    if (shared === undefined) {
        throw damaged("the share of a recipient");
    }
    return shared;
}

/**
 * Returns the canonical form of a coordinate. `CurveKey` refuses other forms, but age accepts them here, as RFC 7748
 * wants: it ignores the highest bit, and takes the number modulo 2^255 − 19.
 */
function reduced(coordinate: Bytes): Bytes {
    const number = coordinate.slice();
    number[31] = (number[31] ?? 0) & 0x7f;
    if (isCanonical25519(number)) {
        return number;
    }
    // The number is 2^255 − 19 to 2^255 − 1, so what is left after the subtraction fits the first byte.
    const rest = new Uint8Array(32);
    rest[0] = (number[0] ?? 0) - 0xed;
    return rest;
}

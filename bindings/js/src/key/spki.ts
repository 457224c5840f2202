/** Public keys as `SubjectPublicKeyInfo` (RFC 5280): docs/format-keys.md, "Public keys". */

import type { Bytes } from "../bytes.ts";
import type { Kem } from "../crypto/kem.ts";
import { identifierOf, kindOf } from "./algorithm.ts";
import { BIT_STRING, der, onlySequence, SEQUENCE } from "./der.ts";
import { PublicKey } from "./key.ts";
import { SignerKey } from "./signer.ts";
import { Malformed, Unsupported } from "./trouble.ts";

/** Returns the key as DER, or undefined if its kind has no such form. */
export function encodeSpki(key: PublicKey | SignerKey): Bytes | undefined {
    const [kind, bytes] = key instanceof PublicKey ? [key.kem, key.bytes] : [key.kind, key.publicKey];
    const identifier = identifierOf(kind);
    return identifier && der(SEQUENCE, der(SEQUENCE, identifier), der(BIT_STRING, new Uint8Array(1), bytes));
}

export async function decodeSpki(contents: Bytes): Promise<PublicKey | SignerKey> {
    const inside = onlySequence(contents);
    const identifier = inside.take(SEQUENCE);
    const bits = inside.bitString();
    inside.end();
    const kind = kindOf(identifier);
    return typeof kind === "string" ? SignerKey.fromBytes(kind, bits) : publicKeyOf(kind, bits);
}

/** Returns the public key that HPKE serializes so. */
export async function publicKeyOf(kem: Kem, bytes: Bytes): Promise<PublicKey> {
    if (kem.name === "P-256" && (bytes[0] === 2 || bytes[0] === 3)) {
        throw new Unsupported("a compressed point");
    }
    if (bytes.length !== kem.publicLength || (kem.name === "P-256" && bytes[0] !== 4)) {
        throw new Malformed("the public key has a wrong length or form");
    }
    const own = bytes.slice();
    if (!(await kem.isPublic(own))) {
        throw new Malformed("the public key is not a valid one of its kind");
    }
    return new PublicKey(kem, own);
}

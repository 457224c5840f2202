/**
 * Recipients that use HPKE: the hybrid `age1pq1…`, and the tagged `age1tag1…` and `age1tagpq1…`. The owner of a tagged
 * key, and everybody who knows its public key, recognizes the stanzas that are for the key.
 */

import { compare, concat, utf8, type Bytes } from "../bytes.ts";
import { schedule } from "../crypto/hpke.ts";
import type { KemName } from "../crypto/kem.ts";
import { digest, hmac } from "../crypto/symmetric.ts";
import type { PrivateKey, PublicKey } from "../key/key.ts";
import { encodeBase64 } from "./base64.ts";
import { openFileKey, sealFileKey } from "./file-key.ts";
import { TAG } from "./kind.ts";
import { argument, damaged, type Stanza } from "./stanza.ts";

/** The number of ChaCha20-Poly1305 in HPKE's registry. */
const AEAD = 3;

const TYPES = new Map<KemName, string>([
    ["X-Wing", "mlkem768x25519"],
    ["P-256", "p256tag"],
    ["ML-KEM-768 + P-256", "mlkem768p256tag"],
]);

/** Returns the type of the stanzas for keys of this kind, or undefined if age has no such type that uses HPKE. */
export function hpkeType(kind: KemName): string | undefined {
    return TYPES.get(kind);
}

/** Seals a file key to a public key. */
export async function sealWithHpke(type: string, publicKey: PublicKey, fileKey: Bytes): Promise<Stanza> {
    const { enc, shared } = await publicKey.kem.seal(publicKey.bytes);
    const [wrapping, nonce] = await schedule(publicKey.kem.id, AEAD, shared, label(type));
    const tag = await tagOf(type, publicKey, enc);
    const args = [...(tag === undefined ? [] : [encodeBase64(tag)]), encodeBase64(enc)];
    return { type, args, body: await sealFileKey(wrapping, fileKey, nonce) };
}

/** Returns the file key in a stanza. If there is none, returns whether the stanza has the tag of the key. */
export async function openWithHpke(key: PrivateKey, stanza: Stanza): Promise<Bytes | "other key" | "wrong tag"> {
    const enc = argument(stanza, stanza.args.length - 1);
    const tag = await tagOf(stanza.type, key.publicKey, enc);
    if (tag !== undefined && compare(argument(stanza, 0), tag) !== 0) {
        return "other key";
    }
    const shared = await key.decapsulator.open(enc);
    if (shared === undefined) {
        throw damaged("the share of a recipient");
    }
    const [wrapping, nonce] = await schedule(key.kem.id, AEAD, shared, label(stanza.type));
    return (await openFileKey(wrapping, stanza.body, nonce)) ?? (tag === undefined ? "other key" : "wrong tag");
}

/**
 * Returns the tag of a stanza: a hash over the encapsulated secret and the P-256 half of the key, in the form that the
 * recipient's text has. X-Wing has no tag.
 */
async function tagOf(type: string, { kind, bytes }: PublicKey, enc: Bytes): Promise<Bytes | undefined> {
    if (kind === "X-Wing") {
        return undefined;
    }
    const half = kind === "P-256" ? compressed(bytes) : bytes.slice(1184);
    const short = (await digest("SHA-256", half)).subarray(0, TAG);
    return (await hmac("SHA-256", label(type), concat(enc, short))).subarray(0, TAG);
}

/** Returns the compressed form of a point, which has the parity of y in place of y. */
function compressed(point: Bytes): Bytes {
    return concat(Uint8Array.of(2 + ((point[64] ?? 0) & 1)), point.subarray(1, 33));
}

function label(type: string): Bytes {
    return utf8(`age-encryption.org/${type}`);
}

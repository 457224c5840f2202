/** HPKE in base mode (RFC 9180) with HKDF-SHA-256 and AES-256-GCM, for one message. */

import { concat, number, utf8, type Bytes } from "../bytes.ts";
import type { Decapsulator, Kem } from "./kem.ts";
import { Gcm, hkdfExpand, hmac } from "./symmetric.ts";

const VERSION = utf8("HPKE-v1");
const EMPTY: Bytes = new Uint8Array();
/** The number of the AEAD of this package's own format. */
const AES_256_GCM = 2;

// RFC 9180, section 4.

function extract(suite: Bytes, salt: Bytes, label: string, key: Bytes): Promise<Bytes> {
    return hmac("SHA-256", salt.length > 0 ? salt : new Uint8Array(32), concat(VERSION, suite, utf8(label), key));
}

function expand(suite: Bytes, key: Bytes, label: string, info: Bytes, length: number): Promise<Bytes> {
    return hkdfExpand("SHA-256", key, concat(number(length, 2), VERSION, suite, utf8(label), info), length);
}

/** RFC 9180, section 4.1: the shared secret of a KEM that is a curve. */
export async function dhkem(kem: number, shared: Bytes, enc: Bytes, publicKey: Bytes): Promise<Bytes> {
    const suite = concat(utf8("KEM"), number(kem, 2));
    const secret = await extract(suite, EMPTY, "eae_prk", shared);
    return expand(suite, secret, "shared_secret", concat(enc, publicKey), 32);
}

/** RFC 9180, section 5.1: the key and the nonce of the only message. The AEAD is given by its number. */
export async function schedule(kem: number, aead: number, shared: Bytes, info: Bytes): Promise<[Bytes, Bytes]> {
    const suite = concat(utf8("HPKE"), number(kem, 2), number(1, 2), number(aead, 2));
    const context = concat(
        number(0, 1),
        await extract(suite, EMPTY, "psk_id_hash", EMPTY),
        await extract(suite, EMPTY, "info_hash", info),
    );
    const secret = await extract(suite, shared, "secret", EMPTY);
    const key = await expand(suite, secret, "key", context, 32);
    return [key, await expand(suite, secret, "base_nonce", context, 12)];
}

/** Returns the message in enc ‖ ciphertext, or undefined if it is not for this key. */
export async function openBase(kem: Kem, key: Decapsulator, sealed: Bytes, info: Bytes): Promise<Bytes | undefined> {
    const enc = sealed.slice(0, kem.enc);
    const shared = await key.open(enc);
    if (shared === undefined) {
        return undefined;
    }
    const [secret, nonce] = await schedule(kem.id, AES_256_GCM, shared, info);
    return (await Gcm.with(secret)).open(nonce, sealed.slice(kem.enc), EMPTY);
}

/** Returns enc ‖ ciphertext. */
export async function sealBase(kem: Kem, publicKey: Bytes, message: Bytes, info: Bytes): Promise<Bytes> {
    const { enc, shared } = await kem.seal(publicKey);
    const [secret, nonce] = await schedule(kem.id, AES_256_GCM, shared, info);
    return concat(enc, await (await Gcm.with(secret)).seal(nonce, message, EMPTY));
}

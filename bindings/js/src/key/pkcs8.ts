/** Private keys as `OneAsymmetricKey` (RFC 5958): docs/format-keys.md, "Private keys". */

import { equal, hex, type Bytes } from "../bytes.ts";
import type { Kem } from "../crypto/kem.ts";
import { identifierOf, kindOf, P256_CURVE } from "./algorithm.ts";
import { BIT_STRING, context, contextOf, Der, der, derNumber, onlySequence } from "./der.ts";
import { OCTET_STRING, OID, SEQUENCE, SET, wholeBytes } from "./der.ts";
import { PrivateKey } from "./key.ts";
import { signerOf } from "./signing.ts";
import type { SignerKey } from "./signer.ts";
import { publicKeyOf } from "./spki.ts";
import { Malformed } from "./trouble.ts";

/** Returns the key as DER. */
export function encodePkcs8(key: PrivateKey): Bytes {
    const algorithm = der(SEQUENCE, identifierOf(key.kem)!);
    return der(SEQUENCE, derNumber(0), algorithm, der(OCTET_STRING, contentsOf(key)));
}

/** Reads a private key. For a key that signs, this returns its public key. */
export async function decodePkcs8(contents: Bytes): Promise<PrivateKey | SignerKey> {
    // The whole structure is checked before the algorithm, so that damaged data are never called a key of another kind.
    const inside = onlySequence(contents);
    const version = inside.number();
    const identifier = inside.take(SEQUENCE);
    const octets = inside.take(OCTET_STRING);
    skipAttributes(new Der(inside.maybe(contextOf(0)) ?? new Uint8Array()));
    const bits = inside.maybe(context(1));
    const beside = bits && wholeBytes(bits);
    inside.end();
    if (version !== (beside === undefined ? 0n : 1n)) {
        throw new Malformed("its version does not go with what it holds");
    }
    const kind = kindOf(identifier);
    if (typeof kind === "string") {
        return signerOf(kind, octets, beside);
    }
    const key = await privateKeyOf(kind, octets);
    await checkPublic(key, beside);
    return key;
}

function contentsOf(key: PrivateKey): Bytes {
    const secret = key.secret;
    if (secret === undefined) {
        // `PrivateKey` has a secret or an expanded key.
        return der(OCTET_STRING, key.expanded!);
    }
    switch (key.kind) {
        case "X25519":
            return der(OCTET_STRING, secret);
        case "P-256": {
            // Some readers need the public key. The curve is in the algorithm.
            const point = der(BIT_STRING, new Uint8Array(1), key.publicKey.bytes);
            return der(SEQUENCE, derNumber(1), der(OCTET_STRING, secret), der(contextOf(1), point));
        }
        case "ML-KEM-768":
        case "ML-KEM-1024":
            return der(context(0), secret);
        case "X-Wing":
        case "ML-KEM-768 + P-256":
            return secret;
    }
}

function skipAttributes(attributes: Der): void {
    while (attributes.tag !== undefined) {
        const attribute = attributes.sequence();
        attribute.take(OID);
        attribute.take(SET);
        attribute.end();
    }
}

async function privateKeyOf(kem: Kem, octets: Bytes): Promise<PrivateKey> {
    switch (kem.name) {
        case "X25519": {
            const reader = new Der(octets);
            const scalar = reader.take(OCTET_STRING);
            reader.end();
            return fromSecret(kem, scalar);
        }
        case "P-256":
            return fromEcPrivateKey(kem, octets);
        case "ML-KEM-768":
        case "ML-KEM-1024":
            return fromMlKem(kem, octets);
        case "X-Wing":
        case "ML-KEM-768 + P-256":
            return fromSecret(kem, octets);
    }
}

/** Reads `ECPrivateKey` (RFC 5915, section 3). */
async function fromEcPrivateKey(kem: Kem, octets: Bytes): Promise<PrivateKey> {
    const inside = onlySequence(octets);
    if (inside.number() !== 1n) {
        throw new Malformed("the elliptic-curve key inside has a wrong version");
    }
    const scalar = inside.take(OCTET_STRING);
    const named = inside.maybe(contextOf(0));
    if (named !== undefined) {
        const curve = new Der(named);
        if (hex(curve.take(OID)) !== P256_CURVE) {
            throw new Malformed("it names two different curves");
        }
        curve.end();
    }
    const around = inside.maybe(contextOf(1));
    inside.end();
    const key = await fromSecret(kem, scalar);
    if (around !== undefined) {
        const point = new Der(around);
        const bits = point.bitString();
        point.end();
        await checkPublic(key, bits);
    }
    return key;
}

/** Reads one of the three forms of RFC 9935, section 6. */
async function fromMlKem(kem: Kem, octets: Bytes): Promise<PrivateKey> {
    const reader = new Der(octets);
    const tag = reader.tag;
    const inside = reader.any();
    reader.end();
    switch (tag) {
        case context(0):
            return fromSecret(kem, inside);
        case OCTET_STRING:
            return fromExpanded(kem, inside);
        case SEQUENCE: {
            const both = new Der(inside);
            const [seed, expanded] = [both.take(OCTET_STRING), both.take(OCTET_STRING)];
            both.end();
            const [key, other] = [await fromSecret(kem, seed), await fromExpanded(kem, expanded)];
            // `fromExpanded` has checked that the expanded key opens what is sealed to its public key.
            const isSame = equal(key.publicKey.bytes, other.publicKey.bytes);
            if (!isSame || !equal(seed.subarray(32), expanded.subarray(expanded.length - 32))) {
                throw new Malformed("its seed and its expanded form are different keys");
            }
            return key;
        }
        default:
            throw new Malformed("the ML-KEM key inside is neither a seed nor expanded nor both");
    }
}

async function fromSecret(kem: Kem, secret: Bytes): Promise<PrivateKey> {
    if (secret.length !== kem.secret) {
        throw new Malformed("the private key has a wrong length");
    }
    try {
        return await PrivateKey.fromSecret(kem, secret.slice());
    } catch (why) {
        if (why instanceof RangeError) {
            throw new Malformed("the private key is not a valid one of its kind");
        }
        throw why;
    }
}

/** Reads the decapsulation key of FIPS 203: the secret vector, the encapsulation key, its hash, and z. */
async function fromExpanded(kem: Kem, expanded: Bytes): Promise<PrivateKey> {
    const secretLength = kem.publicLength - 32;
    if (expanded.length !== secretLength + kem.publicLength + 64) {
        throw new Malformed("the expanded private key has a wrong length");
    }
    const invalid = new Malformed("the expanded private key is not a valid one of its kind");
    const publicKey = expanded.slice(secretLength, secretLength + kem.publicLength);
    const { sha3_256 } = await import("../fallback/sha3.ts");
    const hash = expanded.subarray(secretLength + kem.publicLength, expanded.length - 32);
    if (!equal(sha3_256(publicKey), hash) || !(await kem.isPublic(publicKey))) {
        throw invalid;
    }
    const key = await PrivateKey.fromExpanded(kem, expanded.slice());
    const { enc, shared } = await kem.seal(publicKey);
    const opened = await key.decapsulator.open(enc);
    if (opened === undefined || !equal(opened, shared)) {
        throw invalid;
    }
    return key;
}

/** Checks that a public key belongs to a private key. */
async function checkPublic(key: PrivateKey, bytes: Bytes | undefined): Promise<void> {
    if (bytes !== undefined && !equal((await publicKeyOf(key.kem, bytes)).bytes, key.publicKey.bytes)) {
        throw new Malformed("the public key beside it belongs to another private key");
    }
}

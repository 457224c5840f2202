/** Private keys that sign. This package signs nothing: it checks them and keeps their public keys. */

import { concat, equal, fromHex, type Bytes } from "../bytes.ts";
import { fromBase64Url } from "../crypto/curve.ts";
import { has, subtle } from "../crypto/platform.ts";
import type { SignerKind } from "./ssh.ts";
import { context, Der, OCTET_STRING, SEQUENCE } from "./der.ts";
import { SignerKey } from "./signer.ts";
import { Malformed } from "./trouble.ts";

/** Returns the public key of what is in the octet string of a private key. A public key beside it must be the same. */
export async function signerOf(kind: SignerKind, octets: Bytes, beside: Bytes | undefined): Promise<SignerKey> {
    const publicKey = await publicKeyOf(kind, octets);
    const key = SignerKey.fromBytes(kind, publicKey);
    if (beside !== undefined && !equal(SignerKey.fromBytes(kind, beside).publicKey, publicKey)) {
        throw new Malformed("the public key beside it belongs to another private key");
    }
    return key;
}

/** Returns the public key of a seed of Ed25519. */
export async function ed25519Public(seed: Bytes): Promise<Bytes> {
    if (await has("Ed25519")) {
        const pkcs8 = concat(ED25519_PKCS8, seed);
        const key = await subtle().importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
        const { x } = await subtle().exportKey("jwk", key);
        return fromBase64Url(x!);
    }
    const { ed25519 } = await import("../fallback/curve25519.ts");
    return ed25519.getPublicKey(seed) as Bytes;
}

/** Returns the public key of a composite key: the seed of ML-DSA-44, then that of Ed25519. */
export async function compositePublic(seeds: Bytes): Promise<Bytes> {
    if (seeds.length !== 64) {
        throw wrongLength();
    }
    const { ml_dsa44 } = await import("../fallback/mldsa.ts");
    const { publicKey } = ml_dsa44.keygen(seeds.slice(0, 32));
    return concat(publicKey, await ed25519Public(seeds.subarray(32)));
}

// PKCS#8 of RFC 8410, before the 32 bytes of the seed.
const ED25519_PKCS8 = fromHex("302e020100300506032b657004220420");

async function publicKeyOf(kind: SignerKind, octets: Bytes): Promise<Bytes> {
    switch (kind) {
        case "ssh-ed25519": {
            const reader = new Der(octets);
            const seed = reader.take(OCTET_STRING);
            reader.end();
            if (seed.length !== 32) {
                throw wrongLength();
            }
            return ed25519Public(seed);
        }
        case "ssh-mldsa-65":
            return mlDsaPublic(octets);
        default:
            return compositePublic(octets);
    }
}

/** Reads one of the three forms of RFC 9881, section 6. */
async function mlDsaPublic(octets: Bytes): Promise<Bytes> {
    const reader = new Der(octets);
    const tag = reader.tag;
    const inside = reader.any();
    reader.end();
    const { ml_dsa65 } = await import("../fallback/mldsa.ts");
    const fromSeed = (seed: Bytes) => {
        if (seed.length !== 32) {
            throw wrongLength();
        }
        return ml_dsa65.keygen(seed.slice());
    };
    switch (tag) {
        case context(0):
            return fromSeed(inside).publicKey as Bytes;
        case OCTET_STRING:
            return expandedPublic(inside);
        case SEQUENCE: {
            const both = new Der(inside);
            const [seed, expanded] = [both.take(OCTET_STRING), both.take(OCTET_STRING)];
            both.end();
            const key = fromSeed(seed);
            if (!equal(key.secretKey, expanded)) {
                throw new Malformed("its seed and its expanded form are different keys");
            }
            return key.publicKey as Bytes;
        }
        default:
            throw new Malformed("the ML-DSA key inside is neither a seed nor expanded nor both");
    }
}

/**
 * Returns the public key of an expanded key of FIPS 204: ρ, K, the hash of the public key, s1, s2, t0. Whether t0 is
 * right matters to signatures alone, so it is not checked.
 */
async function expandedPublic(expanded: Bytes): Promise<Bytes> {
    const invalid = new Malformed("the private key is not a valid one of its kind");
    if (expanded.length !== 4032) {
        throw invalid;
    }
    const { ml_dsa65 } = await import("../fallback/mldsa.ts");
    const { shake256 } = await import("../fallback/sha3.ts");
    let publicKey: Bytes;
    try {
        publicKey = ml_dsa65.getPublicKey(expanded.slice()) as Bytes;
    } catch {
        // noble throws an error without a class of its own for coefficients out of range.
        throw invalid;
    }
    if (!equal(shake256(publicKey, { dkLen: 64 }), expanded.subarray(64, 128))) {
        throw invalid;
    }
    return publicKey;
}

function wrongLength(): Malformed {
    return new Malformed("the private key has a wrong length");
}

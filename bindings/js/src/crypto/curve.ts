/** X25519, P-256 and Ed25519: from WebCrypto, or from noble where the platform lacks them. */

import { concat, compare, fromHex, isZero, type Bytes } from "../bytes.ts";
import { has, subtle } from "./platform.ts";
import { random } from "./symmetric.ts";

/** A private key of a curve. `agree` returns undefined if the other key is not valid. */
export interface CurveKey {
    readonly publicKey: Bytes;
    agree(other: Bytes): Promise<Bytes | undefined>;
}

/** Diffie-Hellman on a curve. */
export interface Curve {
    readonly publicLength: number;
    generate(): Promise<Bytes>;
    /** Makes a key from 32 bytes. Throws a `RangeError` if they are no private key. */
    key(scalar: Bytes): Promise<CurveKey>;
}

// 2^255 − 19, little-endian, as in RFC 7748.
const PRIME_25519 = fromHex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");

/** Returns whether a coordinate is below 2^255 − 19. */
export function isCanonical25519(coordinate: Bytes): boolean {
    return compare(coordinate.slice().reverse(), PRIME_25519.slice().reverse()) < 0;
}

// PKCS#8 of RFC 8410, before the 32 bytes of the key.
const X25519_PKCS8 = fromHex("302e020100300506032b656e04220420");

export const x25519: Curve = {
    publicLength: 32,
    async generate() {
        return random(32);
    },
    async key(scalar) {
        if (await has("X25519")) {
            return nativeX25519(scalar);
        }
        const { x25519: noble } = await import("../fallback/curve25519.ts");
        return {
            publicKey: noble.getPublicKey(scalar) as Bytes,
            agree: async other => {
                if (!isCanonical25519(other)) {
                    return undefined;
                }
                try {
                    return noble.getSharedSecret(scalar, other) as Bytes;
                } catch {
                    // A point of small order, whose shared secret is zero.
                    return undefined;
                }
            },
        };
    },
};

async function nativeX25519(scalar: Bytes): Promise<CurveKey> {
    const pkcs8 = concat(X25519_PKCS8, scalar);
    const key = await subtle().importKey("pkcs8", pkcs8, "X25519", true, ["deriveBits"]);
    const { x } = await subtle().exportKey("jwk", key);
    return {
        publicKey: fromBase64Url(x!),
        agree: async other => {
            if (!isCanonical25519(other)) {
                return undefined;
            }
            try {
                const publicKey = await subtle().importKey("raw", other, "X25519", false, []);
                const parameters = { name: "X25519", public: publicKey };
                const shared = new Uint8Array(await subtle().deriveBits(parameters, key, 256));
                return isZero(shared) ? undefined : shared;
            } catch (why) {
                return refused(why);
            }
        },
    };
}

export const p256: Curve = {
    publicLength: 65,
    async generate() {
        const pair = await subtle().generateKey(P256, true, ["deriveBits"]);
        const { d } = await subtle().exportKey("jwk", pair.privateKey);
        return fromBase64Url(d!);
    },
    async key(scalar) {
        // WebCrypto takes no bare scalar: a JWK has to name the public key, too.
        const { p256: noble } = await import("../fallback/p256.ts");
        if (!noble.utils.isValidSecretKey(scalar)) {
            throw new RangeError("a number that is no private key of P-256");
        }
        const publicKey = noble.getPublicKey(scalar, false) as Bytes;
        const jwk = {
            kty: "EC",
            crv: "P-256",
            d: base64Url(scalar),
            x: base64Url(publicKey.subarray(1, 33)),
            y: base64Url(publicKey.subarray(33)),
        };
        const key = await subtle().importKey("jwk", jwk, P256, false, ["deriveBits"]);
        return {
            publicKey,
            agree: async other => {
                // Compressed points have another length and are refused here.
                if (other.length !== 65 || other[0] !== 4) {
                    return undefined;
                }
                try {
                    const imported = await subtle().importKey("raw", other, P256, false, []);
                    return new Uint8Array(await subtle().deriveBits({ name: "ECDH", public: imported }, key, 256));
                } catch (why) {
                    return refused(why);
                }
            },
        };
    },
};

const P256 = { name: "ECDH", namedCurve: "P-256" };

/** Returns whether bytes are an uncompressed point on P-256. */
export async function isP256Point(point: Bytes): Promise<boolean> {
    if (point.length !== 65 || point[0] !== 4) {
        return false;
    }
    try {
        await subtle().importKey("raw", point, P256, false, []);
        return true;
    } catch (why) {
        refused(why);
        return false;
    }
}

/** Verifies a signature of Ed25519. */
export async function verifyEd25519(publicKey: Bytes, signature: Bytes, message: Bytes): Promise<boolean> {
    if (signature.length !== 64) {
        return false;
    }
    if (await has("Ed25519")) {
        try {
            const key = await subtle().importKey("raw", publicKey, "Ed25519", false, ["verify"]);
            return await subtle().verify("Ed25519", key, signature, message);
        } catch (why) {
            refused(why);
            return false;
        }
    }
    const { ed25519 } = await import("../fallback/curve25519.ts");
    try {
        return ed25519.verify(signature, message, publicKey, { zip215: false });
    } catch {
        return false;
    }
}

/**
 * Returns whether bytes may be an Ed25519 key: the y-coordinate is below 2^255 − 19, and the order of the point does
 * not divide 8. Signatures under points of small order are valid for many messages.
 */
export function isEd25519(publicKey: Bytes): boolean {
    if (publicKey.length !== 32) {
        return false;
    }
    const y = publicKey.slice().reverse();
    y[0]! &= 0x7f;
    const digits = BigInt(`0x${Array.from(y, byte => byte.toString(16).padStart(2, "0")).join("")}`);
    return digits < P && !SMALL_ORDER.has(digits);
}

const P = 2n ** 255n - 19n;
// The y-coordinates of the eight points whose order divides 8.
const ORDER_8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
const SMALL_ORDER = new Set([0n, 1n, P - 1n, ORDER_8, P - ORDER_8]);

/** Returns undefined for an error that says that a key is not valid, and throws others. */
function refused(why: unknown): undefined {
    if (why instanceof Error && ["DataError", "OperationError", "InvalidAccessError"].includes(why.name)) {
        return undefined;
    }
    throw why;
}

export function base64Url(bytes: Bytes): string {
    return btoa(String.fromCharCode(...bytes))
        .replaceAll("+", "-")
        .replaceAll("/", "_")
        .replaceAll("=", "");
}

export function fromBase64Url(text: string): Bytes {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), symbol => symbol.charCodeAt(0));
}

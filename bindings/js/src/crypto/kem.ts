/**
 * The six KEMs of recipients, numbered as in HPKE's registry: docs/format-seal.md, "Recipients with a key".
 *
 * The platform's own algorithms come first. noble computes what the platform lacks.
 */

import { concat, hex, utf8, type Bytes } from "../bytes.ts";
import { isP256Point, isCanonical25519, p256, x25519, type Curve, type CurveKey } from "./curve.ts";
import { exportRaw, has, importRaw, subtle } from "./platform.ts";
import { random } from "./symmetric.ts";
import { dhkem } from "./hpke.ts";

/** An encapsulated key, and the secret in it. */
export interface Encapsulated {
    readonly enc: Bytes;
    readonly shared: Bytes;
}

/** A private key of a KEM. `open` returns undefined if the encapsulation is not valid. */
export interface Decapsulator {
    readonly publicKey: Bytes;
    open(enc: Bytes): Promise<Bytes | undefined>;
}

export type KemName = "P-256" | "X25519" | "ML-KEM-768" | "ML-KEM-1024" | "ML-KEM-768 + P-256" | "X-Wing";

/** A KEM. */
export interface Kem {
    readonly id: number;
    readonly name: KemName;
    readonly mode: "classical" | "post-quantum" | "hybrid";
    /** Lengths in bytes. `secret` is the scalar or the seed. */
    readonly enc: number;
    readonly publicLength: number;
    readonly secret: number;
    generate(): Promise<Bytes>;
    /** Makes a private key from its scalar or seed. Throws a `RangeError` if the bytes are no private key. */
    key(secret: Bytes): Promise<Decapsulator>;
    /** Returns whether bytes of the right length are a public key. */
    isPublic(publicKey: Bytes): Promise<boolean>;
    seal(publicKey: Bytes): Promise<Encapsulated>;
}

function classical(id: number, name: "P-256" | "X25519", curve: Curve, isPublic: Kem["isPublic"]): Kem {
    const key = async (scalar: Bytes): Promise<Decapsulator> => {
        const own = await curve.key(scalar);
        return {
            publicKey: own.publicKey,
            open: async enc => {
                const shared = await own.agree(enc);
                return shared && dhkem(id, shared, enc, own.publicKey);
            },
        };
    };
    return {
        id,
        name,
        mode: "classical",
        enc: curve.publicLength,
        publicLength: curve.publicLength,
        secret: 32,
        generate: () => curve.generate(),
        key,
        isPublic,
        async seal(publicKey) {
            const once = await curve.key(await curve.generate());
            const shared = await agreed(once, publicKey);
            return { enc: once.publicKey, shared: await dhkem(id, shared, once.publicKey, publicKey) };
        },
    };
}

async function agreed(once: CurveKey, publicKey: Bytes): Promise<Bytes> {
    const shared = await once.agree(publicKey);
    if (shared === undefined) {
        throw new TypeError("the public key is not valid");
    }
    return shared;
}

type Parameter = 768 | 1024;
const ML_KEM = { 768: { enc: 1088, publicLength: 1184 }, 1024: { enc: 1568, publicLength: 1568 } };

async function noble(parameter: Parameter) {
    const { ml_kem768, ml_kem1024 } = await import("../fallback/mlkem.ts");
    return parameter === 768 ? ml_kem768 : ml_kem1024;
}

/** Makes an ML-KEM key from the seed d ‖ z. */
export async function mlKemKey(parameter: Parameter, seed: Bytes): Promise<Decapsulator> {
    const name = `ML-KEM-${parameter}` as const;
    if (await has(name)) {
        return nativeKey(name, seed);
    }
    const kem = await noble(parameter);
    const { publicKey, secretKey } = kem.keygen(seed);
    return { publicKey: publicKey as Bytes, open: async enc => kem.decapsulate(enc, secretKey) as Bytes };
}

/** Makes an ML-KEM key from the expanded key of FIPS 203, which no platform takes. */
export async function mlKemExpanded(parameter: Parameter, expanded: Bytes): Promise<Decapsulator> {
    const kem = await noble(parameter);
    const { publicLength } = ML_KEM[parameter];
    // FIPS 203, section 7.1: dk = dk_PKE ‖ ek ‖ H(ek) ‖ z.
    const publicKey = expanded.slice(expanded.length - 64 - publicLength, expanded.length - 64);
    return { publicKey, open: async enc => kem.decapsulate(enc, expanded) as Bytes };
}

async function mlKemSeal(parameter: Parameter, publicKey: Bytes): Promise<Encapsulated> {
    const name = `ML-KEM-${parameter}` as const;
    if (await has(name)) {
        return nativeSeal(name, publicKey);
    }
    const kem = await noble(parameter);
    const { cipherText, sharedSecret } = kem.encapsulate(publicKey);
    return { enc: cipherText as Bytes, shared: sharedSecret as Bytes };
}

/** FIPS 203, section 7.2: a public key is valid if its coefficients, of 12 bits each, are below the modulus. */
export function isMlKemPublic(publicKey: Bytes): boolean {
    let valid = true;
    for (let at = 0; at + 3 <= publicKey.length - 32; at += 3) {
        const [a, b, c] = [publicKey[at]!, publicKey[at + 1]!, publicKey[at + 2]!];
        valid &&= (a | ((b & 15) << 8)) < 3329 && ((b >> 4) | (c << 4)) < 3329;
    }
    return valid;
}

// The methods of WebCrypto for KEMs are newer than TypeScript's description of it.
interface KemCrypto {
    encapsulateBits(algorithm: string, key: CryptoKey): Promise<{ sharedKey: ArrayBuffer; ciphertext: ArrayBuffer }>;
    decapsulateBits(algorithm: string, key: CryptoKey, ciphertext: Bytes): Promise<ArrayBuffer>;
    getPublicKey(key: CryptoKey, usages: string[]): Promise<CryptoKey>;
}

async function nativeKey(name: string, seed: Bytes): Promise<Decapsulator> {
    const native = subtle() as unknown as KemCrypto;
    const key = await importRaw("raw-seed", seed, name, ["decapsulateBits"]);
    const publicKey = await exportRaw("raw-public", await native.getPublicKey(key, ["encapsulateBits"]));
    return {
        publicKey,
        open: async enc => {
            try {
                return new Uint8Array(await native.decapsulateBits(name, key, enc));
            } catch (why) {
                if (why instanceof Error && why.name === "OperationError") {
                    return undefined;
                }
                throw why;
            }
        },
    };
}

async function nativeSeal(name: string, publicKey: Bytes): Promise<Encapsulated> {
    const key = await importRaw("raw-public", publicKey, name, ["encapsulateBits"]);
    const { sharedKey, ciphertext } = await (subtle() as unknown as KemCrypto).encapsulateBits(name, key);
    return { enc: new Uint8Array(ciphertext), shared: new Uint8Array(sharedKey) };
}

function postQuantum(id: number, parameter: Parameter): Kem {
    return {
        id,
        name: `ML-KEM-${parameter}`,
        mode: "post-quantum",
        ...ML_KEM[parameter],
        secret: 64,
        generate: async () => random(64),
        key: seed => mlKemKey(parameter, seed),
        isPublic: async publicKey => isMlKemPublic(publicKey),
        seal: publicKey => mlKemSeal(parameter, publicKey),
    };
}

const XWING_LABEL = utf8("\\.//^\\");
const P256_LABEL = utf8("MLKEM768-P256");

/** The combiner of both hybrids: SHA3-256 over both secrets, and the public parts of the curve. */
async function combine(pq: Bytes, curve: Bytes, once: Bytes, own: Bytes, label: Bytes): Promise<Bytes> {
    const { sha3_256 } = await import("../fallback/sha3.ts");
    return sha3_256(concat(pq, curve, once, own, label)) as Bytes;
}

async function hybridKey(curve: Curve, label: Bytes, seed: Bytes): Promise<Decapsulator> {
    const { shake256 } = await import("../fallback/sha3.ts");
    const expanded = shake256(seed, { dkLen: curve === p256 ? 192 : 96 }) as Bytes;
    const pq = await mlKemKey(768, expanded.slice(0, 64));
    const own = await firstKey(curve, expanded.subarray(64));
    return {
        publicKey: concat(pq.publicKey, own.publicKey),
        open: async enc => {
            const once = enc.subarray(1088);
            const shared = await pq.open(enc.subarray(0, 1088));
            const other = await own.agree(once);
            return shared && other && combine(shared, other, once, own.publicKey, label);
        },
    };
}

/** Returns the key of the first 32 bytes that are a private key. */
async function firstKey(curve: Curve, candidates: Bytes): Promise<CurveKey> {
    for (let at = 0; at < candidates.length; at += 32) {
        try {
            return await curve.key(candidates.slice(at, at + 32));
        } catch (why) {
            if (!(why instanceof RangeError)) {
                throw why;
            }
        }
    }
    throw new RangeError("a seed without a private key");
}

async function hybridSeal(curve: Curve, label: Bytes, publicKey: Bytes): Promise<Encapsulated> {
    const own = publicKey.slice(1184);
    const pq = await mlKemSeal(768, publicKey.slice(0, 1184));
    const once = await curve.key(await curve.generate());
    const other = await agreed(once, own);
    const shared = await combine(pq.shared, other, once.publicKey, own, label);
    return { enc: concat(pq.enc, once.publicKey), shared };
}

const mlKem768P256: Kem = {
    id: 0x0050,
    name: "ML-KEM-768 + P-256",
    mode: "hybrid",
    enc: 1153,
    publicLength: 1249,
    secret: 32,
    generate: async () => random(32),
    key: seed => hybridKey(p256, P256_LABEL, seed),
    isPublic: async publicKey =>
        isMlKemPublic(publicKey.subarray(0, 1184)) && (await isP256Point(publicKey.slice(1184))),
    seal: publicKey => hybridSeal(p256, P256_LABEL, publicKey),
};

const xWing: Kem = {
    id: 0x647a,
    name: "X-Wing",
    mode: "hybrid",
    enc: 1120,
    publicLength: 1216,
    secret: 32,
    generate: async () => random(32),
    key: async seed => {
        if (!(await has("MLKEM768-X25519"))) {
            return hybridKey(x25519, XWING_LABEL, seed);
        }
        const native = await nativeKey("MLKEM768-X25519", seed);
        return {
            publicKey: native.publicKey,
            // The draft allows coordinates that are not canonical, and shared secrets of zeros. The format does not.
            open: async enc =>
                isCanonical25519(enc.slice(1088)) && !isSmallOrder25519(enc.slice(1088)) ? native.open(enc) : undefined,
        };
    },
    isPublic: async publicKey => isMlKemPublic(publicKey.subarray(0, 1184)) && isCanonical25519(publicKey.slice(1184)),
    seal: async publicKey => {
        const native = await has("MLKEM768-X25519");
        if (native && !isSmallOrder25519(publicKey.slice(1184))) {
            return nativeSeal("MLKEM768-X25519", publicKey);
        }
        return hybridSeal(x25519, XWING_LABEL, publicKey);
    },
};

// The canonical coordinates whose shared secret with every key is zero: 0, 1, p − 1 and two points of order 8.
const SMALL_ORDER = new Set([
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
]);

export function isSmallOrder25519(coordinate: Bytes): boolean {
    return SMALL_ORDER.has(hex(coordinate));
}

export const KEMS: readonly Kem[] = [
    classical(0x0010, "P-256", p256, isP256Point),
    classical(0x0020, "X25519", x25519, async publicKey => isCanonical25519(publicKey)),
    postQuantum(0x0041, 768),
    postQuantum(0x0042, 1024),
    mlKem768P256,
    xWing,
];

/** Returns the KEM with a number, if there is one. */
export function kemOf(id: number): Kem | undefined {
    return KEMS.find(kem => kem.id === id);
}

/** Keys in memory. `text.ts` reads them and writes them. */

import type { Bytes } from "../bytes.ts";
import { KEMS, mlKemExpanded, type Decapsulator, type Kem, type KemName } from "../crypto/kem.ts";

/** A public key, to seal to. */
export class PublicKey {
    readonly kem: Kem;
    /** The key as HPKE serializes it. */
    readonly bytes: Bytes;

    /** @internal The caller has checked the bytes. */
    constructor(kem: Kem, bytes: Bytes) {
        this.kem = kem;
        this.bytes = bytes;
    }

    get kind(): KemName {
        return this.kem.name;
    }
}

/** A private key, which opens what was sealed to its public key. */
export class PrivateKey {
    readonly kem: Kem;
    readonly publicKey: PublicKey;
    // Private fields, so that neither a log nor JSON shows them.
    readonly #secret: Bytes | undefined;
    readonly #expanded: Bytes | undefined;
    readonly #decapsulator: Decapsulator;

    private constructor(kem: Kem, decapsulator: Decapsulator, secret?: Bytes, expanded?: Bytes) {
        this.kem = kem;
        this.#decapsulator = decapsulator;
        this.publicKey = new PublicKey(kem, decapsulator.publicKey);
        this.#secret = secret;
        this.#expanded = expanded;
    }

    /** The scalar or the seed. An expanded ML-KEM key has none, and has `expanded` in its place. */
    get secret(): Bytes | undefined {
        return this.#secret;
    }

    /** The expanded form of an ML-KEM key whose seed is not known. */
    get expanded(): Bytes | undefined {
        return this.#expanded;
    }

    /** @internal */
    get decapsulator(): Decapsulator {
        return this.#decapsulator;
    }

    get kind(): KemName {
        return this.kem.name;
    }

    /** @internal Throws a `RangeError` if the bytes are no private key of this kind. */
    static async fromSecret(kem: Kem, secret: Bytes): Promise<PrivateKey> {
        if (secret.length !== kem.secret) {
            throw new RangeError("a private key of a wrong length");
        }
        return new PrivateKey(kem, await kem.key(secret), secret);
    }

    /** @internal An ML-KEM key without its seed. The caller has checked it. */
    static async fromExpanded(kem: Kem, expanded: Bytes): Promise<PrivateKey> {
        return new PrivateKey(kem, await mlKemExpanded(kem.id === 0x0041 ? 768 : 1024, expanded), undefined, expanded);
    }
}

/** Modes, and the kinds of keys that they stand for. */
const MODES = { ecc: "X25519", pqc: "ML-KEM-768", hybrid: "X-Wing" } as const;

/** Makes a new private key: of a kind, or of a mode. The default is hybrid, X25519 and ML-KEM-768 together. */
export async function generateKey(kind: KemName | keyof typeof MODES = "hybrid"): Promise<PrivateKey> {
    const name = kind in MODES ? MODES[kind as keyof typeof MODES] : kind;
    const kem = KEMS.find(kem => kem.name === name);
    if (kem === undefined) {
        throw new TypeError(`there is no kind of key named ${kind}`);
    }
    return PrivateKey.fromSecret(kem, await kem.generate());
}

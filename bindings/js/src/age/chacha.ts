/** ChaCha20-Poly1305 of RFC 8439 without additional data: from WebCrypto, or from noble. */

import type { Bytes } from "../bytes.ts";
import { has, importRaw, subtle } from "../crypto/platform.ts";

/** The number of bytes in a tag, which follows each ciphertext. */
export const TAG = 16;

/** A key. Nonces have 12 bytes. */
export abstract class ChaCha {
    static async with(key: Bytes): Promise<ChaCha> {
        if (await has("ChaCha20-Poly1305")) {
            return new Native(await importRaw("raw-secret", key, NAME, ["encrypt", "decrypt"]));
        }
        const { chacha20poly1305 } = await import("../fallback/chacha.ts");
        return new Portable(nonce => chacha20poly1305(key, nonce));
    }

    /** Writes the ciphertext and its tag to `sealed`, which is longer than `data` by a tag. */
    abstract seal(nonce: Bytes, data: Bytes, sealed: Bytes): Promise<void>;

    /** Writes the data to `data`, which is shorter than `sealed` by a tag. Returns whether the tag is right. */
    abstract open(nonce: Bytes, sealed: Bytes, data: Bytes): Promise<boolean>;
}

const NAME = "ChaCha20-Poly1305";

class Native extends ChaCha {
    readonly #key: CryptoKey;

    constructor(key: CryptoKey) {
        super();
        this.#key = key;
    }

    async seal(nonce: Bytes, data: Bytes, sealed: Bytes): Promise<void> {
        sealed.set(new Uint8Array(await subtle().encrypt({ name: NAME, iv: nonce }, this.#key, data)));
    }

    async open(nonce: Bytes, sealed: Bytes, data: Bytes): Promise<boolean> {
        try {
            data.set(new Uint8Array(await subtle().decrypt({ name: NAME, iv: nonce }, this.#key, sealed)));
            return true;
        } catch (why) {
            if (why instanceof Error && why.name === "OperationError") {
                return false;
            }
            throw why;
        }
    }
}

interface Cipher {
    encrypt(data: Bytes, sealed: Bytes): Uint8Array;
    decrypt(sealed: Bytes, data: Bytes): Uint8Array;
}

class Portable extends ChaCha {
    readonly #cipher: (nonce: Bytes) => Cipher;

    constructor(cipher: (nonce: Bytes) => Cipher) {
        super();
        this.#cipher = cipher;
    }

    async seal(nonce: Bytes, data: Bytes, sealed: Bytes): Promise<void> {
        this.#cipher(nonce).encrypt(data, sealed);
    }

    async open(nonce: Bytes, sealed: Bytes, data: Bytes): Promise<boolean> {
        try {
            this.#cipher(nonce).decrypt(sealed, data);
            return true;
        } catch (why) {
            if (why instanceof Error && why.message === "invalid tag") {
                return false;
            }
            throw why;
        }
    }
}

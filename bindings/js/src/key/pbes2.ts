/**
 * Encrypted private keys: `EncryptedPrivateKeyInfo` of RFC 5958 with PBES2 of RFC 8018.
 *
 * PBES2 has no authentication. Who can change a file and watch how often it is refused, and why, may learn the key. So
 * every fault after the key derivation gives the error of a wrong passphrase.
 */

import { concat, fromHex, hex, type Bytes } from "../bytes.ts";
import { subtle } from "../crypto/platform.ts";
import { random } from "../crypto/symmetric.ts";
import { PassphraseError } from "../error.ts";
import type { Passphrase } from "../passphrase.ts";
import { Der, der, OCTET_STRING, OID, onlySequence, SEQUENCE } from "./der.ts";
import { derive, otherEncryption, readKdf, writeScrypt, type Kdf } from "./kdf.ts";
import type { PrivateKey } from "./key.ts";
import { decodePkcs8 } from "./pkcs8.ts";
import type { SignerKey } from "./signer.ts";
import { Excessive, Malformed } from "./trouble.ts";

const PBES2 = "2a864886f70d01050d";
const AES_256 = "60864801650304012a";
/** AES-CBC, and the length of its keys. */
const CIPHERS = new Map([
    ["608648016503040102", 16],
    ["608648016503040116", 24],
    [AES_256, 32],
]);
const BLOCK = 16;
const SCRYPT = { n: 16_384, r: 15, p: 3 };

/** An encrypted private key, whose parameters are within the ceilings. */
export class EncryptedKey {
    readonly #kdf: Kdf;
    readonly #keyLength: number;
    readonly #iv: Bytes;
    readonly #ciphertext: Bytes;

    constructor(contents: Bytes) {
        const inside = onlySequence(contents);
        const algorithm = inside.sequence();
        this.#ciphertext = inside.take(OCTET_STRING);
        inside.end();
        const scheme = algorithm.take(OID);
        if (hex(scheme) !== PBES2) {
            throw otherEncryption(scheme);
        }
        const parameters = algorithm.sequence();
        algorithm.end();
        const kdf = parameters.sequence();
        [this.#keyLength, this.#iv] = readCipher(parameters.sequence());
        parameters.end();
        if (this.#ciphertext.length === 0 || this.#ciphertext.length % BLOCK !== 0) {
            throw new Malformed("the encrypted part does not consist of whole blocks");
        }
        this.#kdf = readKdf(kdf, this.#keyLength);
    }

    /** Returns the key: for a key that signs, its public key. Tries each form of the passphrase. */
    async open(passphrase: Passphrase): Promise<PrivateKey | SignerKey> {
        for (const form of passphrase.forms) {
            const key = await derive(this.#kdf, form, this.#keyLength);
            const plain = await decryptAll(key, this.#iv, this.#ciphertext);
            const length = unpaddedLength(plain);
            if (length !== undefined) {
                try {
                    return await decodePkcs8(plain.subarray(0, length));
                } catch (why) {
                    // A known kind that is not supported is named, because only the right passphrase shows its name.
                    if (!(why instanceof Malformed || why instanceof Excessive)) {
                        throw why;
                    }
                }
            }
        }
        throw new PassphraseError("the passphrase does not fit this key");
    }
}

/** Encrypts a private key in DER with AES-256-CBC and scrypt. Returns the structure in DER. */
export async function encryptKey(contents: Bytes, passphrase: Passphrase): Promise<Bytes> {
    const [salt, iv] = [random(16), random(BLOCK)];
    const kdf: Kdf = { name: "scrypt", salt, ...SCRYPT };
    const key = await importKey(await derive(kdf, passphrase.sealed, 32));
    const ciphertext = new Uint8Array(await subtle().encrypt({ name: "AES-CBC", iv }, key, contents));
    const cipher = der(SEQUENCE, der(OID, fromHex(AES_256)), der(OCTET_STRING, iv));
    const parameters = der(SEQUENCE, writeScrypt(salt, SCRYPT.n, SCRYPT.r, SCRYPT.p), cipher);
    const algorithm = der(SEQUENCE, der(OID, fromHex(PBES2)), parameters);
    return der(SEQUENCE, algorithm, der(OCTET_STRING, ciphertext));
}

function readCipher(identifier: Der): [number, Bytes] {
    const oid = identifier.take(OID);
    const keyLength = CIPHERS.get(hex(oid));
    if (keyLength === undefined) {
        throw otherEncryption(oid);
    }
    const iv = identifier.take(OCTET_STRING);
    identifier.end();
    if (iv.length !== BLOCK) {
        throw new Malformed("the initialization vector does not have 16 bytes");
    }
    return [keyLength, iv];
}

/** Returns the plaintext with its padding, whatever the padding is. */
async function decryptAll(raw: Bytes, iv: Bytes, ciphertext: Bytes): Promise<Bytes> {
    // Not all browsers have keys of 192 bits.
    if (raw.length === 24) {
        const { cbc } = await import("../fallback/aes.ts");
        return cbc(raw, iv, { disablePadding: true }).decrypt(ciphertext) as Bytes;
    }
    // WebCrypto refuses wrong padding. So a block with right padding follows the ciphertext, which is what the
    // encryption of an empty text returns. WebCrypto removes that block again.
    const key = await importKey(raw);
    const last = ciphertext.slice(-BLOCK);
    const end = new Uint8Array(await subtle().encrypt({ name: "AES-CBC", iv: last }, key, new Uint8Array()));
    return new Uint8Array(await subtle().decrypt({ name: "AES-CBC", iv }, key, concat(ciphertext, end)));
}

function importKey(raw: Bytes): Promise<CryptoKey> {
    return subtle().importKey("raw", raw, "AES-CBC", false, ["encrypt", "decrypt"]);
}

/**
 * Returns the length without padding, or undefined if the padding is wrong or the plaintext is not one sequence of this
 * length. The function has one branch, at its end: as far as the engine allows, the time does not show what is wrong.
 */
function unpaddedLength(plain: Bytes): number | undefined {
    const end = plain.length - 1;
    const padding = plain[end]!;
    // Not zero if the padding is not 1 to 16.
    let wrong = (padding - 1) >>> 4;
    for (let i = 0; i < BLOCK; i++) {
        wrong |= below(i, padding) & (plain[end - i]! ^ padding);
    }
    const [tag, first, second, both] = [plain[0]!, plain[1]!, plain[2]!, (plain[2]! << 8) | plain[3]!];
    const short = below(first, 0x80);
    const one = same(first, 0x81) & ~below(second, 0x80);
    const two = same(first, 0x82) & ~below(both, 0x100);
    const length = (short & (first + 2)) | (one & (second + 3)) | (two & (both + 4));
    wrong |= (tag ^ SEQUENCE) | ~(short | one | two) | (length ^ (plain.length - padding));
    return wrong === 0 ? length : undefined;
}

/** Returns −1 if a is below b, and else 0. Both are below 2^30. */
function below(a: number, b: number): number {
    return (a - b) >> 31;
}

/** Returns −1 if both are the same, and else 0. */
function same(a: number, b: number): number {
    return ~below(0, a ^ b) & ~below(a ^ b, 0);
}

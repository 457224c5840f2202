/** The key derivations of PBES2 and their ceilings: docs/format-keys.md, "Encrypted private keys". */

import { fromHex, hex, type Bytes } from "../bytes.ts";
import { subtle } from "../crypto/platform.ts";
import type { Sha } from "../crypto/symmetric.ts";
import { LimitError } from "../error.ts";
import { dotted } from "./algorithm.ts";
import { Der, der, derNumber, INTEGER, NULL, OCTET_STRING, OID, SEQUENCE } from "./der.ts";
import { Excessive, Malformed, Unsupported } from "./trouble.ts";

/** A key derivation within the ceilings. */
export type Kdf =
    | { readonly name: "PBKDF2"; readonly salt: Bytes; readonly hash: Sha; readonly iterations: number }
    | { readonly name: "scrypt"; readonly salt: Bytes; readonly n: number; readonly r: number; readonly p: number };

const PBKDF2 = "2a864886f70d01050c";
const SCRYPT = "2b06010401da47040b";
const HASHES = new Map<string, Sha>([
    ["2a864886f70d0207", "SHA-1"],
    ["2a864886f70d0209", "SHA-256"],
    ["2a864886f70d020a", "SHA-384"],
    ["2a864886f70d020b", "SHA-512"],
]);

const MAX_SALT = 1024;
const MAX_ITERATIONS = 10_000_000n;
const MAX_TABLE = 1n << 30n;
const MAX_WORK = 1n << 24n;
const MAX_LANES = 1n << 24n;

/** Returns the error for an algorithm of encryption that is not supported. */
export function otherEncryption(oid: Bytes): Unsupported {
    return new Unsupported(`a key protected with algorithm ${dotted(oid)}`);
}

/** Reads what is in an `AlgorithmIdentifier`, for a cipher whose keys have this length. */
export function readKdf(identifier: Der, keyLength: number): Kdf {
    const oid = identifier.take(OID);
    const isScrypt = hex(oid) === SCRYPT;
    if (!isScrypt && hex(oid) !== PBKDF2) {
        throw otherEncryption(oid);
    }
    const parameters = identifier.sequence();
    identifier.end();
    const salt = parameters.take(OCTET_STRING);
    if (salt.length > MAX_SALT) {
        throw new Excessive("a salt of more than 1024 bytes");
    }
    return isScrypt ? readScrypt(parameters, salt, keyLength) : readPbkdf2(parameters, salt, keyLength);
}

/** Writes the `AlgorithmIdentifier` of PBKDF2 with HMAC-SHA-256. */
export function writePbkdf2(salt: Bytes, iterations: number): Bytes {
    const hash = der(SEQUENCE, der(OID, fromHex("2a864886f70d0209")), der(NULL));
    const parameters = der(SEQUENCE, der(OCTET_STRING, salt), derNumber(iterations), hash);
    return der(SEQUENCE, der(OID, fromHex(PBKDF2)), parameters);
}

/** Writes the `AlgorithmIdentifier` of scrypt. */
export function writeScrypt(salt: Bytes, n: number, r: number, p: number): Bytes {
    const parameters = der(SEQUENCE, der(OCTET_STRING, salt), ...[n, r, p].map(number => derNumber(number)));
    return der(SEQUENCE, der(OID, fromHex(SCRYPT)), parameters);
}

/** Returns the key for a passphrase. This takes seconds if the file asks for them. */
export async function derive(kdf: Kdf, passphrase: Bytes, keyLength: number): Promise<Bytes> {
    if (kdf.name === "PBKDF2") {
        const { salt, hash, iterations } = kdf;
        const key = await subtle().importKey("raw", passphrase, "PBKDF2", false, ["deriveBits"]);
        return new Uint8Array(
            await subtle().deriveBits({ name: "PBKDF2", salt, hash, iterations }, key, keyLength * 8),
        );
    }
    const { scryptAsync } = await import("../fallback/scrypt.ts");
    const { n: N, r, p } = kdf;
    try {
        return (await scryptAsync(passphrase, kdf.salt, { N, r, p, dkLen: keyLength, maxmem: 2 ** 31 })) as Bytes;
    } catch (why) {
        // What else `scryptAsync` throws is an error of this package.
        if (why instanceof RangeError) {
            throw new LimitError("there is not enough memory for scrypt");
        }
        throw why;
    }
}

function readPbkdf2(parameters: Der, salt: Bytes, keyLength: number): Kdf {
    const iterations = parameters.number();
    checkKeyLength(parameters, keyLength);
    const identifier = parameters.maybe(SEQUENCE);
    const hash = identifier === undefined ? "SHA-1" : readHash(new Der(identifier));
    parameters.end();
    if (iterations > MAX_ITERATIONS) {
        throw new Excessive("more than 10 million iterations of PBKDF2");
    }
    if (iterations === 0n) {
        throw new Malformed("it asks for no iterations");
    }
    return { name: "PBKDF2", salt, hash, iterations: Number(iterations) };
}

function readHash(identifier: Der): Sha {
    const oid = identifier.take(OID);
    const hash = HASHES.get(hex(oid));
    if (hash === undefined) {
        throw otherEncryption(oid);
    }
    if (identifier.maybe(NULL)?.length) {
        throw new Malformed("a null value in it is not empty");
    }
    identifier.end();
    return hash;
}

function readScrypt(parameters: Der, salt: Bytes, keyLength: number): Kdf {
    const [n, r, p] = [parameters.number(), parameters.number(), parameters.number()];
    checkKeyLength(parameters, keyLength);
    parameters.end();
    // RFC 7914, section 6. N has at most 64 bits, so it is small enough for every r from 4 on.
    const isSmall = r >= 4n || n < 1n << (16n * r);
    if (r === 0n || p === 0n || n < 2n || (n & (n - 1n)) !== 0n || !isSmall) {
        throw new Malformed("the parameters of scrypt are not valid");
    }
    if (128n * n * r > MAX_TABLE || 128n * r * p > MAX_LANES) {
        throw new Excessive("more than 1 GiB of memory for scrypt");
    }
    if (n * r * p > MAX_WORK) {
        throw new Excessive("more work for scrypt than N * r * p = 2^24");
    }
    return { name: "scrypt", salt, n: Number(n), r: Number(r), p: Number(p) };
}

/** Checks the length of the derived key, which may be missing. */
function checkKeyLength(parameters: Der, keyLength: number): void {
    if (parameters.tag === INTEGER && parameters.number() !== BigInt(keyLength)) {
        throw new Malformed("the length of its key does not go with its cipher");
    }
}

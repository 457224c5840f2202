/** What the platform has: WebCrypto, and which of its newer algorithms. */

/** Returns WebCrypto, which browsers offer to secure pages alone: `https:`, `file:` and `localhost`. */
export function subtle(): SubtleCrypto {
    const found = globalThis.crypto?.subtle;
    if (found === undefined) {
        throw new Error(
            "this platform has no WebCrypto; a web page has it only if it was loaded by https or from a file",
        );
    }
    return found;
}

/** Algorithms that not all platforms have. */
export type Newer =
    | "X25519"
    | "Ed25519"
    | "ML-KEM-768"
    | "ML-KEM-1024"
    | "MLKEM768-X25519"
    | "ML-DSA-44"
    | "ML-DSA-65"
    | "ChaCha20-Poly1305";

const known = new Map<Newer, Promise<boolean>>();

/** What the tests switch off, so that fallbacks run where the platform has the algorithm. */
export const switchedOff = new Set<Newer>();

/** Returns whether the platform has an algorithm. One key is generated or imported to find out, once. */
export function has(algorithm: Newer): Promise<boolean> {
    if (switchedOff.has(algorithm)) {
        return Promise.resolve(false);
    }
    let answer = known.get(algorithm);
    if (answer === undefined) {
        answer = probe(algorithm);
        known.set(algorithm, answer);
    }
    return answer;
}

async function probe(algorithm: Newer): Promise<boolean> {
    try {
        // `SubtleCrypto.supports` is not everywhere, and Node.js has algorithms that it does not list. So each
        // algorithm is used once in the way that this package uses it.
        switch (algorithm) {
            case "X25519": {
                const key = await subtle().importKey("jwk", X25519_JWK, algorithm, true, ["deriveBits"]);
                await subtle().exportKey("jwk", key);
                return true;
            }
            case "Ed25519":
                await subtle().importKey("jwk", ED25519_JWK, algorithm, true, ["verify"]);
                return true;
            case "ChaCha20-Poly1305":
                await importRaw("raw-secret", new Uint8Array(32), algorithm, ["encrypt", "decrypt"]);
                return true;
            case "ML-DSA-44":
            case "ML-DSA-65": {
                // All of this platform's keys: a random public key need not be a valid one.
                const pair = (await subtle().generateKey({ name: algorithm }, true, [
                    "sign",
                    "verify",
                ])) as CryptoKeyPair;
                const raw = await exportRaw("raw-public", pair.publicKey);
                const imported = await importRaw("raw-public", raw, algorithm, ["verify"]);
                // Deno has ML-DSA without contexts.
                const parameters = { name: algorithm, context: new Uint8Array(1) };
                const signature = await subtle().sign(parameters, pair.privateKey, raw);
                return await subtle().verify(parameters, imported, signature, raw);
            }
            default: {
                const seed = new Uint8Array(algorithm === "MLKEM768-X25519" ? 32 : 64);
                await importRaw("raw-seed", seed, algorithm, ["decapsulateBits"]);
                return "encapsulateBits" in subtle() && "getPublicKey" in subtle();
            }
        }
    } catch {
        return false;
    }
}

// The keys of RFC 7748 and RFC 8032 in their published examples.
const X25519_JWK = {
    kty: "OKP",
    crv: "X25519",
    d: "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo",
    x: "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo",
};
const ED25519_JWK = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };

// The forms of keys that are newer than TypeScript's description of WebCrypto.

/** Imports a key in one of the raw forms. */
export function importRaw(
    form: "raw-seed" | "raw-public" | "raw-secret",
    key: Uint8Array<ArrayBuffer>,
    name: string,
    usages: string[],
): Promise<CryptoKey> {
    return subtle().importKey(form as "raw", key, { name }, true, usages as KeyUsage[]);
}

/** Exports a key in one of the raw forms. */
export async function exportRaw(form: "raw-seed" | "raw-public", key: CryptoKey): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await subtle().exportKey(form as "raw", key));
}

/** Signatures of ML-DSA: from WebCrypto, or from noble where the platform lacks them. */

import type { Bytes } from "../bytes.ts";
import { has, importRaw, subtle } from "./platform.ts";

const LENGTHS = { "ML-DSA-44": { key: 1312, signature: 2420 }, "ML-DSA-65": { key: 1952, signature: 3309 } };

/** Verifies a signature of ML-DSA with a context. */
export async function verifyMlDsa(
    name: "ML-DSA-44" | "ML-DSA-65",
    publicKey: Bytes,
    signature: Bytes,
    message: Bytes,
    context: Bytes,
): Promise<boolean> {
    if (publicKey.length !== LENGTHS[name].key || signature.length !== LENGTHS[name].signature) {
        return false;
    }
    if (await has(name)) {
        const key = await importRaw("raw-public", publicKey, name, ["verify"]);
        const algorithm = context.length > 0 ? { name, context } : { name };
        return subtle().verify(algorithm, key, signature, message);
    }
    const { ml_dsa44, ml_dsa65 } = await import("../fallback/mldsa.ts");
    const scheme = name === "ML-DSA-44" ? ml_dsa44 : ml_dsa65;
    try {
        return scheme.verify(signature, message, publicKey, { context });
    } catch {
        return false;
    }
}

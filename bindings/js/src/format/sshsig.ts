/** SSHSIG blobs (OpenSSH's PROTOCOL.sshsig) of the kinds that docs/format-seal.md names. */

import { concat, equal, Fields, number, text, utf8, type Bytes } from "../bytes.ts";
import { verifyEd25519 } from "../crypto/curve.ts";
import { verifyMlDsa } from "../crypto/mldsa.ts";
import { digest } from "../crypto/symmetric.ts";
import { InvalidKeyError, NewerError, SignatureError } from "../error.ts";
import { SignerKey } from "../key/signer.ts";

const NAMESPACE = "deadpan-v1";
const COMPOSITE_LABEL = utf8("COMPSIG-MLDSA44-Ed25519-SHA512");
const COMPOSITE_PREFIX = utf8("CompositeAlgorithmSignatures2025");
/** The flag of a security key that says that a person touched it. */
const PRESENT = 1;

/** Verifies a signature over a statement, and returns the key of the signer. */
export async function verify(blob: Bytes, statement: Bytes): Promise<SignerKey> {
    const fields = new Fields(blob, malformed);
    if (text(fields.take(6)) !== "SSHSIG" || fields.number(4) !== 1) {
        throw malformed();
    }
    const ssh = string(fields).slice();
    const namespace = string(fields);
    const reserved = string(fields);
    const hash = string(fields);
    const signatureFields = new Fields(string(fields), malformed);
    const right = text(namespace) === NAMESPACE && reserved.length === 0 && text(hash) === "sha512";
    if (!right || fields.left > 0) {
        throw malformed();
    }
    const hashed = await digest("SHA-512", statement);
    const signed = concat(utf8("SSHSIG"), ...[namespace, reserved, hash, hashed].map(packed));

    const kind = text(string(signatureFields));
    const signer = signerOf(ssh);
    // Another name of the same kind would be other bytes for the same key.
    if (!equal(signer.ssh, ssh) || signer.kind !== kind) {
        throw malformed();
    }
    const signature = string(signatureFields).slice();
    if (!(await isRight(signer, signature, signed, signatureFields)) || signatureFields.left > 0) {
        throw malformed();
    }
    return signer;
}

function signerOf(ssh: Bytes): SignerKey {
    try {
        return SignerKey.fromSsh(ssh);
    } catch (why) {
        if (!(why instanceof InvalidKeyError)) {
            throw why;
        }
        throw new NewerError("sealed with a kind of signature that this version does not know");
    }
}

function malformed(): SignatureError {
    return new SignatureError(
        "a signature is wrong or was removed: the data or the signers are not those that were signed",
    );
}

/** Verifies a signature. Reads what follows the signature of a security key. */
async function isRight(signer: SignerKey, signature: Bytes, signed: Bytes, rest: Fields): Promise<boolean> {
    const { kind, publicKey, application } = signer;
    switch (kind) {
        case "ssh-ed25519":
            return verifyEd25519(publicKey, signature, signed);
        case "sk-ssh-ed25519@openssh.com": {
            const flags = rest.take(5);
            if ((flags[0]! & PRESENT) === 0) {
                return false;
            }
            const hashed = await digest("SHA-256", application ?? new Uint8Array());
            return verifyEd25519(publicKey, signature, concat(hashed, flags, await digest("SHA-256", signed)));
        }
        case "ssh-mldsa-65":
            return verifyMlDsa("ML-DSA-65", publicKey, signature, signed, new Uint8Array());
        case "ssh-mldsa44-ed25519": {
            // draft-ietf-lamps-pq-composite-sigs: M' = prefix ‖ label ‖ length of the context ‖ context ‖ PH(M).
            const hashed = await digest("SHA-512", signed);
            const message = concat(COMPOSITE_PREFIX, COMPOSITE_LABEL, number(0, 1), hashed);
            const mlDsa = [publicKey.slice(0, 1312), signature.slice(0, 2420), message, COMPOSITE_LABEL] as const;
            return (
                (await verifyMlDsa("ML-DSA-44", ...mlDsa)) &&
                (await verifyEd25519(publicKey.slice(1312), signature.slice(2420), message))
            );
        }
    }
}

function string(fields: Fields): Bytes {
    return fields.take(fields.number(4));
}

function packed(bytes: Bytes): Bytes {
    return concat(number(bytes.length, 4), bytes);
}

/** Public keys that verify signatures. */

import type { Bytes } from "../bytes.ts";
import { InvalidKeyError } from "../error.ts";
import { isEd25519 } from "../crypto/curve.ts";
import { decodeSsh, SSH_LENGTHS, sshStrings, type SignerKind, type SshPublic } from "./ssh.ts";
import { Malformed, Unsupported } from "./trouble.ts";

/** A public key that verifies signatures. */
export class SignerKey {
    /** The name of the kind in SSH. */
    readonly kind: SignerKind;
    /** The key as its algorithm defines it. A composite key is that of ML-DSA-44, then that of Ed25519. */
    readonly publicKey: Bytes;
    /** The application for which a key in hardware was made. Other keys have none. */
    readonly application: Bytes | undefined;
    /** The key in the binary form of SSH, with the current name of its kind, so equal keys have equal bytes. */
    readonly ssh: Bytes;

    private constructor(kind: SignerKind, publicKey: Bytes, application?: Bytes) {
        this.kind = kind;
        this.publicKey = publicKey;
        this.application = application;
        this.ssh = sshStrings(kind, publicKey, ...(application === undefined ? [] : [application]));
    }

    /** @internal Checks the length, and refuses points for which some signatures are valid for every message. */
    static fromBytes(kind: SignerKind, publicKey: Bytes, application?: Bytes): SignerKey {
        if (publicKey.length !== SSH_LENGTHS[kind]) {
            throw new Malformed("the public key has a wrong length or form");
        }
        // Every ML-DSA key of the right length is valid.
        if (kind !== "ssh-mldsa-65" && !isEd25519(publicKey.slice(-32))) {
            throw new Malformed("the public key is not a valid one of its kind");
        }
        return new SignerKey(kind, publicKey.slice(), application?.slice());
    }

    /** @internal Throws an `InvalidKeyError` for RSA keys, which do not sign here. */
    static fromSshPublic({ name, key, application }: SshPublic): SignerKey {
        if (name === "ssh-rsa" || key === undefined) {
            throw new Unsupported(`an SSH key of the kind ${name}`);
        }
        return SignerKey.fromBytes(name, key, application);
    }

    /** Reads a key in the binary form of SSH. Throws an `InvalidKeyError` if it is none that signs. */
    static fromSsh(blob: Bytes): SignerKey {
        return SignerKey.fromSshPublic(decodeSsh(blob));
    }
}

const NAMES: Record<SignerKind, string> = {
    "ssh-ed25519": "an Ed25519 key",
    "ssh-mldsa-65": "an ML-DSA-65 key",
    "ssh-mldsa44-ed25519": "an MLDSA44-Ed25519-SHA512 key",
    "sk-ssh-ed25519@openssh.com": "an Ed25519 key in hardware",
};

/** Returns the error for a signing key where a sealing key is needed. */
export function signs(key: SignerKey): InvalidKeyError {
    return new InvalidKeyError(`${NAMES[key.kind]} signs, and does not seal`);
}

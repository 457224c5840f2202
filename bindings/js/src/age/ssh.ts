/**
 * Recipients that are keys of SSH: `ssh-ed25519`, which are used as X25519 keys, and `ssh-rsa`. The first argument of a
 * stanza is a tag, the beginning of a hash of the public key.
 */

import { compare, concat, utf8, type Bytes } from "../bytes.ts";
import { x25519 } from "../crypto/curve.ts";
import { subtle } from "../crypto/platform.ts";
import { digest, hkdfExpand, hmac } from "../crypto/symmetric.ts";
import { InvalidKeyError } from "../error.ts";
import type { SshKey } from "../key/openssh.ts";
import { derive, FILE_KEY, openFileKey } from "./file-key.ts";
import { TAG } from "./kind.ts";
import { argument, type Stanza } from "./stanza.ts";
import { agreed } from "./x25519.ts";

const ED25519 = "age-encryption.org/v1/ssh-ed25519";
const RSA = "age-encryption.org/v1/ssh-rsa";

/** Returns the file key in a stanza. If there is none, returns whether the stanza has the tag of the key. */
export async function openWithSsh(key: SshKey, stanza: Stanza): Promise<Bytes | "other key" | "wrong tag"> {
    const tag = (await digest("SHA-256", key.ssh)).subarray(0, TAG);
    if (key.kind !== stanza.type || compare(argument(stanza, 0), tag) !== 0) {
        return "other key";
    }
    const fileKey = await (key.kind === "ssh-rsa" ? openWithRsa(key, stanza) : openWithEd25519(key, stanza));
    return fileKey ?? "wrong tag";
}

async function openWithEd25519(key: SshKey, stanza: Stanza): Promise<Bytes | undefined> {
    if (key.seed === undefined) {
        throw new InvalidKeyError("a key of SSH without its private half");
    }
    // RFC 8032, section 5.1.5: the hash of the seed begins with the scalar, which X25519 prunes in the same way.
    const own = await x25519.key((await digest("SHA-512", key.seed)).slice(0, 32));
    const share = argument(stanza, 1);
    // The tweak binds the secret to the key of SSH. It is HKDF of an empty key, which not all platforms import.
    const extracted = await hmac("SHA-256", key.ssh, new Uint8Array());
    const tweak = await x25519.key(await hkdfExpand("SHA-256", extracted, utf8(ED25519), 32));
    const shared = await agreed(tweak, await agreed(own, share));
    return openFileKey(await derive(shared, concat(share, own.publicKey), ED25519), stanza.body);
}

async function openWithRsa(key: SshKey, stanza: Stanza): Promise<Bytes | undefined> {
    if (key.jwk === undefined) {
        throw new InvalidKeyError("a key of SSH without its private half");
    }
    const algorithm = { name: "RSA-OAEP", hash: "SHA-256" };
    let imported: CryptoKey;
    try {
        imported = await subtle().importKey("jwk", key.jwk, algorithm, false, ["decrypt"]);
    } catch (why) {
        throw new InvalidKeyError("the platform does not accept the RSA key", { cause: why });
    }
    try {
        const parameters = { name: "RSA-OAEP", label: utf8(RSA) };
        const fileKey = new Uint8Array(await subtle().decrypt(parameters, imported, stanza.body));
        return fileKey.length === FILE_KEY ? fileKey : undefined;
    } catch (why) {
        if (why instanceof Error && why.name === "OperationError") {
            return undefined;
        }
        throw why;
    }
}

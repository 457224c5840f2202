/** Keys as texts: PEM, lines of age, lines and private key files of SSH. docs/format-keys.md specifies them. */

import { InvalidKeyError, LockedKeyError } from "../error.ts";
import { Passphrase } from "../passphrase.ts";
import { encodeIdentity, encodeRecipient, type Plugin } from "./age.ts";
import { toPem } from "./base64.ts";
import { readKeys, type Found } from "./file.ts";
import { fingerprint, fingerprintComment } from "./fingerprint.ts";
import { PrivateKey, PublicKey } from "./key.ts";
import { SshKey } from "./openssh.ts";
import { encryptKey } from "./pbes2.ts";
import { encodePkcs8 } from "./pkcs8.ts";
import { SignerKey, signs } from "./signer.ts";
import { encodeSpki } from "./spki.ts";
import { at, Unsupported } from "./trouble.ts";

export { fingerprint } from "./fingerprint.ts";

/**
 * Reads the private keys in a text: PKCS#8 in PEM, which a passphrase may protect, and age identities. Public keys and
 * keys that sign may stand beside them.
 */
export async function readPrivateKeys(text: string | Uint8Array, passphrase?: Passphrase): Promise<PrivateKey[]> {
    return identities(text, passphrase, file => {
        throw at(file.place, new Unsupported("an SSH key"));
    });
}

/** Reads the only private key in a text. */
export async function readPrivateKey(text: string | Uint8Array, passphrase?: Passphrase): Promise<PrivateKey> {
    return only(await readPrivateKeys(text, passphrase));
}

/** Reads all that opens files in a text: private keys, and for age files private keys of OpenSSH. */
export async function readIdentities(
    text: string | Uint8Array,
    passphrase?: Passphrase,
): Promise<(PrivateKey | SshKey)[]> {
    return identities<SshKey>(text, passphrase, ({ place, key }) => {
        if (key.key instanceof SshKey) {
            return key.key;
        }
        throw at(place, key.key);
    });
}

/**
 * Reads the public keys to seal to in a text: SPKI in PEM, and age recipients. A private key counts as its public key.
 * Keys that sign may stand beside them.
 */
export async function readPublicKeys(text: string | Uint8Array): Promise<PublicKey[]> {
    const all = await readKeys(text);
    const keys: PublicKey[] = [];
    for (const found of all) {
        switch (found.type) {
            case "public":
                keys.push(found.key);
                break;
            case "private":
                keys.push(found.key.publicKey);
                break;
            case "protected":
                throw at(found.place, locked());
            case "plugin":
                throw at(found.place, ofPlugin(found.key));
            case "ssh":
            case "openssh":
                throw at(found.place, new Unsupported("an SSH key"));
            case "verifying":
                // Lines of SSH may be recipients, unless they stand beside PEM, in which signing keys are usual.
                if (found.isLine && all.every(other => other.isLine)) {
                    throw at(found.place, new Unsupported("an SSH key"));
                }
        }
    }
    if (keys.length === 0) {
        throw passedOver(all, "the text holds no public key that seals");
    }
    return keys;
}

/** Reads the only public key to seal to in a text. */
export async function readPublicKey(text: string | Uint8Array): Promise<PublicKey> {
    return only(await readPublicKeys(text));
}

/**
 * Reads the keys whose signatures can be verified in a text: SPKI in PEM, and public keys of SSH. A private key that
 * signs counts as its public key. Other keys may stand beside them.
 */
export async function readSigners(text: string | Uint8Array): Promise<SignerKey[]> {
    const all = await readKeys(text);
    const keys: SignerKey[] = [];
    for (const found of all) {
        if (found.type === "signing" || found.type === "verifying") {
            keys.push(found.key);
        } else if (found.type === "openssh" && found.key.public.name !== "ssh-rsa") {
            try {
                keys.push(SignerKey.fromSshPublic(found.key.public));
            } catch (why) {
                throw at(found.place, why);
            }
        }
    }
    const secret = all.find(found => found.type === "protected");
    if (keys.length === 0 && secret !== undefined) {
        throw at(secret.place, locked());
    }
    if (keys.length === 0) {
        throw new InvalidKeyError("the text holds no key whose signatures can be verified");
    }
    return keys;
}

export function publicKeyToPem(key: PublicKey | SignerKey): string {
    if (!(key instanceof PublicKey) && !(key instanceof SignerKey)) {
        throw new TypeError("this must be a public key");
    }
    const spki = encodeSpki(key);
    if (spki === undefined) {
        throw new TypeError("keys in hardware have no PEM");
    }
    return toPem("PUBLIC KEY", spki);
}

/** Returns the key as an age recipient. Age has no ML-KEM keys. */
export function publicKeyToAge(key: PublicKey): string {
    const text = checked(key, PublicKey, "public key") && encodeRecipient(key);
    if (text === undefined) {
        throw new TypeError("age has no keys of this kind");
    }
    return text;
}

/** Returns the key as PEM, protected if there is a passphrase. */
export async function privateKeyToPem(key: PrivateKey, passphrase?: Passphrase): Promise<string> {
    const contents = checked(key, PrivateKey, "private key") && encodePkcs8(key);
    if (passphrase === undefined) {
        return toPem("PRIVATE KEY", contents);
    }
    const sealed = await encryptKey(contents, checked(passphrase, Passphrase, "Passphrase"));
    return (await fingerprintComment(key.publicKey)) + toPem("ENCRYPTED PRIVATE KEY", sealed);
}

/** Returns the key as an age identity. Age has X25519 and X-Wing keys alone. */
export function privateKeyToAge(key: PrivateKey): string {
    const text = checked(key, PrivateKey, "private key") && encodeIdentity(key);
    if (text === undefined) {
        throw new TypeError("age has no keys of this kind");
    }
    return text;
}

type OfOpenssh = Extract<Found, { type: "openssh" }>;
type Protected = Extract<Found, { type: "protected" }>;

async function identities<T = never>(
    text: string | Uint8Array,
    passphrase: Passphrase | undefined,
    ofOpenssh: (file: OfOpenssh) => T,
): Promise<(PrivateKey | T)[]> {
    if (passphrase !== undefined) {
        checked(passphrase, Passphrase, "Passphrase");
    }
    const all = await readKeys(text);
    const keys: (PrivateKey | T)[] = [];
    for (const [i, found] of all.entries()) {
        if (found.type === "private") {
            keys.push(found.key);
        } else if (found.type === "openssh") {
            keys.push(ofOpenssh(found));
        } else if (found.type === "plugin" && found.key.isIdentity) {
            throw at(found.place, ofPlugin(found.key));
        } else if (found.type === "protected") {
            const key = await unlocked(found, passphrase);
            if (key instanceof PrivateKey) {
                keys.push(key);
            } else {
                all[i] = { place: found.place, isLine: found.isLine, type: "signing", key };
            }
        }
    }
    if (keys.length === 0) {
        const isPublic = all.some(found => found.type === "public");
        throw passedOver(
            all,
            isPublic
                ? "this is a public key, and a private one is needed"
                : "the text holds no private key that opens files",
        );
    }
    return keys;
}

async function unlocked(found: Protected, passphrase: Passphrase | undefined): Promise<PrivateKey | SignerKey> {
    try {
        if (passphrase === undefined) {
            throw locked();
        }
        const key = await found.key.open(passphrase);
        const name = await fingerprint(key instanceof PrivateKey ? key.publicKey : key);
        if (found.fingerprint !== undefined && found.fingerprint !== name) {
            throw new InvalidKeyError("the key has another fingerprint than the comment before it says");
        }
        return key;
    } catch (why) {
        throw at(found.place, why);
    }
}

/** Returns the error for a text without the wanted keys: one that names a signing key, or else `why`. */
function passedOver(all: readonly Found[], why: string): unknown {
    const found = all.find(found => found.type === "signing" || found.type === "verifying");
    return found === undefined ? new InvalidKeyError(why) : at(found.place, signs(found.key));
}

function only<T>(keys: readonly T[]): T {
    const [key] = keys;
    if (key === undefined || keys.length > 1) {
        throw new InvalidKeyError(`the text holds ${keys.length} keys, and one is wanted`);
    }
    return key;
}

function locked(): LockedKeyError {
    return new LockedKeyError("the private key is protected by a passphrase");
}

function ofPlugin({ plugin, isIdentity }: Plugin): Unsupported {
    return new Unsupported(`${isIdentity ? "an identity" : "a recipient"} of the plugin ${plugin}`);
}

function checked<T>(value: T, kind: Function & { readonly prototype: T }, what: string): T {
    if (!(value instanceof kind)) {
        throw new TypeError(`this must be a ${what}`);
    }
    return value;
}

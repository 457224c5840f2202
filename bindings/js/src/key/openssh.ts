/** Private key files of OpenSSH (`openssh-key-v1`): docs/format-keys.md, "OpenSSH keys". */

import { equal, hex, fromHex, utf8, type Bytes } from "../bytes.ts";
import { base64Url } from "../crypto/curve.ts";
import { LockedKeyError, type InvalidKeyError } from "../error.ts";
import { compositePublic, ed25519Public } from "./signing.ts";
import { decodeSsh, SshFields, type SshPublic } from "./ssh.ts";
import { Excessive, Malformed, Unsupported } from "./trouble.ts";

const MAGIC = utf8("openssh-key-v1\0");
const DAMAGED = "the OpenSSH key file is damaged";
const PRIVATE_DAMAGED = "the private part of the OpenSSH key file is damaged";
const MAX_PRIVATE = 1 << 16;
const MAX_SALT = 64;
const MAX_ROUNDS = 1024;
const CIPHER = /^(?:none|aes(?:128|192|256)-(?:ctr|cbc)|aes(?:128|256)-gcm@openssh\.com)$/;

/** A private key of SSH, which opens age files that were sealed to its public key. */
export class SshKey {
    readonly kind: "ssh-ed25519" | "ssh-rsa";
    /** The public key in the binary form of SSH. */
    readonly ssh: Bytes;
    /** The seed and the public key of an Ed25519 key. */
    readonly seed: Bytes | undefined;
    readonly publicKey: Bytes | undefined;
    /** An RSA key. It names no algorithm, so it can be imported for RSA-OAEP with any hash. */
    readonly jwk: JsonWebKey | undefined;

    /** @internal The caller has checked that the parts belong together. */
    constructor(ssh: SshPublic, secret: { seed: Bytes } | { jwk: JsonWebKey }) {
        this.kind = "seed" in secret ? "ssh-ed25519" : "ssh-rsa";
        this.ssh = ssh.blob.slice();
        this.publicKey = ssh.key?.slice();
        this.seed = "seed" in secret ? secret.seed : undefined;
        this.jwk = "jwk" in secret ? secret.jwk : undefined;
    }
}

/** A private key file. */
export interface OpensshFile {
    readonly public: SshPublic;
    readonly isProtected: boolean;
    /** The key, or why it opens no age files. */
    readonly key: SshKey | InvalidKeyError;
}

/** Reads what is in the PEM block. A key without a passphrase is read completely. */
export async function decodeOpenssh(contents: Bytes): Promise<OpensshFile> {
    const fields = new SshFields(contents, DAMAGED);
    if (!equal(fields.take(MAGIC.length), MAGIC)) {
        throw new Malformed(DAMAGED);
    }
    const cipher = fields.text();
    checkCipher(cipher);
    checkKdf(cipher, fields.text(), fields.string());
    const count = fields.number();
    if (count === 0) {
        throw new Malformed("the OpenSSH key file has no key");
    }
    if (count !== 1) {
        throw new Unsupported("an OpenSSH file with several keys");
    }
    const key = decodeSsh(fields.string());
    const secret = fields.string();
    if (secret.length > MAX_PRIVATE) {
        throw new Excessive("an OpenSSH private key of more than 64 KiB");
    }
    if (secret.length === 0 || secret.length % (cipher === "none" ? 8 : 16) !== 0) {
        throw new Malformed("the private part does not consist of whole blocks");
    }
    fields.take(cipher.includes("gcm") ? 16 : 0);
    fields.end("something stands after the OpenSSH private key");
    if (cipher !== "none") {
        // The key derivation, bcrypt, is large and old, and nothing else needs it.
        const why = "the OpenSSH key is protected by a passphrase, and such keys are not supported";
        return { public: key, isProtected: true, key: new LockedKeyError(why) };
    }
    return { public: key, isProtected: false, key: await decodePrivate(secret, key) };
}

function checkCipher(cipher: string): void {
    if (!CIPHER.test(cipher)) {
        throw /^[!-~]{1,64}$/.test(cipher)
            ? new Unsupported(`an OpenSSH key protected with ${cipher}`)
            : new Malformed(DAMAGED);
    }
}

function checkKdf(cipher: string, kdf: string, options: Bytes): void {
    if (cipher === "none" && kdf === "none" && options.length === 0) {
        return;
    }
    if (cipher === "none" || kdf === "none") {
        throw new Malformed("the cipher of the OpenSSH key file does not go with its key derivation");
    }
    if (kdf !== "bcrypt") {
        throw new Unsupported("a key derivation of OpenSSH other than bcrypt");
    }
    const fields = new SshFields(options, DAMAGED);
    const [salt, rounds] = [fields.string(), fields.number()];
    fields.end(DAMAGED);
    if (salt.length === 0 || rounds === 0) {
        throw new Malformed("the parameters of bcrypt are not valid");
    }
    if (salt.length > MAX_SALT) {
        throw new Excessive("a salt of more than 64 bytes");
    }
    if (rounds > MAX_ROUNDS) {
        throw new Excessive("more than 1024 rounds of bcrypt");
    }
}

/** Reads the private part, which must belong to the public key. */
async function decodePrivate(secret: Bytes, known: SshPublic): Promise<SshKey | Unsupported> {
    const fields = new SshFields(secret, PRIVATE_DAMAGED);
    if (!equal(fields.take(4), fields.take(4))) {
        throw new Malformed(PRIVATE_DAMAGED);
    }
    if (fields.text() !== new SshFields(known.blob, DAMAGED).text()) {
        throw different();
    }
    const key = await decodeKey(fields, known);
    // A comment, which may be any bytes.
    fields.string();
    const padding = fields.rest();
    if (padding.length >= 8 || padding.some((byte, i) => byte !== i + 1)) {
        throw new Malformed("the padding of the OpenSSH key file is damaged");
    }
    return key;
}

async function decodeKey(fields: SshFields, known: SshPublic): Promise<SshKey | Unsupported> {
    switch (known.name) {
        case "ssh-ed25519":
            return new SshKey(known, { seed: await decodeEd25519(fields, known) });
        case "ssh-rsa":
            return new SshKey(known, { jwk: decodeRsa(fields, known) });
        case "ssh-mldsa44-ed25519": {
            same(fields.string(), known.key);
            same(await compositePublic(fields.string()), known.key);
            return new Unsupported("an OpenSSH private key of the kind ssh-mldsa44-ed25519");
        }
        case "ssh-mldsa-65":
            throw new Unsupported("an OpenSSH private key of the kind ssh-mldsa-65");
        case "sk-ssh-ed25519@openssh.com":
            throw new Unsupported("the file of a security key");
    }
}

async function decodeEd25519(fields: SshFields, known: SshPublic): Promise<Bytes> {
    same(fields.string(), known.key);
    const both = fields.string();
    const seed = both.slice(0, 32);
    if (seed.length !== 32) {
        throw new Malformed(PRIVATE_DAMAGED);
    }
    same(both.subarray(32), known.key);
    same(await ed25519Public(seed), known.key);
    return seed;
}

/** Reads n, e, d, q⁻¹ mod p, p and q. */
function decodeRsa(fields: SshFields, known: SshPublic): JsonWebKey {
    same(fields.big(), known.rsa?.n);
    same(fields.big(), known.rsa?.e);
    const [d, inverse, p, q] = [fields.big(), fields.big(), fields.big(), fields.big()];
    const { n, e } = known.rsa!;
    const isLonger = d.length > n.length || inverse.length > p.length;
    if (isLonger || p.length >= n.length || q.length >= n.length || big(p) * big(q) !== big(n)) {
        throw different();
    }
    const [dp, dq] = [big(d) % (big(p) - 1n), big(d) % (big(q) - 1n)];
    const parts = { n, e, d, p, q, dp: bytes(dp), dq: bytes(dq), qi: inverse };
    const texts = Object.entries(parts).map(([name, part]) => [name, base64Url(part)]);
    return { kty: "RSA", ...Object.fromEntries(texts) };
}

function big(digits: Bytes): bigint {
    return BigInt(`0x${hex(digits)}`);
}

function bytes(value: bigint): Bytes {
    const digits = value.toString(16);
    return fromHex(digits.length % 2 === 0 ? digits : `0${digits}`);
}

function same(part: Bytes, known: Bytes | undefined): void {
    if (known === undefined || !equal(part, known)) {
        throw different();
    }
}

function different(): Malformed {
    return new Malformed("the private and the public part of the OpenSSH key file do not match");
}

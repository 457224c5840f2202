/** Keys in texts: the frozen keys, the vectors, keys of OpenSSL and OpenSSH, and damaged keys of each kind. */

import { cbc } from "@noble/ciphers/aes.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { pbkdf2 as noblePbkdf2 } from "@noble/hashes/pbkdf2.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { concat, fromHex, hex, number, text, utf8, type Bytes } from "../src/bytes.ts";
import { KEMS } from "../src/crypto/kem.ts";
import { subtle } from "../src/crypto/platform.ts";
import { DeadpanError, InvalidKeyError, LockedKeyError, PassphraseError } from "../src/error.ts";
import { fromBase64, toBase64, toPem } from "../src/key/base64.ts";
import { decodeBech32, encodeBech32 } from "../src/key/bech32.ts";
import { context, der, derNumber, INTEGER, NULL, OCTET_STRING, OID, SEQUENCE, SET } from "../src/key/der.ts";
import { derive, writePbkdf2 } from "../src/key/kdf.ts";
import { generateKey, PrivateKey } from "../src/key/key.ts";
import { SshKey } from "../src/key/openssh.ts";
import { SignerKey } from "../src/key/signer.ts";
import { sshStrings } from "../src/key/ssh.ts";
import {
    fingerprint,
    privateKeyToAge,
    privateKeyToPem,
    publicKeyToAge,
    publicKeyToPem,
    readIdentities,
    readPrivateKey,
    readPrivateKeys,
    readPublicKey,
    readPublicKeys,
    readSigners,
} from "../src/key/text.ts";
import { Passphrase } from "../src/passphrase.ts";
import { equal, files, ok, rejects, skipped, test } from "./harness.ts";

const FROZEN = "tests/frozen/0.2.0/keys";
const PEM = "../shared/vectors/pem";
const GEHEIM = new Passphrase("Geheim");

async function file(path: string): Promise<string> {
    const found = await files.read(path);
    return (found && text(found)) ?? skipped(`${path} is missing`);
}

function frozen(name: string): Promise<string> {
    return file(`${FROZEN}/${name}`);
}

/** Returns what is in the only PEM block of a text. */
function contents(pem: string): Bytes {
    const body = /-----BEGIN [^-]+-----([^-]*)-----END/.exec(pem)?.[1] ?? "";
    return fromBase64(body.replaceAll(/\s/g, "")) ?? new Uint8Array();
}

function oid(digits: string): Bytes {
    return der(OID, fromHex(digits));
}

// Identifiers of algorithms, without the tag and the length around them.
const X25519 = oid("2b656e");
const PBKDF2 = oid("2a864886f70d01050c");
const SCRYPT = oid("2b06010401da47040b");
const AES_256 = oid("60864801650304012a");

/** Returns an encrypted private key with this AlgorithmIdentifier for its key derivation. */
function encrypted(kdf: Bytes, ciphertext: Bytes = new Uint8Array(64), cipher: Bytes = AES_256): string {
    const iv = der(OCTET_STRING, new Uint8Array(16));
    const parameters = der(SEQUENCE, kdf, der(SEQUENCE, cipher, iv));
    const scheme = der(SEQUENCE, oid("2a864886f70d01050d"), parameters);
    return toPem("ENCRYPTED PRIVATE KEY", der(SEQUENCE, scheme, der(OCTET_STRING, ciphertext)));
}

function pbkdf2(...parameters: Bytes[]): string {
    return encrypted(der(SEQUENCE, PBKDF2, der(SEQUENCE, SALT, ...parameters)));
}

function scrypt(...numbers: bigint[]): string {
    const parameters = numbers.map(value => {
        const digits = value.toString(16);
        return der(
            INTEGER,
            fromHex(digits.padStart(digits.length + 2 - (digits.length % 2), "0").replace(/^00(?=[0-7].)/, "")),
        );
    });
    return encrypted(der(SEQUENCE, SCRYPT, der(SEQUENCE, SALT, ...parameters)));
}

const SALT = der(OCTET_STRING, utf8("saltsalt"));

test("frozen keys are read, and written as they are", async () => {
    for (const name of ["x25519", "p256", "mlkem768", "mlkem1024", "mlkem768-p256", "xwing"]) {
        const [pem, publicPem] = [await frozen(`${name}.key`), await frozen(`${name}.pub`)];
        const key = await readPrivateKey(pem);
        equal(await privateKeyToPem(key), pem, name);
        equal(publicKeyToPem(key.publicKey), publicPem, name);
        equal((await readPublicKey(publicPem)).bytes, key.publicKey.bytes, name);
        equal((await readPublicKey(pem)).bytes, key.publicKey.bytes, name);
        equal((await readPrivateKey(utf8(pem))).secret, key.secret, name);
    }
    const recipients = (await frozen("age-recipients.txt")).trim().split("\n");
    const keys = await readPublicKeys(recipients.join("\r\n"));
    equal(keys.map(publicKeyToAge), recipients);
    equal((await readPublicKeys(recipients.join("\n").toUpperCase())).length, recipients.length);
});

test("frozen protected keys open with their passphrase", async () => {
    const pem = await frozen("protected.key");
    const passphrase = new Passphrase((await frozen("passphrase")).trim());
    const key = await readPrivateKey(pem, passphrase);
    equal(publicKeyToPem(key.publicKey), await frozen("protected.pub"));
    equal(await fingerprint(key.publicKey), /^# fingerprint: (.*)$/m.exec(pem)?.[1]);
    await rejects(readPrivateKeys(pem), LockedKeyError, /^PEM block 1: the private key is protected by a passphrase$/);
    await rejects(readPublicKeys(pem), LockedKeyError);
    await rejects(readPrivateKeys(pem, GEHEIM), PassphraseError, /^PEM block 1: the passphrase does not fit this key$/);
    const signing = await frozen("protected-sign.key");
    await rejects(
        readPrivateKeys(signing, passphrase),
        InvalidKeyError,
        /an MLDSA44-Ed25519-SHA512 key signs, and does/,
    );
    await rejects(readSigners(signing), LockedKeyError);
    equal((await readPrivateKeys(signing + pem, passphrase)).length, 1, "a key that signs may stand beside another");
});

test("frozen keys that sign are read in each form", async () => {
    const lines = (await frozen("allowed_signers")).trim().split("\n");
    const signers = await readSigners(lines.map(line => line.replace("tester ", "")).join("\n"));
    for (const [name, kind] of [
        ["ed25519", "ssh-ed25519"],
        ["mldsa65", "ssh-mldsa-65"],
        ["mldsa44-ed25519", "ssh-mldsa44-ed25519"],
    ] as const) {
        const publicPem = await frozen(`${name}.pub`);
        const [key] = await readSigners(publicPem);
        ok(key, name);
        equal(key.kind, kind);
        equal(publicKeyToPem(key), publicPem);
        equal((await readSigners(await frozen(`${name}.key`)))[0]?.ssh, key.ssh, name);
        equal(SignerKey.fromSsh(key.ssh).publicKey, key.publicKey);
        ok(name === "mldsa44-ed25519" || signers.some(({ ssh }) => hex(ssh) === hex(key.ssh)), `${name} has a line`);
        for (const read of [readPrivateKeys, readPublicKeys]) {
            await rejects(
                read(await frozen(`${name}.key`)),
                InvalidKeyError,
                /^PEM block 1: an .* key signs, and does not/,
            );
        }
    }
    const sealing = await frozen("xwing.pub");
    await rejects(readSigners(sealing), InvalidKeyError, /no key whose signatures can be verified/);
    const both = sealing + (await frozen("ed25519.pub"));
    equal([(await readSigners(both)).length, (await readPublicKeys(both)).length], [1, 1]);
    const [comment, signing] = [
        await frozen("protected-sign.key"),
        await readSigners(await frozen("protected-sign.pub")),
    ];
    equal(await fingerprint(signing[0]!), /fingerprint: (.*)$/m.exec(comment)?.[1]);
});

test("frozen SSH keys are read", async () => {
    for (const name of ["ssh_ed25519", "ssh_rsa"]) {
        const [pem, line] = [await frozen(name), await frozen(`${name}.pub`)];
        const [key] = await readIdentities(pem);
        ok(key instanceof SshKey, name);
        equal(toBase64(key.ssh), line.split(" ")[1], name);
        equal(key.kind, line.split(" ")[0]);
        await rejects(readPrivateKeys(pem), InvalidKeyError, /^PEM block 1: an SSH key is not supported$/);
        await rejects(readPublicKeys(line), InvalidKeyError, /^line 1: an SSH key is not supported$/);
        if (key.jwk !== undefined) {
            // WebCrypto checks that the numbers belong together.
            const algorithm = { name: "RSA-OAEP", hash: "SHA-256" };
            const secret = await subtle().importKey("jwk", key.jwk, algorithm, false, ["decrypt"]);
            const { n, e, kty } = key.jwk as { n: string; e: string; kty: string };
            const own = await subtle().importKey("jwk", { n, e, kty }, algorithm, false, ["encrypt"]);
            const sealed = await subtle().encrypt(algorithm, own, utf8("text"));
            equal(new Uint8Array(await subtle().decrypt(algorithm, secret, sealed)), utf8("text"));
            await rejects(readSigners(line), InvalidKeyError, /no key whose signatures/);
        } else {
            equal((await readSigners(pem))[0]?.ssh, key.ssh);
            equal((await readSigners(line))[0]?.publicKey, key.publicKey);
        }
    }
});

test("the vectors of RFC 9935 and RFC 9881 are read as their names say", async () => {
    const names = await files.list(PEM);
    if (names.length === 0) {
        skipped(`${PEM} is missing`);
    }
    const counting = Uint8Array.from({ length: 64 }, (_, i) => i);
    for (const name of names) {
        const pem = await file(`${PEM}/${name}`);
        if (name.startsWith("bad-")) {
            const kind = name.includes("KEM") ? /an ML-KEM-512 key is not supported/ : /an ML-DSA key is not supported/;
            await rejects(readPrivateKeys(pem), InvalidKeyError, kind);
        } else if (name.startsWith("ML-DSA-87")) {
            await rejects(readSigners(pem), InvalidKeyError, /an ML-DSA key is not supported/);
        } else if (name.startsWith("ML-DSA-65")) {
            equal(publicKeyToPem((await readSigners(pem))[0]!).length, (await file(`${PEM}/ML-DSA-65.pub`)).length);
            equal(contents(publicKeyToPem((await readSigners(pem))[0]!)), contents(await file(`${PEM}/ML-DSA-65.pub`)));
        } else if (name.endsWith(".pub")) {
            equal(contents(publicKeyToPem(await readPublicKey(pem))), contents(pem), name);
        } else {
            const key = await readPrivateKey(pem);
            const publicKey = await readPublicKey(await file(`${PEM}/${name.slice(0, name.lastIndexOf("-"))}.pub`));
            equal(key.publicKey.bytes, publicKey.bytes, name);
            equal(key.secret, name.includes("expanded") ? undefined : counting, name);
            const written = contents(await privateKeyToPem(key));
            equal(name.includes("both") || hex(written) === hex(contents(pem)), true, name);
            const { enc, shared } = await key.kem.seal(key.publicKey.bytes);
            equal(await key.decapsulator.open(enc), shared, name);
        }
    }
});

test("each part of an expanded ML-KEM key counts", async () => {
    for (const name of ["ML-KEM-768-expanded", "ML-KEM-768-both", "ML-KEM-1024-both"]) {
        const good = contents(await file(`${PEM}/${name}.priv`));
        // The seed (d, then z) may stand in front of the secret vector, the encapsulation key, its hash and z.
        const start = good.length - (name.includes("768") ? 2400 : 3168);
        const places = [start, start + 700, good.length - 1200, good.length - 50];
        // Nothing but a seed tells which z is right.
        places.push(...(name.includes("both") ? [start - 68, start - 68 + 40, good.length - 1] : []));
        for (const place of places) {
            const bad = good.slice();
            bad[place]! ^= 1;
            await rejects(readPrivateKeys(toPem("PRIVATE KEY", bad)), InvalidKeyError, /valid one|different keys/);
        }
    }
});

test("the forms of ML-DSA-65 are read", async () => {
    const seed = new Uint8Array(32).fill(5);
    const { secretKey, publicKey } = ml_dsa65.keygen(seed);
    const pkcs8 = (inside: Bytes) =>
        toPem(
            "PRIVATE KEY",
            der(SEQUENCE, derNumber(0), der(SEQUENCE, oid("608648016503040312")), der(OCTET_STRING, inside)),
        );
    const both = (one: Uint8Array, other: Uint8Array) =>
        pkcs8(der(SEQUENCE, der(OCTET_STRING, one), der(OCTET_STRING, other)));
    for (const pem of [pkcs8(der(context(0), seed)), pkcs8(der(OCTET_STRING, secretKey)), both(seed, secretKey)]) {
        equal((await readSigners(pem))[0]?.publicKey, publicKey);
    }
    for (const place of [0, 64, 128 + 10]) {
        const bad = secretKey.slice();
        bad[place]! ^= 1;
        await rejects(readSigners(pkcs8(der(OCTET_STRING, bad))), InvalidKeyError, /not a valid one of its kind/);
        await rejects(readSigners(both(seed, bad)), InvalidKeyError, /different keys/);
    }
    for (const bad of [der(OCTET_STRING, secretKey.slice(1)), der(context(0), seed.slice(1)), der(context(1), seed)]) {
        await rejects(readSigners(pkcs8(bad)), InvalidKeyError);
    }
});

test("the composite keys of the draft are read", async () => {
    const json = await file("../shared/vectors/composite/draft19.json");
    for (const { pk, sk_pkcs8 } of (JSON.parse(json) as { tests: { pk: string; sk_pkcs8: string }[] }).tests) {
        const [key] = await readSigners(toPem("PRIVATE KEY", fromBase64(sk_pkcs8)!));
        equal(key?.publicKey, fromBase64(pk));
    }
});

test("the X-Wing draft's key is read, with the fingerprint that it always had", async () => {
    const body = "MDQCAQAwDQYLKwYBBAGD5i2ByHoEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
    const key = await readPrivateKey(toPem("PRIVATE KEY", fromBase64(body)!));
    equal([key.kind, hex(key.secret!)], ["X-Wing", hex(Uint8Array.from({ length: 32 }, (_, i) => i))]);
    const start = "MIIE1DANBgsrBgEEAYPmLYHIegOCBMEAb1QJigoOZBFGYUtpYLpg2GA9YvRH+atJ";
    equal(publicKeyToPem(key.publicKey).split("\n")[1], start);
    const sevens = await readPrivateKey(x25519Pem(0));
    equal(await fingerprint(sevens.publicKey), "u2gm-tmgq-umgn-gy7u-dcn3-ahqj-g4");
});

/** The scalar 07 07 …, in PKCS#8 of a version, with more behind the octet string. */
function x25519Pem(version: number, ...more: Bytes[]): string {
    const scalar = der(OCTET_STRING, new Uint8Array(32).fill(7));
    return toPem(
        "PRIVATE KEY",
        der(SEQUENCE, derNumber(version), der(SEQUENCE, X25519), der(OCTET_STRING, scalar), ...more),
    );
}

test("a public key beside a private key belongs to it, and attributes are passed over", async () => {
    const publicKey = fromHex("13be4feaeaf204c7fd3358fc9c00721881d174278128227ec674f37f7fe97b6d");
    const beside = (bytes: Bytes) => der(context(1), new Uint8Array(1), bytes);
    equal((await readPrivateKey(x25519Pem(1, beside(publicKey)))).publicKey.bytes, publicKey);
    await rejects(readPrivateKey(x25519Pem(0, beside(publicKey))), InvalidKeyError, /its version does not go with/);
    await rejects(readPrivateKey(x25519Pem(2, beside(publicKey))), InvalidKeyError, /its version does not go with/);
    await rejects(readPrivateKey(x25519Pem(1)), InvalidKeyError, /its version does not go with/);
    const other = new Uint8Array(32).fill(9);
    await rejects(readPrivateKey(x25519Pem(1, beside(other))), InvalidKeyError, /belongs to another private key/);
    const attribute = der(SEQUENCE, oid("2a864886f70d010914"), der(SET, fromHex("1e02006b")));
    await readPrivateKey(x25519Pem(0, der(0xa0, attribute, attribute)));
    await readPrivateKey(x25519Pem(1, der(0xa0), beside(publicKey)));
    for (const bad of [der(0xa0, der(SEQUENCE, oid("2a03"))), der(0xa0, der(SET)), der(0xa2)]) {
        await rejects(readPrivateKey(x25519Pem(0, bad)), InvalidKeyError, /^PEM block 1: /);
    }
});

test("P-256 keys hold their curve and public key or not", async () => {
    const good = await readPrivateKey(await frozen("p256.key"));
    const [curve, ec] = [oid("2a8648ce3d030107"), oid("2a8648ce3d0201")];
    const pkcs8 = (...inside: Bytes[]) =>
        toPem(
            "PRIVATE KEY",
            der(SEQUENCE, derNumber(0), der(SEQUENCE, ec, curve), der(OCTET_STRING, der(SEQUENCE, ...inside))),
        );
    const scalar = der(OCTET_STRING, good.secret!);
    const point = (bytes: Bytes) => der(0xa1, der(3, new Uint8Array(1), bytes));
    const own = good.publicKey.bytes;
    for (const more of [[], [der(0xa0, curve)], [point(own)], [der(0xa0, curve), point(own)]]) {
        equal((await readPrivateKey(pkcs8(derNumber(1), scalar, ...more))).publicKey.bytes, own);
    }
    const other = (await readPrivateKey(toPem("PRIVATE KEY", fromBase64(OPENSSL_P256)!))).publicKey.bytes;
    const zero = der(OCTET_STRING, new Uint8Array(32));
    const bad: [Bytes[], RegExp][] = [
        [[derNumber(1), scalar, der(0xa0, oid("2b81040022"))], /two different curves/],
        [[derNumber(1), scalar, point(other)], /belongs to another private key/],
        [[derNumber(1), scalar, point(concat(fromHex("02"), own.slice(1, 33)))], /a compressed point is not supported/],
        [[derNumber(0), scalar], /a wrong version/],
        [[derNumber(1), der(OCTET_STRING, good.secret!.slice(1))], /a wrong length/],
        [[derNumber(1), zero], /not a valid one of its kind/],
        [[derNumber(1), der(OCTET_STRING, new Uint8Array(32).fill(255))], /not a valid one of its kind/],
    ];
    for (const [parts, why] of bad) {
        await rejects(readPrivateKey(pkcs8(...parts)), InvalidKeyError, why);
    }
});

// openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256
const OPENSSL_P256 =
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcbuc3snuBeMj65bKn8YHrtEJLvoYMyzNWXSIYfrGi1KhRANC" +
    "AARQ/E02Lo/n2RdDl1tgmGOPvJnWvmIbK2DWb0NzgrAy0632bnQzboJVnkOTAuIeVQAIbuq8lqooh+zGn6KxIGfN";

// An X25519 key with different encryption: openssl pkcs8 -topk8 -passout pass:Geheim
const OPENSSL_PUBLIC = "MCowBQYDK2VuAyEA9rM80BV+Rf1/jyWlZV34tPhHe7AF58KKiTnO666SUwE=";
const OPENSSL: [string, string][] = [
    [
        "-v2 aes-256-cbc",
        "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAigOui55/He3QICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQME" +
            "ASoEEG9PMiZuXbeK6axg9ZMGKWEEQHp43PxCeF9cnllXInRnzvPNJnCRSk48nzVSGbrzWHhM91N4jCShwEf7cVZNAyhyo5Eh" +
            "12urLfDHnfpakljbIDM=",
    ],
    [
        "-scrypt -scrypt_N 1024",
        "MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAg8EykbHNePswICBAACAQgCAQEwHQYJYIZIAWUDBAEqBBBT0ewx" +
            "K7TFLduaDzSR8NWnBEDlQNrxgh9shMWoLgMzmgrXpIioqyjHQfcYfSCN6pftrU97CXCDDJo+iYHsph2qokXCTmBNaw+yYtRT" +
            "Faz2/Ynj",
    ],
    [
        "-v2 aes-128-cbc -v2prf hmacWithSHA512 -iter 1000",
        "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgWpSRMM7wEUgICA+gwDAYIKoZIhvcNAgsFADAdBglghkgBZQME" +
            "AQIEEOs4HrFH48R//tQxrHM/zqcEQKeIX+Qce6omJwP4tvpS5Ox/56l5+sMlXt9L7Nf+Vz37xQjW4xXkY+teC/oHZuY+IJ8L" +
            "lgb9hyQei7SPqU+INLw=",
    ],
    [
        "-v2 aes-192-cbc -v2prf hmacWithSHA384 -iter 1000",
        "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg3Mr7MYSG8oAICA+gwDAYIKoZIhvcNAgoFADAdBglghkgBZQME" +
            "ARYEECGH94MarylIYR9j4eibxr8EQNK7SG+97+ARNHAlrBZpaXj5no+iI6rXDSHMbfzvFlAx+hGN9T4z7fze0GULfff4CalK" +
            "BGmFJ3GsmMdHoeVmeNM=",
    ],
    [
        "-v2 aes-256-cbc -v2prf hmacWithSHA1 -iter 1000",
        "MIGNMEkGCSqGSIb3DQEFDTA8MBsGCSqGSIb3DQEFDDAOBAjSnb3KVUlr3QICA+gwHQYJYIZIAWUDBAEqBBBK0eMy9E+oz1+B" +
            "MRS8rYbyBEDWtojaTSwUkWGDjxZ5L1u1aPVLAKdGwdqXyaetASmViBoTrLbOmPuHTS4ca1xbPqrZ4z3a7yyp6MzMxg/lwBGj",
    ],
];
// The same key again, with encryption that is not supported.
const OTHER_ENCRYPTION: [string, string, string][] = [
    [
        "-v1 PBE-SHA1-3DES",
        "1.2.840.113549.1.12.1.3",
        "MFgwHAYKKoZIhvcNAQwBAzAOBAhbvj9aXLqDTAICCAAEOLDkL0bkyCOWQXiINE6UK0yooM8ctvlm6vNregvqGNtXGGiIkSZ+" +
            "qo3OfFB9RNRMY6+a285SdfAG",
    ],
    [
        "-v2 des3",
        "1.2.840.113549.3.7",
        "MIGKME4GCSqGSIb3DQEFDTBBMCkGCSqGSIb3DQEFDDAcBAjhnbiAqGJSwwICCAAwDAYIKoZIhvcNAgkFADAUBggqhkiG9w0D" +
            "BwQIj09Bk0fCeN8EOFKqvUVINeupX2hczVcAMc+UwnEPjO/6n6IsCV1vSHK0tMw3XUFbVRuZY1IZH51l29gfnMg+IZME",
    ],
];
// Keys of another use and of another kind behind the passphrase: Ed25519 and X448.
const OPENSSL_ED25519 =
    "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhjfjb51dO16wICA+gwDAYIKoZIhvcNAgkFADAdBglghkgBZQME" +
    "ASoEEJMtpuHKZfwcOgAaX8bwOMAEQAAAzMPNIBuafDlSc6xIMUGbkJut+q+NBh/5K9J2TadfQwzomKac90Xe69GYRde93ftP" +
    "rLERMOIjTfM0p6vMOzc=";
const OPENSSL_X448 =
    "MIGrMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhhw6mDQ2tnBAICA+gwDAYIKoZIhvcNAgkFADAdBglghkgBZQME" +
    "ASoEEK3UccR+TihfC+iZtMOwI/EEUFoXgpnyrOzMYM9ao4czpQczve7ecrylKi9DiZu2+jA6kBHyY8a52HEHbZT+dR1Myr+/" +
    "WGBBqdMoVPcdHobyGmFrl0OIvwr2Ll25MRG/mU7q";

test("protected keys of OpenSSL are read", async () => {
    for (const [options, body] of OPENSSL) {
        const pem = toPem("ENCRYPTED PRIVATE KEY", fromBase64(body)!);
        const key = await readPrivateKey(pem, GEHEIM);
        equal(contents(publicKeyToPem(key.publicKey)), fromBase64(OPENSSL_PUBLIC), options);
        await rejects(readPrivateKey(pem, new Passphrase("geheim")), PassphraseError);
        await rejects(readPrivateKey(pem), LockedKeyError);
    }
    for (const [options, algorithm, body] of OTHER_ENCRYPTION) {
        const pem = toPem("ENCRYPTED PRIVATE KEY", fromBase64(body)!);
        ok(options, "a note for readers");
        await rejects(readPrivateKey(pem), InvalidKeyError, new RegExp(`protected with algorithm ${algorithm} is not`));
    }
});

test("key derivations take any salt", async () => {
    const passphrase = utf8("long ".repeat(60));
    for (const length of [0, 1, 16, 1024]) {
        const salt = new Uint8Array(length).fill(3);
        for (const [hash, own] of [
            ["SHA-1", sha1],
            ["SHA-512", sha512],
        ] as const) {
            const found = await derive({ name: "PBKDF2", salt, hash, iterations: 3 }, passphrase, 24);
            equal(found, noblePbkdf2(own, passphrase, salt, { c: 3, dkLen: 24 }), `${hash}, ${length}`);
        }
    }
    // RFC 7914, section 12, as far as keys have 32 bytes.
    const found = await derive({ name: "scrypt", salt: utf8("NaCl"), n: 1024, r: 8, p: 16 }, utf8("password"), 32);
    equal(hex(found), "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162");
});

test("a protected key of a wrong use or kind is refused by name", async () => {
    const signs = toPem("ENCRYPTED PRIVATE KEY", fromBase64(OPENSSL_ED25519)!);
    await rejects(
        readPrivateKey(signs, GEHEIM),
        InvalidKeyError,
        /^PEM block 1: an Ed25519 key signs, and does not seal$/,
    );
    const other = toPem("ENCRYPTED PRIVATE KEY", fromBase64(OPENSSL_X448)!);
    await rejects(readPrivateKey(other, GEHEIM), InvalidKeyError, /^PEM block 1: an X448 key is not supported$/);
});

test("a protected key is written and read in each Unicode form of its passphrase", async () => {
    const key = await generateKey("ML-KEM-768");
    const [composed, decomposed] = [new Passphrase("Gr\u00fc\u00dfe"), new Passphrase("Gru\u0308\u00dfe")];
    const pem = await privateKeyToPem(key, decomposed);
    const comment = `# fingerprint: ${await fingerprint(key.publicKey)}\n-----BEGIN ENCRYPTED PRIVATE KEY-----\n`;
    equal(pem.slice(0, comment.length), comment);
    for (const passphrase of [composed, decomposed]) {
        equal((await readPrivateKey(pem, passphrase)).secret, key.secret);
    }
    await rejects(readPrivateKey(pem, new Passphrase("Gru\u00dfe")), PassphraseError);
});

/** Returns a protected key whose plaintext, with its padding, is this one. */
async function protecting(plain: Uint8Array): Promise<string> {
    const salt = utf8("salt");
    const kdf = { name: "PBKDF2", salt, hash: "SHA-256", iterations: 1 } as const;
    const key = await derive(kdf, utf8("Geheim"), 32);
    const ciphertext = cbc(key, new Uint8Array(16), { disablePadding: true }).encrypt(plain) as Bytes;
    return encrypted(writePbkdf2(salt, 1), ciphertext);
}

test("whatever is wrong behind the passphrase gives the error of a wrong passphrase", async () => {
    const pkcs8 = contents(x25519Pem(0));
    const padded = (bytes: Uint8Array, padding = 16 - (bytes.length % 16), byte = padding) =>
        concat(bytes, new Uint8Array(padding).fill(byte));
    equal((await readPrivateKey(await protecting(padded(pkcs8)), GEHEIM)).secret, new Uint8Array(32).fill(7));
    const changed = (place: number, value: number) => {
        const bytes = padded(pkcs8);
        bytes[place < 0 ? bytes.length + place : place] = value;
        return bytes;
    };
    const bad = [
        changed(-1, 0),
        changed(-1, 17),
        changed(-1, 255),
        changed(-2, 15),
        changed(-16, 15),
        changed(0, 0x31),
        changed(1, pkcs8.length - 1),
        changed(1, 0x80),
        changed(1, 0x81),
        changed(4, 1),
        changed(5, 0x31),
        changed(14, 5),
        // The length of one byte has two bytes, and bytes follow the sequence.
        padded(concat(fromHex("30812e"), pkcs8.slice(2))),
        padded(concat(pkcs8, new Uint8Array(1))),
        padded(pkcs8.slice(0, -1)),
        padded(new Uint8Array()),
        padded(der(SEQUENCE)),
        padded(der(SEQUENCE, derNumber(0), der(SEQUENCE, X25519, der(NULL)), der(OCTET_STRING))),
        padded(utf8("no key, but with right padding")),
        new Uint8Array(16),
        new Uint8Array(48).fill(16),
    ];
    for (const [i, plain] of bad.entries()) {
        const reason = readPrivateKey(await protecting(plain), GEHEIM);
        await rejects(reason, PassphraseError, /^PEM block 1: the passphrase does not fit this key$/).catch(why => {
            throw new Error(`plaintext ${i}: ${why}`);
        });
    }
    // A head with two bytes of length.
    const { secret } = await readPrivateKey(await file(`${PEM}/ML-KEM-768-both.priv`));
    const both = padded(contents(await file(`${PEM}/ML-KEM-768-both.priv`)));
    equal((await readPrivateKey(await protecting(both), GEHEIM)).secret, secret);
});

test("what asks for too much is refused before a passphrase is asked for", async () => {
    const more = /^PEM block 1: the key asks for more than is allowed: /;
    const n = (digits: string) => der(INTEGER, fromHex(digits));
    for (const good of [
        pbkdf2(n("00989680")),
        pbkdf2(n("01"), n("20")),
        scrypt(1n << 14n, 8n, 1n),
        scrypt(1n << 20n, 8n, 1n),
        scrypt(1n << 17n, 8n, 16n),
        scrypt(2n, 1n, 1n << 17n),
    ]) {
        await rejects(readPrivateKey(good), LockedKeyError);
    }
    for (const costly of [
        pbkdf2(n("00989681")),
        pbkdf2(n("010000000000000000")),
        scrypt(1n << 21n, 8n, 1n),
        scrypt(1n << 20n, 9n, 1n),
        scrypt(2n, 1n << 22n, 1n),
        scrypt(1n << 62n, 1n << 62n, 1n << 62n),
        scrypt(2n, 1n, 1n << 18n),
        scrypt(1n << 20n, 8n, 4n),
        encrypted(der(SEQUENCE, PBKDF2, der(SEQUENCE, der(OCTET_STRING, new Uint8Array(1025)), n("01")))),
    ]) {
        await rejects(readPrivateKey(costly, GEHEIM), InvalidKeyError, more);
    }
    for (const [bad, why] of [
        [pbkdf2(n("00")), /no iterations/],
        [pbkdf2(n("ff")), /negative/],
        [pbkdf2(n("")), /negative or empty/],
        [pbkdf2(n("0001")), /strict DER/],
        [pbkdf2(n("01"), n("10")), /the length of its key/],
        [
            pbkdf2(n("01"), der(SEQUENCE, oid("2a864886f70d0208"), der(NULL))),
            /algorithm 1\.2\.840\.113549\.2\.8 is not/,
        ],
        [pbkdf2(n("01"), der(SEQUENCE, oid("2a864886f70d0209"), der(NULL, fromHex("00")))), /null value/],
        [scrypt(0n, 8n, 1n), /not valid/],
        [scrypt(1n, 8n, 1n), /not valid/],
        [scrypt(3n, 8n, 1n), /not valid/],
        [scrypt(16n, 0n, 1n), /not valid/],
        [scrypt(16n, 8n, 0n), /not valid/],
        [scrypt(1n << 16n, 1n, 1n), /not valid/],
        [encrypted(writePbkdf2(utf8("salt"), 1), new Uint8Array(17)), /whole blocks/],
        [encrypted(writePbkdf2(utf8("salt"), 1), new Uint8Array()), /whole blocks/],
    ] as const) {
        await rejects(readPrivateKey(bad, GEHEIM), InvalidKeyError, why);
    }
    await rejects(readPrivateKeys(pbkdf2(n("01")).repeat(16)), LockedKeyError);
    await rejects(
        readPrivateKeys(pbkdf2(n("01")).repeat(17)),
        InvalidKeyError,
        /^PEM block 17: .* more than 16 protected/,
    );
});

test("a comment directly before a protected key tells its fingerprint", async () => {
    const pem = await protecting(concat(contents(x25519Pem(0)), new Uint8Array(16).fill(16)));
    const [own, other] = ["u2gm-tmgq-umgn-gy7u-dcn3-ahqj-g4", "u2gm-tmgq-umgn-gy7u-dcn3-ahqj-g5"];
    const free = `# fingerprint: ${other}`;
    for (const good of [
        `# fingerprint: ${own}\n${pem}`,
        `# signing key, fingerprint: ${own}\r\n${pem}`,
        `${free}\n\n${pem}`,
        `${free}\n# mine\n${pem}`,
        `${free}aa\n${pem}`,
        `#fingerprint: ${other}\n${pem}`,
        `${pem}${free}\n`,
    ]) {
        await readPrivateKey(good, GEHEIM);
    }
    await rejects(readPrivateKey(`${free}\n${pem}`, GEHEIM), InvalidKeyError, /another fingerprint than the comment/);
});

test("keys of each kind and form stand together in a text", async () => {
    const parts: string[] = [];
    for (const { name } of KEMS) {
        const key = await generateKey(name);
        parts.push(await privateKeyToPem(key), publicKeyToPem(key.publicKey));
        for (const write of [() => privateKeyToAge(key), () => publicKeyToAge(key.publicKey)]) {
            try {
                parts.push(`${write()}\n`);
            } catch (why) {
                ok(why instanceof TypeError && /age has no keys of this kind/.test(why.message), String(why));
            }
        }
    }
    equal(parts.length, 12 + 2 + 4);
    for (const end of ["\n", "\r\n", "\r", " \t\v\f\n", "\n\n", "\n# a comment\n"]) {
        const all = parts.join("").replaceAll("\n", end.startsWith("\n") ? "\n" : end) + end;
        for (const whole of [all, `\ufeff${all}`]) {
            equal((await readPublicKeys(whole)).length, 18, JSON.stringify(end));
            equal((await readPrivateKeys(whole)).length, 8, JSON.stringify(end));
        }
    }
    const long = parts[0]!.split("\n");
    await readPrivateKey([long[0], "", ...long.slice(1, -2).join(" ").split(""), ...long.slice(-2)].join("\n"));
    await rejects(readPrivateKey(parts.join("")), InvalidKeyError, /^the text holds 8 keys, and one is wanted$/);
    await rejects(readPublicKey(parts.join("")), InvalidKeyError, /^the text holds 18 keys, and one is wanted$/);
    await rejects(readPrivateKeys(parts[1]!), InvalidKeyError, /^this is a public key, and a private one is needed$/);
});

test("texts without a key, and lines that are none", async () => {
    for (const bad of ["", "\n\n", "# only a comment\n", "hello", "\0\x01", "----BEGIN PRIVATE KEY----", "\ufeff"]) {
        for (const read of [readPrivateKeys, readPublicKeys, readIdentities, readSigners]) {
            await rejects(read(bad), InvalidKeyError, /^not a key$/);
        }
    }
    await rejects(readPublicKeys(new Uint8Array(100).fill(255)), InvalidKeyError, /^not a key$/);
    await rejects(readPublicKeys("#".repeat((1 << 20) + 1)), InvalidKeyError, /longer than 1 MiB/);
    await rejects(readPublicKeys(`#${"\u00fc".repeat(1 << 19)}`), InvalidKeyError, /longer than 1 MiB/);
    await rejects(readPublicKeys("#".repeat(1 << 20)), InvalidKeyError, /^not a key$/);
    const pem = await frozen("x25519.pub");
    for (const [whole, why] of [
        [`${pem}hello\n`, /^line 4: neither a key nor a comment$/],
        [`hello\n${pem}`, /^line 1: neither a key nor a comment$/],
        [`${pem} ${pem}`, /^line 4: neither/],
        [
            pem.replace("-----END", "-----"),
            /^PEM block 1: the END line of a PEM block is missing or has another label$/,
        ],
        [pem.replace("-----END", "-----") + pem, /^PEM block 1: the END line/],
        [pem.replace("END PUBLIC", "END PRIVATE"), /^PEM block 1: the END line/],
        [pem.replace("KEY-----", "KEY----"), /^PEM block 1: the BEGIN line of a PEM block is not well formed$/],
        [pem.replace("BEGIN PUBLIC", "BEGIN  PUBLIC"), /^PEM block 1: the BEGIN line/],
        [pem.replace("MCow", "MC!w"), /^PEM block 1: its base64 is not valid$/],
        [pem.replace("=\n", "\n"), /^PEM block 1: its base64 is not valid$/],
        [
            pem.replace("\nMCow", "\nProc-Type: 4,ENCRYPTED\n\nMCow"),
            /^PEM block 1: a PEM block with headers inside is not/,
        ],
        [pem.replace("\nMCow", "\nMCow\u00fc"), /^PEM block 1: its base64/],
    ] as const) {
        await rejects(readPublicKeys(whole), InvalidKeyError, why);
    }
    for (const wrong of [undefined, null, 5, ["age1"], new ArrayBuffer(3)]) {
        await rejects(() => readPublicKeys(wrong as unknown as string), TypeError, /a string or a Uint8Array/);
    }
    await rejects(() => readPrivateKeys(pem, "Geheim" as unknown as Passphrase), TypeError, /must be a Passphrase/);
    await rejects(async () => publicKeyToPem({} as SignerKey), TypeError);
});

test("other kinds are refused by name", async () => {
    const ec = oid("2a8648ce3d0201");
    for (const [algorithm, why] of [
        [concat(oid("2a864886f70d010101"), der(NULL)), /an RSA key is not supported/],
        [concat(oid("2b6570"), der(NULL)), /parameters stand where/],
        [concat(X25519, der(NULL)), /parameters stand where/],
        [oid("2b06010505070625"), /a composite ML-DSA key/],
        [oid("2b0601050507063b"), /a composite ML-KEM key/],
        [oid("2b6571"), /an Ed448 key/],
        [oid("2b656f"), /an X448 key/],
        [oid("608648016503040401"), /an ML-KEM-512 key/],
        [oid("608648016503040311"), /an ML-DSA key/],
        [oid("608648016503040314"), /an SLH-DSA key/],
        [oid("2a0304"), /a key of the kind 1\.2\.3\.4 is not supported/],
        [concat(ec, oid("2b81040022")), /the curve P-384/],
        [concat(ec, oid("2b8104000a")), /the curve secp256k1/],
        [concat(ec, oid("2b2403030208010107")), /a Brainpool curve/],
        [concat(ec, der(SEQUENCE, derNumber(1))), /a curve written out as parameters/],
        [concat(ec, der(NULL)), /the curve is not named/],
        [ec, /the curve is not named/],
        [oid(""), /a key of the kind/],
        [oid("ff".repeat(2000)), /a key of the kind with a long identifier/],
    ] as const) {
        const identifier = der(SEQUENCE, algorithm);
        const secret = der(SEQUENCE, derNumber(0), identifier, der(OCTET_STRING, der(OCTET_STRING, fromHex("0102"))));
        await rejects(readPrivateKeys(toPem("PRIVATE KEY", secret)), InvalidKeyError, why);
        const spki = der(SEQUENCE, identifier, der(3, fromHex("000102")));
        await rejects(readPublicKeys(toPem("PUBLIC KEY", spki)), InvalidKeyError, why);
    }
    for (const [label, why] of [
        ["EC PRIVATE KEY", /^PEM block 1: an elliptic-curve key from before PKCS#8 is not supported$/],
        ["RSA PRIVATE KEY", /an RSA key/],
        ["CERTIFICATE", /a certificate/],
        ["AGE ENCRYPTED FILE", /a file sealed by age/],
        ["PGP PRIVATE KEY BLOCK", /an OpenPGP key/],
        ["ANYTHING ELSE", /a PEM block "ANYTHING ELSE" is not supported/],
    ] as const) {
        await rejects(readPrivateKeys(`-----BEGIN ${label}-----\nVersion: 1\n`), InvalidKeyError, why);
    }
    const compressed = fromBase64("MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADUPxNNi6P59kXQ5dbYJhjj7yZ1r5iGytg1m9Dc4KwMtM=")!;
    await rejects(
        readPublicKeys(toPem("PUBLIC KEY", compressed)),
        InvalidKeyError,
        /a compressed point is not supported/,
    );
    await rejects(readPublicKeys("age-encryption.org/v1\n"), InvalidKeyError, /^line 1: a file sealed by age is not/);
    const plugin = (await frozen("plugin.txt")).trim();
    const identity = /^line 1: an identity of the plugin dummy is not supported$/;
    for (const read of [readPrivateKeys, readPublicKeys, readIdentities]) {
        await rejects(read(plugin), InvalidKeyError, identity);
        await rejects(read(plugin.toLowerCase()), InvalidKeyError, identity);
    }
    const recipient = encodeBech32("age1yubikey", new Uint8Array(33));
    await rejects(readPublicKeys(recipient), InvalidKeyError, /^line 1: a recipient of the plugin yubikey is not/);
    await rejects(readPrivateKeys(recipient), InvalidKeyError, /no private key/);
});

test("damaged keys of each kind are refused, or other keys of this kind", async () => {
    const forms: [string, Bytes][] = [];
    for (const { name } of KEMS) {
        const key = await generateKey(name);
        forms.push(["PRIVATE KEY", contents(await privateKeyToPem(key))]);
        forms.push(["PUBLIC KEY", contents(publicKeyToPem(key.publicKey))]);
    }
    for (const name of ["ed25519", "mldsa65", "mldsa44-ed25519"]) {
        forms.push(["PUBLIC KEY", contents(await frozen(`${name}.pub`))]);
    }
    forms.push(["PRIVATE KEY", contents(await frozen("ed25519.key"))]);
    forms.push(["ENCRYPTED PRIVATE KEY", fromBase64(OPENSSL[2]![1])!]);
    for (const [label, good] of forms) {
        const read = async (bytes: Bytes) => {
            const pem = toPem(label, bytes);
            const found = await readPrivateKeys(pem)
                .catch(() => readPublicKeys(pem))
                .catch(() => readSigners(pem));
            const [key] = found;
            if (key instanceof PrivateKey) {
                return contents(await privateKeyToPem(key));
            }
            // A private key that signs is not written.
            return label === "PUBLIC KEY" ? contents(publicKeyToPem(key!)) : bytes;
        };
        for (const [place, step] of damages(good.length)) {
            const bad = good.slice();
            bad[place]! ^= step;
            const where = `byte ${place} of ${label} with ${good.length} bytes`;
            const found = await read(bad).catch((why: unknown) => why);
            // Other bytes in the same places make another scalar, seed or public key. What describes them is in front.
            const isOther = found instanceof Uint8Array && hex(found) === hex(bad) && place >= HEAD;
            ok(isOther || found instanceof DeadpanError, `${where}: ${found}`);
        }
        for (const length of [...Array(Math.min(good.length, 60)).keys(), good.length >> 1, good.length - 1]) {
            await rejects(read(good.slice(0, length)), DeadpanError);
        }
        await rejects(read(concat(good, new Uint8Array(1))), InvalidKeyError, /^PEM block 1: /);
    }
});

/** The first bytes of all structures, up to the identifier of the algorithm, none of which can be another. */
const HEAD = 9;

/** Places and bits to flip: all bits of the head, and some of the rest. */
function* damages(length: number): Generator<[number, number]> {
    for (let place = 0; place < length; place += place < 40 ? 1 : Math.ceil(length / 40)) {
        for (let bit = place < 24 ? 0 : 7; bit < 8; bit++) {
            yield [place, 1 << bit];
        }
    }
}

test("public keys that are not valid are refused", async () => {
    const coordinate = (digits: string) =>
        toPem("PUBLIC KEY", der(SEQUENCE, der(SEQUENCE, X25519), der(3, fromHex(`00${digits}`))));
    await readPublicKey(coordinate("00".repeat(32)));
    await readPublicKey(coordinate(`ec${"ff".repeat(30)}7f`));
    for (const bad of [`ed${"ff".repeat(30)}7f`, "ff".repeat(32), `${"00".repeat(31)}80`]) {
        await rejects(
            readPublicKey(coordinate(bad)),
            InvalidKeyError,
            /^PEM block 1: the public key is not a valid one/,
        );
        await rejects(
            readPublicKey(encodeBech32("age", fromHex(bad))),
            InvalidKeyError,
            /^line 1: the age recipient is/,
        );
    }
    for (const name of ["mlkem768", "mlkem1024", "xwing", "mlkem768-p256"]) {
        const good = contents(await frozen(`${name}.pub`));
        // The first coefficient, in the first 12 bits behind the head, becomes 4095.
        const start = good.length - (await readPublicKey(await frozen(`${name}.pub`))).bytes.length;
        const bad = concat(good.slice(0, start), fromHex("ffff"), good.slice(start + 2));
        await rejects(readPublicKey(toPem("PUBLIC KEY", bad)), InvalidKeyError, /not a valid one of its kind/);
    }
    const ed25519 = (digits: string) =>
        toPem("PUBLIC KEY", der(SEQUENCE, der(SEQUENCE, oid("2b6570")), der(3, fromHex(`00${digits}`))));
    for (const bad of [
        "00".repeat(32),
        `01${"00".repeat(31)}`,
        `01${"00".repeat(30)}80`,
        `ec${"ff".repeat(31)}`,
        `ed${"ff".repeat(30)}7f`,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ]) {
        await rejects(readSigners(ed25519(bad)), InvalidKeyError, /not a valid one of its kind/);
    }
});

test("Bech32 as BIP 173 has it, in any length", async () => {
    const read = (whole: string) => {
        const end = whole.lastIndexOf("1");
        return decodeBech32(whole.slice(0, end), whole.slice(end + 1));
    };
    for (const [good, length] of [
        ["A12UEL5L", 0],
        ["a12uel5l", 0],
        ["an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs", 0],
        ["abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", 20],
    ] as const) {
        equal(read(good)?.length, length, good);
        equal(encodeBech32(good.slice(0, good.lastIndexOf("1")), read(good)!), good);
    }
    for (const bad of [
        "A1G7SGD8",
        "x1b4n0q5v",
        "li1dgmt3",
        "a12UEL5L",
        "A12uel5l",
        "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxq",
        "abcdef1Qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
        // Bech32m.
        "a1lqfn3a",
        "",
        "1",
    ]) {
        equal(read(bad), undefined, bad);
    }
    for (const length of [0, 1, 2, 3, 4, 5, 6, 31, 32, 33, 1216]) {
        const data = Uint8Array.from({ length }, (_, i) => i * 7 + 200);
        for (const prefix of ["age", "AGE-SECRET-KEY-"]) {
            equal(read(encodeBech32(prefix, data)), data);
        }
    }
    // One byte in two letters leaves two bits, which are not zero here, and one letter holds no byte. The checksums are
    // right.
    for (const bad of ["age1lprdtm2k", "age1q50q3nz"]) {
        equal(read(bad), undefined, bad);
    }
});

test("lines of age are read in either case, and not with a wrong letter", async () => {
    const pq = "AGE-SECRET-KEY-PQ-1LKTQM7XFZ8RTP5UPRNU88KUAKD25WJCVV3MUH3G2KEP6QX9A8HRQK2AYMN";
    const classical = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
    const recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
    const key = await readPrivateKey(classical);
    equal([hex(key.secret!), publicKeyToAge(key.publicKey)], ["42".repeat(32), recipient]);
    equal([key.kind, privateKeyToAge(key)], ["X25519", classical]);
    const hybrid = publicKeyToAge(await readPublicKey(pq.toLowerCase()));
    equal([hybrid.length, hybrid.slice(0, 40)], [1959, "age1pq1sfeh4xzvf52n55h02zrkugm4tmsg22ecn"]);
    for (const good of [pq, classical, recipient]) {
        for (let place = 0; place < good.length; place += 3) {
            for (const other of ["q", "Q", "b", "1", "\0", "\u00ff"]) {
                const bad = good.slice(0, place) + other + good.slice(place + 1);
                if (bad !== good) {
                    const why = await readPublicKeys(bad).then(String, (why: unknown) => why);
                    ok(why instanceof InvalidKeyError, `${bad}: ${why}`);
                    ok(!why.message.includes(bad.slice(0, 20)), "a message shows no key");
                }
            }
            await rejects(readPublicKeys(good.slice(0, place)), InvalidKeyError);
        }
        await rejects(
            readPublicKeys(`${good} x`),
            InvalidKeyError,
            /^line 1: something stands after the key in its line$/,
        );
    }
    for (const [bad, why] of [
        ["AGE-PLUGIN-YUBIKEY-1QQQQQQ", /^line 3: the line of the plugin is damaged$/],
        ["AGE-PLUGIN-A/B-1QQQQQQ", /the name of the plugin is not valid/],
        ["AGE-PLUGIN-1QQQQQQ", /the (name|line) of the plugin is/],
        ["AGE-PLUGIN-", /the line of the plugin is damaged/],
        ["age1yubikey1qqqqqqqqqq", /the line of the plugin is damaged/],
        ["age1a/b1qqqqqqqqqq", /the name of the plugin is not valid/],
        ["AGE-SECRET-KEY-XX-1QQQQQQQQ", /an age identity of an unknown kind is not supported/],
        ["age1", /the age recipient is damaged/],
        ["age11", /the (name|line) of the plugin is/],
        [encodeBech32("age", new Uint8Array(31)), /the age recipient is damaged/],
        [encodeBech32("age1tag", new Uint8Array(33)), /the age recipient is damaged/],
        [encodeBech32("age1tag", concat(fromHex("02"), new Uint8Array(32).fill(255))), /the age recipient is damaged/],
        [encodeBech32("age1tag", new Uint8Array(65).fill(4)), /the age recipient is damaged/],
        [encodeBech32("age1pq", new Uint8Array(1216).fill(255)), /the age recipient is damaged/],
        [encodeBech32("AGE-SECRET-KEY-", new Uint8Array(33)), /the age identity is damaged/],
        [encodeBech32("AGE-SECRET-KEY-PQ-", new Uint8Array(0)), /the age identity is damaged/],
    ] as const) {
        await rejects(readPrivateKeys(`# comment\n\n${bad}\n`), InvalidKeyError, why);
    }
});

const SSH_ED25519 =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti foo@example.com with words";

test("public lines of SSH are read", async () => {
    const [key] = await readSigners(`  ${SSH_ED25519}\t\r\n`);
    const body = SSH_ED25519.split(" ")[1]!;
    equal([key!.kind, toBase64(key!.ssh)], ["ssh-ed25519", body]);
    equal((await readSigners(`ssh-ed25519 \t ${body}`))[0]?.ssh, key!.ssh);
    const composite = await readSigners(await frozen("mldsa44-ed25519.pub"));
    for (const name of ["ssh-mldsa44-ed25519", "ssh-mldsa44-ed25519@openssh.com"]) {
        const line = `${name} ${toBase64(sshStrings(name, composite[0]!.publicKey))}`;
        equal((await readSigners(line))[0]?.ssh, composite[0]!.ssh, "both names are the same key");
    }
    const hardware = sshStrings("sk-ssh-ed25519@openssh.com", key!.publicKey, "ssh:");
    const [sk] = await readSigners(`sk-ssh-ed25519@openssh.com ${toBase64(hardware)} me`);
    equal([sk!.kind, sk!.application, sk!.ssh], ["sk-ssh-ed25519@openssh.com", utf8("ssh:"), hardware]);
    ok((await fingerprint(sk!)) !== (await fingerprint(key!)), "the fingerprint is over the application, too");
    await rejects(async () => publicKeyToPem(sk!), TypeError, /no PEM/);
    const line = (name: string, ...parts: (Uint8Array | string)[]) => `${name} ${toBase64(sshStrings(name, ...parts))}`;
    const long = new Uint8Array(256).fill(65);
    const modulus = concat(fromHex("00"), new Uint8Array(128).fill(255));
    await rejects(readSigners(line("ssh-rsa", fromHex("03"), modulus)), InvalidKeyError, /no key whose signatures/);
    for (const [bad, why] of [
        ["ssh-ed25519", /^line 1: the SSH public key is damaged$/],
        [`ssh-ed25519 ${body.slice(0, -1)}`, /damaged/],
        [`ssh-ed25519 ${body.slice(0, -4)}`, /damaged/],
        [`ssh-ed25519 ${body}AAAA`, /something stands after the SSH public key/],
        [`ssh-mldsa-65 ${body}`, /of another kind than its line says/],
        [`ssh-mldsa44-ed25519 ${line("x", "ssh-mldsa44-ed25519@openssh.com").slice(2)}`, /is not supported/],
        [`ssh-ed25519 ${"A".repeat(1 << 15)}`, /more than 16 KiB/],
        ["ssh-\x1b AAAA", /damaged/],
        ["ssh-dss AAAA", /an SSH key of the kind ssh-dss is not supported/],
        ["ecdsa-sha2-nistp256 AAAA", /an SSH key of the kind ecdsa-sha2-nistp256 is not supported/],
        ["ssh-ed25519-cert-v01@openssh.com AAAA", /an SSH certificate is not supported/],
        [`from="*" ${SSH_ED25519}`, /neither a key nor a comment|not a key/],
        [line("ssh-ed25519", new Uint8Array(32)), /not a valid one of its kind/],
        [line("ssh-ed25519", new Uint8Array(31)), /damaged/],
        [line("sk-ssh-ed25519@openssh.com", key!.publicKey), /damaged/],
        [line("sk-ssh-ed25519@openssh.com", key!.publicKey, long), /damaged/],
        [line("sk-ssh-ed25519@openssh.com", key!.publicKey, fromHex("ff")), /damaged/],
        [line("ssh-rsa", fromHex("03"), modulus.slice(1)), /not positive or not minimal/],
        [line("ssh-rsa", fromHex("0003"), modulus), /not positive or not minimal/],
        [line("ssh-rsa", fromHex("03"), new Uint8Array(128).fill(127)), /less than 1024 or more than 16384 bits/],
        [line("ssh-rsa", fromHex("03"), new Uint8Array(2049).fill(127)), /less than 1024 or more than 16384 bits/],
        [line("ssh-rsa", fromHex("02"), modulus), /not valid/],
        [line("ssh-rsa", fromHex("01"), modulus), /not valid/],
        [line("ssh-rsa", fromHex("0101010101"), modulus), /not valid/],
    ] as const) {
        await rejects(readSigners(bad), InvalidKeyError, why);
    }
});

/** A private key file of OpenSSH without a passphrase. */
function openssh(publicKey: Uint8Array, ...secret: Uint8Array[]): string {
    const checks = new Uint8Array(8).fill(7);
    const length = secret.reduce((sum, part) => sum + part.length, checks.length);
    const padding = Uint8Array.from({ length: (8 - (length % 8)) % 8 }, (_, i) => i + 1);
    return opensshFile("none", "none", "", 1, publicKey, concat(checks, ...secret, padding));
}

function opensshFile(
    cipher: string,
    kdf: string,
    options: Uint8Array | string,
    count: number,
    ...more: Uint8Array[]
): string {
    const head = [utf8("openssh-key-v1\0"), sshStrings(cipher, kdf, options), number(count, 4)];
    return toPem("OPENSSH PRIVATE KEY", concat(...head, sshStrings(...more)));
}

test("the parts of an OpenSSH key belong together", async () => {
    const [good] = await readIdentities(await frozen("ssh_ed25519"));
    ok(good instanceof SshKey && good.seed && good.publicKey, "an Ed25519 key");
    const { ssh, seed, publicKey } = good;
    const secret = (known: Uint8Array, first: Uint8Array, again: Uint8Array, name = "ssh-ed25519") =>
        sshStrings(name, known, concat(first, again), "comment");
    const [same] = await readIdentities(openssh(ssh, secret(publicKey, seed, publicKey)));
    equal((same as SshKey).seed, seed);
    const nine = new Uint8Array(32).fill(9);
    const other = sshStrings("ssh-ed25519", nine);
    for (const bad of [
        openssh(other, secret(publicKey, seed, publicKey)),
        openssh(ssh, secret(nine, seed, publicKey)),
        openssh(ssh, secret(publicKey, seed, nine)),
        openssh(ssh, secret(publicKey, nine, publicKey)),
        openssh(other, secret(nine, seed, nine)),
        openssh(ssh, secret(publicKey, seed, publicKey, "ssh-rsa")),
    ]) {
        await rejects(
            readIdentities(bad),
            InvalidKeyError,
            /the private and the public part of the OpenSSH key file do/,
        );
    }
    const bytes = contents(openssh(ssh, secret(publicKey, seed, publicKey)));
    const comment = bytes.length - 1 - [...bytes].reverse().indexOf("c".charCodeAt(0));
    for (let place = 0; place < bytes.length; place++) {
        const bad = bytes.slice();
        bad[place]! ^= 0x80;
        if (place < comment || place >= comment + 7) {
            await rejects(readIdentities(toPem("OPENSSH PRIVATE KEY", bad)), InvalidKeyError, /^PEM block 1: /);
        }
        await rejects(readIdentities(toPem("OPENSSH PRIVATE KEY", bytes.slice(0, place))), InvalidKeyError);
    }
});

test("OpenSSH keys that open nothing are refused by name", async () => {
    const [key] = await readSigners(SSH_ED25519);
    const options = (salt: number, rounds: number) => concat(sshStrings(new Uint8Array(salt)), number(rounds, 4));
    const locked = (cipher: string, kdf: string, more: Bytes, count = 1) =>
        opensshFile(cipher, kdf, more, count, key!.ssh, new Uint8Array(160));
    await rejects(
        readIdentities(locked("aes256-ctr", "bcrypt", options(16, 1024))),
        LockedKeyError,
        /are not supported$/,
    );
    equal((await readSigners(locked("aes256-ctr", "bcrypt", options(16, 16))))[0]?.ssh, key!.ssh);
    for (const [bad, why] of [
        [locked("aes256-ctr", "bcrypt", options(16, 1025)), /more than 1024 rounds of bcrypt/],
        [locked("aes256-ctr", "bcrypt", options(65, 16)), /a salt of more than 64 bytes/],
        [locked("aes256-ctr", "bcrypt", options(16, 0)), /the parameters of bcrypt are not valid/],
        [locked("aes256-ctr", "bcrypt", options(0, 16)), /the parameters of bcrypt are not valid/],
        [locked("aes256-ctr", "none", options(16, 16)), /does not go with its key derivation/],
        [locked("none", "none", options(16, 16)), /does not go with its key derivation/],
        [locked("aes256-ctr", "argon2", options(16, 16)), /a key derivation of OpenSSH other than bcrypt/],
        [
            locked("chacha20-poly1305@openssh.com", "bcrypt", options(16, 16)),
            /protected with chacha20-poly1305@openssh/,
        ],
        [locked("none", "none", new Uint8Array(), 2), /an OpenSSH file with several keys/],
        [locked("none", "none", new Uint8Array(), 0), /has no key/],
        [locked("aes256-gcm@openssh.com", "bcrypt", options(16, 16)), /the OpenSSH key file is damaged/],
        [opensshFile("none", "none", "", 1, key!.ssh, new Uint8Array(12)), /whole blocks/],
        [opensshFile("none", "none", "", 1, key!.ssh, new Uint8Array((1 << 16) + 8)), /more than 64 KiB/],
    ] as const) {
        await rejects(readIdentities(bad), InvalidKeyError, why);
    }
    const hardware = sshStrings("sk-ssh-ed25519@openssh.com", key!.publicKey, "ssh:");
    await rejects(readIdentities(openssh(hardware, hardware)), InvalidKeyError, /the file of a security key is not/);
    const lattice = sshStrings("ssh-mldsa-65", new Uint8Array(1952));
    await rejects(
        readIdentities(openssh(lattice, lattice)),
        InvalidKeyError,
        /private key of the kind ssh-mldsa-65 is not/,
    );
    const composite = await file("../shared/vectors/sshsig/mldsa44-ed25519");
    await rejects(
        readIdentities(composite),
        InvalidKeyError,
        /private key of the kind ssh-mldsa44-ed25519 is not supported/,
    );
    const line = await file("../shared/vectors/sshsig/mldsa44-ed25519.pub");
    equal((await readSigners(composite))[0]?.ssh, (await readSigners(line))[0]?.ssh);
    const bad = contents(composite);
    bad[bad.length - 40]! ^= 1;
    await rejects(readSigners(toPem("OPENSSH PRIVATE KEY", bad)), InvalidKeyError, /^PEM block 1: /);
});

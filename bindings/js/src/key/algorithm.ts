/** Identifiers of algorithms: docs/format-keys.md, "Kinds", and names of kinds that are refused. */

import { fromHex, hex, type Bytes } from "../bytes.ts";
import { KEMS, type Kem } from "../crypto/kem.ts";
import type { SignerKind } from "./ssh.ts";
import { Der, OID, SEQUENCE } from "./der.ts";
import { Malformed, Unsupported } from "./trouble.ts";

/** The object identifier of prime256v1. */
export const P256_CURVE = "2a8648ce3d030107";
const EC = "2a8648ce3d0201";

// What is in an AlgorithmIdentifier.
const SEALING = new Map([
    [0x0010, `0607${EC}0608${P256_CURVE}`],
    [0x0020, "06032b656e"],
    [0x0041, "0609608648016503040402"],
    [0x0042, "0609608648016503040403"],
    [0x0050, "06146982e28bef87bfd79a8ac9b1faa7e8a2a9f9d26e"],
    [0x647a, "060b2b0601040183e62d81c87a"],
]);
const SIGNING = new Map<SignerKind, string>([
    ["ssh-ed25519", "06032b6570"],
    ["ssh-mldsa-65", "0609608648016503040312"],
    ["ssh-mldsa44-ed25519", "06082b06010505070627"],
]);

/** Returns what is in the `AlgorithmIdentifier` of a kind. Keys in hardware have none. */
export function identifierOf(kind: Kem | SignerKind): Bytes | undefined {
    const found = typeof kind === "string" ? SIGNING.get(kind) : SEALING.get(kind.id);
    return found === undefined ? undefined : fromHex(found);
}

/** Returns the kind of key for what is in an `AlgorithmIdentifier`. Others are refused by name. */
export function kindOf(identifier: Bytes): Kem | SignerKind {
    const digits = hex(identifier);
    for (const kem of KEMS) {
        if (SEALING.get(kem.id) === digits) {
            return kem;
        }
    }
    for (const [kind, known] of SIGNING) {
        if (known === digits) {
            return kind;
        }
    }
    const reader = new Der(identifier);
    const oid = hex(reader.take(OID));
    if (oid === EC) {
        throw otherCurve(reader);
    }
    if ([...SEALING.values(), ...SIGNING.values()].some(known => known.slice(4) === oid)) {
        throw new Malformed("parameters stand where its kind of key has none");
    }
    throw foreign(oid);
}

function otherCurve(parameters: Der): Error {
    switch (parameters.tag) {
        case OID: {
            const oid = hex(parameters.take(OID));
            parameters.end();
            return foreign(oid);
        }
        case SEQUENCE:
            return new Unsupported("a curve written out as parameters");
        default:
            return new Malformed("the curve is not named");
    }
}

/** The first bytes of identifiers, the first and last of their last bytes, and the name of the algorithms. */
const FOREIGN: readonly [string, number, number, string][] = [
    ["2a864886f70d0101", 1, 10, "an RSA key"],
    ["2a864886f70d0103", 1, 1, "a Diffie-Hellman key"],
    ["2a8648ce3e02", 1, 1, "a Diffie-Hellman key"],
    ["2a8648ce3804", 1, 1, "a DSA key"],
    ["2b65", 0x6f, 0x6f, "an X448 key"],
    ["2b65", 0x71, 0x71, "an Ed448 key"],
    ["6086480165030403", 0x11, 0x13, "an ML-DSA key"],
    ["6086480165030403", 0x20, 0x22, "an ML-DSA key"],
    ["6086480165030403", 0x14, 0x2e, "an SLH-DSA key"],
    ["6086480165030404", 1, 1, "an ML-KEM-512 key"],
    ["2b060105050706", 37, 54, "a composite ML-DSA key"],
    ["2b060105050706", 55, 66, "a composite ML-KEM key"],
    ["2a8648ce3d0301", 1, 6, "a curve other than P-256"],
    ["2b810400", 0x0a, 0x0a, "the curve secp256k1"],
    ["2b810400", 0x21, 0x21, "the curve P-224"],
    ["2b810400", 0x22, 0x22, "the curve P-384"],
    ["2b810400", 0x23, 0x23, "the curve P-521"],
    ["2b24030302080101", 1, 14, "a Brainpool curve"],
];

function foreign(oid: string): Unsupported {
    const last = Number.parseInt(oid.slice(-2), 16);
    const known = FOREIGN.find(([start, from, to]) => start === oid.slice(0, -2) && from <= last && last <= to);
    return new Unsupported(known?.[3] ?? `a key of the kind ${dotted(fromHex(oid))}`);
}

/** Returns an object identifier in its dotted form, or in hexadecimal digits if it has no such form. */
export function dotted(oid: Bytes): string {
    const numbers: bigint[] = [];
    let number = 0n;
    for (const byte of oid.length > MOST ? [] : oid) {
        number = (number << 7n) | BigInt(byte & 0x7f);
        if (byte < 0x80) {
            numbers.push(number);
            number = 0n;
        }
    }
    const first = numbers.shift();
    if (first === undefined) {
        return oid.length > MOST ? "with a long identifier" : hex(oid) || "without an identifier";
    }
    const root = first < 80n ? first / 40n : 2n;
    return [root, first - root * 40n, ...numbers].join(".");
}

const MOST = 64;

/** Lines of age: docs/format-keys.md, "age". */

import { concat, type Bytes } from "../bytes.ts";
import { KEMS, type Kem, type KemName } from "../crypto/kem.ts";
import { caseOf, decodeBech32, encodeBech32 } from "./bech32.ts";
import { PrivateKey, PublicKey } from "./key.ts";
import { publicKeyOf } from "./spki.ts";
import { Malformed, Unsupported } from "./trouble.ts";

/** The prefixes of the kinds. The private keys of some kinds stay in hardware. */
const PREFIXES: readonly { kind: KemName; identity?: string; recipient: string }[] = [
    { kind: "X-Wing", identity: "AGE-SECRET-KEY-PQ-", recipient: "age1pq" },
    { kind: "X25519", identity: "AGE-SECRET-KEY-", recipient: "age" },
    { kind: "P-256", recipient: "age1tag" },
    { kind: "ML-KEM-768 + P-256", recipient: "age1tagpq" },
];
const IDENTITY = "AGE-SECRET-KEY-";
const PLUGIN = "AGE-PLUGIN-";

/** What the lines of age begin with. */
export const AGE_PREFIXES = [IDENTITY, IDENTITY.toLowerCase(), PLUGIN, PLUGIN.toLowerCase(), "age1", "AGE1"] as const;

/** A line of a plugin. */
export interface Plugin {
    /** In lower case, without `age-plugin-`. */
    readonly plugin: string;
    readonly isIdentity: boolean;
}

/** Reads a line that begins with one of the prefixes. White space around the line is gone. */
export async function decodeAgeLine(line: string): Promise<PrivateKey | PublicKey | Plugin> {
    if (/[ \t\v\f]/.test(line)) {
        throw new Malformed("something stands after the key in its line");
    }
    if (line.startsWith(IDENTITY) || line.startsWith(IDENTITY.toLowerCase())) {
        return identityOf(line);
    }
    if (line.startsWith(PLUGIN) || line.startsWith(PLUGIN.toLowerCase())) {
        return pluginOf(line, PLUGIN, "-");
    }
    return recipientOf(line);
}

/** Returns the identity of a private key, if age has identities of its kind. */
export function encodeIdentity(key: PrivateKey): string | undefined {
    const prefix = PREFIXES.find(({ kind }) => kind === key.kind)?.identity;
    return prefix && key.secret && encodeBech32(prefix, key.secret);
}

/** Returns the recipient of a public key, if age has recipients of its kind. */
export function encodeRecipient(key: PublicKey): string | undefined {
    const prefix = PREFIXES.find(({ kind }) => kind === key.kind)?.recipient;
    return prefix && encodeBech32(prefix, key.kind === "P-256" ? compressed(key.bytes) : key.bytes);
}

async function identityOf(line: string): Promise<PrivateKey> {
    for (const { kind, identity } of PREFIXES) {
        for (const prefix of identity === undefined ? [] : [identity, identity.toLowerCase()]) {
            if (line.startsWith(`${prefix}1`)) {
                const secret = decodeBech32(prefix, line.slice(prefix.length + 1));
                const kem = kemOf(kind);
                if (secret?.length !== kem.secret) {
                    throw new Malformed("the age identity is damaged");
                }
                return PrivateKey.fromSecret(kem, secret);
            }
        }
    }
    throw new Unsupported("an age identity of an unknown kind");
}

async function recipientOf(line: string): Promise<PublicKey | Plugin> {
    // The data of Bech32 have no 1, so the last one ends the prefix.
    const prefix = line.slice(0, line.lastIndexOf("1"));
    const damaged = new Malformed("the age recipient is damaged");
    if (caseOf(prefix) === undefined) {
        throw damaged;
    }
    const known = PREFIXES.find(({ recipient }) => recipient === prefix.toLowerCase());
    if (known === undefined) {
        return pluginOf(line, "age1", "");
    }
    let bytes = decodeBech32(prefix, line.slice(prefix.length + 1));
    if (known.kind === "P-256") {
        bytes = bytes && (await decompressed(bytes));
    }
    if (bytes === undefined) {
        throw damaged;
    }
    try {
        return await publicKeyOf(kemOf(known.kind), bytes);
    } catch (why) {
        throw why instanceof Malformed || why instanceof Unsupported ? damaged : why;
    }
}

/** Reads a line whose prefix is `start`, the name of the plugin, and `end`. */
function pluginOf(line: string, start: string, end: string): Plugin {
    const prefix = line.slice(0, line.lastIndexOf("1"));
    const lower = prefix.toLowerCase();
    const isWhole = caseOf(prefix) !== undefined && lower.startsWith(start.toLowerCase()) && lower.endsWith(end);
    if (!isWhole || lower.length < start.length + end.length) {
        throw new Malformed("the line of the plugin is damaged");
    }
    const plugin = lower.slice(start.length, lower.length - end.length);
    if (!/^[a-z0-9+\-._]{1,128}$/.test(plugin)) {
        throw new Malformed("the name of the plugin is not valid");
    }
    if (decodeBech32(prefix, line.slice(prefix.length + 1)) === undefined) {
        throw new Malformed("the line of the plugin is damaged");
    }
    return { plugin, isIdentity: end === "-" };
}

function kemOf(kind: KemName): Kem {
    // `PREFIXES` has kinds of keys alone.
    return KEMS.find(kem => kem.name === kind)!;
}

function compressed(point: Bytes): Bytes {
    return concat(new Uint8Array([2 + (point[64]! & 1)]), point.subarray(1, 33));
}

/** Returns the uncompressed point, or undefined if the bytes are none in compressed form. */
async function decompressed(point: Bytes): Promise<Bytes | undefined> {
    if (point.length !== 33) {
        return undefined;
    }
    const { p256 } = await import("../fallback/p256.ts");
    try {
        return p256.Point.fromBytes(point).toBytes(false) as Bytes;
    } catch {
        // noble throws an error without a class of its own.
        return undefined;
    }
}

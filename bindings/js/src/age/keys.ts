/** The keys that may open an age file. */

import type { Bytes } from "../bytes.ts";
import { x25519, type CurveKey } from "../crypto/curve.ts";
import { LimitError, NoKeyError, PassphraseError } from "../error.ts";
import type { MaxCost } from "../format/recipients.ts";
import type { PrivateKey } from "../key/key.ts";
import type { SshKey } from "../key/openssh.ts";
import type { Passphrase } from "../passphrase.ts";
import type { Header } from "./header.ts";
import type { StanzaKind } from "./kind.ts";
import { openWithPassphrase } from "./scrypt.ts";
import { openWithSsh } from "./ssh.ts";
import type { Stanza } from "./stanza.ts";
import { openWithHpke } from "./tagged.ts";
import { openWithX25519 } from "./x25519.ts";

/** What can open an age file. Private keys are tried first, and passphrases last. */
export interface AgeKeys {
    readonly privateKeys: readonly PrivateKey[];
    readonly sshKeys: readonly SshKey[];
    readonly passphrases: readonly Passphrase[];
}

/**
 * So many stanzas that have the tag of a key and do not open with it make the header invalid. Everybody who knows a
 * public key can write a thousand stanzas with its tag, and trying an RSA key on each takes long.
 */
const MOST_MISTAGGED = 8;

/** Returns the file key, with the first key that fits a stanza, and checks that it belongs to the header. */
export async function unlock(header: Header, keys: AgeKeys, maxCost: MaxCost): Promise<Bytes> {
    const fileKey = (await withTags(header, keys)) ?? (await withPassphrases(header, keys.passphrases, maxCost));
    if (fileKey === undefined) {
        throw new NoKeyError(`no key fits: the file is sealed to ${recipients(header)}`);
    }
    await header.verify(fileKey);
    return fileKey;
}

async function withTags(header: Header, { privateKeys, sshKeys }: AgeKeys): Promise<Bytes | undefined> {
    const open = [
        ...privateKeys.map(key => ({ kind: key.kind, open: opener(key) })),
        ...sshKeys.map(key => ({ kind: key.kind, open: (stanza: Stanza) => openWithSsh(key, stanza) })),
    ];
    let mistagged = 0;
    for (const key of open) {
        for (const { kind, stanza } of header.stanzas) {
            const opened = kind === key.kind ? await key.open(stanza) : "other key";
            if (typeof opened !== "string") {
                return opened;
            }
            mistagged += opened === "wrong tag" ? 1 : 0;
            if (mistagged === MOST_MISTAGGED) {
                throw new LimitError(
                    "the header asks for more than is allowed: " +
                        "many recipients with the tag of a key that opens none of them",
                );
            }
        }
    }
    return undefined;
}

type Opened = Bytes | "other key" | "wrong tag";

/** Returns what tries a key on a stanza. */
function opener(key: PrivateKey): (stanza: Stanza) => Promise<Opened> {
    const { kind, secret } = key;
    if (kind !== "X25519" || secret === undefined) {
        return stanza => openWithHpke(key, stanza);
    }
    // Importing the key takes longer than a try, and a header has room for ten thousand stanzas without a tag.
    let imported: Promise<CurveKey> | undefined;
    return async stanza => {
        imported ??= x25519.key(secret);
        return (await openWithX25519(await imported, stanza)) ?? "other key";
    };
}

async function withPassphrases(
    header: Header,
    passphrases: readonly Passphrase[],
    maxCost: MaxCost,
): Promise<Bytes | undefined> {
    // A stanza for a passphrase is the only stanza of its header.
    const [only] = header.stanzas;
    if (only?.kind !== "passphrase" || passphrases.length === 0) {
        return undefined;
    }
    for (const passphrase of passphrases) {
        const fileKey = await openWithPassphrase(passphrase, only.stanza, maxCost);
        if (fileKey !== undefined) {
            return fileKey;
        }
    }
    throw new PassphraseError();
}

/** Describes the recipients in words, for example `2 X-Wing keys and one ssh-rsa key`. */
function recipients(header: Header): string {
    const counts = new Map<StanzaKind, number>();
    for (const { kind } of header.stanzas) {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return [...counts].map(([kind, count]) => words(kind, count)).join(" and ");
}

function words(kind: StanzaKind, count: number): string {
    const number = count === 1 ? "one" : count;
    const plural = count === 1 ? "" : "s";
    switch (kind) {
        case "passphrase":
            return `${number} passphrase${plural}`;
        case "unknown":
            return `${number} recipient${plural} of an unknown type`;
        default:
            return `${number} ${kind} key${plural}`;
    }
}

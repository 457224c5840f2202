/** From a recipient in the header to the file key, and back: docs/format-seal.md, "Recipients". */

import { concat, equal, hex, number, utf8, type Bytes } from "../bytes.ts";
import { openBase, sealBase } from "../crypto/hpke.ts";
import { Gcm, hkdf, random } from "../crypto/symmetric.ts";
import { CostlyError, LimitError, NoKeyError, PassphraseError, TamperedError } from "../error.ts";
import { PrivateKey, type PublicKey } from "../key/key.ts";
import { Passphrase } from "../passphrase.ts";
import { PASSPHRASE, PLUGIN, readCost, SESSION, SHARE, type Cost, type Header, type Recipient } from "./header.ts";
import { groupOf, Share, thresholdKey } from "./threshold.ts";

/** What a try of a passphrase may cost: memory in KiB, and passes. */
export interface MaxCost {
    readonly memory: number;
    readonly passes: number;
}

/** What the command line allows without being asked: 2.5 GiB and 3 passes. */
export const MAX_COST: MaxCost = { memory: 2_621_440, passes: 3 };

/** What new passphrases cost: 256 MiB and 3 passes. */
const COST: Cost = { memory: 262_144, passes: 3, lanes: 4 };

const PURPOSE = utf8("deadpan v1 recipient");

/** The file key, and what the mark of the recipient that it came from is made of. */
export interface Found {
    readonly fileKey: Bytes;
    readonly mark: Bytes;
}

/** Finds the file key. The header's MAC is not checked. */
export async function findFileKey(
    header: Header,
    keys: readonly (PrivateKey | Passphrase | Share)[],
    maxCost: MaxCost,
): Promise<Found> {
    const privateKeys = keys.filter(key => key instanceof PrivateKey);
    const passphrases = keys.filter(key => key instanceof Passphrase);
    // Keys come before passphrases, which cost more.
    for (const recipient of header.recipients) {
        const found = await withKeys(recipient, privateKeys, header.preamble);
        if (found !== undefined) {
            return found;
        }
    }
    const locked = header.recipients.find(({ type }) => type === PASSPHRASE || type === SESSION);
    if (locked !== undefined) {
        if (passphrases.length > 0) {
            checkCost(readCost(locked.body), maxCost);
        }
        for (const key of passphrases) {
            const fileKey = await withPassphrase(locked, key, header.preamble);
            if (fileKey !== undefined) {
                return { fileKey, mark: concat(number(locked.type, 2), locked.body) };
            }
        }
    }
    if (header.shares.length > 0) {
        const shares = keys.filter(key => key instanceof Share);
        const fileKey = await thresholdKey(header, privateKeys, shares);
        return { fileKey, mark: concat(number(SHARE, 2), await groupOf(header)) };
    }
    if (passphrases.length > 0 && locked !== undefined) {
        throw new PassphraseError();
    }
    throw new NoKeyError(`no key fits: the file is sealed to ${described(header.recipients)}`);
}

async function withKeys(
    recipient: Recipient,
    keys: readonly PrivateKey[],
    preamble: Bytes,
): Promise<Found | undefined> {
    for (const key of keys) {
        if (key.kem.id === recipient.type) {
            const fileKey = await openBase(key.kem, key.decapsulator, recipient.body, concat(PURPOSE, preamble));
            if (fileKey !== undefined) {
                return { fileKey, mark: concat(number(recipient.type, 2), key.publicKey.bytes) };
            }
        }
    }
    return undefined;
}

/** Describes recipients for people. */
export function described(recipients: readonly Recipient[]): string {
    const counts = new Map<string, number>();
    for (const { type, body } of recipients) {
        const what =
            type === PASSPHRASE || type === SESSION
                ? "a passphrase"
                : type === PLUGIN
                  ? "a plugin of age"
                  : type === SHARE
                    ? `any ${body[0]} of ${body[1]} keys`
                    : "a key of another recipient";
        counts.set(what, (counts.get(what) ?? 0) + 1);
    }
    const parts = Array.from(counts, ([what, count]) =>
        what === "a key of another recipient" ? (count === 1 ? "one other key" : `${count} other keys`) : what,
    );
    return parts.join(", ");
}

function checkCost(cost: Cost, most: MaxCost): void {
    if (cost.memory > most.memory || cost.memory * cost.passes > most.memory * most.passes) {
        const mebibytes = Math.ceil(cost.memory / 1024);
        throw new CostlyError(
            `trying a passphrase takes ${mebibytes} MiB of memory and ${cost.passes} passes, ` +
                "which is more than is allowed",
        );
    }
}

const SESSION_INFO = utf8("deadpan v1 session");
const ZERO_IV: Bytes = new Uint8Array(12);

/** Returns the file key, or undefined if the passphrase is wrong. */
async function withPassphrase(
    { type, body }: Recipient,
    passphrase: Passphrase,
    preamble: Bytes,
): Promise<Bytes | undefined> {
    const cost = readCost(body);
    const salt = body.slice(12, 28);
    const session = type === SESSION;
    const item = body.slice(28, session ? 60 : 28);
    const commitment = body.subarray(28 + item.length, 60 + item.length);
    const sealed = body.slice(60 + item.length);
    for (const [place, form] of passphrase.forms.entries()) {
        const name = `${place} ${hex(salt)} ${cost.memory} ${cost.passes} ${cost.lanes} ${session}`;
        const hashed = await passphrase.remember(name, () => argon2id(form, salt, cost, session ? 32 : 64));
        const keys = session ? await hkdf("SHA-256", preamble, hashed, concat(SESSION_INFO, item), 64) : hashed;
        if (equal(keys.subarray(32), commitment)) {
            const fileKey = await (await Gcm.with(keys.slice(0, 32))).open(ZERO_IV, sealed, preamble);
            if (fileKey === undefined) {
                throw new TamperedError("the header was changed after sealing");
            }
            return fileKey;
        }
    }
    return undefined;
}

/** Computes Argon2id. A page replaces the function by one that works in a thread of its own. */
export type Hash = (password: Bytes, salt: Bytes, cost: Cost, length: number) => Promise<Bytes>;

let argon2id: Hash = async (password, salt, cost, length) => {
    const { argon2id: hash } = await import("../fallback/argon2.ts");
    try {
        const hashed = await hash({
            password,
            salt,
            memorySize: cost.memory,
            iterations: cost.passes,
            parallelism: cost.lanes,
            hashLength: length,
            outputType: "binary",
        });
        return hashed as Bytes;
    } catch (why) {
        if (why instanceof RangeError || why instanceof WebAssembly.RuntimeError) {
            throw new LimitError(`there are no ${Math.ceil(cost.memory / 1024)} MiB of memory to try a passphrase`);
        }
        throw why;
    }
};

/** Sets how Argon2id is computed. */
export function setArgon2id(hash: Hash): Hash {
    const before = argon2id;
    argon2id = hash;
    return before;
}

/** Seals a file key to a public key. */
export async function toKey(key: PublicKey, fileKey: Bytes, preamble: Bytes): Promise<Recipient> {
    const body = await sealBase(key.kem, key.bytes, fileKey, concat(PURPOSE, preamble));
    return { type: key.kem.id, body };
}

/** Seals a file key to a passphrase. */
export async function toPassphrase(
    passphrase: Passphrase,
    fileKey: Bytes,
    preamble: Bytes,
    cost: Cost = COST,
): Promise<Recipient> {
    const salt = random(16);
    const keys = await argon2id(passphrase.sealed, salt, cost, 64);
    const sealed = await (await Gcm.with(keys.slice(0, 32))).seal(ZERO_IV, fileKey, preamble);
    const numbers = concat(number(cost.memory, 4), number(cost.passes, 4), number(cost.lanes, 4));
    return { type: PASSPHRASE, body: concat(numbers, salt, keys.subarray(32), sealed) };
}

/** Recipients: whom age allows, and the stanzas for them. */

import { compare, type Bytes } from "../bytes.ts";
import { PublicKey } from "../key/key.ts";
import { Passphrase } from "../passphrase.ts";
import { sealToPassphrase } from "./scrypt.ts";
import type { Stanza } from "./stanza.ts";
import { hpkeType, sealWithHpke } from "./tagged.ts";
import { sealToX25519 } from "./x25519.ts";

/** To whom an age file can be sealed. */
export type AgeRecipient = PublicKey | Passphrase;

/** Returns the recipients, each once. Throws a `TypeError` if they cannot be the recipients of one age file. */
export function checkRecipients(recipients: readonly AgeRecipient[], allowMixed: boolean): AgeRecipient[] {
    const distinct: AgeRecipient[] = [];
    for (const recipient of recipients) {
        if (!(recipient instanceof PublicKey || recipient instanceof Passphrase)) {
            throw new TypeError("a recipient must be a public key or a passphrase");
        }
        if (!distinct.some(known => same(known, recipient))) {
            distinct.push(recipient);
        }
    }
    if (distinct.length === 0) {
        throw new TypeError("no recipient");
    }
    if (distinct.length > 1 && distinct.some(recipient => recipient instanceof Passphrase)) {
        throw new TypeError("an age file with a passphrase has no other recipients");
    }
    const keys = distinct.filter(recipient => recipient instanceof PublicKey);
    if (keys.some(key => key.kind !== "X25519" && hpkeType(key.kind) === undefined)) {
        throw new TypeError("age has no recipients with ML-KEM keys alone");
    }
    // age gives hybrid recipients a label, and all recipients of a file must have the same labels.
    const classical = keys.find(key => key.kem.mode === "classical");
    if (!allowMixed && classical !== undefined && keys.some(key => key.kem.mode !== "classical")) {
        throw new TypeError(
            `a recipient (${classical.kind} key) is classical, which would make the whole file classical`,
        );
    }
    return distinct;
}

/** Seals a file key to a recipient. The caller has checked the recipient. */
export function sealTo(recipient: AgeRecipient, fileKey: Bytes): Promise<Stanza> {
    if (recipient instanceof Passphrase) {
        return sealToPassphrase(recipient, fileKey);
    }
    const type = hpkeType(recipient.kind);
    return type === undefined ? sealToX25519(recipient.bytes, fileKey) : sealWithHpke(type, recipient, fileKey);
}

function same(a: AgeRecipient, b: AgeRecipient): boolean {
    if (a instanceof PublicKey && b instanceof PublicKey) {
        return a.kem === b.kem && compare(a.bytes, b.bytes) === 0;
    }
    return a === b;
}

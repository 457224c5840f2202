/**
 * The known types of stanzas, and the form that a stanza of each type must have.
 *
 * If a stanza of a known type has another form, the whole header is invalid, even if a key opens it: no correct program
 * writes such a stanza. Stanzas of unknown types are ignored.
 */

import type { KemName } from "../crypto/kem.ts";
import { LimitError } from "../error.ts";
import { decodeBase64 } from "./base64.ts";
import { SEALED_FILE_KEY } from "./file-key.ts";
import { damaged, type Stanza } from "./stanza.ts";

/** What opens a stanza: a kind of key of this package, a kind of key of SSH, or a passphrase. */
export type StanzaKind = KemName | "ssh-ed25519" | "ssh-rsa" | "passphrase" | "unknown";

/** The number of bytes in a recipient's tag. */
export const TAG = 4;

/** Types with a body of one sealed file key, and the lengths of their arguments in bytes. */
const FORMS = new Map<string, { kind: StanzaKind; args: number[] }>([
    ["X25519", { kind: "X25519", args: [32] }],
    ["mlkem768x25519", { kind: "X-Wing", args: [1120] }],
    ["p256tag", { kind: "P-256", args: [TAG, 65] }],
    ["mlkem768p256tag", { kind: "ML-KEM-768 + P-256", args: [TAG, 1153] }],
    ["ssh-ed25519", { kind: "ssh-ed25519", args: [TAG, 32] }],
]);

/** The lengths of an RSA-encrypted file key, which is as long as the modulus. */
const SHORTEST_RSA = 128;
const LONGEST_RSA = 2048;

const SALT = 16;
/** The greatest exponent of N that is accepted. It means 4 GiB of memory. */
const MOST_EXPONENT = 22;

/** Returns the kind of a stanza, and checks its form. */
export function kindOf(stanza: Stanza): StanzaKind {
    const form = FORMS.get(stanza.type);
    if (form !== undefined) {
        check(stanza, form.args);
        if (stanza.body.length !== SEALED_FILE_KEY) {
            throw FORM();
        }
        return form.kind;
    }
    if (stanza.type === "ssh-rsa") {
        check(stanza, [TAG]);
        if (stanza.body.length < SHORTEST_RSA || stanza.body.length > LONGEST_RSA) {
            throw FORM();
        }
        return "ssh-rsa";
    }
    if (stanza.type === "scrypt") {
        scryptExponent(stanza);
        return "passphrase";
    }
    return "unknown";
}

/** Checks the form of a stanza of type `scrypt`, and returns the exponent of N. */
export function scryptExponent(stanza: Stanza): number {
    const [salt = "", exponent = ""] = stanza.args;
    const fits = stanza.args.length === 2 && stanza.body.length === SEALED_FILE_KEY && has(salt, SALT);
    if (!fits || !/^[1-9][0-9]*$/.test(exponent)) {
        throw FORM();
    }
    if (exponent.length > 2 || Number(exponent) > MOST_EXPONENT) {
        throw new LimitError("the header asks for more than is allowed: memory or time for the passphrase");
    }
    return Number(exponent);
}

function check(stanza: Stanza, lengths: readonly number[]): void {
    if (stanza.args.length !== lengths.length || !lengths.every((length, i) => has(stanza.args[i] ?? "", length))) {
        throw FORM();
    }
}

function has(text: string, length: number): boolean {
    return decodeBase64(text)?.length === length;
}

const FORM = (): Error => damaged("the form of a recipient");

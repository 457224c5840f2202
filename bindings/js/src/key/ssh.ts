/** Public keys of SSH, in their binary form and as lines: docs/format-keys.md, "OpenSSH keys". */

import { concat, Fields, number, text, utf8, type Bytes } from "../bytes.ts";
import { fromBase64 } from "./base64.ts";
import { Excessive, Malformed, Unsupported } from "./trouble.ts";

/** The kinds of keys that sign, by their names in SSH. */
export type SignerKind = "ssh-ed25519" | "sk-ssh-ed25519@openssh.com" | "ssh-mldsa-65" | "ssh-mldsa44-ed25519";

export type SshName = SignerKind | "ssh-rsa";

/** A public key of SSH. RSA keys have numbers in place of the key. */
export interface SshPublic {
    readonly name: SshName;
    /** The binary form, as it was read. */
    readonly blob: Bytes;
    readonly key?: Bytes;
    readonly application?: Bytes;
    /** Big-endian, without zeros in front. */
    readonly rsa?: { readonly e: Bytes; readonly n: Bytes };
}

/** The lengths of keys. */
export const SSH_LENGTHS: Readonly<Record<SignerKind, number>> = {
    "ssh-ed25519": 32,
    "ssh-mldsa44-ed25519": 1312 + 32,
    "ssh-mldsa-65": 1952,
    "sk-ssh-ed25519@openssh.com": 32,
};
const NAMES = new Set<string>(["ssh-rsa", ...Object.keys(SSH_LENGTHS)]);
const MAX_BLOB = 1 << 14;
const MAX_APPLICATION = 255;
const DAMAGED = "the SSH public key is damaged";

/** What lines with keys of SSH begin with, supported or not. */
export const SSH_PREFIXES = ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"] as const;

/** Reads strings and numbers of SSH. Each failure is `Malformed`. */
export class SshFields {
    readonly #fields: Fields;
    readonly #why: string;

    constructor(bytes: Bytes, why: string) {
        this.#why = why;
        this.#fields = new Fields(bytes, () => this.#damaged());
    }

    take(length: number): Bytes {
        return this.#fields.take(length);
    }

    number(): number {
        return this.#fields.number(4);
    }

    string(): Bytes {
        return this.take(this.number());
    }

    /** Returns a string that is text in UTF-8. */
    text(): string {
        const found = text(this.string());
        if (found === undefined) {
            throw this.#damaged();
        }
        return found;
    }

    /** Returns a positive number of any length, without zeros in front. */
    big(): Bytes {
        const bytes = this.string();
        const [first, second] = bytes;
        if (first === 0 && second !== undefined && second >= 0x80) {
            return bytes.subarray(1);
        }
        if (first === undefined || first === 0 || first >= 0x80) {
            throw new Malformed("a number in the RSA key is not positive or not minimal");
        }
        return bytes;
    }

    rest(): Bytes {
        return this.#fields.rest();
    }

    end(why: string): void {
        if (this.#fields.left > 0) {
            throw new Malformed(why);
        }
    }

    #damaged(): Malformed {
        return new Malformed(this.#why);
    }
}

/** Returns strings of SSH, each with its length in front. */
export function sshStrings(...strings: readonly (Uint8Array | string)[]): Bytes {
    const bytes = strings.map(string => (typeof string === "string" ? utf8(string) : string));
    return concat(...bytes.flatMap(string => [number(string.length, 4), string]));
}

/** Reads a public key in its binary form. */
export function decodeSsh(blob: Bytes): SshPublic {
    if (blob.length > MAX_BLOB) {
        throw new Excessive("an SSH public key of more than 16 KiB");
    }
    const fields = new SshFields(blob, DAMAGED);
    const name = nameOf(fields.text());
    const parts: { key?: Bytes; application?: Bytes; rsa?: { e: Bytes; n: Bytes } } = {};
    if (name === "ssh-rsa") {
        const [e, n] = [fields.big(), fields.big()];
        checkRsa(e, n);
        parts.rsa = { e, n };
    } else {
        parts.key = fields.string();
        if (parts.key.length !== SSH_LENGTHS[name]) {
            throw new Malformed(DAMAGED);
        }
    }
    if (name === "sk-ssh-ed25519@openssh.com") {
        parts.application = utf8(fields.text());
        if (parts.application.length > MAX_APPLICATION) {
            throw new Malformed(DAMAGED);
        }
    }
    fields.end("something stands after the SSH public key");
    return { name, blob, ...parts };
}

/** Reads a public line: a name, the key in base64, and a comment. White space around the line is gone. */
export function decodeSshLine(line: string): SshPublic {
    const [word = "", body = ""] = line.split(/[ \t\f]+/, 2);
    const name = nameOf(word);
    if (body.length > Math.ceil(MAX_BLOB / 3) * 4) {
        throw new Excessive("an SSH public key of more than 16 KiB");
    }
    const blob = fromBase64(body);
    if (blob === undefined) {
        throw new Malformed(DAMAGED);
    }
    const key = decodeSsh(blob);
    // The name of a composite key has two forms, and the form in the line is also the form in the key.
    if (key.name !== name || new SshFields(blob, DAMAGED).text() !== word) {
        throw new Malformed("the SSH public key is of another kind than its line says");
    }
    return key;
}

function nameOf(name: string): SshName {
    if (name === "ssh-mldsa44-ed25519@openssh.com") {
        return "ssh-mldsa44-ed25519";
    }
    if (NAMES.has(name)) {
        return name as SshName;
    }
    if (!/^[!-~]{1,64}$/.test(name)) {
        throw new Malformed(DAMAGED);
    }
    throw new Unsupported(name.includes("-cert-") ? "an SSH certificate" : `an SSH key of the kind ${name}`);
}

function checkRsa(e: Bytes, n: Bytes): void {
    const bits = n.length * 8 - (Math.clz32(n[0]!) - 24);
    if (bits < 1024 || bits > 16384) {
        throw new Excessive("an RSA key of less than 1024 or more than 16384 bits");
    }
    const isOne = e.length === 1 && e[0] === 1;
    if (n[n.length - 1]! % 2 === 0 || e[e.length - 1]! % 2 === 0 || isOne || e.length > 4) {
        throw new Malformed("the RSA key in it is not valid");
    }
}

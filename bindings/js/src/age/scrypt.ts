/** Passphrases of age files, which age hashes with scrypt. */

import { concat, hex, utf8, type Bytes } from "../bytes.ts";
import { random } from "../crypto/symmetric.ts";
import { CostlyError, LimitError } from "../error.ts";
import type { MaxCost } from "../format/recipients.ts";
import type { Passphrase } from "../passphrase.ts";
import { encodeBase64 } from "./base64.ts";
import { openFileKey, sealFileKey } from "./file-key.ts";
import { scryptExponent } from "./kind.ts";
import { argument, type Stanza } from "./stanza.ts";

/** The beginning of the salt. */
const LABEL = utf8("age-encryption.org/v1/scrypt");
const R = 8;
/** N = 2^18 takes 256 MiB of memory, and is what age uses. */
const EXPONENT = 18;

/** Seals a file key to a passphrase. */
export async function sealToPassphrase(passphrase: Passphrase, fileKey: Bytes): Promise<Stanza> {
    const salt = random(16);
    const wrapping = await stretch(passphrase.sealed, salt, EXPONENT);
    const args = [encodeBase64(salt), String(EXPONENT)];
    return { type: "scrypt", args, body: await sealFileKey(wrapping, fileKey) };
}

/** Returns the file key in a stanza, or undefined if the passphrase is wrong in each of its forms. */
export async function openWithPassphrase(
    passphrase: Passphrase,
    stanza: Stanza,
    maxCost: MaxCost,
): Promise<Bytes | undefined> {
    const exponent = scryptExponent(stanza);
    // scrypt with r = 8 takes N KiB of memory.
    const memory = 2 ** exponent;
    if (memory > maxCost.memory || memory > maxCost.memory * maxCost.passes) {
        throw new CostlyError(`trying a passphrase takes ${memory} KiB of memory, which is more than is allowed`);
    }
    const salt = argument(stanza, 0);
    for (const [number, form] of passphrase.forms.entries()) {
        const name = `scrypt ${hex(salt)} ${exponent} ${number}`;
        const wrapping = await passphrase.remember(name, () => stretch(form, salt, exponent));
        const fileKey = await openFileKey(wrapping, stanza.body);
        if (fileKey !== undefined) {
            return fileKey;
        }
    }
    return undefined;
}

async function stretch(passphrase: Bytes, salt: Bytes, exponent: number): Promise<Bytes> {
    const { scryptAsync } = await import("../fallback/scrypt.ts");
    const N = 2 ** exponent;
    try {
        // The memory is that of scrypt's table and a few more blocks.
        const options = { N, r: R, p: 1, dkLen: 32, maxmem: 128 * R * (N + 3) };
        return (await scryptAsync(passphrase, concat(LABEL, salt), options)) as Bytes;
    } catch (why) {
        if (why instanceof RangeError) {
            throw new LimitError(`there is not enough memory to try a passphrase, which takes ${N} KiB`, {
                cause: why,
            });
        }
        throw why;
    }
}

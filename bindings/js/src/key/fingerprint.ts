/** Fingerprints of public keys: docs/format-keys.md, "Fingerprints". */

import type { Bytes } from "../bytes.ts";
import { digest } from "../crypto/symmetric.ts";
import { PublicKey } from "./key.ts";
import { SignerKey } from "./signer.ts";
import { encodeSpki } from "./spki.ts";

/** Returns a short name for a key that people can compare, such as `u2gm-tmgq-umgn-gy7u-dcn3-ahqj-g4`. */
export async function fingerprint(key: PublicKey | SignerKey): Promise<string> {
    if (!(key instanceof PublicKey) && !(key instanceof SignerKey)) {
        throw new TypeError("only public keys have fingerprints");
    }
    const form = encodeSpki(key) ?? (key as SignerKey).ssh;
    return base32((await digest("SHA-256", form)).subarray(0, 16))
        .match(/.{1,4}/g)!
        .join("-");
}

const COMMENT = "# fingerprint: ";
const SIGNING_COMMENT = "# signing key, fingerprint: ";

/** Returns the line in front of a protected private key. */
export async function fingerprintComment(key: PublicKey): Promise<string> {
    return `${COMMENT}${await fingerprint(key)}\n`;
}

/** Returns the fingerprint in a comment, if it has one. */
export function fingerprintIn(comment: string): string | undefined {
    const start = [COMMENT, SIGNING_COMMENT].find(words => comment.startsWith(words));
    const name = start === undefined ? "" : comment.slice(start.length);
    return /^(?:[a-z2-7]{4}-){6}[a-z2-7]{2}$/.test(name) ? name : undefined;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

function base32(bytes: Bytes): string {
    let text = "";
    let [held, bits] = [0, 0];
    for (const byte of bytes) {
        held = ((held << 8) | byte) & 0xfff;
        for (bits += 8; bits >= 5; bits -= 5) {
            text += LETTERS[(held >> (bits - 5)) & 31]!;
        }
    }
    return bits > 0 ? text + LETTERS[(held << (5 - bits)) & 31]! : text;
}

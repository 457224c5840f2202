/** A text with keys: docs/format-keys.md, "The file". Any line that is no key and no comment is an error. */

import { plainBytes, utf8 } from "../bytes.ts";
import { InvalidKeyError } from "../error.ts";
import { AGE_PREFIXES, decodeAgeLine, type Plugin } from "./age.ts";
import { fromBase64 } from "./base64.ts";
import { fingerprintIn } from "./fingerprint.ts";
import { PrivateKey, PublicKey } from "./key.ts";
import { decodeOpenssh, type OpensshFile } from "./openssh.ts";
import { EncryptedKey } from "./pbes2.ts";
import { decodePkcs8 } from "./pkcs8.ts";
import { SignerKey } from "./signer.ts";
import { decodeSpki } from "./spki.ts";
import { decodeSshLine, SSH_PREFIXES, type SshPublic } from "./ssh.ts";
import { at, Excessive, Malformed, Unsupported } from "./trouble.ts";

/** A key in a text. `place` is for messages. */
export type Found = { readonly place: string; readonly isLine: boolean } & Key;

type Key =
    | { readonly type: "private"; readonly key: PrivateKey }
    | { readonly type: "protected"; readonly key: EncryptedKey; readonly fingerprint: string | undefined }
    | { readonly type: "public"; readonly key: PublicKey }
    /** A private key that signs, as its public key. */
    | { readonly type: "signing"; readonly key: SignerKey }
    | { readonly type: "verifying"; readonly key: SignerKey }
    | { readonly type: "openssh"; readonly key: OpensshFile }
    /** A public key of SSH that does not sign here. */
    | { readonly type: "ssh"; readonly key: SshPublic }
    | { readonly type: "plugin"; readonly key: Plugin };

const MAX_LENGTH = 1 << 20;
const MAX_PROTECTED = 16;
const BEGIN = "-----BEGIN ";
const END = "-----END ";

/** Returns all keys of a text, and derives no key from a passphrase. */
export async function readKeys(data: string | Uint8Array): Promise<Found[]> {
    const lines = linesOf(data);
    const found: Found[] = [];
    let [blocks, protectedKeys, comment] = [0, 0, ""];
    for (let i = 0; i < lines.length; i++) {
        const line = trimmed(lines[i]!);
        const before = comment;
        comment = "";
        if (line === "") {
            continue;
        }
        if (line.startsWith("#")) {
            comment = line;
            continue;
        }
        if (lines[i]!.startsWith(BEGIN)) {
            const place = `PEM block ${++blocks}`;
            const end = endOfBlock(lines, i + 1);
            const key = await placed(place, () => readBlock(lines.slice(i, end + 1), before));
            // A block without an END line ends in front of the next block.
            i = lines[end]?.startsWith(END) ? end : end - 1;
            protectedKeys += isProtected(key) ? 1 : 0;
            found.push({ place, isLine: false, ...key });
            if (protectedKeys > MAX_PROTECTED) {
                throw at(place, new Excessive("more than 16 protected keys, each with its own passphrase"));
            }
            continue;
        }
        const place = `line ${i + 1}`;
        const key = await placed(place, () => readLine(line));
        if (key === undefined) {
            // A text of which no line is a key is no key file with an error in this line.
            const others = found.length > 0 || lines.slice(i + 1).some(beginsKey);
            throw new InvalidKeyError(others ? `${place}: neither a key nor a comment` : "not a key");
        }
        found.push({ place, isLine: true, ...key });
    }
    if (found.length === 0) {
        throw new InvalidKeyError("not a key");
    }
    return found;
}

/** Returns lines with a character for each byte, so what is not ASCII is just no key. */
function linesOf(data: string | Uint8Array): string[] {
    if (typeof data !== "string" && !(data instanceof Uint8Array)) {
        throw new TypeError("a text with keys must be a string or a Uint8Array");
    }
    let bytes = data.length > MAX_LENGTH || typeof data !== "string" ? data : utf8(data);
    if (typeof bytes === "string" || bytes.length > MAX_LENGTH) {
        throw new InvalidKeyError("the key file is longer than 1 MiB");
    }
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
        bytes = bytes.subarray(3);
    }
    return new TextDecoder("latin1").decode(plainBytes(bytes)).split(/\r\n|[\n\r]/);
}

/** Returns a line without the white space around it. A regular expression may need time in the square of the length. */
function trimmed(line: string): string {
    let [begin, end] = [0, line.length];
    while (begin < end && isSpace(line[begin]!)) {
        begin++;
    }
    while (begin < end && isSpace(line[end - 1]!)) {
        end--;
    }
    return line.slice(begin, end);
}

function isSpace(letter: string): boolean {
    return letter === " " || letter === "\t" || letter === "\v" || letter === "\f";
}

/** Returns the index of the first END line from `from` on, or else where the block has to end. */
function endOfBlock(lines: readonly string[], from: number): number {
    let end = from;
    while (end < lines.length && !lines[end]!.startsWith(END) && !lines[end]!.startsWith(BEGIN)) {
        end++;
    }
    return end;
}

async function placed<T>(place: string, read: () => Promise<T>): Promise<T> {
    try {
        return await read();
    } catch (why) {
        throw at(place, why);
    }
}

function isProtected(key: Key): boolean {
    return key.type === "protected" || (key.type === "openssh" && key.key.isProtected);
}

/** Reads the lines of a block, whose last one should be its END line. */
async function readBlock(lines: readonly string[], comment: string): Promise<Key> {
    const label = labelOf(lines[0]!, BEGIN);
    if (label === undefined) {
        throw new Malformed("the BEGIN line of a PEM block is not well formed");
    }
    const read = READERS.get(label);
    if (read === undefined) {
        throw new Unsupported(FOREIGN.get(label) ?? `a PEM block ${JSON.stringify(label.slice(0, 64))}`);
    }
    const last = lines[lines.length - 1]!;
    if (lines.length < 2 || !last.startsWith(END) || labelOf(last, END) !== label) {
        throw new Malformed("the END line of a PEM block is missing or has another label");
    }
    const body = lines.slice(1, -1).join("\n");
    const contents = fromBase64(body.replace(/[ \t\v\f\n]/g, ""));
    if (contents === undefined) {
        const why = body.includes(":") ? "a PEM block with headers inside is not supported" : "its base64 is not valid";
        throw new Malformed(why);
    }
    return read(contents, comment);
}

/** Returns the label of a BEGIN or END line, if the line is well formed (RFC 7468, section 3). */
function labelOf(line: string, words: string): string | undefined {
    const rest = trimmed(line).slice(words.length);
    const label = rest.slice(0, -5);
    return rest.endsWith("-----") && /^(?:[!-,.-~]+(?:[ -][!-,.-~]+)*)?$/.test(label) ? label : undefined;
}

const READERS = new Map<string, (contents: Uint8Array<ArrayBuffer>, comment: string) => Promise<Key>>([
    ["PRIVATE KEY", async contents => asPrivate(await decodePkcs8(contents))],
    [
        "ENCRYPTED PRIVATE KEY",
        async (contents, comment) => ({
            type: "protected",
            key: new EncryptedKey(contents),
            fingerprint: fingerprintIn(comment),
        }),
    ],
    ["PUBLIC KEY", async contents => asPublic(await decodeSpki(contents))],
    ["OPENSSH PRIVATE KEY", async contents => ({ type: "openssh", key: await decodeOpenssh(contents) })],
]);

const FOREIGN = new Map([
    ["EC PRIVATE KEY", "an elliptic-curve key from before PKCS#8"],
    ["EC PARAMETERS", "an elliptic-curve key from before PKCS#8"],
    ["RSA PRIVATE KEY", "an RSA key"],
    ["RSA PUBLIC KEY", "an RSA key"],
    ["DSA PRIVATE KEY", "a DSA key"],
    ["SSH2 PUBLIC KEY", "an SSH key"],
    ["CERTIFICATE", "a certificate"],
    ["X509 CERTIFICATE", "a certificate"],
    ["TRUSTED CERTIFICATE", "a certificate"],
    ["AGE ENCRYPTED FILE", "a file sealed by age"],
    ["PGP PRIVATE KEY BLOCK", "an OpenPGP key"],
    ["PGP PUBLIC KEY BLOCK", "an OpenPGP key"],
]);

function asPrivate(key: PrivateKey | SignerKey): Key {
    return key instanceof SignerKey ? { type: "signing", key } : { type: "private", key };
}

function asPublic(key: PublicKey | SignerKey): Key {
    return key instanceof SignerKey ? { type: "verifying", key } : { type: "public", key };
}

/** Reads a line. Returns undefined if no key begins so. */
async function readLine(line: string): Promise<Key | undefined> {
    if (SSH_PREFIXES.some(words => line.startsWith(words))) {
        const key = decodeSshLine(line);
        return key.key === undefined ? { type: "ssh", key } : { type: "verifying", key: SignerKey.fromSshPublic(key) };
    }
    if (line.startsWith("age-encryption.org/")) {
        throw new Unsupported("a file sealed by age");
    }
    if (line.startsWith("---- BEGIN SSH2")) {
        throw new Unsupported("an SSH key");
    }
    if (!AGE_PREFIXES.some(words => line.startsWith(words))) {
        return undefined;
    }
    const key = await decodeAgeLine(line);
    if (key instanceof PrivateKey) {
        return { type: "private", key };
    }
    return key instanceof PublicKey ? { type: "public", key } : { type: "plugin", key };
}

function beginsKey(line: string): boolean {
    const words = trimmed(line);
    return line.startsWith(BEGIN) || [...SSH_PREFIXES, ...AGE_PREFIXES].some(prefix => words.startsWith(prefix));
}

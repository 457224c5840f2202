/** The header of a sealed file: docs/format-seal.md, "Header". All lengths are checked before any cryptography. */

import { concat, equal, Fields, fromHex, isZero, number, utf8, type Bytes } from "../bytes.ts";
import { kemOf } from "../crypto/kem.ts";
import { hkdf, hmac } from "../crypto/symmetric.ts";
import { LimitError, NewerError, NotSealedError, TamperedError } from "../error.ts";
import { isStanzas } from "./plugin.ts";

/** The preamble of a file without signatures. */
export const PREAMBLE = fromHex("8944504e0d0a1a0a0100");
/** The bytes up to the first recipient: preamble, length of the header, number of recipients. */
export const FIXED = 16;
export const MAC = 32;

const SMALLEST_BOX = 4 + 28 + 256;
const LARGEST_BOX = 28 + 4352;
const SMALLEST_RECIPIENT = 59;
const LARGEST_HEADER = 1 << 20;
/** What HPKE adds to a message: the tag of the file key or of a share of 32 bytes. */
export const SEALED_KEY = 48;

export const PASSPHRASE = 0xff01;
export const SESSION = 0xff02;
export const PLUGIN = 0xff03;
export const SHARE = 0xff04;
/** The bytes of a share's body before enc. */
export const SHARE_HEAD = 69;

/** A recipient as it stands in the header. */
export interface Recipient {
    readonly type: number;
    readonly body: Bytes;
}

/** The cost of a passphrase: memory in KiB, passes and lanes of Argon2id. */
export interface Cost {
    readonly memory: number;
    readonly passes: number;
    readonly lanes: number;
}

/** A header whose form is right. Nothing in it is authentic before `verify`. */
export class Header {
    readonly raw: Bytes;
    readonly preamble: Bytes;
    readonly recipients: readonly Recipient[];
    readonly box: Bytes;

    constructor(raw: Bytes, recipients: readonly Recipient[], box: Bytes) {
        this.raw = raw;
        this.preamble = raw.subarray(0, PREAMBLE.length);
        this.recipients = recipients;
        this.box = box;
    }

    get signed(): boolean {
        return this.preamble[9] === 1;
    }

    get shares(): Recipient[] {
        return this.recipients.filter(recipient => recipient.type === SHARE);
    }

    /** Refuses the header if its MAC is wrong under this file key. */
    async verify(fileKey: Bytes): Promise<void> {
        const mac = await headerMac(fileKey, this.preamble, this.raw.subarray(0, -MAC));
        if (!equal(mac, this.raw.subarray(-MAC))) {
            throw new TamperedError("the header was changed after sealing");
        }
    }
}

/** Derives a key from the file key. */
export function derive(fileKey: Bytes, label: string, preamble: Bytes): Promise<Bytes> {
    return hkdf("SHA-256", preamble, fileKey, utf8(label), 32);
}

export async function headerMac(fileKey: Bytes, preamble: Bytes, header: Bytes): Promise<Bytes> {
    return hmac("SHA-256", await derive(fileKey, "deadpan v1 header", preamble), header);
}

/** Returns the length of the header that begins with these 16 bytes. */
export function headerLength(start: Bytes): number {
    if (start.length < 8 || !equal(start.subarray(0, 8), PREAMBLE.subarray(0, 8))) {
        throw new NotSealedError("not a sealed file");
    }
    const fields = new Fields(start);
    fields.take(8);
    if (fields.number(1) !== 1) {
        throw new NewerError("sealed with a version of the format that this version does not know");
    }
    if (fields.number(1) > 1) {
        throw new NewerError("sealed with a flag that this version does not know");
    }
    const length = fields.number(4);
    const count = fields.number(2);
    if (length > LARGEST_HEADER) {
        throw new LimitError("the header asks for more than is allowed: it is longer than 1 MiB");
    }
    const room = length - FIXED - SMALLEST_BOX - MAC;
    if (room < SMALLEST_RECIPIENT || count < 1 || count > Math.floor(room / SMALLEST_RECIPIENT)) {
        throw damaged("its length and its number of recipients do not fit");
    }
    return length;
}

/** Reads a whole header. */
export function readHeader(raw: Bytes): Header {
    const start = new Fields(raw.subarray(0, FIXED));
    start.take(14);
    const count = start.number(2);
    const fields = new Fields(raw.subarray(FIXED, -MAC), damaged);
    const recipients: Recipient[] = [];
    for (let i = 0; i < count; i++) {
        recipients.push(readRecipient(fields));
    }
    if (recipients.filter(({ type }) => type === PASSPHRASE || type === SESSION).length > 1) {
        throw damaged("it has more than one passphrase");
    }
    checkGroup(recipients);
    const length = fields.number(4);
    if (length < 28 + 256 || length > LARGEST_BOX || (length - 28) % 256 !== 0) {
        throw damaged("the box with the metadata has an invalid length");
    }
    const box = fields.take(length);
    if (!isZero(fields.rest())) {
        throw damaged("its slack is not zero");
    }
    return new Header(raw, recipients, box);
}

function damaged(why: string): TamperedError {
    return new TamperedError(`the header is damaged: ${why}`);
}

function readRecipient(fields: Fields): Recipient {
    const type = fields.number(2);
    const length = fields.number(2);
    const expected = bodyLength(type);
    if (expected === undefined) {
        throw new NewerError("sealed with a type of recipient that this version does not know");
    }
    if (length < expected[0] || length > expected[1]) {
        throw damaged("a recipient has an invalid length");
    }
    const body = fields.take(length);
    switch (type) {
        case PASSPHRASE:
        case SESSION:
            readCost(body);
            break;
        case SHARE:
            checkShare(body);
            break;
        case PLUGIN:
            if (body[0]! > 1 || !isStanzas(body.subarray(1, -SEALED_KEY))) {
                throw damaged("the recipient of a plugin is malformed");
            }
            break;
    }
    return { type, body };
}

/** Returns the least and the largest length of a recipient's body, or undefined if the type is unknown. */
function bodyLength(type: number): [number, number] | undefined {
    switch (type) {
        case PASSPHRASE:
            return [108, 108];
        case SESSION:
            return [140, 140];
        case PLUGIN:
            return [55, 65535];
        case SHARE:
            return [SHARE_HEAD + 32 + SEALED_KEY, SHARE_HEAD + 1568 + SEALED_KEY];
        default: {
            const kem = kemOf(type);
            return kem && [kem.enc + SEALED_KEY, kem.enc + SEALED_KEY];
        }
    }
}

/** Reads the cost at the beginning of a passphrase's body, and refuses one that the format does not allow. */
export function readCost(body: Bytes): Cost {
    const fields = new Fields(body);
    const [memory, passes, lanes] = [fields.number(4), fields.number(4), fields.number(4)];
    const allowed =
        lanes >= 1 &&
        lanes <= 64 &&
        passes >= 1 &&
        passes <= 64 &&
        memory >= 8 * lanes &&
        memory <= 4_194_304 &&
        memory * passes <= 16_777_216;
    if (!allowed) {
        throw new LimitError("the header asks for more than is allowed: the cost of its passphrase is out of bounds");
    }
    return { memory, passes, lanes };
}

function checkShare(body: Bytes): void {
    const fields = new Fields(body, damaged);
    const [needed, of, index] = [fields.number(1), fields.number(1), fields.number(1)];
    const kem = kemOf(fields.number(2));
    if (kem === undefined) {
        throw new NewerError("sealed with a share for a kind of key that this version does not know");
    }
    if (needed < 2 || needed > of || index < 1 || index > of || body.length !== SHARE_HEAD + kem.enc + SEALED_KEY) {
        throw damaged("a share is malformed");
    }
}

/**
 * Shares are one group: all of them, one after another, in the order of their numbers, with the same K, N and check.
 */
function checkGroup(recipients: readonly Recipient[]): void {
    const places = recipients.flatMap(({ type }, place) => (type === SHARE ? [place] : []));
    if (places.length === 0) {
        return;
    }
    const first = recipients[places[0]!]!.body;
    const complete = places.every((place, i) => {
        const { body } = recipients[place]!;
        return (
            place === places[0]! + i &&
            body[2] === i + 1 &&
            equal(body.subarray(0, 2), first.subarray(0, 2)) &&
            equal(body.subarray(5, 37), first.subarray(5, 37))
        );
    });
    if (places.length !== first[1] || !complete) {
        throw damaged("its shares are not one complete group");
    }
}

/** Writes a header. `slack` is the number of zero bytes before the MAC. */
export async function writeHeader(
    fileKey: Bytes,
    recipients: readonly Recipient[],
    box: Bytes,
    slack: number,
): Promise<Bytes> {
    const parts = recipients.map(({ type, body }) => concat(number(type, 2), number(body.length, 2), body));
    const rest = concat(...parts, number(box.length, 4), box, new Uint8Array(slack));
    const length = FIXED + rest.length + MAC;
    if (length > LARGEST_HEADER) {
        throw new RangeError("there are more recipients than fit into a header");
    }
    const start = concat(PREAMBLE, number(length, 4), number(recipients.length, 2), rest);
    return concat(start, await headerMac(fileKey, PREAMBLE, start));
}

/** Thresholds: shares that keys open, and the file key that enough of them give. docs/format-seal.md, "Thresholds". */

import { concat, equal, Fields, utf8, type Bytes } from "../bytes.ts";
import { openBase } from "../crypto/hpke.ts";
import { kemOf } from "../crypto/kem.ts";
import { digest, hkdf } from "../crypto/symmetric.ts";
import { InvalidKeyError, NoKeyError, TamperedError } from "../error.ts";
import type { PrivateKey } from "../key/key.ts";
import { derive, SHARE_HEAD, type Header } from "./header.ts";

const MARK = utf8("deadpan v1 share");

/** A share that a member has taken out of a header and sent. */
export class Share {
    readonly needed: number;
    readonly of: number;
    readonly index: number;
    /** @internal */
    readonly group: Bytes;
    /** @internal */
    readonly share: Bytes;

    /** Reads the data of an opened share: 83 bytes. */
    constructor(data: Uint8Array) {
        const fields = new Fields(new Uint8Array(data), why => new InvalidKeyError(`not a share: ${why}`));
        if (data.length !== 83 || !equal(fields.take(16), MARK)) {
            throw new InvalidKeyError("not a share");
        }
        this.needed = fields.number(1);
        this.of = fields.number(1);
        this.index = fields.number(1);
        this.group = fields.take(32);
        this.share = fields.take(32);
    }
}

/** Returns the hash that names the group of shares in a header. */
export async function groupOf(header: Header): Promise<Bytes> {
    const bodies = header.shares.map(({ body }) => body);
    const first = bodies[0]!;
    const checks = bodies.map(body => body.subarray(37, SHARE_HEAD));
    const text = utf8("deadpan v1 threshold");
    return digest("SHA-256", concat(text, header.preamble, first.subarray(0, 2), first.subarray(5, 37), ...checks));
}

/** Returns the file key from the shares that keys open, and shares that other members have sent. */
export async function thresholdKey(
    header: Header,
    keys: readonly PrivateKey[],
    given: readonly Share[],
): Promise<Bytes> {
    const bodies = header.shares.map(({ body }) => body);
    const group = await groupOf(header);
    const [needed, of] = [bodies[0]![0]!, bodies[0]![1]!];
    const shares = new Map<number, Bytes>();
    let foreign = false;
    for (const body of bodies) {
        const index = body[2]!;
        for (const key of keys) {
            const share = await openShare(body, group, key, header.preamble);
            if (share !== undefined && (await isRight(body, share, header.preamble))) {
                shares.set(index, share);
            }
        }
    }
    for (const share of given) {
        const body = bodies[share.index - 1];
        const belongs = body !== undefined && share.needed === needed && share.of === of && equal(share.group, group);
        if (belongs && (await isRight(body, share.share, header.preamble))) {
            shares.set(share.index, share.share);
        } else {
            foreign = true;
        }
    }
    if (shares.size < needed) {
        if (foreign) {
            throw new TamperedError("a share is wrong, or belongs to another file");
        }
        const missing = needed - shares.size;
        throw new NoKeyError(
            `sealed to any ${needed} of ${of} keys; ${shares.size} of them ${shares.size === 1 ? "fits" : "fit"}; ` +
                `${missing} more ${missing === 1 ? "share is" : "shares are"} needed`,
        );
    }
    const fileKey = combine(new Map(Array.from(shares).slice(0, needed)));
    const check = await derive(fileKey, "deadpan v1 threshold check", header.preamble);
    if (!equal(check, bodies[0]!.subarray(5, 37))) {
        throw new TamperedError("the header was changed after sealing");
    }
    return fileKey;
}

async function openShare(body: Bytes, group: Bytes, key: PrivateKey, preamble: Bytes): Promise<Bytes | undefined> {
    const kem = kemOf(new DataView(body.buffer, body.byteOffset).getUint16(3));
    if (kem === undefined || kem.id !== key.kem.id) {
        return undefined;
    }
    const info = concat(utf8("deadpan v1 share"), preamble, body.subarray(2, 3), group);
    return openBase(kem, key.decapsulator, body.slice(SHARE_HEAD), info);
}

async function isRight(body: Bytes, share: Bytes, preamble: Bytes): Promise<boolean> {
    const info = concat(utf8("deadpan v1 share check"), body.subarray(0, 3));
    return equal(await hkdf("SHA-256", preamble, share, info, 32), body.subarray(37, SHARE_HEAD));
}

/** Multiplies in GF(256) modulo x^8 + x^4 + x^3 + x + 1, without a branch or a table that depends on the numbers. */
function times(a: number, b: number): number {
    let product = 0;
    for (let bit = 0; bit < 8; bit++) {
        product ^= a & -(b & 1);
        a = (a << 1) ^ (0x11b & -(a >> 7));
        b >>= 1;
    }
    return product;
}

/** The inverse of a number of GF(256): its power 254. */
function inverse(a: number): number {
    let power = 1;
    for (let i = 0; i < 254; i++) {
        power = times(power, a);
    }
    return power;
}

/** Returns the value at 0 of the polynomials through these points. */
function combine(shares: ReadonlyMap<number, Bytes>): Bytes {
    const secret = new Uint8Array(32);
    for (const [i, share] of shares) {
        let factor = 1;
        for (const j of shares.keys()) {
            if (j !== i) {
                factor = times(factor, times(j, inverse(j ^ i)));
            }
        }
        for (let at = 0; at < 32; at++) {
            secret[at]! ^= times(share[at]!, factor);
        }
    }
    return secret;
}

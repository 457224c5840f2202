/**
 * age files (C2SP `age.md`). docs/age.md describes what is read and written, and which rules are stricter than those of
 * the specification.
 */

import type { Bytes } from "../bytes.ts";
import { NotSealedError } from "../error.ts";
import type { MaxCost } from "../format/recipients.ts";
import { Pieces, streamOf, take, type Source } from "../source.ts";
import { isAgeArmor, unarmored, unarmoredPieces } from "./armor.ts";
import { newFileKey } from "./file-key.ts";
import { buildHeader, isAgeHeader, readHeader } from "./header.ts";
import { unlock, type AgeKeys } from "./keys.ts";
import { openPayload, PayloadSource, sealPayload } from "./payload.ts";
import { checkRecipients, sealTo, type AgeRecipient } from "./recipients.ts";

export { ageArmor } from "./armor.ts";
export type { AgeKeys } from "./keys.ts";
export type { AgeRecipient } from "./recipients.ts";

/** The first bytes that show whether data are an age file. White space may stand before armor. */
const START = 4096;

/** Returns whether data that begin with these bytes are an age file, in binary or in armor. 4096 bytes are enough. */
export function isAge(start: Uint8Array): boolean {
    return isAgeHeader(start) || isAgeArmor(start);
}

/** Opens an age file. The data can be read at any place, and are authentic where they are read. So is their length. */
export async function openAge(data: Source, keys: AgeKeys, maxCost: MaxCost): Promise<Source> {
    const sealed = isAgeArmor(await startOf(data)) ? await unarmored(data) : data;
    if (!isAgeHeader(await startOf(sealed))) {
        throw notAge();
    }
    const header = await readHeader(length => take(sealed, 0, Math.min(length, sealed.size)));
    return PayloadSource.open(sealed, header.length, await unlock(header, keys, maxCost));
}

/**
 * Opens a stream of an age file. Returns when the header is open, and hands out each piece of the data when it is
 * authentic. If the generator fails, what came out of it is not all. The stream is canceled if it is not read to its
 * end.
 */
export async function openAgeStream(
    pieces: Pieces,
    keys: AgeKeys,
    maxCost: MaxCost,
): Promise<AsyncGenerator<Bytes, void, void>> {
    try {
        const isArmored = isAgeArmor(await pieces.peek(START));
        const sealed = isArmored ? new Pieces(streamOf(unarmoredPieces(pieces))) : pieces;
        if (!isAgeHeader(await sealed.peek(START))) {
            throw notAge();
        }
        const header = await readHeader(length => sealed.peek(length));
        const fileKey = await unlock(header, keys, maxCost);
        await sealed.exactly(header.length);
        return canceling(openPayload(sealed, fileKey), pieces);
    } catch (why) {
        await cancel(pieces);
        throw why;
    }
}

async function* canceling(data: AsyncGenerator<Bytes, void, void>, pieces: Pieces): AsyncGenerator<Bytes, void, void> {
    try {
        yield* data;
    } finally {
        await cancel(pieces);
    }
}

async function cancel(pieces: Pieces): Promise<void> {
    // A stream that has failed cannot be canceled, and its failure is known already.
    await pieces.cancel().catch(() => undefined);
}

/** Options of `sealAgeStream`. */
export interface AgeOptions {
    /** Allows classical recipients beside hybrid ones. A quantum computer can then open the whole file. */
    readonly allowMixed?: boolean;
}

/**
 * Seals data as a binary age file. Throws a `TypeError` at once if the recipients do not fit: age has none with ML-KEM
 * alone, does not mix classical and post-quantum recipients, and wants a passphrase to be the only recipient.
 */
export function sealAgeStream(
    data: AsyncIterable<Uint8Array>,
    recipients: readonly AgeRecipient[],
    options: AgeOptions = {},
): AsyncGenerator<Bytes, void, void> {
    return seal(data, checkRecipients(recipients, options.allowMixed ?? false));
}

async function* seal(
    data: AsyncIterable<Uint8Array>,
    recipients: readonly AgeRecipient[],
): AsyncGenerator<Bytes, void, void> {
    const fileKey = newFileKey();
    const stanzas = await Promise.all(recipients.map(recipient => sealTo(recipient, fileKey)));
    yield await buildHeader(fileKey, stanzas);
    yield* sealPayload(data, fileKey);
}

function notAge(): NotSealedError {
    return new NotSealedError("the data are not an age file");
}

function startOf(data: Source): Promise<Bytes> {
    return take(data, 0, Math.min(data.size, START));
}

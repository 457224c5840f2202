/** The trailer of a signed file: hashes, statement and signatures. docs/format-seal.md, "Trailer". */

import { compare, concat, equal, Fields, isZero, number, type Bytes } from "../bytes.ts";
import { digest, Gcm, hmac } from "../crypto/symmetric.ts";
import { NewerError, SignatureError, TamperedError, TruncatedError } from "../error.ts";
import { take, type Source } from "../source.ts";
import { derive, type Header } from "./header.ts";
import type { ReadMetadata } from "./metadata.ts";
import { verify } from "./sshsig.ts";
import type { SignerKey } from "../key/signer.ts";

const FOOTER = 44;
const LEAVES = 8192;
const EXTRA = 28;
const CHUNK = 1024;
const STEP = 4096;
const LONGEST_STATEMENT = 404_053;
const LONGEST_SIGNATURE = 8192;
const MOST_SIGNATURES = 16;
const MOST_MARKS = 12_479;
const MOST_SEGMENTS = 2 ** 40;
const LATEST = 253_402_300_799;

/** What the signers have signed, apart from the data. */
export interface Statement {
    readonly preamble: Bytes;
    readonly metadata: Bytes;
    readonly root: Bytes;
    readonly length: number;
    /** The time of signing, in seconds since 1970. */
    readonly time: number;
    readonly signers: readonly Bytes[];
    /** The marks of the recipients that the signers sealed for, or undefined if they sealed for anyone. */
    readonly audience: { readonly salt: Bytes; readonly marks: readonly Bytes[] } | undefined;
}

/** A trailer whose signatures are right. Segments are compared with it one by one. */
export class Trailer {
    /** Where the trailer begins in the file. */
    readonly begin: number;
    readonly segments: number;
    readonly statement: Statement;
    readonly signers: readonly SignerKey[];
    readonly #source: Source;
    readonly #preamble: Bytes;
    readonly #leafKey: Gcm;
    readonly #pages: readonly Bytes[];
    #held: { page: number; leaves: Promise<Bytes> } | undefined;

    private constructor(
        source: Source,
        preamble: Bytes,
        leafKey: Gcm,
        footer: Footer,
        contents: Contents,
        signers: readonly SignerKey[],
    ) {
        this.#source = source;
        this.#preamble = preamble;
        this.#leafKey = leafKey;
        this.#pages = contents.pages;
        this.begin = footer.begin;
        this.segments = footer.segments;
        this.statement = contents.statement;
        this.signers = signers;
    }

    /** Reads the trailer at the end of a source, and verifies everything but the segments. */
    static async open(source: Source, header: Header, fileKey: Bytes, metadata: ReadMetadata): Promise<Trailer> {
        const { preamble } = header;
        const footer = await readFooter(source, header, fileKey);
        const leaves = 32 * footer.segments + EXTRA * pageCount(footer.segments);
        const boxKey = await Gcm.with(await derive(fileKey, "deadpan v1 signatures", preamble));
        const box = await take(source, footer.begin + leaves, footer.box);
        const opened = await opens(boxKey, box, concat(preamble, number(footer.segments, 8)));
        const contents = readContents(opened, footer.segments);
        const signers = await verifySigners(contents);
        await checkStatement(contents, footer.segments, preamble, metadata);
        const leafKey = await Gcm.with(await derive(fileKey, "deadpan v1 leaves", preamble));
        return new Trailer(source, preamble, leafKey, footer, contents, signers);
    }

    /** Refuses a payload of another length than was signed. */
    belongsTo(segments: number, length: number): void {
        if (segments !== this.segments) {
            throw damaged("it belongs to another number of segments");
        }
        if (length !== this.statement.length) {
            throw forged();
        }
    }

    /** Refuses the data of a segment that were not signed. */
    async check(segment: number, data: Bytes): Promise<void> {
        const zeros = new Uint8Array((CHUNK - ((16 + data.length) % CHUNK)) % CHUNK);
        const found = await hashed(
            "deadpan v1 signed segment",
            number(segment, 8),
            number(data.length, 8),
            data,
            zeros,
        );
        const leaves = await this.#leaves(Math.floor(segment / LEAVES));
        const at = (segment % LEAVES) * 32;
        if (!equal(found, leaves.subarray(at, at + 32))) {
            throw forged();
        }
    }

    /** Returns whether the signers have sealed for a recipient. `mark` is what its mark is made of, behind the salt. */
    async names(mark: Bytes): Promise<boolean> {
        const { audience } = this.statement;
        if (audience === undefined) {
            return true;
        }
        const found = await digest("SHA-256", concat(audience.salt, mark));
        return audience.marks.some(known => equal(known, found));
    }

    /** Refuses the hashes of segments that are not those of a leaf page. */
    async comparePage(page: number, leaves: Bytes): Promise<void> {
        if (!equal(await this.#leaves(page), leaves)) {
            throw forged();
        }
    }

    #leaves(page: number): Promise<Bytes> {
        if (this.#held?.page !== page) {
            this.#held = { page, leaves: this.#readLeaves(page) };
        }
        return this.#held.leaves;
    }

    async #readLeaves(page: number): Promise<Bytes> {
        const count = Math.min(LEAVES, this.segments - page * LEAVES);
        const sealed = await take(this.#source, this.begin + page * (LEAVES * 32 + EXTRA), 32 * count + EXTRA);
        const leaves = await opens(this.#leafKey, sealed, concat(this.#preamble, number(page, 8)));
        if (!equal(await hashed("deadpan v1 signed page", number(page, 8), leaves), this.#pages[page]!)) {
            throw forged();
        }
        return leaves;
    }
}

/** BLAKE3 in its mode `derive_key`, with 32 bytes of output. */
export async function hashed(context: string, ...parts: Bytes[]): Promise<Bytes> {
    const { createDeriveKey } = await import("../fallback/blake3.ts");
    const hasher = createDeriveKey(context);
    for (const part of parts) {
        hasher.update(part);
    }
    return hasher.finalize(32) as Bytes;
}

function forged(): SignatureError {
    return new SignatureError(
        "a signature is wrong or was removed: the data or the signers are not those that were signed",
    );
}

function damaged(why: string): TamperedError {
    return new TamperedError(`the trailer with the signatures is damaged: ${why}`);
}

function pageCount(segments: number): number {
    return Math.ceil(segments / LEAVES);
}

interface Footer {
    readonly segments: number;
    readonly box: number;
    readonly begin: number;
}

async function readFooter(source: Source, header: Header, fileKey: Bytes): Promise<Footer> {
    const raw = await take(source, source.size - FOOTER, FOOTER);
    const numbers = raw.slice(0, 12);
    const key = await derive(fileKey, "deadpan v1 footer", header.preamble);
    if (!equal(await hmac("SHA-256", key, numbers), raw.subarray(12))) {
        throw new TamperedError("the trailer with the signatures was changed after sealing");
    }
    const fields = new Fields(numbers, damaged);
    const segments = fields.number(8);
    const box = fields.number(4);
    const pages = pageCount(segments);
    const most = Math.ceil((32 * pages + 535_162) / STEP) * STEP;
    if (segments < 1 || segments > MOST_SEGMENTS || box - EXTRA < STEP || box - EXTRA > most) {
        throw damaged("its numbers are out of bounds");
    }
    if ((box - EXTRA) % STEP !== 0) {
        throw damaged("its numbers are out of bounds");
    }
    const begin = source.size - FOOTER - box - (32 * segments + EXTRA * pages);
    if (begin < header.raw.length) {
        throw new TruncatedError();
    }
    return { segments, box, begin };
}

/** Opens a leaf page or the box. */
async function opens(key: Gcm, sealed: Bytes, aad: Bytes): Promise<Bytes> {
    const opened = await key.open(sealed.slice(0, 12), sealed.slice(12), aad);
    if (opened === undefined) {
        throw new TamperedError("the trailer with the signatures was changed after sealing");
    }
    return opened;
}

interface Contents {
    readonly pages: readonly Bytes[];
    readonly signed: Bytes;
    readonly statement: Statement;
    readonly signatures: readonly Bytes[];
}

function readContents(box: Bytes, segments: number): Contents {
    const fields = new Fields(box, damaged);
    const pages = Array.from({ length: pageCount(segments) }, () => fields.take(32).slice());
    const signed = fields.take(bounded(fields.number(4), LONGEST_STATEMENT)).slice();
    const count = fields.number(1);
    if (count < 1 || count > MOST_SIGNATURES) {
        throw damaged("its numbers are out of bounds");
    }
    const signatures = Array.from({ length: count }, () =>
        fields.take(bounded(fields.number(2), LONGEST_SIGNATURE)).slice(),
    );
    const padding = fields.rest();
    if (padding.length >= STEP || !isZero(padding)) {
        throw damaged("the box goes on after its end");
    }
    return { pages, signed, statement: readStatement(signed), signatures };
}

function bounded(length: number, most: number): number {
    if (length > most) {
        throw damaged("its numbers are out of bounds");
    }
    return length;
}

function readStatement(signed: Bytes): Statement {
    const fields = new Fields(signed, damaged);
    if (fields.number(1) !== 2) {
        throw new NewerError("signed with a version of the statement that this version does not know");
    }
    const preamble = fields.take(10);
    const metadata = fields.take(bounded(fields.number(2), 4116));
    const root = fields.take(32);
    const [length, time, count] = [fields.number(8), fields.number(8), fields.number(1)];
    if (time > LATEST || count < 1 || count > MOST_SIGNATURES) {
        throw damaged("its numbers are out of bounds");
    }
    const signers = ordered(fields, count);
    const kind = fields.number(1);
    if (kind > 1) {
        throw new NewerError("signed for a kind of audience that this version does not know");
    }
    let audience: Statement["audience"];
    if (kind === 1) {
        const salt = fields.take(32);
        const marks = fields.number(2);
        if (marks < 1 || marks > MOST_MARKS) {
            throw damaged("its numbers are out of bounds");
        }
        audience = { salt, marks: ordered(fields, marks) };
    }
    if (fields.left > 0) {
        throw damaged("the statement goes on after its end");
    }
    return { preamble, metadata, root, length, time, signers, audience };
}

/** Reads hashes that stand in ascending order, each once. */
function ordered(fields: Fields, count: number): Bytes[] {
    const hashes: Bytes[] = [];
    for (let i = 0; i < count; i++) {
        const hash = fields.take(32);
        const before = hashes.at(-1);
        if (before !== undefined && compare(before, hash) >= 0) {
            throw damaged("hashes are not in order");
        }
        hashes.push(hash);
    }
    return hashes;
}

async function verifySigners({ signatures, signed, statement }: Contents): Promise<SignerKey[]> {
    const signers: SignerKey[] = [];
    for (const signature of signatures) {
        const signer = await verify(signature, signed);
        if (signers.some(known => equal(known.ssh, signer.ssh))) {
            throw forged();
        }
        signers.push(signer);
    }
    const names = await Promise.all(signers.map(({ ssh }) => digest("SHA-256", ssh)));
    names.sort(compare);
    const same =
        names.length === statement.signers.length && names.every((name, i) => equal(name, statement.signers[i]!));
    if (!same) {
        throw forged();
    }
    return signers;
}

/** Refuses a statement about another file. */
async function checkStatement(
    { pages, statement }: Contents,
    segments: number,
    preamble: Bytes,
    metadata: ReadMetadata,
): Promise<void> {
    const root = await hashed("deadpan v1 signed tree", number(segments, 8), number(statement.length, 8), ...pages);
    const right =
        equal(statement.preamble, preamble) &&
        equal(statement.metadata, metadata.fields) &&
        equal(statement.root, root);
    if (!right) {
        throw forged();
    }
}

/** Verifies the data that came out of a stream against the trailer after them. */
export class StreamVerifier {
    readonly #leaves: Promise<Bytes>[] = [];
    length = 0;

    add(segment: number, data: Bytes): void {
        const zeros = new Uint8Array((CHUNK - ((16 + data.length) % CHUNK)) % CHUNK);
        const leaf = hashed("deadpan v1 signed segment", number(segment, 8), number(data.length, 8), data, zeros);
        leaf.catch(() => {});
        this.#leaves.push(leaf);
        this.length += data.length;
    }

    /** Opens the trailer, which is the rest of the stream, and compares its leaves with those of the data. */
    async finish(rest: Source, header: Header, fileKey: Bytes, metadata: ReadMetadata): Promise<Trailer> {
        // The trailer counts from the header's end, where nothing but the trailer follows.
        const size = header.raw.length + rest.size;
        const shifted: Source = { size, read: (offset, length) => rest.read(offset - header.raw.length, length) };
        const trailer = await Trailer.open(shifted, header, fileKey, metadata);
        if (trailer.begin !== header.raw.length) {
            throw damaged("it does not end where the file ends");
        }
        if (trailer.segments !== this.#leaves.length || trailer.statement.length !== this.length) {
            throw forged();
        }
        const leaves = await Promise.all(this.#leaves);
        for (let page = 0; page * LEAVES < leaves.length; page++) {
            const of = concat(...leaves.slice(page * LEAVES, (page + 1) * LEAVES));
            await trailer.comparePage(page, of);
        }
        return trailer;
    }
}

/** What the tests of age files have in common. */

import { openAge, openAgeStream, sealAgeStream, type AgeKeys } from "../src/age/age.ts";
import { concat, utf8, type Bytes } from "../src/bytes.ts";
import type { KemName } from "../src/crypto/kem.ts";
import { PrivateKey } from "../src/key/key.ts";
import { SshKey } from "../src/key/openssh.ts";
import { readIdentities } from "../src/key/text.ts";
import { Passphrase } from "../src/passphrase.ts";
import { Pieces, source, type Source } from "../src/source.ts";
import { files, ok } from "./harness.ts";

export const MAX_COST = { memory: 2_621_440, passes: 3 };
export const DATA = utf8("A straight face.\n");
export const KINDS: readonly KemName[] = ["X25519", "X-Wing", "P-256", "ML-KEM-768 + P-256"];
/** The number of bytes of data in a full segment. */
export const CHUNK = 65536;

export function keys(...given: (PrivateKey | Passphrase)[]): AgeKeys {
    return {
        privateKeys: given.filter(key => key instanceof PrivateKey),
        sshKeys: [],
        passphrases: given.filter(key => key instanceof Passphrase),
    };
}

export async function* once(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
    yield* pieces;
}

export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Bytes> {
    const parts: Uint8Array[] = [];
    for await (const piece of pieces) {
        parts.push(piece);
    }
    return concat(...parts);
}

export function stream(bytes: Bytes, step = 1000): Pieces {
    let at = 0;
    return new Pieces(
        new ReadableStream<Uint8Array>({
            pull(controller) {
                if (at >= bytes.length) {
                    controller.close();
                    return;
                }
                controller.enqueue(bytes.slice(at, at + step));
                at += step;
            },
        }),
    );
}

export async function readAll(from: Source): Promise<Bytes> {
    return new Uint8Array(await from.read(0, from.size));
}

export async function seal(data: Bytes, ...recipients: Parameters<typeof sealAgeStream>[1]): Promise<Bytes> {
    return collect(sealAgeStream(once(data), recipients));
}

export async function open(sealed: Bytes, given: AgeKeys): Promise<Bytes> {
    return readAll(await openAge(source(sealed), given, MAX_COST));
}

export async function openStreamed(sealed: Bytes, given: AgeKeys, step?: number): Promise<Bytes> {
    return collect(await openAgeStream(stream(sealed, step), given, MAX_COST));
}

export async function frozen(name: string): Promise<Bytes> {
    const bytes = await files.read(`tests/frozen/0.2.0/${name}`);
    ok(bytes !== undefined, `${name} is missing`);
    return bytes;
}

export async function frozenKeys(...names: string[]): Promise<AgeKeys> {
    const found = await Promise.all(names.map(async name => readIdentities(await frozen(`keys/${name}`))));
    const all = found.flat();
    return {
        privateKeys: all.filter(key => key instanceof PrivateKey),
        sshKeys: all.filter(key => key instanceof SshKey),
        passphrases: [],
    };
}

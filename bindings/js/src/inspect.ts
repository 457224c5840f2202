/** What everybody can see of a sealed file. */

import { isAge } from "./age/age.ts";
import { utf8 } from "./bytes.ts";
import { kemOf, type KemName } from "./crypto/kem.ts";
import { armorSource, isArmor, WINDOW } from "./format/armor.ts";
import { PASSPHRASE, PLUGIN, readCost, SESSION, SHARE, type Cost, type Recipient } from "./format/header.ts";
import { headerOf } from "./open.ts";
import { source, take, type SourceLike } from "./source.ts";

/** A recipient as everybody sees it. */
export type Seen =
    | { readonly type: "key"; readonly kind: KemName }
    | { readonly type: "passphrase"; readonly session: boolean; readonly cost: Cost }
    | { readonly type: "plugin"; readonly postQuantum: boolean }
    | { readonly type: "share"; readonly needed: number; readonly of: number; readonly kind: KemName };

/** What everybody can see of a sealed file, without a key. Nothing of it is authentic before the file is opened. */
export interface Inspected {
    readonly format: "deadpan" | "age";
    readonly armor: boolean;
    readonly signed: boolean;
    /** The recipients of a file of Deadpan's. Those of an age file are not listed. */
    readonly recipients: readonly Seen[];
    readonly headerLength: number;
    readonly size: number;
}

/** Returns what everybody can see of a sealed file. */
export async function inspect(data: SourceLike | string): Promise<Inspected> {
    let from = source(typeof data === "string" ? utf8(data) : data);
    let start = await take(from, 0, Math.min(from.size, WINDOW));
    const armor = isArmor(start);
    if (armor) {
        from = await armorSource(from);
        start = await take(from, 0, Math.min(from.size, WINDOW));
    }
    if (isAge(start)) {
        return { format: "age", armor, signed: false, recipients: [], headerLength: 0, size: from.size };
    }
    const header = await headerOf(from);
    return {
        format: "deadpan",
        armor,
        signed: header.signed,
        recipients: header.recipients.map(seen),
        headerLength: header.raw.length,
        size: from.size,
    };
}

function seen({ type, body }: Recipient): Seen {
    switch (type) {
        case PASSPHRASE:
        case SESSION:
            return { type: "passphrase", session: type === SESSION, cost: readCost(body) };
        case PLUGIN:
            return { type: "plugin", postQuantum: body[0] === 1 };
        case SHARE: {
            const kem = kemOf(new DataView(body.buffer, body.byteOffset).getUint16(3));
            return { type: "share", needed: body[0]!, of: body[1]!, kind: kem!.name };
        }
        default:
            return { type: "key", kind: kemOf(type)!.name };
    }
}

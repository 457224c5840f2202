/** A program of a user, which knows the package as it is published. */

import { generateKey, NoKeyError, open, seal, type PrivateKey } from "deadpan";

const key: PrivateKey = await generateKey();
const face = new TextEncoder().encode("face");
const sealed: Uint8Array = await seal(face, key.publicKey, { name: "face.txt" });
const opened = await open(sealed, key);
if (opened.join() !== face.join()) {
    throw new Error("the data that come out are others");
}
const refused: unknown = await open(sealed, await generateKey("pqc")).catch(why => why);
if (!(refused instanceof NoKeyError)) {
    throw new Error("another key opens the data");
}

/** Opens and seals files and folders. README.md begins with an example. */

export type { Bytes } from "./bytes.ts";
export * from "./error.ts";
export { type DirectoryOptions } from "./folder/directory.ts";
export { Folder, type FolderEntry, type FolderNote } from "./folder/folder.ts";
export { directoryName, fromDirectory, fromFiles } from "./folder/browser.ts";
export { packFolder, type PackInput } from "./folder/pack.ts";
export { RefusedError, type UnpackFile, type UnpackTarget } from "./folder/target.ts";
export { unpackToDirectory, type Unpacked, type UnpackOptions } from "./folder/unpack.ts";
export { MAX_COST, setArgon2id, type Hash, type MaxCost } from "./format/recipients.ts";
export type { Cost } from "./format/header.ts";
export type { Kind, Time } from "./format/metadata.ts";
export { Share } from "./format/threshold.ts";
export { inspect, type Inspected, type Seen } from "./inspect.ts";
export { generateKey, PrivateKey, PublicKey } from "./key/key.ts";
export type { KemName } from "./crypto/kem.ts";
export { SshKey } from "./key/openssh.ts";
export { SignerKey } from "./key/signer.ts";
export type { SignerKind } from "./key/ssh.ts";
export { fingerprint } from "./key/fingerprint.ts";
export {
    privateKeyToAge,
    privateKeyToPem,
    publicKeyToAge,
    publicKeyToPem,
    readIdentities,
    readPrivateKey,
    readPrivateKeys,
    readPublicKey,
    readPublicKeys,
    readSigners,
} from "./key/text.ts";
export {
    open,
    openFile,
    openStream,
    OpenedFile,
    type Description,
    type Key,
    type OpenedStream,
    type OpenOptions,
    type Signatures,
    type StreamOptions,
} from "./open.ts";
export { withoutArmor } from "./format/armor.ts";
export { Passphrase } from "./passphrase.ts";
export {
    seal,
    sealFolder,
    sealStream,
    sealText,
    type FolderLike,
    type Sealable,
    type SealOptions,
    type To,
} from "./seal.ts";
export {
    fromFileHandle,
    remote,
    RemoteError,
    type FileHandleLike,
    type RemoteOptions,
    type Source,
    type SourceLike,
    type StreamLike,
} from "./source.ts";

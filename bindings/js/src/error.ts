/**
 * Errors about sealed data and keys, grouped by cause.
 *
 * Messages describe the error and give no advice: the caller knows its user. Wrong arguments are a `TypeError` or a
 * `RangeError`, and an aborted `AbortSignal` throws the signal's reason.
 */

/** The base class of all errors about sealed data and keys. */
export class DeadpanError extends Error {
    override name = "DeadpanError";
}

/** The data are not sealed. */
export class NotSealedError extends DeadpanError {
    override name = "NotSealedError";
}

/** A newer version sealed the data. */
export class NewerError extends DeadpanError {
    override name = "NewerError";
}

/** The data are damaged, or were changed after sealing. */
export class TamperedError extends DeadpanError {
    override name = "TamperedError";
}

/** The end of the data is missing. */
export class TruncatedError extends TamperedError {
    override name = "TruncatedError";

    constructor(message = "the sealed data end too early") {
        super(message);
    }
}

/** A signature is wrong or missing. */
export class SignatureError extends TamperedError {
    override name = "SignatureError";
}

/** The data need more memory or work than is allowed. */
export class LimitError extends DeadpanError {
    override name = "LimitError";
}

/** No key opens the data. */
export class NoKeyError extends DeadpanError {
    override name = "NoKeyError";
}

/** The passphrase is wrong. */
export class PassphraseError extends NoKeyError {
    override name = "PassphraseError";

    constructor(message = "the passphrase does not fit") {
        super(message);
    }
}

/** A try of the passphrase costs more than the caller allows. */
export class CostlyError extends NoKeyError {
    override name = "CostlyError";
}

/** The text is not a key, or the key is damaged. */
export class InvalidKeyError extends DeadpanError {
    override name = "InvalidKeyError";
}

/** A passphrase locks the private key, and none was given. */
export class LockedKeyError extends InvalidKeyError {
    override name = "LockedKeyError";
}

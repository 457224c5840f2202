package deadpan;

/** A recipient of sealed data: the owner of a key, or everybody who knows a passphrase. */
public sealed interface Recipient permits PublicKey, Passphrase, Session {}

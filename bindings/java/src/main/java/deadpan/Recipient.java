package deadpan;

/** Whom data are sealed to: the owner of a key, or everybody who knows a passphrase. */
public sealed interface Recipient permits PublicKey, Passphrase, Session {}

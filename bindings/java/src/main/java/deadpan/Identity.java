package deadpan;

/** A key, passphrase or session that opens sealed data. */
public sealed interface Identity permits PrivateKey, Passphrase, Session {}

package deadpan;

/** What data are opened with. */
public sealed interface Identity permits PrivateKey, Passphrase, Session {}

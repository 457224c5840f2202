package deadpan;

/** The private key is protected by a passphrase, and no passphrase was given. */
public final class LockedKeyException extends DamagedKeyException {
    private static final long serialVersionUID = 1;

    LockedKeyException(String message) {
        super(message);
    }
}

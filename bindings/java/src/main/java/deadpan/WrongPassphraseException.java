package deadpan;

/** The passphrase is wrong. */
public final class WrongPassphraseException extends NoKeyException {
    private static final long serialVersionUID = 1;

    WrongPassphraseException(String message) {
        super(message);
    }
}

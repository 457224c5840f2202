package deadpan;

/** Trying the passphrase costs more than is allowed. */
public final class CostlyPassphraseException extends NoKeyException {
    private static final long serialVersionUID = 1;

    CostlyPassphraseException(String message) {
        super(message);
    }
}

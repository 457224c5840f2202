package deadpan;

/** The sealed data ask for more memory or work than is allowed. */
public final class LimitException extends DeadpanException {
    private static final long serialVersionUID = 1;

    LimitException(String message) {
        super(message);
    }
}

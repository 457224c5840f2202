package deadpan;

/** The data are not sealed. */
public final class NotSealedException extends DeadpanException {
    private static final long serialVersionUID = 1;

    NotSealedException(String message) {
        super(message);
    }
}

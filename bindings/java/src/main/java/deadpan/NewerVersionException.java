package deadpan;

/** The data were sealed by a newer version. */
public final class NewerVersionException extends DeadpanException {
    private static final long serialVersionUID = 1;

    NewerVersionException(String message) {
        super(message);
    }
}

package deadpan;

/**
 * A {@link SealingStream} was closed without {@link SealingStream#finish}, or got bytes after
 * {@code finish}. Without {@code finish}, the sealed data are cut short and do not open.
 */
public class UnfinishedException extends DeadpanException {
    private static final long serialVersionUID = 1;

    UnfinishedException(String message) {
        super(message);
    }
}

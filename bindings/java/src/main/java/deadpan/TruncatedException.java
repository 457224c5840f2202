package deadpan;

/** The sealed data end too early. */
public final class TruncatedException extends TamperedException {
    private static final long serialVersionUID = 1;

    TruncatedException(String message) {
        super(message);
    }
}

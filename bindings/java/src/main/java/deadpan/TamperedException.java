package deadpan;

/** The sealed data are damaged, or were changed after sealing. */
public class TamperedException extends DeadpanException {
    private static final long serialVersionUID = 1;

    TamperedException(String message) {
        super(message);
    }
}

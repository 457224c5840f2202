package deadpan;

/** No key opens the data. */
public class NoKeyException extends DeadpanException {
    private static final long serialVersionUID = 1;

    NoKeyException(String message) {
        super(message);
    }
}

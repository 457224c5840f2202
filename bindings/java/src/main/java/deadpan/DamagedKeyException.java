package deadpan;

/** The key is damaged, or the text is not a key. */
public class DamagedKeyException extends DeadpanException {
    private static final long serialVersionUID = 1;

    DamagedKeyException(String message) {
        super(message);
    }
}

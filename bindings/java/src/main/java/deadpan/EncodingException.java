package deadpan;

/** A text is not valid base64, or a padding is not valid. */
public final class EncodingException extends DeadpanException {
    private static final long serialVersionUID = 1;

    EncodingException(String message) {
        super(message);
    }
}

package deadpan;

/** A signature is wrong or missing. */
public final class ForgedSignatureException extends TamperedException {
    private static final long serialVersionUID = 1;

    ForgedSignatureException(String message) {
        super(message);
    }
}

package deadpan;

/** The caller's memory for a result is too small. */
public final class BufferTooSmallException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    /** How many bytes are enough. */
    private final long needed;

    BufferTooSmallException(long needed) {
        super("the buffer is too small: it needs " + needed + " bytes");
        this.needed = needed;
    }

    /**
     * Returns how many bytes are enough.
     *
     * @return the number of bytes
     */
    public long needed() {
        return needed;
    }
}

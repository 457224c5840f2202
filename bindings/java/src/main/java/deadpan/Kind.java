package deadpan;

/** Kinds of keys. Choose {@link #XWING} unless you have a reason against it. */
public enum Kind {
    /** The classical curve P-256. */
    P256(0x0010),
    /** The classical curve X25519, which age also uses. */
    X25519(0x0020),
    /** ML-KEM-768, post-quantum without a classical part. */
    ML_KEM_768(0x0041),
    /** ML-KEM-1024, post-quantum without a classical part. */
    ML_KEM_1024(0x0042),
    /** ML-KEM-768 and P-256 together. */
    ML_KEM_768_P256(0x0050),
    /** ML-KEM-768 and X25519 together. */
    XWING(0x647a);

    private final int id;

    Kind(int id) {
        this.id = id;
    }

    /**
     * Returns the number in HPKE's registry.
     *
     * @return the number
     */
    public int id() {
        return id;
    }

    static Kind of(long id) {
        for (Kind kind : values()) {
            if (kind.id == id) {
                return kind;
            }
        }
        throw new AssertionError("the library has a kind of key that this package lacks: " + id);
    }
}

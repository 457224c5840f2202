package deadpan;

/** Forms of written keys. */
final class Form {
    static final int PEM = 0;
    static final int AGE = 1;

    private Form() {}
}

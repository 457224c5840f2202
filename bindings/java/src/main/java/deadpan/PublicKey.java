package deadpan;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;

/**
 * A public key, to which data are sealed.
 *
 * <p>A public key is a value: two objects are equal if they hold the same key, and a public key
 * need not be closed.
 */
public final class PublicKey implements Recipient {
    private static final MethodHandle READ =
            Library.function(
                    "dp_public_key_read",
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle WRITE =
            Library.function(
                    "dp_public_key_write",
                    Library.HANDLE,
                    Library.INT,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle KIND =
            Library.function(
                    "dp_public_key_kind", Library.HANDLE, Library.POINTER, Library.POINTER);
    private static final MethodHandle FINGERPRINT =
            Library.function(
                    "dp_public_key_fingerprint",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_public_key_free", Library.HANDLE);

    private final Handle handle;
    private final Recipe recipe;
    private final Kind kind;

    PublicKey(long number) {
        handle = Handle.of(this, "public key", number, FREE);
        kind = Kind.of(Call.run(call -> (int) KIND.invokeExact(number, call.result, call.error)));
        recipe = Recipe.ofKey(this, number);
    }

    /**
     * Reads a key from PEM or an age recipient. A text with several keys is an error.
     *
     * @param text the text of the key
     * @return the key
     * @throws DamagedKeyException if the text holds no public key
     * @throws DeadpanException if the key cannot be read for another reason
     */
    public static PublicKey read(byte[] text) throws DeadpanException {
        Given.notNull(text, "text");
        return new PublicKey(
                Call.about(
                        call ->
                                (int)
                                        READ.invokeExact(
                                                call.secret(text),
                                                (long) text.length,
                                                call.result,
                                                call.error)));
    }

    /**
     * Reads a key from PEM or an age recipient. A text with several keys is an error.
     *
     * @param text the text of the key
     * @return the key
     * @throws DamagedKeyException if the text holds no public key
     * @throws DeadpanException if the key cannot be read for another reason
     */
    public static PublicKey read(String text) throws DeadpanException {
        return read(Given.notNull(text, "text").getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Writes the key as PEM.
     *
     * @return the text
     */
    public String toPem() {
        return write(Form.PEM);
    }

    /**
     * Writes the key as an age recipient.
     *
     * @return the text
     * @throws IllegalArgumentException if age has no keys of this kind
     */
    public String toAge() {
        return write(Form.AGE);
    }

    private String write(int form) {
        try {
            long number = handle.number();
            byte[] text =
                    Call.text(
                            call ->
                                    (int)
                                            WRITE.invokeExact(
                                                    number,
                                                    form,
                                                    call.text,
                                                    call.text.byteSize(),
                                                    call.result,
                                                    call.error));
            return new String(text, StandardCharsets.UTF_8);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the kind of the key.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the fingerprint of the key, by which people compare keys.
     *
     * @return the fingerprint
     */
    public String fingerprint() {
        try {
            long number = handle.number();
            byte[] text =
                    Call.text(
                            call ->
                                    (int)
                                            FINGERPRINT.invokeExact(
                                                    number,
                                                    call.text,
                                                    call.text.byteSize(),
                                                    call.result,
                                                    call.error));
            return new String(text, StandardCharsets.UTF_8);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    Recipe recipe() {
        return recipe;
    }

    long number() {
        return handle.number();
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || other instanceof PublicKey key
                        && kind == key.kind
                        && toPem().equals(key.toPem());
    }

    @Override
    public int hashCode() {
        return toPem().hashCode();
    }

    /** Returns the kind and the fingerprint. */
    @Override
    public String toString() {
        return "PublicKey[" + kind + " " + fingerprint() + "]";
    }
}

package deadpan;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * A private key, which opens data that were sealed to its public key. Close it to wipe it.
 *
 * <p>Any thread may use a key.
 *
 * {@snippet :
 * try (PrivateKey key = PrivateKey.generate(Kind.XWING)) {
 *     byte[] sealed = Deadpan.seal(data, key.publicKey());
 *     byte[] opened = Deadpan.open(sealed, key);
 * }
 * }
 */
public final class PrivateKey implements Identity, AutoCloseable {
    private static final MethodHandle GENERATE =
            Library.function(
                    "dp_private_key_generate", Library.INT, Library.POINTER, Library.POINTER);
    private static final MethodHandle READ =
            Library.function(
                    "dp_private_key_read",
                    Library.POINTER,
                    Library.SIZE,
                    Library.HANDLE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle WRITE =
            Library.function(
                    "dp_private_key_write",
                    Library.HANDLE,
                    Library.INT,
                    Library.HANDLE,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle PUBLIC =
            Library.function(
                    "dp_private_key_public", Library.HANDLE, Library.POINTER, Library.POINTER);
    private static final MethodHandle EQUAL =
            Library.function(
                    "dp_private_key_equal",
                    Library.HANDLE,
                    Library.HANDLE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle FREE =
            Library.function("dp_private_key_free", Library.HANDLE);

    private final Handle handle;
    private final Ring ring;
    private final PublicKey publicKey;

    private PrivateKey(long number) {
        handle = Handle.of(this, "private key", number, FREE);
        try {
            publicKey =
                    new PublicKey(
                            Call.run(
                                    call ->
                                            (int)
                                                    PUBLIC.invokeExact(
                                                            number, call.result, call.error)));
            ring = Ring.ofKey(this, number);
        } catch (Throwable failed) {
            handle.close();
            throw failed;
        }
    }

    /**
     * Makes a key.
     *
     * @param kind the kind of key
     * @return the key
     */
    public static PrivateKey generate(Kind kind) {
        int id = Given.notNull(kind, "kind").id();
        return new PrivateKey(
                Call.run(call -> (int) GENERATE.invokeExact(id, call.result, call.error)));
    }

    /**
     * Reads a key from PEM or an age identity. A text with several keys is an error. Wipe the text
     * after use.
     *
     * @param text the text of the key
     * @return the key
     * @throws LockedKeyException if the key is protected by a passphrase
     * @throws DamagedKeyException if the text holds no private key
     * @throws DeadpanException if the key cannot be read for another reason
     */
    public static PrivateKey read(byte[] text) throws DeadpanException {
        return read(text, 0L);
    }

    /**
     * Reads a key that may be protected by a passphrase.
     *
     * @param text the text of the key
     * @param passphrase the passphrase
     * @return the key
     * @throws WrongPassphraseException if the passphrase is wrong
     * @throws DamagedKeyException if the text holds no private key
     * @throws DeadpanException if the key cannot be read for another reason
     */
    public static PrivateKey read(byte[] text, Passphrase passphrase) throws DeadpanException {
        try {
            return read(text, Given.notNull(passphrase, "passphrase").number());
        } finally {
            Reference.reachabilityFence(passphrase);
        }
    }

    private static PrivateKey read(byte[] text, long passphrase) throws DeadpanException {
        Given.notNull(text, "text");
        return new PrivateKey(
                Call.about(
                        call ->
                                (int)
                                        READ.invokeExact(
                                                call.secret(text),
                                                (long) text.length,
                                                passphrase,
                                                call.result,
                                                call.error)));
    }

    /**
     * Writes the key as PEM. Wipe the text after use.
     *
     * @return the text
     */
    public byte[] toPem() {
        return write(Form.PEM, 0);
    }

    /**
     * Writes the key as PEM, protected by a passphrase.
     *
     * @param passphrase the passphrase
     * @return the text
     */
    public byte[] toPem(Passphrase passphrase) {
        try {
            return write(Form.PEM, Given.notNull(passphrase, "passphrase").number());
        } finally {
            Reference.reachabilityFence(passphrase);
        }
    }

    /**
     * Writes the key as an age identity. Wipe the text after use.
     *
     * @return the text
     * @throws IllegalArgumentException if age has no keys of this kind
     */
    public byte[] toAge() {
        return write(Form.AGE, 0);
    }

    private byte[] write(int form, long passphrase) {
        try {
            long number = handle.number();
            return Call.text(
                    call ->
                            (int)
                                    WRITE.invokeExact(
                                            number,
                                            form,
                                            passphrase,
                                            call.text,
                                            call.text.byteSize(),
                                            call.result,
                                            call.error));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the public key, which can still be used after this key is closed.
     *
     * @return the public key
     */
    public PublicKey publicKey() {
        return publicKey;
    }

    /**
     * Returns the kind of the key.
     *
     * @return the kind
     */
    public Kind kind() {
        return publicKey.kind();
    }

    Ring ring() {
        return ring;
    }

    long number() {
        return handle.number();
    }

    /**
     * Compares keys by value, in constant time. A key is equal to the key that is read from its
     * written form. A closed key is equal only to itself.
     */
    @Override
    public boolean equals(Object other) {
        if (this == other) {
            return true;
        }
        if (!(other instanceof PrivateKey key) || !handle.isOpen() || !key.handle.isOpen()) {
            return false;
        }
        try {
            long one = handle.number();
            long two = key.handle.number();
            return 1
                    == Call.run(call -> (int) EQUAL.invokeExact(one, two, call.result, call.error));
        } catch (IllegalStateException closed) {
            return false;
        } finally {
            Reference.reachabilityFence(this);
            Reference.reachabilityFence(key);
        }
    }

    /** Returns the hash of the public key, which is not secret and can be used after closing. */
    @Override
    public int hashCode() {
        return publicKey.hashCode();
    }

    /** Wipes the key. Does nothing if the key is closed. */
    @Override
    public void close() {
        ring.close();
        handle.close();
    }

    /** Returns a text with the fingerprint of the public key. The text contains no secret. */
    @Override
    public String toString() {
        return "PrivateKey[" + publicKey.fingerprint() + "]";
    }
}

package deadpan;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * A passphrase that was hashed once, for many items. Close it to wipe it.
 *
 * {@snippet :
 * try (Session session = Session.of(passphrase)) {
 *     for (byte[] item : items) {
 *         store(Deadpan.seal(item, session));
 *     }
 * }
 * }
 */
public final class Session implements Recipient, Identity, AutoCloseable {
    private static final MethodHandle NEW =
            Library.function("dp_session_new", Library.HANDLE, Library.POINTER, Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_session_free", Library.HANDLE);

    private final Handle handle;
    private final Recipe recipe;
    private final Ring ring;

    private Session(long number) {
        handle = Handle.of(this, "session", number, FREE);
        try {
            recipe = Recipe.ofSession(this, number);
            ring = Ring.ofSession(this, number);
        } catch (Throwable failed) {
            handle.close();
            throw failed;
        }
    }

    /**
     * Hashes a passphrase, which takes a noticeable time.
     *
     * @param passphrase the passphrase, which may be closed afterwards
     * @return the session
     */
    public static Session of(Passphrase passphrase) {
        long number = Given.notNull(passphrase, "passphrase").number();
        try {
            return new Session(
                    Call.run(call -> (int) NEW.invokeExact(number, call.result, call.error)));
        } finally {
            Reference.reachabilityFence(passphrase);
        }
    }

    long number() {
        return handle.number();
    }

    Recipe recipe() {
        return recipe;
    }

    Ring ring() {
        return ring;
    }

    /** Wipes the session. Does nothing if the session is closed already. */
    @Override
    public void close() {
        recipe.close();
        ring.close();
        handle.close();
    }

    /** Returns a text without the passphrase. */
    @Override
    public String toString() {
        return "Session";
    }
}

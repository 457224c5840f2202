package deadpan;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.List;

/**
 * The library's list of what data are opened with. Each identity keeps its own, so that a call
 * makes none.
 */
final class Ring implements AutoCloseable {
    private static final MethodHandle NEW =
            Library.function("dp_opening_new", Library.POINTER, Library.POINTER);
    private static final MethodHandle ADD_KEY =
            Library.function("dp_opening_add_key", Library.HANDLE, Library.HANDLE, Library.POINTER);
    private static final MethodHandle ADD_PASSPHRASE =
            Library.function(
                    "dp_opening_add_passphrase", Library.HANDLE, Library.HANDLE, Library.POINTER);
    private static final MethodHandle ADD_SESSION =
            Library.function(
                    "dp_opening_add_session", Library.HANDLE, Library.HANDLE, Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_opening_free", Library.HANDLE);

    private final Handle handle;
    private final boolean isKept;

    private Ring(Object owner, String noun, boolean isKept) {
        long number = Call.run(call -> (int) NEW.invokeExact(call.result, call.error));
        this.handle =
                owner == null
                        ? Handle.brief(noun, number, FREE)
                        : Handle.of(owner, noun, number, FREE);
        this.isKept = isKept;
    }

    static Ring ofKey(Object owner, long key) {
        return new Ring(owner, "private key", true).add(ADD_KEY, key);
    }

    static Ring ofPassphrase(Object owner, long passphrase) {
        return new Ring(owner, "passphrase", true).add(ADD_PASSPHRASE, passphrase);
    }

    static Ring ofSession(Object owner, long session) {
        return new Ring(owner, "session", true).add(ADD_SESSION, session);
    }

    /** Returns the ring of these identities, which {@link #done} gives back. */
    static Ring of(List<Identity> identities) {
        if (identities.size() == 1) {
            return switch (identities.getFirst()) {
                case PrivateKey key -> key.ring();
                case Passphrase passphrase -> passphrase.ring();
                case Session session -> session.ring();
            };
        }
        Ring ring = new Ring(null, "list of identities", false);
        try {
            for (Identity identity : identities) {
                switch (identity) {
                    case PrivateKey key -> ring.add(ADD_KEY, key.number());
                    case Passphrase passphrase -> ring.add(ADD_PASSPHRASE, passphrase.number());
                    case Session session -> ring.add(ADD_SESSION, session.number());
                }
            }
        } catch (Throwable failed) {
            ring.close();
            throw failed;
        } finally {
            Reference.reachabilityFence(identities);
        }
        return ring;
    }

    private Ring add(MethodHandle how, long identity) {
        try {
            long number = number();
            Call.run(call -> (int) how.invokeExact(number, identity, call.error));
            return this;
        } catch (Throwable failed) {
            close();
            throw failed;
        }
    }

    long number() {
        return handle.number();
    }

    /** Gives back a ring that was made for one call. */
    void done() {
        if (!isKept) {
            close();
        }
    }

    @Override
    public void close() {
        handle.close();
    }
}

package deadpan;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.List;

/**
 * The library's list of identities. Each identity has its own list, which contains only this
 * identity and is used for calls with one identity.
 */
final class Ring extends HandleList {
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
    private static final MethodHandle MAX_COST =
            Library.function(
                    "dp_opening_max_cost",
                    Library.HANDLE,
                    Library.INT,
                    Library.INT,
                    Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_opening_free", Library.HANDLE);

    /** The limit on the cost of a passphrase: memory in KiB, and passes over this memory. */
    record Limit(int memory, int passes) {}

    private Ring(Object owner, String noun) {
        super(owner, noun, NEW, FREE);
    }

    static Ring ofKey(Object owner, long key) {
        return of(owner, "private key", ADD_KEY, key);
    }

    static Ring ofPassphrase(Object owner, long passphrase) {
        return of(owner, "passphrase", ADD_PASSPHRASE, passphrase);
    }

    static Ring ofSession(Object owner, long session) {
        return of(owner, "session", ADD_SESSION, session);
    }

    /**
     * Returns a list of these identities. {@link #done} must be called after use.
     *
     * @param limit the limit on the cost of trying a passphrase, or {@code null} for the library's
     *     limit
     */
    static Ring of(List<Identity> identities, Limit limit) {
        if (identities.size() == 1 && limit == null) {
            return switch (identities.getFirst()) {
                case PrivateKey key -> key.ring();
                case Passphrase passphrase -> passphrase.ring();
                case Session session -> session.ring();
            };
        }
        Ring ring = new Ring(null, "list of identities");
        try {
            for (Identity identity : identities) {
                switch (identity) {
                    case PrivateKey key -> ring.add(ADD_KEY, key.number());
                    case Passphrase passphrase -> ring.add(ADD_PASSPHRASE, passphrase.number());
                    case Session session -> ring.add(ADD_SESSION, session.number());
                }
            }
            if (limit != null) {
                long number = ring.number();
                Call.run(
                        call ->
                                (int)
                                        MAX_COST.invokeExact(
                                                number, limit.memory, limit.passes, call.error));
            }
        } catch (Throwable failed) {
            ring.close();
            throw failed;
        } finally {
            Reference.reachabilityFence(identities);
        }
        return ring;
    }

    private static Ring of(Object owner, String noun, MethodHandle how, long entry) {
        Ring list = new Ring(owner, noun);
        list.add(how, entry);
        return list;
    }
}

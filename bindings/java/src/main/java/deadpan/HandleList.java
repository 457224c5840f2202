package deadpan;

import java.lang.invoke.MethodHandle;

/** A list in the library, either of recipients or of identities. */
abstract class HandleList implements AutoCloseable {
    private final Handle handle;
    private final boolean isKept;

    /**
     * Makes an empty list. With an owner, the list lives as long as the owner. Without an owner,
     * the list is for one call, and {@link #done} frees it.
     */
    HandleList(Object owner, String noun, MethodHandle make, MethodHandle free) {
        long number = Call.run(call -> (int) make.invokeExact(call.result, call.error));
        handle =
                owner == null
                        ? Handle.brief(noun, number, free)
                        : Handle.of(owner, noun, number, free);
        isKept = owner != null;
    }

    /** Adds a key, a passphrase or a session. Closes the list if adding fails. */
    final void add(MethodHandle how, long entry) {
        try {
            long number = number();
            Call.run(call -> (int) how.invokeExact(number, entry, call.error));
        } catch (Throwable failed) {
            close();
            throw failed;
        }
    }

    final long number() {
        return handle.number();
    }

    /** Frees a list that was made for one call. */
    final void done() {
        if (!isKept) {
            close();
        }
    }

    @Override
    public final void close() {
        handle.close();
    }
}

package deadpan;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A handle of the library. The handle is freed exactly once: by {@link #close}, or by the cleaner
 * when nothing refers to the owner of the handle.
 *
 * <p>The library does not free a value that a call uses, and it refuses the number of a freed
 * handle. A handle may therefore be closed while another thread uses it.
 */
final class Handle implements AutoCloseable {
    static final Cleaner CLEANER = Cleaner.create();

    private final State state;
    private final Cleaner.Cleanable cleanable;

    private Handle(State state, Object owner) {
        this.state = state;
        // If a handle has no owner, the call that made the handle also closes it.
        this.cleanable = owner == null ? state::run : CLEANER.register(owner, state);
    }

    /** Makes a handle that is freed when nothing refers to its owner. */
    static Handle of(Object owner, String noun, long number, MethodHandle free) {
        return new Handle(new State(number, free, noun, null), owner);
    }

    /**
     * Makes a handle that is freed when nothing refers to its owner. When the handle is freed, its
     * callback is unregistered, too.
     */
    static Handle of(Object owner, String noun, long number, MethodHandle free, Callback callback) {
        return new Handle(new State(number, free, noun, callback), owner);
    }

    /** Makes a handle for one call. */
    static Handle brief(String noun, long number, MethodHandle free) {
        return new Handle(new State(number, free, noun, null), null);
    }

    /** Returns the number, for a call of the library. */
    long number() {
        long number = state.number.get();
        if (number == 0) {
            throw new IllegalStateException("the " + state.noun + " is closed");
        }
        return number;
    }

    boolean isOpen() {
        return state.number.get() != 0;
    }

    @Override
    public void close() {
        cleanable.clean();
    }

    /** The work that is left when the owner is gone. It holds no reference to the owner. */
    private record State(AtomicLong number, MethodHandle free, String noun, Callback callback)
            implements Runnable {
        State(long number, MethodHandle free, String noun, Callback callback) {
            this(new AtomicLong(number), free, noun, callback);
        }

        @Override
        public void run() {
            long freed = number.getAndSet(0);
            if (freed == 0) {
                return;
            }
            try {
                if ((int) free.invokeExact(freed) != Failure.OK) {
                    throw new AssertionError("the " + noun + " was freed by others");
                }
            } catch (Throwable thrown) {
                throw Failure.unexpected(thrown);
            } finally {
                if (callback != null) {
                    callback.close();
                }
            }
        }
    }
}

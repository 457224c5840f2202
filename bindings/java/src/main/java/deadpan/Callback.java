package deadpan;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Code of the caller that the library calls, from any thread.
 *
 * <p>There is one pointer for each kind of callback. The library passes a number to the callback,
 * and the callback finds its Java object by this number. No exception may reach the library,
 * because an exception there would end the program. So the callback stores the exception for the
 * thread that waits for the work.
 */
abstract class Callback implements AutoCloseable {
    static final MemorySegment PROGRESS =
            pointer("progress", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    static final MemorySegment READ =
            pointer("read", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));
    static final MemorySegment WRITE =
            pointer("write", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG));
    static final MemorySegment READ_AT =
            pointer(
                    "readAt",
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));
    static final MemorySegment EACH =
            pointer(
                    "each",
                    FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_INT, JAVA_LONG));

    private static final Map<Long, Callback> ALL = new ConcurrentHashMap<>();
    private static final AtomicLong NUMBERS = new AtomicLong();

    private static final int GO_ON = 0;
    private static final int STOP = -1;

    final long number = NUMBERS.incrementAndGet();
    private final Thread caller = Thread.currentThread();
    private final AtomicReference<Throwable> thrown = new AtomicReference<>();

    /**
     * The threads of the library that run the caller's code. There may be several threads, because
     * one stream may be read while another stream is written.
     */
    private final Set<Thread> runners = ConcurrentHashMap.newKeySet();

    private volatile boolean interrupted;

    Callback() {
        ALL.put(number, this);
    }

    /** Gets the number of bytes that are done. */
    void progress(long done) throws Exception {
        throw new AssertionError();
    }

    /** Fills a buffer. Returns the number of bytes, 0 at the end. */
    long read(MemorySegment buffer) throws Exception {
        throw new AssertionError();
    }

    /** Fills a buffer from a position. Returns the number of bytes, 0 at the end. */
    long readAt(long position, MemorySegment buffer) throws Exception {
        throw new AssertionError();
    }

    /** Takes all of the bytes. */
    void write(MemorySegment bytes) throws Exception {
        throw new AssertionError();
    }

    /** Gets an entry of a folder. */
    void each(String path, int kind, long size) throws Exception {
        throw new AssertionError();
    }

    /** Makes all later calls fail, and wakes the library's threads that run the caller's code. */
    final void interrupt() {
        interrupted = true;
        runners.forEach(Thread::interrupt);
    }

    /** Returns and forgets what the caller's code threw, or returns {@code null}. */
    final Throwable takeThrown() {
        return thrown.getAndSet(null);
    }

    @Override
    public void close() {
        ALL.remove(number);
    }

    /** Runs the caller's code with a buffer that becomes unusable afterwards. */
    private long guarded(Body body, MemorySegment memory, long length) {
        Thread thread = Thread.currentThread();
        boolean isOther = thread != caller && runners.add(thread);
        try (Arena arena = Arena.ofConfined()) {
            if (interrupted) {
                return STOP;
            }
            MemorySegment bound = memory == null ? null : memory.reinterpret(length, arena, null);
            return body.run(this, bound);
        } catch (Throwable failed) {
            thrown.compareAndSet(null, failed);
            return STOP;
        } finally {
            if (isOther) {
                runners.remove(thread);
                // Clears the flag, because the library's thread may be used again.
                Thread.interrupted();
            }
        }
    }

    @FunctionalInterface
    private interface Body {
        long run(Callback callback, MemorySegment memory) throws Exception;
    }

    private static long guarded(long user, MemorySegment memory, long length, Body body) {
        Callback callback = ALL.get(user);
        return callback == null ? STOP : callback.guarded(body, memory, length);
    }

    // The static methods that the library calls.

    @SuppressWarnings("unused")
    private static int progress(long done, long user) {
        Body body =
                (callback, none) -> {
                    callback.progress(done);
                    return GO_ON;
                };
        return (int) guarded(user, null, 0, body);
    }

    @SuppressWarnings("unused")
    private static long read(long user, MemorySegment buffer, long room) {
        return guarded(user, buffer, room, Callback::read);
    }

    @SuppressWarnings("unused")
    private static int write(long user, MemorySegment bytes, long length) {
        Body body =
                (callback, memory) -> {
                    callback.write(memory);
                    return GO_ON;
                };
        return (int) guarded(user, bytes, length, body);
    }

    @SuppressWarnings("unused")
    private static long readAt(long user, long position, MemorySegment buffer, long room) {
        return guarded(user, buffer, room, (callback, memory) -> callback.readAt(position, memory));
    }

    @SuppressWarnings("unused")
    private static int each(long user, MemorySegment path, int kind, long size) {
        Body body =
                (callback, memory) -> {
                    callback.each(memory.getString(0), kind, size);
                    return GO_ON;
                };
        return (int) guarded(user, path, Long.MAX_VALUE, body);
    }

    private static MemorySegment pointer(String name, FunctionDescriptor descriptor) {
        try {
            MethodType type = descriptor.toMethodType();
            MethodHandle method = MethodHandles.lookup().findStatic(Callback.class, name, type);
            return Library.callback(method, descriptor);
        } catch (ReflectiveOperationException missing) {
            throw new AssertionError(missing);
        }
    }

    /** Checks a count that the caller's code returned for an array of this length. */
    static int checked(int count, int room, String from) throws IOException {
        if (count < -1 || count > room || count == 0 && room > 0) {
            throw new IOException(
                    from + " returned " + count + " for a buffer of " + room + " bytes");
        }
        return Math.max(count, 0);
    }
}

package deadpan;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Long work on the caller's thread, with its options and callbacks. Other threads can stop it.
 *
 * <p>{@link Thread#interrupt} stops the work in the same way as it stops channels: immediately, and
 * without a thread that polls.
 */
final class Work implements AutoCloseable {
    private static final MethodHandle NEW =
            Library.function("dp_work_new", Library.POINTER, Library.POINTER);
    private static final MethodHandle THREADS =
            Library.function("dp_work_threads", Library.HANDLE, Library.INT, Library.POINTER);
    private static final MethodHandle WATCH =
            Library.function(
                    "dp_work_watch",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.HANDLE,
                    Library.POINTER);
    private static final MethodHandle STOP =
            Library.function("dp_work_stop", Library.HANDLE, Library.INT, Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_work_free", Library.HANDLE);

    private static final Set<Work> RUNNING = ConcurrentHashMap.newKeySet();
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(Work::stopAll, "deadpan-end"));
        } catch (IllegalStateException ending) {
            // The program is already ending.
        }
    }

    private final Handle handle;
    private final Callback progress;
    private final Callback streams;
    private final Stop stop = new Stop();

    /**
     * Begins work.
     *
     * @param streams the callbacks of the work other than its progress, or {@code null}
     */
    Work(Effort effort, Callback streams) {
        int threads = effort.threads();
        Progress progress = effort.progress();
        this.streams = streams;
        long number = Call.run(call -> (int) NEW.invokeExact(call.result, call.error));
        handle = Handle.brief("work", number, FREE);
        this.progress = progress == null ? null : new Told(progress);
        try {
            if (threads > 0) {
                Call.run(call -> (int) THREADS.invokeExact(number, threads, call.error));
            }
            if (progress != null) {
                long user = this.progress.number;
                Call.run(
                        call ->
                                (int)
                                        WATCH.invokeExact(
                                                number, Callback.PROGRESS, user, call.error));
            }
        } catch (Throwable failed) {
            close();
            throw failed;
        }
    }

    /** Returns the handle, for the call. */
    long number() {
        return handle.number();
    }

    /** Calls a function and returns its result. An interrupt of this thread stops it. */
    long run(Failure.Subject subject, Call.Body body) throws IOException {
        try (Call call = new Call()) {
            int code = interruptibly(call, body);
            IOException failed = null;
            if (code != Failure.OK) {
                Call.Told told = call.takeTold();
                if (code == Failure.ROOM) {
                    throw new BufferTooSmallException(call.result.get(ValueLayout.JAVA_LONG, 0));
                }
                failed = failure(code, told, subject);
            }
            Throwable thrown = takeThrown();
            if (thrown != null) {
                throw Failure.thrown(thrown, failed);
            }
            if (failed != null) {
                throw failed;
            }
            return call.result.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /**
     * Returns the error of this work. After an interrupt, the library may report that a callback
     * failed, because the callback was not run.
     */
    private IOException failure(int code, Call.Told told, Failure.Subject subject) {
        if (code == Failure.STOPPED) {
            return new InterruptedIOException(told.text());
        }
        if (stop.isStopped && (code == Failure.READ || code == Failure.WRITE)) {
            return new InterruptedIOException("stopped by an interrupt");
        }
        return Failure.of(code, told, subject);
    }

    private Throwable takeThrown() {
        Throwable thrown = progress == null ? null : progress.takeThrown();
        return thrown != null || streams == null ? thrown : streams.takeThrown();
    }

    private int interruptibly(Call call, Call.Body body) {
        RUNNING.add(this);
        stop.start();
        try {
            return call.code(body);
        } finally {
            stop.finish();
            RUNNING.remove(this);
            if (stop.isInterrupted) {
                // A stream of the caller may have cleared the interrupt flag for its own exception.
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Stops all work when the program ends, so that no incomplete output is left. Waits for a short
     * time.
     */
    private static void stopAll() {
        long start = System.nanoTime();
        while (!RUNNING.isEmpty() && System.nanoTime() - start < PATIENCE) {
            RUNNING.forEach(work -> work.stop.stop());
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    @Override
    public void close() {
        handle.close();
        if (progress != null) {
            progress.close();
        }
    }

    /** Gets interrupts in the same way as a channel. */
    private final class Stop extends AbstractInterruptibleChannel {
        private volatile boolean isStopped;
        private boolean isInterrupted;

        void start() {
            begin();
        }

        void finish() {
            try {
                end(true);
            } catch (ClosedByInterruptException interrupted) {
                // The result code of the call shows whether the work was complete before the
                // interrupt.
                isInterrupted = true;
            } catch (AsynchronousCloseException ending) {
                // The program is ending.
            }
        }

        /** Stops the work, from any thread. */
        void stop() {
            try {
                close();
            } catch (IOException never) {
                throw new AssertionError(never);
            }
        }

        @Override
        protected void implCloseChannel() {
            isStopped = true;
            try {
                long number = number();
                Call.run(call -> (int) STOP.invokeExact(number, 1, call.error));
            } catch (IllegalStateException done) {
                return;
            }
            for (Callback callback : new Callback[] {progress, streams}) {
                if (callback != null) {
                    callback.interrupt();
                }
            }
        }
    }

    private static final class Told extends Callback {
        private final Progress progress;

        Told(Progress progress) {
            this.progress = progress;
        }

        @Override
        void progress(long done) {
            progress.done(done);
        }
    }
}

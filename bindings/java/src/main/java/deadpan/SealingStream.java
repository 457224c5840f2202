package deadpan;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Seals what is written to it, on the caller's thread, and writes the result to another stream.
 *
 * <p>{@link #finish} seals the end, and nothing else does: half of the data never looks like all of
 * it. {@link #close} closes the other stream. Without {@code finish} before it, the sealed data are
 * cut short and do not open, and {@code close} throws {@link UnfinishedException}. So a block that
 * is left by an exception, a stream that wraps this one and closes it, and a stream that is
 * forgotten leave sealed data that do not open.
 *
 * {@snippet :
 * try (SealingStream out = Sealer.to(key).newOutputStream(Files.newOutputStream(path))) {
 *     out.write(line);
 *     out.finish();
 * }
 * }
 *
 * <p>A stream that wraps this one may hold data back. Finish or flush it first: {@code
 * gzip.finish(); out.finish();} and {@code writer.flush(); out.finish();}.
 *
 * <p>Several threads may write; each write is whole.
 */
public final class SealingStream extends OutputStream implements WritableByteChannel {
    private static final MethodHandle NEW =
            Library.function(
                    "dp_writer_new",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.HANDLE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle WRITE =
            Library.function(
                    "dp_writer_write",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER);
    private static final MethodHandle FINISH =
            Library.function("dp_writer_finish", Library.HANDLE, Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_writer_free", Library.HANDLE);

    private static final int LEAST = 4 << 10;
    private static final int ROOM = 128 << 10;

    private final ReentrantLock lock = new ReentrantLock();
    private final OutputStream output;
    private final Sink sink;
    private final Handle handle;

    /** What was written and not sealed yet. */
    private MemorySegment pending = MemorySegment.NULL;

    private int filled;
    private boolean isFailed;
    private boolean isFinished;
    private volatile boolean isAbandoned;

    /** Whether bytes came after the end. */
    private boolean isLate;

    private boolean isClosed;

    SealingStream(Recipe recipe, OutputStream output) throws IOException {
        this.output = output;
        this.sink = new Sink(output);
        try {
            long number =
                    call(
                            call ->
                                    (int)
                                            NEW.invokeExact(
                                                    recipe.number(),
                                                    Callback.WRITE,
                                                    sink.number,
                                                    call.result,
                                                    call.error));
            handle = Handle.of(this, "sealing stream", number, FREE, sink);
        } catch (Throwable failed) {
            sink.close();
            throw failed;
        }
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, Given.notNull(bytes, "bytes").length);
        put(MemorySegment.ofArray(bytes).asSlice(offset, length));
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        int length = Given.notNull(source, "source").remaining();
        put(MemorySegment.ofBuffer(source));
        source.position(source.limit());
        return length;
    }

    /**
     * Hands what was written to the library, and flushes the other stream. The library keeps a part
     * of a segment. Does nothing if the stream is finished.
     */
    @Override
    public void flush() throws IOException {
        enter();
        try {
            // A stream that wraps this one flushes when it closes.
            if (isFinished && !isClosed) {
                return;
            }
            check();
            push();
            output.flush();
        } finally {
            Reference.reachabilityFence(this);
            lock.unlock();
        }
    }

    /**
     * Seals the end, and flushes the other stream. After this method has returned, the sealed data
     * are complete, and nothing more can be written. Does nothing if the stream is finished.
     *
     * @throws IOException if the end cannot be written; then the sealed data may be cut short
     */
    public void finish() throws IOException {
        enter();
        try {
            if (isFinished) {
                return;
            }
            check();
            push();
            run(call -> (int) FINISH.invokeExact(handle.number(), call.error));
            isFailed = true;
            output.flush();
            isFailed = false;
            isFinished = true;
            handle.close();
        } finally {
            Reference.reachabilityFence(this);
            lock.unlock();
        }
    }

    @Override
    public boolean isOpen() {
        return handle.isOpen();
    }

    /**
     * Closes the other stream. Without {@link #finish} before, the sealed data are cut short and do
     * not open. Closes the other stream once, but throws at each call: a stream that wraps this one
     * may have swallowed the first exception.
     *
     * @throws UnfinishedException if neither {@link #finish} nor {@link #abandon} was successful
     *     before, or if bytes came after {@code finish}; the other stream is closed all the same
     * @throws IOException if the other stream cannot be closed
     */
    @Override
    public void close() throws IOException {
        enter();
        try {
            boolean isFirst = !isClosed;
            isClosed = true;
            try (Closeable _ = isFirst ? this::release : () -> {}) {
                if (isLate) {
                    throw new UnfinishedException(
                            "the sealed data lack bytes that were written after finish()");
                }
                if (!isFinished && !isAbandoned) {
                    throw new UnfinishedException(
                            "the sealed data are cut short and do not open: "
                                    + (isFailed
                                            ? "the stream failed before finish()"
                                            : "finish() was not called before close()"));
                }
            }
        } finally {
            Reference.reachabilityFence(this);
            lock.unlock();
        }
    }

    private void release() throws IOException {
        try (output) {
            handle.close();
            pending.fill((byte) 0);
        }
    }

    /**
     * Cuts the sealed data short on purpose, so that they do not open. {@link #close} closes the
     * other stream then, and does not complain. Does nothing if the stream is finished.
     */
    public void abandon() {
        // Without the lock: a write that waits for the other stream must not hold this up.
        isAbandoned = true;
        handle.close();
    }

    private void put(MemorySegment data) throws IOException {
        enter();
        try {
            isLate |= isFinished && data.byteSize() > 0;
            check();
            // Whatever is thrown: what follows would have a gap before it.
            isFailed = true;
            take(data);
            isFailed = false;
        } finally {
            Reference.reachabilityFence(this);
            lock.unlock();
        }
    }

    private void take(MemorySegment data) throws IOException {
        if (data.byteSize() <= ROOM - filled) {
            add(data);
            return;
        }
        push();
        for (long done = 0; done < data.byteSize(); ) {
            MemorySegment rest = data.asSlice(done);
            if (rest.isNative()) {
                seal(rest);
                break;
            }
            long piece = Math.min(ROOM, rest.byteSize());
            add(rest.asSlice(0, piece));
            push();
            done += piece;
        }
    }

    /** Waits for other threads. A call from the other stream's own methods would overtake data. */
    private void enter() {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("the stream is used while it is in use by this thread");
        }
        lock.lock();
    }

    private void add(MemorySegment data) {
        long wanted = filled + data.byteSize();
        if (wanted > pending.byteSize()) {
            // Small data get small memory: many streams may be open.
            long room = Math.min(ROOM, Math.max(LEAST, 2 * wanted));
            MemorySegment larger = Arena.ofAuto().allocate(room);
            MemorySegment.copy(pending, 0, larger, 0, filled);
            pending.fill((byte) 0);
            pending = larger;
        }
        MemorySegment.copy(data, 0, pending, filled, data.byteSize());
        filled = (int) wanted;
    }

    /** Seals what is pending, and wipes it. */
    private void push() throws IOException {
        if (filled > 0) {
            MemorySegment full = pending.asSlice(0, filled);
            filled = 0;
            try {
                seal(full);
            } finally {
                full.fill((byte) 0);
            }
        }
    }

    private void seal(MemorySegment data) throws IOException {
        run(call -> (int) WRITE.invokeExact(handle.number(), data, data.byteSize(), call.error));
    }

    private void run(Call.Body body) throws IOException {
        boolean isDone = false;
        try {
            call(body);
            isDone = true;
        } finally {
            // What follows would have a gap before it.
            isFailed |= !isDone;
        }
    }

    private long call(Call.Body body) throws IOException {
        try {
            return Call.run(Failure.Subject.NONE, body);
        } catch (IOException failed) {
            Throwable thrown = sink.takeThrown();
            throw thrown == null ? failed : Failure.thrown(thrown, failed);
        }
    }

    private void check() throws IOException {
        if (isFinished && !isClosed) {
            throw new UnfinishedException("the stream is finished: bytes came after finish()");
        }
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        if (isFailed) {
            throw new IOException("the sealing stream has failed before");
        }
    }

    private static final class Sink extends Callback {
        private final OutputStream output;
        private byte[] array = {};

        Sink(OutputStream output) {
            this.output = output;
        }

        @Override
        void write(MemorySegment bytes) throws IOException {
            array = Streams.write(bytes, output, array);
        }
    }
}

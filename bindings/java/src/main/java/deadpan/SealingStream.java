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
 * Seals, on the caller's thread, the data that are written to this stream, and writes the result to
 * another stream.
 *
 * <p>Only {@link #finish} seals the end, so a part of the data never looks like all of the data.
 * {@link #close} closes the other stream. If {@code close} is called without {@code finish}, the
 * sealed data are cut short and do not open, and {@code close} throws {@link UnfinishedException}.
 * So the sealed data do not open if an exception leaves the try block, if a wrapping stream closes
 * this stream, or if nobody closes this stream.
 *
 * {@snippet :
 * try (SealingStream out = Sealer.to(key).newOutputStream(Files.newOutputStream(path))) {
 *     out.write(line);
 *     out.finish();
 * }
 * }
 *
 * <p>A stream that wraps this stream may still have data in its buffer. Finish or flush the
 * wrapping stream first: {@code gzip.finish(); out.finish();} and {@code writer.flush();
 * out.finish();}.
 *
 * <p>Several threads may write. The bytes of one call of write stay contiguous.
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

    /** Bytes that were written and are not sealed yet. */
    private MemorySegment pending = MemorySegment.NULL;

    private int filled;
    private boolean isFailed;
    private boolean isFinished;
    private volatile boolean isAbandoned;

    /** Whether bytes were written after the end. */
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
     * Passes the written bytes to the library, and flushes the other stream. The library keeps an
     * incomplete segment in its buffer. Does nothing if the stream is finished.
     */
    @Override
    public void flush() throws IOException {
        enter();
        try {
            // A stream that wraps this stream calls flush when it closes.
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
     * @throws IOException if the end cannot be written; in this case, the sealed data may be cut
     *     short
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
     * Closes the other stream. If {@link #finish} was not called before, the sealed data are cut
     * short and do not open. Closes the other stream only once, but throws the exception at each
     * call, because a stream that wraps this stream may have swallowed the first exception.
     *
     * @throws UnfinishedException if neither {@link #finish} nor {@link #abandon} was successful
     *     before, or if bytes came after {@code finish}; the other stream is closed even then
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
     * Cuts the sealed data short deliberately, so that they do not open. After this call, {@link
     * #close} closes the other stream without an exception. Does nothing if the stream is finished.
     */
    public void abandon() {
        // This method takes no lock, because a write that waits for the other stream must not delay
        // this method.
        isAbandoned = true;
        handle.close();
    }

    private void put(MemorySegment data) throws IOException {
        enter();
        try {
            isLate |= isFinished && data.byteSize() > 0;
            check();
            // After any exception, the stream refuses further data, because the bytes of the failed
            // call would be missing in the middle.
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

    /**
     * Waits for other threads. Refuses calls from methods of the other stream, because such calls
     * would put the data in the wrong order.
     */
    private void enter() {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("the stream is used while it is in use by this thread");
        }
        lock.lock();
    }

    private void add(MemorySegment data) {
        long wanted = filled + data.byteSize();
        if (wanted > pending.byteSize()) {
            // Small data get a small buffer, because many streams may be open.
            long room = Math.min(ROOM, Math.max(LEAST, 2 * wanted));
            MemorySegment larger = Arena.ofAuto().allocate(room);
            MemorySegment.copy(pending, 0, larger, 0, filled);
            pending.fill((byte) 0);
            pending = larger;
        }
        MemorySegment.copy(data, 0, pending, filled, data.byteSize());
        filled = (int) wanted;
    }

    /** Seals the pending bytes, and wipes them. */
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
            // After a failed write, the stream refuses further data, because the bytes of the
            // failed write would be missing in the middle.
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

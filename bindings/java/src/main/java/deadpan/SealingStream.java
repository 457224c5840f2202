package deadpan;

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
 * <p>{@link #close} seals the end and closes the other stream. Without it, and after an error or
 * {@link #abandon}, the sealed data are cut short and do not open. Several threads may write; each
 * write is whole.
 *
 * {@snippet :
 * try (OutputStream out = Sealer.to(key).newOutputStream(Files.newOutputStream(path))) {
 *     out.write(line);
 * }
 * }
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
        Objects.checkFromIndexSize(offset, length, bytes.length);
        put(MemorySegment.ofArray(bytes).asSlice(offset, length));
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        int length = source.remaining();
        put(MemorySegment.ofBuffer(source));
        source.position(source.limit());
        return length;
    }

    /**
     * Hands what was written to the library, and flushes the other stream. The library keeps a part
     * of a segment.
     */
    @Override
    public void flush() throws IOException {
        enter();
        try {
            check();
            push();
            output.flush();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isOpen() {
        return handle.isOpen();
    }

    /**
     * Seals the end, and closes the other stream. Does nothing if the stream is closed.
     *
     * @throws IOException if the end cannot be written; then the sealed data do not open
     */
    @Override
    public void close() throws IOException {
        enter();
        try {
            if (isClosed) {
                return;
            }
            isClosed = true;
            try (output) {
                if (isOpen() && !isFailed) {
                    push();
                    run(call -> (int) FINISH.invokeExact(handle.number(), call.error));
                }
            } finally {
                handle.close();
                pending.fill((byte) 0);
            }
        } finally {
            Reference.reachabilityFence(this);
            lock.unlock();
        }
    }

    /**
     * Ends the stream without sealing the end, so that the sealed data do not open. {@link #close}
     * closes the other stream then.
     */
    public void abandon() {
        // Without the lock: a write that waits for the other stream must not hold this up.
        handle.close();
    }

    private void put(MemorySegment data) throws IOException {
        enter();
        try {
            check();
            if (data.byteSize() <= ROOM - filled) {
                add(data);
            } else {
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
        } finally {
            Reference.reachabilityFence(this);
            lock.unlock();
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

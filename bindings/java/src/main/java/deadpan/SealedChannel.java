package deadpan;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The data of a sealed file, which can be read from any position. The channel decrypts only those
 * parts of the file that are read.
 *
 * <p>Several threads may read, but only one thread reads at a time. As with files, an interrupt
 * closes the channel.
 *
 * {@snippet :
 * try (SealedChannel channel = Opener.with(key).newChannel(path)) {
 *     channel.position(1_000_000).read(buffer);
 * }
 * }
 */
public final class SealedChannel extends AbstractInterruptibleChannel
        implements SeekableByteChannel {
    private static final MethodHandle NEW =
            Library.function(
                    "dp_reader_new",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle NEW_AT =
            Library.function(
                    "dp_reader_new_at",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.HANDLE,
                    Library.LONG,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle LENGTH =
            Library.function("dp_reader_length", Library.HANDLE, Library.POINTER, Library.POINTER);
    private static final MethodHandle READ =
            Library.function(
                    "dp_reader_read",
                    Library.HANDLE,
                    Library.LONG,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_reader_free", Library.HANDLE);

    private static final int ROOM = 256 << 10;

    private final ReentrantLock lock = new ReentrantLock();
    private final Failure.Subject subject;
    private final Source source;
    private final Handle handle;
    private final long size;
    private MemorySegment through = MemorySegment.NULL;
    private long position;

    SealedChannel(Ring ring, Path path) throws IOException {
        this(
                null,
                new Failure.Subject(path, null),
                call ->
                        (int)
                                NEW.invokeExact(
                                        ring.number(),
                                        NativePath.of(path, call.arena),
                                        call.result,
                                        call.error));
    }

    SealedChannel(Ring ring, SeekableByteChannel sealed) throws IOException {
        this(ring, new Source(sealed), sealed.size());
    }

    private SealedChannel(Ring ring, Source source, long length) throws IOException {
        this(
                source,
                Failure.Subject.NONE,
                call ->
                        (int)
                                NEW_AT.invokeExact(
                                        ring.number(),
                                        Callback.READ_AT,
                                        source.number,
                                        length,
                                        call.result,
                                        call.error));
    }

    private SealedChannel(Source source, Failure.Subject subject, Call.Body open)
            throws IOException {
        this.source = source;
        this.subject = subject;
        try {
            long number = call(open);
            handle = Handle.of(this, "sealed channel", number, FREE, source);
        } catch (Throwable failed) {
            if (source != null) {
                source.close();
            }
            throw failed;
        }
        long number = handle.number();
        size = Call.run(call -> (int) LENGTH.invokeExact(number, call.result, call.error));
    }

    /**
     * Reads from the position until the buffer is full or until the end of the data.
     *
     * @return the number of bytes, or -1 at the end
     */
    @Override
    public int read(ByteBuffer target) throws IOException {
        if (Given.notNull(target, "target").isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        lock.lock();
        try {
            check();
            if (!target.hasRemaining()) {
                return 0;
            }
            if (position >= size) {
                return -1;
            }
            boolean isDone = false;
            try {
                begin();
                int read = fill(target);
                position += read;
                isDone = true;
                return read;
            } finally {
                Reference.reachabilityFence(this);
                end(isDone);
            }
        } finally {
            lock.unlock();
        }
    }

    private int fill(ByteBuffer target) throws IOException {
        int done = 0;
        while (target.hasRemaining()) {
            MemorySegment room = MemorySegment.ofBuffer(target);
            MemorySegment piece = room.isNative() ? room : through(room.byteSize());
            MemorySegment wanted =
                    piece.asSlice(0, Math.min(ROOM, Math.min(room.byteSize(), piece.byteSize())));
            int read = read(position + done, wanted);
            if (!room.isNative()) {
                MemorySegment.copy(wanted, 0, room, 0, read);
                wanted.fill((byte) 0);
            }
            target.position(target.position() + read);
            done += read;
            if (read < wanted.byteSize()) {
                break;
            }
        }
        return done;
    }

    private int read(long at, MemorySegment piece) throws IOException {
        return (int)
                call(
                        call ->
                                (int)
                                        READ.invokeExact(
                                                handle.number(),
                                                at,
                                                piece,
                                                piece.byteSize(),
                                                call.result,
                                                call.error));
    }

    /** Returns native memory of this length, or less if this is more than one read returns. */
    private MemorySegment through(long length) {
        long wanted = Math.min(ROOM, length);
        if (through.byteSize() < wanted) {
            through = Arena.ofAuto().allocate(wanted);
        }
        return through;
    }

    private long call(Call.Body body) throws IOException {
        try {
            return Call.run(subject, body);
        } catch (IOException failed) {
            Throwable thrown = source == null ? null : source.takeThrown();
            throw thrown == null ? failed : Failure.thrown(thrown, failed);
        }
    }

    @Override
    public long size() throws IOException {
        check();
        return size;
    }

    @Override
    public long position() throws IOException {
        lock.lock();
        try {
            check();
            return position;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public SealedChannel position(long place) throws IOException {
        if (place < 0) {
            throw new IllegalArgumentException("a position before the beginning: " + place);
        }
        lock.lock();
        try {
            check();
            position = place;
            return this;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Not supported.
     *
     * @throws NonWritableChannelException always
     */
    @Override
    public int write(ByteBuffer bytes) {
        throw new NonWritableChannelException();
    }

    /**
     * Not supported.
     *
     * @throws NonWritableChannelException always
     */
    @Override
    public SealedChannel truncate(long length) {
        throw new NonWritableChannelException();
    }

    private void check() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    protected void implCloseChannel() throws IOException {
        handle.close();
        if (source != null) {
            source.sealed.close();
        }
    }

    /** The sealed data in a channel of the caller. */
    private static final class Source extends Callback {
        private final SeekableByteChannel sealed;

        Source(SeekableByteChannel sealed) {
            this.sealed = sealed;
        }

        @Override
        long readAt(long place, MemorySegment memory) throws IOException {
            ByteBuffer buffer = memory.asByteBuffer();
            sealed.position(place);
            while (buffer.hasRemaining()) {
                int before = buffer.position();
                int said = sealed.read(buffer);
                if (said == -1) {
                    break;
                }
                if (said <= 0 || said != buffer.position() - before) {
                    throw new IOException(
                            "the channel returned "
                                    + said
                                    + " for a buffer of "
                                    + (buffer.limit() - before)
                                    + " bytes");
                }
            }
            return buffer.position();
        }
    }
}

package deadpan;

import java.io.IOException;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ReadOnlyBufferException;
import java.util.List;

/**
 * Sealing and opening of bytes in memory, in one of three ways.
 *
 * <ul>
 *   <li>Short data are used without a copy, also on the heap. The collector waits during the call,
 *       at most for a millisecond.
 *   <li>Long data outside the heap are used without a copy. The collector does not wait, and an
 *       interrupt stops the work.
 *   <li>Long data on the heap go piece by piece through the buffers of a stream. The stream copies
 *       all data in and out, but it needs no memory for a second array, and the collector does not
 *       wait for all of the data.
 * </ul>
 */
final class Bytes {
    /** The longest data that the collector waits for. */
    static final long BRIEF = 4 << 20;

    private static final MemoryLayout[] PARAMETERS = {
        Library.HANDLE,
        Library.POINTER,
        Library.SIZE,
        Library.POINTER,
        Library.SIZE,
        Library.POINTER,
        Library.HANDLE,
        Library.POINTER
    };
    private static final MethodHandle SEAL = Library.function("dp_seal", PARAMETERS);
    private static final MethodHandle OPEN = Library.function("dp_open", PARAMETERS);
    private static final MethodHandle SEAL_BRIEF = Library.brief("dp_seal", PARAMETERS);
    private static final MethodHandle OPEN_BRIEF = Library.brief("dp_open", PARAMETERS);

    private static final long NO_WORK = 0;
    private static final Thread STRANGER = Thread.ofPlatform().daemon().unstarted(() -> {});

    private Bytes() {}

    /** Seals short data, only to keys. */
    static long sealBriefly(Recipe recipe, MemorySegment data, MemorySegment out)
            throws IOException {
        long[] written = new long[1];
        long[] error = new long[1];
        int code;
        try {
            code =
                    (int)
                            SEAL_BRIEF.invokeExact(
                                    recipe.number(),
                                    data,
                                    data.byteSize(),
                                    out,
                                    out.byteSize(),
                                    MemorySegment.ofArray(written),
                                    NO_WORK,
                                    MemorySegment.ofArray(error));
        } catch (Throwable thrown) {
            throw Failure.unexpected(thrown);
        }
        return outcome(code, written[0], error[0]);
    }

    /** Opens short data, only with keys. */
    static long openBriefly(Ring ring, MemorySegment sealed, MemorySegment out) throws IOException {
        long[] written = new long[1];
        long[] error = new long[1];
        int code;
        try {
            code =
                    (int)
                            OPEN_BRIEF.invokeExact(
                                    ring.number(),
                                    sealed,
                                    sealed.byteSize(),
                                    out,
                                    out.byteSize(),
                                    MemorySegment.ofArray(written),
                                    NO_WORK,
                                    MemorySegment.ofArray(error));
        } catch (Throwable thrown) {
            throw Failure.unexpected(thrown);
        }
        return outcome(code, written[0], error[0]);
    }

    /** Refuses a read-only output, because the library would write to it nevertheless. */
    static void checkWritable(MemorySegment out) {
        if (out.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
    }

    private static long outcome(int code, long written, long error) throws IOException {
        if (code == Failure.OK) {
            return written;
        }
        Call.Told told = Call.takeTold(error);
        if (code == Failure.ROOM) {
            throw new BufferTooSmallException(written);
        }
        throw Failure.of(code, told, Failure.Subject.NONE);
    }

    /** Seals data that may be long. */
    static long seal(Recipe recipe, MemorySegment data, MemorySegment out, Effort effort)
            throws IOException {
        if (data.isNative() && out.isNative()) {
            return natively(SEAL, recipe.number(), data, out, effort);
        }
        long needed = recipe.sealedLength(data.byteSize());
        if (out.byteSize() < needed) {
            throw new BufferTooSmallException(needed);
        }
        try (MemoryStream stream = new MemoryStream(data, out)) {
            return stream.run(Streams.SEAL, recipe.number(), effort);
        }
    }

    /** Opens data that may be long. */
    static long open(Ring ring, MemorySegment sealed, MemorySegment out, Effort effort)
            throws IOException {
        if (sealed.isNative() && out.isNative()) {
            return natively(OPEN, ring.number(), sealed, out, effort);
        }
        try (MemoryStream stream = new MemoryStream(sealed, out)) {
            return stream.run(Streams.OPEN, ring.number(), effort);
        } catch (MemoryStream.Full full) {
            throw new BufferTooSmallException(openedLength(ring, sealed));
        }
    }

    /** Seals or opens native memory, which the library uses without a copy. */
    private static long natively(
            MethodHandle how, long list, MemorySegment input, MemorySegment out, Effort effort)
            throws IOException {
        try (Work work = new Work(effort, null)) {
            return work.run(
                    Failure.Subject.NONE,
                    call ->
                            (int)
                                    how.invokeExact(
                                            list,
                                            input,
                                            input.byteSize(),
                                            out,
                                            out.byteSize(),
                                            call.result,
                                            work.number(),
                                            call.error));
        }
    }

    /** Returns how many bytes are enough for opened data. */
    static long openedLength(Ring ring, MemorySegment sealed) throws IOException {
        try {
            return openBriefly(ring, sealed, MemorySegment.NULL);
        } catch (BufferTooSmallException small) {
            return small.needed();
        }
    }

    /**
     * Uses memory as the input and the output of a stream. After a failure, wipes the bytes that
     * were written.
     */
    private static final class MemoryStream extends Callback {
        private final MemorySegment input;
        private final MemorySegment output;
        private final List<MemorySegment.Scope> scopes;
        private long position;
        private long filled;

        MemoryStream(MemorySegment input, MemorySegment output) {
            if (input.asOverlappingSlice(output).isPresent()) {
                throw new IllegalArgumentException("the input and the buffer share memory");
            }
            this.input = everywhere(input);
            this.output = everywhere(output);
            this.scopes = List.of(input.scope(), output.scope());
        }

        long run(MethodHandle how, long list, Effort effort) throws IOException {
            boolean isDone = false;
            try (Work work = new Work(effort, this)) {
                work.run(
                        Failure.Subject.NONE,
                        call ->
                                (int)
                                        how.invokeExact(
                                                list,
                                                READ,
                                                WRITE,
                                                number,
                                                work.number(),
                                                call.error));
                isDone = true;
                return filled;
            } finally {
                if (!isDone && scopes.getLast().isAlive()) {
                    output.asSlice(0, filled).fill((byte) 0);
                }
            }
        }

        @Override
        long read(MemorySegment buffer) {
            checkAlive();
            long length = Math.min(buffer.byteSize(), input.byteSize() - position);
            MemorySegment.copy(input, position, buffer, 0, length);
            position += length;
            return length;
        }

        @Override
        void write(MemorySegment bytes) throws Full {
            checkAlive();
            if (bytes.byteSize() > output.byteSize() - filled) {
                throw new Full();
            }
            MemorySegment.copy(bytes, 0, output, filled, bytes.byteSize());
            filled += bytes.byteSize();
        }

        /** Refuses memory that the progress callback has freed on the caller's thread. */
        private void checkAlive() {
            for (MemorySegment.Scope scope : scopes) {
                if (!scope.isAlive()) {
                    throw new IllegalStateException("the memory was freed in use");
                }
            }
        }

        /** Lets the library's threads use memory of this thread. This thread waits for them. */
        private static MemorySegment everywhere(MemorySegment memory) {
            return memory.isAccessibleBy(STRANGER)
                    ? memory
                    : MemorySegment.ofAddress(memory.address()).reinterpret(memory.byteSize());
        }

        /** Reports that the output is too small. */
        private static final class Full extends IOException {
            private static final long serialVersionUID = 1;
        }
    }
}

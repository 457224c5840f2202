package deadpan;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Streams of the caller as the input and the output of the library. */
final class Streams extends Callback {
    private static final MemoryLayout[] PARAMETERS = {
        Library.HANDLE,
        Library.POINTER,
        Library.POINTER,
        Library.HANDLE,
        Library.HANDLE,
        Library.POINTER
    };
    static final MethodHandle SEAL = Library.function("dp_seal_stream", PARAMETERS);
    static final MethodHandle OPEN = Library.function("dp_open_stream", PARAMETERS);

    /** The largest number of bytes that are copied through the heap at once. */
    private static final int PIECE = 256 << 10;

    private final InputStream input;
    private final OutputStream output;
    private byte[] in = {};
    private byte[] out = {};

    Streams(InputStream input, OutputStream output) {
        this.input = input;
        this.output = output;
    }

    void run(MethodHandle how, long list, Effort effort) throws IOException {
        try (Work work = new Work(effort, this)) {
            work.run(
                    Failure.Subject.NONE,
                    call ->
                            (int)
                                    how.invokeExact(
                                            list, READ, WRITE, number, work.number(), call.error));
            output.flush();
        }
    }

    @Override
    long read(MemorySegment buffer) throws IOException {
        int room = (int) Math.min(PIECE, buffer.byteSize());
        if (in.length < room) {
            in = new byte[room];
        }
        int count = checked(input.read(in, 0, room), room, "the input stream");
        MemorySegment.copy(in, 0, buffer, ValueLayout.JAVA_BYTE, 0, count);
        return count;
    }

    @Override
    void write(MemorySegment bytes) throws IOException {
        out = write(bytes, output, out);
    }

    /** Writes all bytes to a stream through an array, and returns the array for the next call. */
    static byte[] write(MemorySegment bytes, OutputStream output, byte[] array) throws IOException {
        long left = bytes.byteSize();
        int piece = (int) Math.min(PIECE, left);
        byte[] through = array.length < piece ? new byte[piece] : array;
        for (long done = 0; done < bytes.byteSize(); done += piece) {
            piece = (int) Math.min(through.length, bytes.byteSize() - done);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, done, through, 0, piece);
            output.write(through, 0, piece);
        }
        return through;
    }
}

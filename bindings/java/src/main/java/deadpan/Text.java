package deadpan;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Calls that turn bytes into other bytes in one step, in constant time: base64 and paddings. */
final class Text {
    /** Data longer than this are copied out of the heap, so that the collector does not wait. */
    private static final int BRIEF = 1 << 20;

    private Text() {}

    /** Calls a function of the library. */
    @FunctionalInterface
    interface Body {
        int run(MemorySegment data, MemorySegment out, MemorySegment written, MemorySegment error)
                throws Throwable;
    }

    /** Returns the result of a function on bytes. The result has at most {@code room} bytes. */
    static byte[] turn(byte[] data, long room, Body body) throws EncodingException {
        if (room > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException("the result is too long for an array");
        }
        byte[] out = new byte[(int) room];
        long length = data.length < BRIEF ? brief(data, out, body) : copied(data, out, body);
        if (length == out.length) {
            return out;
        }
        byte[] result = Arrays.copyOf(out, (int) length);
        Arrays.fill(out, (byte) 0);
        return result;
    }

    private static long brief(byte[] data, byte[] out, Body body) throws EncodingException {
        return run(MemorySegment.ofArray(data), MemorySegment.ofArray(out), body);
    }

    private static long copied(byte[] data, byte[] out, Body body) throws EncodingException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment input = arena.allocateFrom(ValueLayout.JAVA_BYTE, data);
            MemorySegment output = arena.allocate(out.length);
            try {
                long length = run(input, output, body);
                MemorySegment.copy(output, ValueLayout.JAVA_BYTE, 0, out, 0, (int) length);
                return length;
            } finally {
                input.fill((byte) 0);
                output.fill((byte) 0);
            }
        }
    }

    private static long run(MemorySegment data, MemorySegment out, Body body)
            throws EncodingException {
        try {
            return Call.about(call -> body.run(data, out, call.result, call.error));
        } catch (EncodingException invalid) {
            throw invalid;
        } catch (DeadpanException other) {
            throw new AssertionError(other);
        }
    }
}

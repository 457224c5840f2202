package deadpan;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/** One call of the library, with memory for the arguments, the result and the error of the call. */
final class Call implements AutoCloseable {
    /** Calls a function, and returns its code. */
    @FunctionalInterface
    interface Body {
        int run(Call call) throws Throwable;
    }

    /** The text of an error, and the system's number of the error or 0. */
    record Told(String text, int errno) {}

    private static final MethodHandle TEXT =
            Library.function(
                    "dp_error_text",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER);
    private static final MethodHandle ERRNO = Library.function("dp_error_errno", Library.HANDLE);
    private static final MethodHandle FREE = Library.function("dp_error_free", Library.HANDLE);

    /**
     * Most texts of keys and descriptions fit in a buffer of this length. For a longer text, the
     * call is repeated.
     */
    private static final int ROOM = 8192;

    final Arena arena = Arena.ofConfined();
    final MemorySegment result = arena.allocate(ValueLayout.JAVA_LONG);
    final MemorySegment error = arena.allocate(ValueLayout.JAVA_LONG);
    MemorySegment text;
    private MemorySegment secret = MemorySegment.NULL;

    /** Calls a function that needs no file, and returns its result. */
    static long run(Body body) {
        try {
            return run(Failure.Subject.NONE, body);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Calls a function, and returns its result. */
    static long run(Failure.Subject subject, Body body) throws IOException {
        try (Call call = new Call()) {
            int code = call.code(body);
            if (code != Failure.OK) {
                throw Failure.of(code, call.takeTold(), subject);
            }
            return call.result.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** Calls a function that needs only data and keys, and returns its result. */
    static long about(Body body) throws DeadpanException {
        try {
            return run(Failure.Subject.NONE, body);
        } catch (DeadpanException failed) {
            throw failed;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /**
     * Calls a function that writes a text. If the text is longer, calls the function again. Wipes
     * the copy in native memory.
     */
    static byte[] text(Failure.Subject subject, Body body) throws IOException {
        long room = ROOM;
        while (true) {
            try (Call call = new Call()) {
                call.text = call.arena.allocate(room);
                int code = call.code(body);
                long length = call.result.get(ValueLayout.JAVA_LONG, 0);
                if (code == Failure.ROOM && length > room) {
                    takeTold(call.error.get(ValueLayout.JAVA_LONG, 0));
                    room = length;
                    continue;
                }
                if (code != Failure.OK) {
                    throw Failure.of(code, call.takeTold(), subject);
                }
                byte[] text = call.text.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
                call.text.fill((byte) 0);
                return text;
            }
        }
    }

    /** Calls a function that writes a text and needs no file. */
    static byte[] text(Body body) {
        try {
            return text(Failure.Subject.NONE, body);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Copies bytes to memory that the library can read. This memory is wiped after the call. */
    MemorySegment secret(byte[] bytes) {
        secret = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
        return secret;
    }

    /** Calls a function, and returns its code. */
    int code(Body body) {
        try {
            return body.run(this);
        } catch (Throwable thrown) {
            throw Failure.unexpected(thrown);
        }
    }

    /** Returns the contents of this call's error, and frees the error. */
    Told takeTold() {
        return takeTold(error.get(ValueLayout.JAVA_LONG, 0));
    }

    /** Returns the contents of an error, and frees the error. */
    static Told takeTold(long error) {
        if (error == 0) {
            return new Told("there is no memory for the error", 0);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment length = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment text = MemorySegment.NULL;
            while ((int) TEXT.invokeExact(error, text, text.byteSize(), length) == Failure.ROOM) {
                text = arena.allocate(length.get(ValueLayout.JAVA_LONG, 0));
            }
            int errno = (int) ERRNO.invokeExact(error);
            if ((int) FREE.invokeExact(error) != Failure.OK) {
                throw new AssertionError("the error was freed by others");
            }
            byte[] bytes = text.toArray(ValueLayout.JAVA_BYTE);
            return new Told(new String(bytes, StandardCharsets.UTF_8), errno);
        } catch (Throwable thrown) {
            throw Failure.unexpected(thrown);
        }
    }

    @Override
    public void close() {
        secret.fill((byte) 0);
        arena.close();
    }
}

package deadpan.tests;

import java.io.InputStream;
import java.io.OutputStream;

/** Streams whose behavior a test chooses. */
final class Streams {
    private Streams() {}

    @FunctionalInterface
    interface Piece {
        int take(byte[] bytes, int offset, int length) throws java.io.IOException;
    }

    static InputStream reading(Piece piece) {
        return new InputStream() {
            @Override
            public int read() {
                throw new AssertionError("single bytes are slow");
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws java.io.IOException {
                return piece.take(bytes, offset, length);
            }
        };
    }

    static OutputStream writing(Piece piece) {
        return new OutputStream() {
            @Override
            public void write(int b) {
                throw new AssertionError("single bytes are slow");
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws java.io.IOException {
                piece.take(bytes, offset, length);
            }
        };
    }

    /** Throws any exception. */
    @SuppressWarnings("unchecked")
    static <T extends Throwable> int sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }
}

package deadpan.bench;

import java.io.IOException;
import java.util.Random;

/** An operation on data that are ready. */
abstract class Task implements AutoCloseable {
    /** Prepares an operation on data of a size. */
    @FunctionalInterface
    interface Maker {
        Task make(long size) throws Exception;
    }

    private final long size;

    Task(long size) {
        this.size = size;
    }

    final long size() {
        return size;
    }

    /** Does what is timed. */
    abstract void run() throws Exception;

    /** Checks the last result. */
    abstract void check() throws Exception;

    @Override
    public void close() throws IOException {}

    /** Returns data for an array. */
    static byte[] data(long size) {
        if (size > Integer.MAX_VALUE - (1 << 20)) {
            throw new IllegalArgumentException("too long for an array");
        }
        byte[] data = new byte[(int) size];
        new Random(size).nextBytes(data);
        return data;
    }

    static void require(boolean isRight) {
        if (!isRight) {
            throw new IllegalStateException("the result is wrong");
        }
    }
}

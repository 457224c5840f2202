package deadpan.bench;

import java.util.Random;

/**
 * An operation on data that were prepared before.
 *
 * @param run does the work that is timed
 * @param check checks the last result
 * @param close frees the resources of the operation
 */
record Task(Body run, Body check, Body close) {
    /** A part of a task. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    /** Prepares an operation on data of the given size. */
    @FunctionalInterface
    interface Maker {
        Task make(long size) throws Exception;
    }

    /**
     * Returns a task that seals or opens. The task's check opens the data, and then compares them
     * with the original data.
     */
    static Task of(boolean isOpening, Body seal, Body open, Body look, Body close)
            throws Exception {
        seal.run();
        open.run();
        Body check =
                () -> {
                    open.run();
                    look.run();
                };
        return new Task(isOpening ? open : seal, check, close);
    }

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

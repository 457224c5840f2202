package deadpan;

/**
 * Receives reports about the progress of long work.
 *
 * <p>The calls come from threads of the library, and two calls never run at once. An exception of
 * the method stops the work, and the call that does the work throws this exception.
 *
 * {@snippet :
 * Sealer.to(key).progress(done -> bar.setValue(done)).sealFile(plain, sealed);
 * }
 */
@FunctionalInterface
public interface Progress {
    /**
     * Receives the number of bytes that are processed so far.
     *
     * @param bytes the number of bytes
     */
    void done(long bytes);
}

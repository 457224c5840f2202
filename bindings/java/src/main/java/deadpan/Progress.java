package deadpan;

/**
 * Is told how much of long work is done.
 *
 * <p>The calls come from threads of the library, never two at once. What the method throws stops
 * the work, and comes out of the call that does the work.
 *
 * {@snippet :
 * Sealer.to(key).progress(done -> bar.setValue(done)).sealFile(plain, sealed);
 * }
 */
@FunctionalInterface
public interface Progress {
    /**
     * Is told how many bytes of data are done.
     *
     * @param bytes the number of bytes
     */
    void done(long bytes);
}

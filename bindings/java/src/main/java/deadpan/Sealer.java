package deadpan;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * Seals data to recipients, and has options. A sealer is immutable: each option returns a new
 * sealer.
 *
 * <p>Any thread may use a sealer. Nobody may change an input, or use an output, while a method
 * works on it. {@link Thread#interrupt} stops long work with {@link
 * java.io.InterruptedIOException}, and after an interrupt there is no output.
 *
 * {@snippet :
 * Sealer sealer = Sealer.to(alice, bob).hideLength();
 * sealer.replaceExisting().sealFile(Path.of("report.txt"), Path.of("report.dpn"));
 * }
 */
public final class Sealer {
    /** The collector waits only for calls with at most this number of recipients. */
    private static final int FEW = 8;

    /** Results up to this length are first made in memory that is too large, and then copied. */
    private static final int SHORT = 64 << 10;

    private final List<Recipient> recipients;
    private final Recipe.Options options;
    private final Effort effort;
    private final boolean isReplacing;
    private final boolean isOfKeys;

    /** The library's list of recipients, if it has no secrets and can therefore be kept. */
    private volatile Recipe kept;

    private Sealer(
            List<Recipient> recipients,
            Recipe.Options options,
            Effort effort,
            boolean isReplacing) {
        this.recipients = recipients;
        this.options = options;
        this.effort = effort;
        this.isReplacing = isReplacing;
        this.isOfKeys = areKeys(recipients);
    }

    /**
     * Returns a sealer that seals to these recipients.
     *
     * @param recipients the recipients, at least one
     * @return the sealer
     */
    public static Sealer to(Recipient... recipients) {
        return to(Given.list(recipients, "recipient"));
    }

    /**
     * Returns a sealer that seals to these recipients.
     *
     * @param recipients the recipients, at least one
     * @return the sealer
     */
    public static Sealer to(Collection<? extends Recipient> recipients) {
        List<Recipient> list = Given.list(recipients, "recipient");
        if (list.isEmpty()) {
            throw new IllegalArgumentException("there is no recipient");
        }
        return new Sealer(list, Recipe.Options.NONE, Effort.PLAIN, false);
    }

    private static boolean areKeys(List<Recipient> recipients) {
        for (Recipient recipient : recipients) {
            if (!(recipient instanceof PublicKey)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Allows a classical key together with other keys. The protection of the whole file is then
     * only classical.
     *
     * @return the sealer with this option
     */
    public Sealer allowMixed() {
        return with(options.withMixed());
    }

    /**
     * Pads the data, so that the length of the result reveals little about the length of the data.
     *
     * @return the sealer with this option
     */
    public Sealer hideLength() {
        return with(options.withHiddenLength());
    }

    /**
     * Compresses the data. The length of the result then tells something about the data.
     *
     * @param level from 1 (fast) to 19 (small); 3 is a good choice
     * @return the sealer with this option
     */
    public Sealer compress(int level) {
        if (level < 1 || level > 19) {
            throw new IllegalArgumentException(
                    "a level of compression is a number from 1 to 19, not " + level);
        }
        return with(options.withLevel(level));
    }

    /**
     * Chooses age's format instead of Deadpan's.
     *
     * @return the sealer with this option
     */
    public Sealer ageFormat() {
        return with(options.withAge());
    }

    /**
     * Leaves out of folders what these patterns match, after the patterns of earlier calls. The
     * patterns are those of {@code .gitignore}. The last pattern that matches decides, and a
     * pattern with {@code !} takes back what earlier patterns matched. The names are compared as
     * UTF-8. Files, streams and bytes are sealed as without patterns.
     *
     * {@snippet :
     * sealer.exclude("node_modules/", "*.o", "!keep.o").sealFolder(Path.of("src"), output);
     * }
     *
     * @param patterns the patterns
     * @return the sealer with this option
     * @throws IllegalArgumentException if a pattern is not valid, such as {@code [a}
     */
    public Sealer exclude(String... patterns) {
        return exclude(Given.list(patterns, "pattern"));
    }

    /**
     * Leaves out of folders what these patterns match, as {@link #exclude(String...)} does.
     *
     * @param patterns the patterns
     * @return the sealer with this option
     * @throws IllegalArgumentException if a pattern is not valid, such as {@code [a}
     */
    public Sealer exclude(Collection<String> patterns) {
        List<String> list = Given.list(patterns, "pattern");
        // The library refuses an invalid pattern already here, and not only with the folder.
        Recipe.of(null, List.of(), Recipe.Options.NONE.without(list)).close();
        return with(options.without(list));
    }

    private Sealer with(Recipe.Options changed) {
        return new Sealer(recipients, changed, effort, isReplacing);
    }

    /**
     * Chooses the number of threads for long work.
     *
     * @param number the number of threads, or 0 for one thread on each core
     * @return the sealer with this option
     */
    public Sealer threads(int number) {
        return new Sealer(recipients, options, effort.withThreads(number), isReplacing);
    }

    /**
     * Reports the progress of long work.
     *
     * @param progress gets the number of bytes that are done
     * @return the sealer with this option
     */
    public Sealer progress(Progress progress) {
        return new Sealer(recipients, options, effort.withProgress(progress), isReplacing);
    }

    /**
     * Allows outputs to replace existing files.
     *
     * @return the sealer with this option
     */
    public Sealer replaceExisting() {
        return new Sealer(recipients, options, effort, true);
    }

    /**
     * Seals bytes.
     *
     * @param data the bytes
     * @return the sealed data
     * @throws IOException if the data cannot be sealed
     */
    public byte[] seal(byte[] data) throws IOException {
        MemorySegment input = MemorySegment.ofArray(Given.notNull(data, "data"));
        Recipe recipe = begin();
        try {
            if (data.length <= SHORT && isBrief(data.length)) {
                byte[] room =
                        new byte[data.length + data.length / 8 + 512 + 1792 * recipients.size()];
                try {
                    long length = Bytes.sealBriefly(recipe, input, MemorySegment.ofArray(room));
                    return Arrays.copyOf(room, (int) length);
                } catch (BufferTooSmallException small) {
                    // The room was too small. The exact length is computed below.
                }
            }
            byte[] sealed = new byte[array(recipe.sealedLength(data.length))];
            long length = seal(recipe, input, MemorySegment.ofArray(sealed));
            return length == sealed.length ? sealed : Arrays.copyOf(sealed, (int) length);
        } finally {
            end(recipe);
        }
    }

    /**
     * Seals bytes into an array.
     *
     * @param data the bytes
     * @param out gets the sealed data
     * @return the length of the sealed data
     * @throws BufferTooSmallException if the array is too short
     * @throws IOException if the data cannot be sealed
     */
    public int seal(byte[] data, byte[] out) throws IOException {
        return (int)
                seal(
                        MemorySegment.ofArray(Given.notNull(data, "data")),
                        MemorySegment.ofArray(Given.notNull(out, "out")));
    }

    /**
     * Seals a buffer into another buffer, and moves both positions. Direct buffers are fastest for
     * long data.
     *
     * @param data the bytes
     * @param out gets the sealed data
     * @throws BufferTooSmallException if there is too little room in {@code out}
     * @throws IOException if the data cannot be sealed; in this case, no position has moved
     */
    public void seal(ByteBuffer data, ByteBuffer out) throws IOException {
        long length =
                seal(
                        MemorySegment.ofBuffer(Given.notNull(data, "data")),
                        MemorySegment.ofBuffer(Given.notNull(out, "out")));
        data.position(data.limit());
        out.position(out.position() + (int) length);
    }

    /**
     * Seals memory into other memory. Native memory is fastest for long data.
     *
     * @param data the bytes
     * @param out gets the sealed data
     * @return the length of the sealed data
     * @throws BufferTooSmallException if {@code out} is too short
     * @throws IOException if the data cannot be sealed
     */
    public long seal(MemorySegment data, MemorySegment out) throws IOException {
        Given.notNull(data, "data");
        Given.notNull(out, "out");
        Recipe recipe = begin();
        try {
            return seal(recipe, data, out);
        } finally {
            end(recipe);
        }
    }

    private long seal(Recipe recipe, MemorySegment data, MemorySegment out) throws IOException {
        Bytes.checkWritable(out);
        return isBrief(data.byteSize())
                ? Bytes.sealBriefly(recipe, data, out)
                : Bytes.seal(recipe, data, out, effort);
    }

    private boolean isBrief(long length) {
        return length < Bytes.BRIEF && isOfKeys && recipients.size() <= FEW && effort.isPlain();
    }

    /**
     * Returns the length of the sealed data for data of the given length.
     *
     * @param length the length of the data
     * @return the length of the sealed data
     */
    public long sealedLength(long length) {
        if (length < 0) {
            throw new IllegalArgumentException(length + " is no length");
        }
        Recipe recipe = begin();
        try {
            return recipe.sealedLength(length);
        } finally {
            end(recipe);
        }
    }

    /**
     * Seals a file. The output gets its name only when it is complete, so after an error there is
     * no output.
     *
     * @param input the file
     * @param output the sealed file
     * @throws java.nio.file.FileAlreadyExistsException if the output exists
     * @throws IOException if the file cannot be sealed
     */
    public void sealFile(Path input, Path output) throws IOException {
        Recipe recipe = begin();
        try {
            Places.run(Places.SEAL_FILE, recipe.number(), input, output, isReplacing, effort);
        } finally {
            end(recipe);
        }
    }

    /**
     * Seals a folder to a file, with everything in it but what matches {@link #exclude(String...)}.
     * Sockets, pipes and devices in the folder are not sealed.
     *
     * @param folder the folder
     * @param output the sealed file
     * @throws java.nio.file.FileAlreadyExistsException if the output exists
     * @throws IOException if the folder cannot be sealed
     */
    public void sealFolder(Path folder, Path output) throws IOException {
        Recipe recipe = begin();
        try {
            Places.run(Places.SEAL_FOLDER, recipe.number(), folder, output, isReplacing, effort);
        } finally {
            end(recipe);
        }
    }

    /**
     * Seals the data of one stream, and writes the result to another stream. Both streams stay
     * open. Threads of the library read and write at the same time.
     *
     * @param input the data
     * @param output gets the sealed data; after an exception, it has only a part of the sealed data
     * @throws IOException the exception of a stream, or the reason why the data cannot be sealed
     */
    public void seal(InputStream input, OutputStream output) throws IOException {
        Given.notNull(input, "input");
        Given.notNull(output, "output");
        Recipe recipe = begin();
        try (Streams streams = new Streams(input, output)) {
            streams.run(Streams.SEAL, recipe.number(), effort);
        } finally {
            end(recipe);
        }
    }

    /**
     * Returns a stream that seals the data that are written to it. Call {@link
     * SealingStream#finish} at the end. If {@code finish} is not called, the sealed data are cut
     * short and do not open.
     *
     * @param output gets the sealed data
     * @return the stream
     * @throws IOException if the header cannot be written
     */
    public SealingStream newOutputStream(OutputStream output) throws IOException {
        Given.notNull(output, "output");
        Recipe recipe = begin();
        try {
            return new SealingStream(recipe, output);
        } finally {
            end(recipe);
        }
    }

    /**
     * Returns a channel that seals the data that are written to it. Call {@link
     * SealingStream#finish} at the end. If {@code finish} is not called, the sealed data are cut
     * short and do not open.
     *
     * @param output gets the sealed data, and must be in blocking mode
     * @return the channel
     * @throws IOException if the header cannot be written
     */
    public SealingStream newChannel(WritableByteChannel output) throws IOException {
        return newOutputStream(Channels.newOutputStream(Given.notNull(output, "output")));
    }

    /** Returns the library's list for one call. {@link #end} must follow. */
    private Recipe begin() {
        if (recipients.size() == 1 && options.equals(Recipe.Options.NONE)) {
            return Recipe.of(recipients.getFirst());
        }
        if (!isOfKeys) {
            return Recipe.of(null, recipients, options);
        }
        Recipe made = kept;
        if (made == null) {
            // Two threads may both make a list. The cleaner frees both lists.
            made = Recipe.of(this, recipients, options);
            kept = made;
        }
        return made;
    }

    private void end(Recipe recipe) {
        recipe.done();
        Reference.reachabilityFence(recipients);
        Reference.reachabilityFence(this);
    }

    private static int array(long length) {
        if (length > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(
                    "the sealed data are too long for an array; use memory segments");
        }
        return (int) length;
    }

    /** Returns a text with the number and the kinds of the recipients. */
    @Override
    public String toString() {
        return "Sealer" + recipients;
    }
}

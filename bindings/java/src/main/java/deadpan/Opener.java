package deadpan;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * Opens sealed data with keys or passphrases, and has options. An opener is immutable: each option
 * returns a new opener.
 *
 * <p>Any thread may use an opener. Nobody may change an input, or use an output, while a method
 * works on it. {@link Thread#interrupt} stops long work with {@link
 * java.io.InterruptedIOException}, and after an interrupt there is no output.
 *
 * {@snippet :
 * Opener opener = Opener.with(key, oldKey);
 * opener.replaceExisting().openFile(Path.of("report.dpn"), Path.of("report.txt"));
 * }
 */
public final class Opener {
    /** The collector waits only for calls with at most this number of keys. */
    private static final int FEW = 8;

    private static final int BUFFER = 64 << 10;

    private final List<Identity> identities;
    private final Effort effort;
    private final boolean isReplacing;
    private final boolean isOfKeys;

    /** The limit on the cost of trying a passphrase, or {@code null} for the library's limit. */
    private final Ring.Limit limit;

    private Opener(
            List<Identity> identities, Effort effort, boolean isReplacing, Ring.Limit limit) {
        this.identities = identities;
        this.effort = effort;
        this.isReplacing = isReplacing;
        this.isOfKeys = areKeys(identities);
        this.limit = limit;
    }

    /**
     * Returns an opener that opens with any of these keys or passphrases.
     *
     * @param identities the keys and passphrases, at least one
     * @return the opener
     */
    public static Opener with(Identity... identities) {
        return with(Given.list(identities, "identity"));
    }

    /**
     * Returns an opener that opens with any of these keys or passphrases.
     *
     * @param identities the keys and passphrases, at least one
     * @return the opener
     */
    public static Opener with(Collection<? extends Identity> identities) {
        List<Identity> list = Given.list(identities, "identity");
        if (list.isEmpty()) {
            throw new IllegalArgumentException("there is no identity");
        }
        return new Opener(list, Effort.PLAIN, false, null);
    }

    private static boolean areKeys(List<Identity> identities) {
        for (Identity identity : identities) {
            if (!(identity instanceof PrivateKey)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Chooses the number of threads for long work.
     *
     * @param number the number of threads, or 0 for one thread on each core
     * @return the opener with this option
     */
    public Opener threads(int number) {
        return new Opener(identities, effort.withThreads(number), isReplacing, limit);
    }

    /**
     * Reports the progress of long work.
     *
     * @param progress gets the number of bytes that are done
     * @return the opener with this option
     */
    public Opener progress(Progress progress) {
        return new Opener(identities, effort.withProgress(progress), isReplacing, limit);
    }

    /**
     * Allows outputs to replace existing files. Folders are never replaced.
     *
     * @return the opener with this option
     */
    public Opener replaceExisting() {
        return new Opener(identities, effort, true, limit);
    }

    /**
     * Limits the memory and work for trying a passphrase or session. If data require more memory or
     * passes than this limit, opening fails with {@link CostlyPassphraseException} before any work
     * is done. A server that opens data of other people needs a low limit. Without a call of this
     * method, 2.5 GiB and 3 passes are allowed. Data that this library seals require 256 MiB and 3
     * passes.
     *
     * @param memory the memory in KiB
     * @param passes the work, measured in passes over this memory; data that need less memory may
     *     need more passes
     * @return the opener with this option
     */
    public Opener maxCost(int memory, int passes) {
        if (memory < 0 || passes < 0) {
            throw new IllegalArgumentException(
                    memory + " KiB and " + passes + " passes are no limit: both must be 0 or more");
        }
        return new Opener(identities, effort, isReplacing, new Ring.Limit(memory, passes));
    }

    /**
     * Opens sealed bytes. Returns either all data or none.
     *
     * @param sealed the sealed data
     * @return the data
     * @throws IOException if the data do not open
     */
    public byte[] open(byte[] sealed) throws IOException {
        MemorySegment input = MemorySegment.ofArray(Given.notNull(sealed, "sealed"));
        Ring ring = begin();
        try {
            // To compute the length, the library must try the keys, and trying a passphrase is
            // slow.
            boolean isAsked = isOfKeys && sealed.length >= Bytes.BRIEF;
            byte[] room = array(isAsked ? Bytes.openedLength(ring, input) : sealed.length);
            int length;
            try {
                length = (int) open(ring, input, MemorySegment.ofArray(room));
            } catch (BufferTooSmallException small) {
                // Compressed data may be longer than the sealed data.
                room = array(small.needed());
                length = (int) open(ring, input, MemorySegment.ofArray(room));
            }
            if (length == room.length) {
                return room;
            }
            byte[] data = Arrays.copyOf(room, length);
            Arrays.fill(room, 0, length, (byte) 0);
            return data;
        } finally {
            end(ring);
        }
    }

    private static byte[] array(long length) {
        if (length > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(
                    "the data are too long for an array; use memory segments");
        }
        return new byte[(int) length];
    }

    /**
     * Opens sealed bytes into an array. Writes either all data or none. An array as long as the
     * sealed data is always long enough, unless the data are compressed.
     *
     * @param sealed the sealed data
     * @param out gets the data
     * @return the length of the data
     * @throws BufferTooSmallException if the array is too short
     * @throws IOException if the data do not open
     */
    public int open(byte[] sealed, byte[] out) throws IOException {
        return (int)
                open(
                        MemorySegment.ofArray(Given.notNull(sealed, "sealed")),
                        MemorySegment.ofArray(Given.notNull(out, "out")));
    }

    /**
     * Opens a sealed buffer into another buffer, and moves both positions. Writes either all data
     * or none. Direct buffers are fastest for long data.
     *
     * @param sealed the sealed data
     * @param out gets the data
     * @throws BufferTooSmallException if there is too little room in {@code out}
     * @throws IOException if the data do not open; in this case, no position has moved
     */
    public void open(ByteBuffer sealed, ByteBuffer out) throws IOException {
        long length =
                open(
                        MemorySegment.ofBuffer(Given.notNull(sealed, "sealed")),
                        MemorySegment.ofBuffer(Given.notNull(out, "out")));
        sealed.position(sealed.limit());
        out.position(out.position() + (int) length);
    }

    /**
     * Opens sealed memory into other memory. Writes either all data or none. Native memory is
     * fastest for long data.
     *
     * @param sealed the sealed data
     * @param out gets the data
     * @return the length of the data
     * @throws BufferTooSmallException if {@code out} is too short
     * @throws IOException if the data do not open
     */
    public long open(MemorySegment sealed, MemorySegment out) throws IOException {
        Given.notNull(sealed, "sealed");
        Given.notNull(out, "out");
        Ring ring = begin();
        try {
            return open(ring, sealed, out);
        } finally {
            end(ring);
        }
    }

    private long open(Ring ring, MemorySegment sealed, MemorySegment out) throws IOException {
        Bytes.checkWritable(out);
        boolean isBrief =
                sealed.byteSize() < Bytes.BRIEF
                        && isOfKeys
                        && identities.size() <= FEW
                        && effort.isPlain();
        return isBrief
                ? Bytes.openBriefly(ring, sealed, out)
                : Bytes.open(ring, sealed, out, effort);
    }

    /**
     * Opens a sealed file. The output gets its name only when it is complete, so after an error
     * there is no output.
     *
     * @param input the sealed file
     * @param output the file
     * @throws java.nio.file.FileAlreadyExistsException if the output exists
     * @throws IOException if the file does not open
     */
    public void openFile(Path input, Path output) throws IOException {
        Ring ring = begin();
        try {
            Places.run(Places.OPEN_FILE, ring.number(), input, output, isReplacing, effort);
        } finally {
            end(ring);
        }
    }

    /**
     * Opens a sealed folder into a new folder.
     *
     * @param input the sealed file
     * @param folder the folder, which must not exist
     * @throws java.nio.file.FileAlreadyExistsException if the folder exists
     * @throws IOException if the folder does not open
     */
    public void openFolder(Path input, Path folder) throws IOException {
        Ring ring = begin();
        try {
            Places.openFolder(ring, input, folder, effort);
        } finally {
            end(ring);
        }
    }

    /**
     * Lists the entries of a sealed folder.
     *
     * @param input the sealed file
     * @return the entries, in their order in the file
     * @throws IOException if the folder does not open
     */
    public List<Entry> listFolder(Path input) throws IOException {
        Ring ring = begin();
        try {
            return Places.list(ring, input);
        } finally {
            end(ring);
        }
    }

    /**
     * Describes a sealed file, with the name, time and mode that only the owner of a key sees.
     *
     * @param input the sealed file
     * @return the description, with its {@link Description#contents}
     * @throws IOException if the file does not open
     */
    public Description inspect(Path input) throws IOException {
        Ring ring = begin();
        try {
            return Places.inspect(input, ring.number());
        } finally {
            end(ring);
        }
    }

    /**
     * Opens sealed data of one stream, and writes the data to another stream. Both streams stay
     * open. Threads of the library read and write at the same time.
     *
     * <p>All written data are authentic. The written data are complete only if no exception is
     * thrown.
     *
     * @param input the sealed data
     * @param output gets the data
     * @throws IOException the exception of a stream, or the reason why the data do not open
     */
    public void open(InputStream input, OutputStream output) throws IOException {
        Given.notNull(input, "input");
        Given.notNull(output, "output");
        Ring ring = begin();
        try (Streams streams = new Streams(input, output)) {
            streams.run(Streams.OPEN, ring.number(), effort);
        } finally {
            end(ring);
        }
    }

    /**
     * Opens a sealed file for reading from any position.
     *
     * @param input the sealed file
     * @return the channel
     * @throws IOException if the file does not open
     */
    public SealedChannel newChannel(Path input) throws IOException {
        Given.notNull(input, "input");
        Ring ring = begin();
        try {
            return new SealedChannel(ring, input);
        } finally {
            end(ring);
        }
    }

    /**
     * Opens a channel with sealed data for reading from any position. Closing the new channel also
     * closes the given channel.
     *
     * @param sealed the sealed data, which nobody else may move or change
     * @return the channel
     * @throws IOException if the data do not open
     */
    public SealedChannel newChannel(SeekableByteChannel sealed) throws IOException {
        Given.notNull(sealed, "sealed");
        Ring ring = begin();
        try {
            return new SealedChannel(ring, sealed);
        } finally {
            end(ring);
        }
    }

    /**
     * Opens a sealed file for reading from the beginning.
     *
     * @param input the sealed file
     * @return the stream, which has a buffer
     * @throws IOException if the file does not open
     */
    public InputStream newInputStream(Path input) throws IOException {
        return new BufferedInputStream(Channels.newInputStream(newChannel(input)), BUFFER);
    }

    /**
     * Returns a stream that opens sealed data while the program reads them. All data that the
     * stream returns are authentic, and they are complete when the end is reached. Data that are
     * cut short or changed cause an exception instead of a normal end of the stream.
     *
     * <p>Each stream has its own thread, which works until the stream is closed, at its end, or no
     * longer referenced. This method waits until the first piece of the data is decrypted. Closing
     * the new stream also closes the other stream. If this method throws an exception, the other
     * stream stays open.
     *
     * @param sealed the sealed data, which nobody else may read
     * @return the stream
     * @throws IOException the exception of the other stream, or the reason why the data do not open
     */
    public InputStream newInputStream(InputStream sealed) throws IOException {
        return OpeningStream.of(this, Given.notNull(sealed, "sealed"));
    }

    /** Returns the library's list for one call. {@link #end} must follow. */
    private Ring begin() {
        return Ring.of(identities, isOfKeys ? null : limit);
    }

    private void end(Ring ring) {
        ring.done();
        Reference.reachabilityFence(identities);
    }

    /** Returns a text about the identities that contains no secret. */
    @Override
    public String toString() {
        return "Opener" + identities;
    }
}

package deadpan;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * Seals and opens files, folders and bytes. {@link Sealer} and {@link Opener} have options, streams
 * and channels.
 *
 * {@snippet :
 * try (PrivateKey key = PrivateKey.generate(Kind.XWING)) {
 *     byte[] sealed = Deadpan.seal(data, key.publicKey());
 *     byte[] opened = Deadpan.open(sealed, key);
 * }
 * }
 */
public final class Deadpan {
    private static final MethodHandle RANDOM =
            Library.brief("dp_random", Library.POINTER, Library.SIZE, Library.POINTER);
    private static final MethodHandle EQUAL =
            Library.brief(
                    "dp_ct_equal",
                    Library.POINTER,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);

    /** The collector waits at most for a piece of this length. */
    private static final int PIECE = 1 << 20;

    private Deadpan() {}

    /**
     * Returns the version of the library.
     *
     * @return the version, such as {@code 0.2.0}
     */
    public static String version() {
        return Library.version();
    }

    /**
     * Seals bytes.
     *
     * @param data the bytes
     * @param to the recipients
     * @return the sealed data
     * @throws IOException if the data cannot be sealed
     */
    public static byte[] seal(byte[] data, Recipient... to) throws IOException {
        return Sealer.to(to).seal(data);
    }

    /**
     * Seals a buffer into another buffer, and moves both positions.
     *
     * @param data the bytes
     * @param out gets the sealed data
     * @param to the recipients
     * @throws IOException if the data cannot be sealed
     */
    public static void seal(ByteBuffer data, ByteBuffer out, Recipient... to) throws IOException {
        Sealer.to(to).seal(data, out);
    }

    /**
     * Seals memory into other memory.
     *
     * @param data the bytes
     * @param out gets the sealed data
     * @param to the recipients
     * @return the length of the sealed data
     * @throws IOException if the data cannot be sealed
     */
    public static long seal(MemorySegment data, MemorySegment out, Recipient... to)
            throws IOException {
        return Sealer.to(to).seal(data, out);
    }

    /**
     * Opens sealed bytes. Returns either all data or none.
     *
     * @param sealed the sealed data
     * @param with the keys and passphrases
     * @return the data
     * @throws IOException if the data do not open
     */
    public static byte[] open(byte[] sealed, Identity... with) throws IOException {
        return Opener.with(with).open(sealed);
    }

    /**
     * Opens a sealed buffer into another buffer, and moves both positions. Writes either all data
     * or none.
     *
     * @param sealed the sealed data
     * @param out gets the data
     * @param with the keys and passphrases
     * @throws IOException if the data do not open
     */
    public static void open(ByteBuffer sealed, ByteBuffer out, Identity... with)
            throws IOException {
        Opener.with(with).open(sealed, out);
    }

    /**
     * Opens sealed memory into other memory. Writes either all data or none.
     *
     * @param sealed the sealed data
     * @param out gets the data
     * @param with the keys and passphrases
     * @return the length of the data
     * @throws IOException if the data do not open
     */
    public static long open(MemorySegment sealed, MemorySegment out, Identity... with)
            throws IOException {
        return Opener.with(with).open(sealed, out);
    }

    /**
     * Seals a file.
     *
     * @param input the file
     * @param output the sealed file, which must not exist
     * @param to the recipients
     * @throws IOException if the file cannot be sealed
     */
    public static void sealFile(Path input, Path output, Recipient... to) throws IOException {
        Sealer.to(to).sealFile(input, output);
    }

    /**
     * Opens a sealed file.
     *
     * @param input the sealed file
     * @param output the file, which must not exist
     * @param with the keys and passphrases
     * @throws IOException if the file does not open
     */
    public static void openFile(Path input, Path output, Identity... with) throws IOException {
        Opener.with(with).openFile(input, output);
    }

    /**
     * Seals a folder to a file.
     *
     * @param folder the folder
     * @param output the sealed file, which must not exist
     * @param to the recipients
     * @throws IOException if the folder cannot be sealed
     */
    public static void sealFolder(Path folder, Path output, Recipient... to) throws IOException {
        Sealer.to(to).sealFolder(folder, output);
    }

    /**
     * Opens a sealed folder into a new folder.
     *
     * @param input the sealed file
     * @param folder the folder, which must not exist
     * @param with the keys and passphrases
     * @throws IOException if the folder does not open
     */
    public static void openFolder(Path input, Path folder, Identity... with) throws IOException {
        Opener.with(with).openFolder(input, folder);
    }

    /**
     * Lists the entries of a sealed folder.
     *
     * @param input the sealed file
     * @param with the keys and passphrases
     * @return the entries
     * @throws IOException if the folder does not open
     */
    public static List<Entry> listFolder(Path input, Identity... with) throws IOException {
        return Opener.with(with).listFolder(input);
    }

    /**
     * Describes a sealed file as far as possible without a key. {@link Opener#inspect} returns
     * more.
     *
     * @param input the sealed file
     * @return the description, without {@link Description#contents}
     * @throws IOException if the file is not sealed, or cannot be read
     */
    public static Description inspect(Path input) throws IOException {
        return Places.inspect(input, 0);
    }

    /**
     * Returns random bytes of the system.
     *
     * @param length the number of bytes
     * @return the bytes
     */
    public static byte[] random(int length) {
        if (length < 0) {
            throw new IllegalArgumentException(length + " is no length");
        }
        byte[] bytes = new byte[length];
        MemorySegment all = MemorySegment.ofArray(bytes);
        for (int done = 0; done < length; done += PIECE) {
            MemorySegment piece = all.asSlice(done, Math.min(PIECE, length - done));
            Call.run(call -> (int) RANDOM.invokeExact(piece, piece.byteSize(), call.error));
        }
        return bytes;
    }

    /**
     * Compares bytes in a time that depends on their lengths only.
     *
     * @param one some bytes
     * @param other other bytes
     * @return whether both arrays have the same bytes
     */
    public static boolean constantTimeEquals(byte[] one, byte[] other) {
        MemorySegment left = MemorySegment.ofArray(Given.notNull(one, "one"));
        MemorySegment right = MemorySegment.ofArray(Given.notNull(other, "other"));
        if (one.length != other.length) {
            return false;
        }
        long equal = 1;
        for (int done = 0; done < one.length; done += PIECE) {
            long length = Math.min(PIECE, one.length - done);
            MemorySegment a = left.asSlice(done, length);
            MemorySegment b = right.asSlice(done, length);
            equal &=
                    Call.run(
                            call -> (int) EQUAL.invokeExact(a, b, length, call.result, call.error));
        }
        return equal == 1;
    }
}

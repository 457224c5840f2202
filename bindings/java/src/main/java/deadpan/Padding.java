package deadpan;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * Paddings to whole blocks. The time of a padding check depends on the lengths only.
 *
 * {@snippet :
 * byte[] blocks = Padding.PKCS7.pad(data, 16);
 * byte[] same = Padding.PKCS7.unpad(blocks, 16);
 * }
 */
public enum Padding {
    /** PKCS #7: each byte of the padding is the length of the padding. */
    PKCS7,
    /** ISO/IEC 7816-4: the byte 0x80, then zeros. */
    ISO7816,
    /** ANSI X9.23: zeros, then the length. */
    ANSI_X923,
    /** RFC 4303: the bytes 1, 2, 3 and so on. */
    RFC4303,
    /** ISO 10126: random bytes, then the length. */
    ISO10126,
    /** Bytes that differ from the last byte of the data. */
    NOT_LAST,
    /** Like {@link #NOT_LAST}, with a random tail. */
    ARBITRARY_TAIL,
    /** Zeros. Unpadding also removes zeros at the end of the data. */
    ZERO;

    private static final MethodHandle PAD =
            Library.brief(
                    "dp_pad",
                    Library.INT,
                    Library.SIZE,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle UNPAD =
            Library.brief(
                    "dp_unpad",
                    Library.INT,
                    Library.SIZE,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);

    /**
     * Pads data to whole blocks.
     *
     * @param data the data
     * @param block the length of a block, 1 to 255
     * @return the data and the padding
     */
    public byte[] pad(byte[] data, int block) {
        Given.notNull(data, "data");
        check(block);
        try {
            return Text.turn(
                    data,
                    (long) data.length + block,
                    (input, out, written, error) ->
                            (int)
                                    PAD.invokeExact(
                                            ordinal(),
                                            (long) block,
                                            input,
                                            input.byteSize(),
                                            out,
                                            out.byteSize(),
                                            written,
                                            error));
        } catch (EncodingException unfit) {
            throw new IllegalArgumentException(unfit.getMessage(), unfit);
        }
    }

    /**
     * Returns data without their padding.
     *
     * @param padded the data and the padding
     * @param block the length of a block, 1 to 255
     * @return the data
     * @throws EncodingException if the padding is not valid
     */
    public byte[] unpad(byte[] padded, int block) throws EncodingException {
        return Arrays.copyOf(padded, unpaddedLength(padded, block));
    }

    /**
     * Returns the length of padded data without their padding.
     *
     * @param padded the data and the padding
     * @param block the length of a block, 1 to 255
     * @return the number of bytes
     * @throws EncodingException if the padding is not valid
     */
    public int unpaddedLength(byte[] padded, int block) throws EncodingException {
        check(block);
        MemorySegment data = MemorySegment.ofArray(Given.notNull(padded, "padded"));
        try {
            return (int)
                    Call.about(
                            call ->
                                    (int)
                                            UNPAD.invokeExact(
                                                    ordinal(),
                                                    (long) block,
                                                    data,
                                                    data.byteSize(),
                                                    call.result,
                                                    call.error));
        } catch (EncodingException invalid) {
            throw invalid;
        } catch (DeadpanException other) {
            throw new AssertionError(other);
        }
    }

    private static void check(int block) {
        if (block < 1 || block > 255) {
            throw new IllegalArgumentException("a block has 1 to 255 bytes, and not " + block);
        }
    }
}

package deadpan;

import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/**
 * Strict base64 in a time that depends on the lengths only. Each sequence of bytes has only one
 * valid text.
 *
 * {@snippet :
 * String text = StrictBase64.URL_SAFE_NO_PAD.encode(bytes);
 * byte[] same = StrictBase64.URL_SAFE_NO_PAD.decode(text);
 * }
 */
public enum StrictBase64 {
    /** The standard alphabet, with padding. */
    STANDARD,
    /** The standard alphabet, without padding. */
    STANDARD_NO_PAD,
    /** The alphabet for URLs and names of files, with padding. */
    URL_SAFE,
    /** The alphabet for URLs and names of files, without padding. */
    URL_SAFE_NO_PAD;

    private static final MemoryLayout[] PARAMETERS = {
        Library.INT,
        Library.POINTER,
        Library.SIZE,
        Library.POINTER,
        Library.SIZE,
        Library.POINTER,
        Library.POINTER
    };
    private static final MethodHandle ENCODE = Library.brief("dp_base64_encode", PARAMETERS);
    private static final MethodHandle DECODE = Library.brief("dp_base64_decode", PARAMETERS);

    /**
     * Encodes bytes.
     *
     * @param data the bytes
     * @return the text
     */
    public String encode(byte[] data) {
        Given.notNull(data, "data");
        try {
            byte[] text =
                    Text.turn(
                            data,
                            (data.length + 2L) / 3 * 4,
                            (input, out, written, error) ->
                                    (int)
                                            ENCODE.invokeExact(
                                                    ordinal(),
                                                    input,
                                                    input.byteSize(),
                                                    out,
                                                    out.byteSize(),
                                                    written,
                                                    error));
            return new String(text, StandardCharsets.ISO_8859_1);
        } catch (EncodingException never) {
            throw new AssertionError(never);
        }
    }

    /**
     * Decodes a text.
     *
     * @param text the text
     * @return the bytes
     * @throws EncodingException if the text is not a possible result of {@link #encode}
     */
    public byte[] decode(String text) throws EncodingException {
        // Characters that are not in this charset become question marks, which are in no alphabet.
        return decode(Given.notNull(text, "text").getBytes(StandardCharsets.ISO_8859_1));
    }

    /**
     * Decodes a text, which the caller can wipe.
     *
     * @param text the text
     * @return the bytes
     * @throws EncodingException if the text is not a possible result of {@link #encode}
     */
    public byte[] decode(byte[] text) throws EncodingException {
        Given.notNull(text, "text");
        return Text.turn(
                text,
                (text.length + 3L) / 4 * 3,
                (input, out, written, error) ->
                        (int)
                                DECODE.invokeExact(
                                        ordinal(),
                                        input,
                                        input.byteSize(),
                                        out,
                                        out.byteSize(),
                                        written,
                                        error));
    }
}

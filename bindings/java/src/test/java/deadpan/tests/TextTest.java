package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import deadpan.Deadpan;
import deadpan.EncodingException;
import deadpan.Padding;
import deadpan.StrictBase64;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;

class TextTest {
    private static final int[] LENGTHS = {
        0, 1, 2, 3, 4, 31, 32, 33, 1000, 1048575, 1048576, 1048577, 3_000_000
    };

    private static final Map<StrictBase64, java.util.Base64.Encoder> ENCODERS =
            Map.of(
                    StrictBase64.STANDARD, java.util.Base64.getEncoder(),
                    StrictBase64.STANDARD_NO_PAD, java.util.Base64.getEncoder().withoutPadding(),
                    StrictBase64.URL_SAFE, java.util.Base64.getUrlEncoder(),
                    StrictBase64.URL_SAFE_NO_PAD,
                            java.util.Base64.getUrlEncoder().withoutPadding());

    @ParameterizedTest
    @EnumSource
    void base64IsWhatThePlatformMakes(StrictBase64 base64) throws IOException {
        for (int length : LENGTHS) {
            byte[] data = BytesTest.data(length);
            String text = base64.encode(data);
            assertEquals(ENCODERS.get(base64).encodeToString(data), text);
            assertArrayEquals(data, base64.decode(text));
        }
    }

    @Test
    void base64IsStrict() {
        for (String text :
                new String[] {
                    "ZmFjZR==",
                    "ZmFjZQ",
                    "ZmFjZQ=",
                    "ZmFj ZQ==",
                    "Zm_j",
                    "ZmF\u0100",
                    "Z",
                    "=",
                    "ZmFjZQ==\n"
                }) {
            var invalid =
                    assertThrows(
                            EncodingException.class,
                            () -> StrictBase64.STANDARD.decode(text),
                            text);
            assertFalse(invalid.getMessage().contains("Zm"), "the text may be secret");
        }
        assertThrows(
                EncodingException.class, () -> StrictBase64.URL_SAFE_NO_PAD.decode("ZmFjZQ=="));
        assertThrows(NullPointerException.class, () -> StrictBase64.STANDARD.encode(null));
        assertThrows(NullPointerException.class, () -> StrictBase64.STANDARD.decode((String) null));
        // A text from RFC 4648.
        assertEquals("Zm9vYmFy", StrictBase64.STANDARD.encode("foobar".getBytes(UTF_8)));
    }

    @ParameterizedTest
    @EnumSource
    void paddingsComeOff(Padding padding) throws IOException {
        for (int length : LENGTHS) {
            byte[] data = BytesTest.data(length);
            if (length > 0) {
                data[length - 1] = 1;
            }
            for (int block : new int[] {1, 16, 255}) {
                if (block == 1 && padding != Padding.PKCS7) {
                    continue;
                }
                byte[] padded = padding.pad(data, block);
                assertEquals(0, padded.length % block);
                assertArrayEquals(data, padding.unpad(padded, block));
                assertEquals(length, padding.unpaddedLength(padded, block));
            }
        }
        assertThrows(IllegalArgumentException.class, () -> padding.pad(new byte[1], 0));
        assertThrows(IllegalArgumentException.class, () -> padding.pad(new byte[1], 256));
        assertThrows(IllegalArgumentException.class, () -> padding.unpad(new byte[1], -1));
        assertThrows(NullPointerException.class, () -> padding.pad(null, 16));
    }

    @Test
    void paddingsAreThoseOfTheStandards() throws IOException {
        byte[] dawn = "attack at dawn".getBytes(UTF_8);
        assertArrayEquals(
                new byte[] {2, 2}, Arrays.copyOfRange(Padding.PKCS7.pad(dawn, 16), 14, 16));
        assertArrayEquals(
                new byte[] {-128, 0}, Arrays.copyOfRange(Padding.ISO7816.pad(dawn, 16), 14, 16));
        assertArrayEquals(
                new byte[] {0, 2}, Arrays.copyOfRange(Padding.ANSI_X923.pad(dawn, 16), 14, 16));
        assertArrayEquals(
                new byte[] {1, 2}, Arrays.copyOfRange(Padding.RFC4303.pad(dawn, 16), 14, 16));
        byte[] padded = Padding.PKCS7.pad(dawn, 16);
        padded[15] = 3;
        assertThrows(EncodingException.class, () -> Padding.PKCS7.unpad(padded, 16));
        assertThrows(EncodingException.class, () -> Padding.PKCS7.unpad(new byte[15], 16));
    }

    @Test
    void bytesAreComparedWhole() {
        for (int length : LENGTHS) {
            byte[] one = BytesTest.data(length);
            byte[] other = one.clone();
            assertTrue(Deadpan.constantTimeEquals(one, other));
            assertFalse(Deadpan.constantTimeEquals(one, Arrays.copyOf(one, length + 1)));
            for (int place : new int[] {0, length / 2, length - 1}) {
                if (length > 0) {
                    other[place] ^= 1;
                    assertFalse(
                            Deadpan.constantTimeEquals(one, other), () -> length + ", " + place);
                    other[place] ^= 1;
                }
            }
        }
        assertThrows(
                NullPointerException.class, () -> Deadpan.constantTimeEquals(null, new byte[1]));
        assertThrows(
                NullPointerException.class, () -> Deadpan.constantTimeEquals(new byte[1], null));
    }

    @Test
    void randomBytesDiffer() {
        for (int length : LENGTHS) {
            byte[] one = Deadpan.random(length);
            assertEquals(length, one.length);
            if (length >= 31) {
                assertFalse(Arrays.equals(one, Deadpan.random(length)));
                byte[] end = Arrays.copyOfRange(one, length - 16, length);
                assertFalse(Arrays.equals(new byte[16], end), "the end was not filled");
            }
        }
        assertThrows(IllegalArgumentException.class, () -> Deadpan.random(-1));
    }
}

package deadpan;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A passphrase, which seals and opens data and protects private keys. Close it to wipe it.
 *
 * <p>Each use takes a noticeable time, since the passphrase is hashed. For many items, make a
 * {@link Session}.
 *
 * {@snippet :
 * char[] typed = System.console().readPassword("Passphrase: ");
 * try (Passphrase passphrase = Passphrase.of(typed)) {
 *     byte[] sealed = Deadpan.seal(data, passphrase);
 * } finally {
 *     Arrays.fill(typed, ' ');
 * }
 * }
 */
public final class Passphrase implements Recipient, Identity, AutoCloseable {
    private static final MethodHandle NEW =
            Library.function(
                    "dp_passphrase_new",
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_passphrase_free", Library.HANDLE);

    private final Handle handle;
    private final Recipe recipe;
    private final Ring ring;

    private Passphrase(long number) {
        handle = Handle.of(this, "passphrase", number, FREE);
        try {
            recipe = Recipe.ofPassphrase(this, number);
            ring = Ring.ofPassphrase(this, number);
        } catch (Throwable failed) {
            handle.close();
            throw failed;
        }
    }

    /**
     * Copies a passphrase. The array still belongs to the caller, who must wipe it.
     *
     * @param characters the passphrase, not empty
     * @return the passphrase
     * @throws IllegalArgumentException if the array is empty, or has half of a surrogate pair
     */
    public static Passphrase of(char[] characters) {
        Given.notNull(characters, "characters");
        byte[] text = encoded(characters);
        try {
            return new Passphrase(
                    Call.run(
                            call -> {
                                MemorySegment copy = call.secret(text);
                                return (int)
                                        NEW.invokeExact(
                                                copy, (long) text.length, call.result, call.error);
                            }));
        } finally {
            Arrays.fill(text, (byte) 0);
        }
    }

    /** Returns the passphrase as UTF-8, and leaves no other copy in memory. */
    private static byte[] encoded(char[] characters) {
        ByteBuffer bytes = ByteBuffer.allocate(Math.multiplyExact(characters.length, 3));
        try {
            var encoder =
                    StandardCharsets.UTF_8
                            .newEncoder()
                            .onMalformedInput(CodingErrorAction.REPORT)
                            .onUnmappableCharacter(CodingErrorAction.REPORT);
            var result = encoder.encode(CharBuffer.wrap(characters), bytes, true);
            if (result.isError()) {
                result.throwException();
            }
            return Arrays.copyOf(bytes.array(), bytes.position());
        } catch (CharacterCodingException malformed) {
            throw new IllegalArgumentException("the passphrase has half of a surrogate pair");
        } finally {
            Arrays.fill(bytes.array(), (byte) 0);
        }
    }

    long number() {
        return handle.number();
    }

    Recipe recipe() {
        return recipe;
    }

    Ring ring() {
        return ring;
    }

    /** Wipes the passphrase. Does nothing if the passphrase is closed already. */
    @Override
    public void close() {
        recipe.close();
        ring.close();
        handle.close();
    }

    /** Returns a text without the passphrase. */
    @Override
    public String toString() {
        return "Passphrase";
    }
}

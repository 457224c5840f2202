package deadpan;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.List;

/**
 * The library's list of recipients, with options. Each recipient has its own list, which contains
 * only this recipient.
 */
final class Recipe extends HandleList {
    private static final MethodHandle NEW =
            Library.function("dp_sealing_new", Library.POINTER, Library.POINTER);
    private static final MethodHandle ADD_KEY =
            Library.function("dp_sealing_add_key", Library.HANDLE, Library.HANDLE, Library.POINTER);
    private static final MethodHandle ADD_PASSPHRASE =
            Library.function(
                    "dp_sealing_add_passphrase", Library.HANDLE, Library.HANDLE, Library.POINTER);
    private static final MethodHandle ADD_SESSION =
            Library.function(
                    "dp_sealing_add_session", Library.HANDLE, Library.HANDLE, Library.POINTER);
    private static final MethodHandle ALLOW_MIXED =
            Library.function(
                    "dp_sealing_allow_mixed", Library.HANDLE, Library.INT, Library.POINTER);
    private static final MethodHandle HIDE_LENGTH =
            Library.function(
                    "dp_sealing_hide_length", Library.HANDLE, Library.INT, Library.POINTER);
    private static final MethodHandle COMPRESS =
            Library.function("dp_sealing_compress", Library.HANDLE, Library.INT, Library.POINTER);
    private static final MethodHandle EXCLUDE =
            Library.function(
                    "dp_sealing_exclude", Library.HANDLE, Library.POINTER, Library.POINTER);
    private static final MethodHandle AGE =
            Library.function("dp_sealing_age", Library.HANDLE, Library.INT, Library.POINTER);
    private static final MethodHandle LENGTH =
            Library.function(
                    "dp_sealed_length",
                    Library.HANDLE,
                    Library.LONG,
                    Library.POINTER,
                    Library.POINTER);
    private static final MethodHandle FREE = Library.function("dp_sealing_free", Library.HANDLE);

    /** Options of a recipe. */
    record Options(
            boolean mixed, boolean hideLength, boolean age, int level, List<String> exclude) {
        static final Options NONE = new Options(false, false, false, 0, List.of());

        Options withMixed() {
            return new Options(true, hideLength, age, level, exclude);
        }

        Options withHiddenLength() {
            return new Options(mixed, true, age, level, exclude);
        }

        Options withAge() {
            return new Options(mixed, hideLength, true, level, exclude);
        }

        Options withLevel(int level) {
            return new Options(mixed, hideLength, age, level, exclude);
        }

        /** Adds patterns. */
        Options without(List<String> patterns) {
            List<String> all = new ArrayList<>(exclude);
            all.addAll(patterns);
            return new Options(mixed, hideLength, age, level, List.copyOf(all));
        }
    }

    private Recipe(Object owner, String noun) {
        super(owner, noun, NEW, FREE);
    }

    static Recipe ofKey(Object owner, long key) {
        return of(owner, "public key", ADD_KEY, key);
    }

    static Recipe ofPassphrase(Object owner, long passphrase) {
        return of(owner, "passphrase", ADD_PASSPHRASE, passphrase);
    }

    static Recipe ofSession(Object owner, long session) {
        return of(owner, "session", ADD_SESSION, session);
    }

    /** Returns the recipe of one recipient without options. */
    static Recipe of(Recipient recipient) {
        return switch (recipient) {
            case PublicKey key -> key.recipe();
            case Passphrase passphrase -> passphrase.recipe();
            case Session session -> session.recipe();
        };
    }

    /** Makes the recipe of these recipients. Without an owner, the recipe is for one call. */
    static Recipe of(Object owner, List<Recipient> recipients, Options options) {
        Recipe recipe = new Recipe(owner, "list of recipients");
        try {
            for (Recipient recipient : recipients) {
                switch (recipient) {
                    case PublicKey key -> recipe.add(ADD_KEY, key.number());
                    case Passphrase passphrase -> recipe.add(ADD_PASSPHRASE, passphrase.number());
                    case Session session -> recipe.add(ADD_SESSION, session.number());
                }
            }
            recipe.set(ALLOW_MIXED, options.mixed ? 1 : 0);
            recipe.set(HIDE_LENGTH, options.hideLength ? 1 : 0);
            recipe.set(COMPRESS, options.level);
            recipe.set(AGE, options.age ? 1 : 0);
            options.exclude.forEach(recipe::exclude);
        } catch (Throwable failed) {
            recipe.close();
            throw failed;
        } finally {
            Reference.reachabilityFence(recipients);
        }
        return recipe;
    }

    private static Recipe of(Object owner, String noun, MethodHandle how, long entry) {
        Recipe list = new Recipe(owner, noun);
        list.add(how, entry);
        return list;
    }

    private void exclude(String pattern) {
        long number = number();
        byte[] bytes = bytes(pattern);
        Call.run(
                call ->
                        (int)
                                EXCLUDE.invokeExact(
                                        number,
                                        call.arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes),
                                        call.error));
    }

    /** Returns the bytes of a pattern in UTF-8, followed by a zero. */
    private static byte[] bytes(String pattern) {
        try {
            if (pattern.indexOf('\0') < 0) {
                // The encoder refuses half a character, which a String turns into the wildcard ?.
                return UTF_8.newEncoder().encode(CharBuffer.wrap(pattern + '\0')).array();
            }
        } catch (CharacterCodingException half) {
            // The exception below names the pattern.
        }
        throw new IllegalArgumentException(
                "the pattern \"" + pattern + "\" has a zero or half a character");
    }

    private void set(MethodHandle option, int value) {
        long number = number();
        Call.run(call -> (int) option.invokeExact(number, value, call.error));
    }

    /** Returns the length of the sealed data, or the largest possible length of compressed data. */
    long sealedLength(long length) {
        long number = number();
        return Call.run(call -> (int) LENGTH.invokeExact(number, length, call.result, call.error));
    }
}

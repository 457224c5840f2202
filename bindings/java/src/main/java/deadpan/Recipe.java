package deadpan;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
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
    record Options(boolean mixed, boolean hideLength, boolean age, int level) {
        static final Options NONE = new Options(false, false, false, 0);
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

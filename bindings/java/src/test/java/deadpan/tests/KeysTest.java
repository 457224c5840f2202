package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import deadpan.CostlyPassphraseException;
import deadpan.DamagedKeyException;
import deadpan.Deadpan;
import deadpan.Kind;
import deadpan.LimitException;
import deadpan.LockedKeyException;
import deadpan.NoKeyException;
import deadpan.Opener;
import deadpan.Passphrase;
import deadpan.PrivateKey;
import deadpan.PublicKey;
import deadpan.Recipient;
import deadpan.Sealer;
import deadpan.Session;
import deadpan.WrongPassphraseException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

class KeysTest {
    private static final byte[] FACE = "straight face".getBytes(UTF_8);

    private static Passphrase passphrase(String text) {
        return Passphrase.of(text.toCharArray());
    }

    @ParameterizedTest
    @EnumSource
    void keysOfEachKindAreWrittenAndRead(Kind kind) throws IOException {
        try (PrivateKey key = PrivateKey.generate(kind);
                Passphrase passphrase = passphrase("correct horse");
                Passphrase wrong = passphrase("battery")) {
            assertEquals(kind, key.kind());
            byte[] sealed = Deadpan.seal(FACE, key.publicKey());
            try (PrivateKey again = PrivateKey.read(key.toPem())) {
                assertArrayEquals(FACE, Deadpan.open(sealed, again));
                assertEquals(key.publicKey(), again.publicKey());
                assertEquals(key, again);
                assertEquals(key.hashCode(), again.hashCode());
                try (PrivateKey other = PrivateKey.generate(kind)) {
                    assertNotEquals(key, other);
                }
                again.close();
                assertNotEquals(key, again);
                assertEquals(again, again);
                assertEquals(key.hashCode(), again.hashCode());
            }
            assertFalse(key.equals(null) || key.equals(key.publicKey()));
            byte[] locked = key.toPem(passphrase);
            assertThrows(LockedKeyException.class, () -> PrivateKey.read(locked));
            assertThrows(WrongPassphraseException.class, () -> PrivateKey.read(locked, wrong));
            try (PrivateKey again = PrivateKey.read(locked, passphrase)) {
                assertArrayEquals(FACE, Deadpan.open(sealed, again));
            }
            PublicKey read = PublicKey.read(key.publicKey().toPem());
            assertEquals(key.publicKey(), read);
            assertEquals(key.publicKey().hashCode(), read.hashCode());
            assertArrayEquals(FACE, Deadpan.open(Deadpan.seal(FACE, read), key));
            assertTrue(read.toString().contains(read.fingerprint()));
            assertFalse(key.toString().contains("PRIVATE"));
            if (kind == Kind.X25519 || kind == Kind.XWING) {
                assertTrue(new String(key.toAge(), UTF_8).startsWith("AGE-SECRET-KEY-"));
                assertTrue(key.publicKey().toAge().startsWith("age1"));
                assertEquals(key.publicKey(), PublicKey.read(key.publicKey().toAge()));
                try (PrivateKey again = PrivateKey.read(key.toAge())) {
                    assertArrayEquals(FACE, Deadpan.open(sealed, again));
                }
            } else if (kind == Kind.ML_KEM_768 || kind == Kind.ML_KEM_1024) {
                assertThrows(IllegalArgumentException.class, key::toAge);
                assertThrows(IllegalArgumentException.class, key.publicKey()::toAge);
            }
        }
    }

    @Test
    void whatIsNoKeyIsRefused() {
        assertThrows(DamagedKeyException.class, () -> PrivateKey.read("no key".getBytes(UTF_8)));
        assertThrows(DamagedKeyException.class, () -> PublicKey.read("no key"));
        assertThrows(DamagedKeyException.class, () -> PublicKey.read(new byte[0]));
        try (PrivateKey key = PrivateKey.generate(Kind.X25519)) {
            byte[] pem = key.publicKey().toPem().getBytes(UTF_8);
            assertThrows(DamagedKeyException.class, () -> PrivateKey.read(pem));
        }
        assertThrows(NullPointerException.class, () -> PrivateKey.generate(null));
        assertThrows(NullPointerException.class, () -> PrivateKey.read(null));
        assertThrows(NullPointerException.class, () -> PrivateKey.read(new byte[1], null));
        assertThrows(NullPointerException.class, () -> PublicKey.read((String) null));
        assertThrows(NullPointerException.class, () -> Passphrase.of(null));
        assertThrows(NullPointerException.class, () -> Session.of(null));
        assertThrows(IllegalArgumentException.class, () -> Passphrase.of(new char[0]));
        assertThrows(
                IllegalArgumentException.class, () -> Passphrase.of(new char[] {'a', '\ud800'}));
    }

    @Test
    void passphrasesOpenWhatTheySealed() throws IOException {
        try (Passphrase passphrase = passphrase("größer 🐴");
                Passphrase same = passphrase("größer 🐴");
                Passphrase other = passphrase("battery");
                PrivateKey key = PrivateKey.generate(Kind.XWING)) {
            byte[] sealed = Deadpan.seal(FACE, passphrase);
            assertArrayEquals(FACE, Deadpan.open(sealed, key, same));
            assertThrows(WrongPassphraseException.class, () -> Deadpan.open(sealed, other));
            assertThrows(NoKeyException.class, () -> Deadpan.open(sealed, key));
            byte[] small = new byte[3];
            assertThrows(
                    IllegalArgumentException.class,
                    () -> Opener.with(passphrase).open(sealed, small));
            assertFalse(passphrase.toString().contains("gr"));
        }
    }

    @Test
    void sessionsServeManyItems() throws IOException {
        try (Passphrase passphrase = passphrase("correct horse");
                Session session = Session.of(passphrase)) {
            List<byte[]> sealed = new ArrayList<>();
            for (byte item = 0; item < 50; item++) {
                sealed.add(Deadpan.seal(new byte[] {item}, session));
            }
            for (byte item = 0; item < 50; item++) {
                assertArrayEquals(new byte[] {item}, Deadpan.open(sealed.get(item), session));
            }
            assertArrayEquals(new byte[] {7}, Deadpan.open(sealed.get(7), passphrase));
            passphrase.close();
            assertArrayEquals(new byte[] {8}, Deadpan.open(sealed.get(8), session));
        }
    }

    @Test
    void classicalAndHybridKeysMixOnlyWhenAllowed() throws IOException {
        try (PrivateKey classical = PrivateKey.generate(Kind.X25519);
                PrivateKey hybrid = PrivateKey.generate(Kind.XWING)) {
            Sealer both = Sealer.to(classical.publicKey(), hybrid.publicKey());
            var refused = assertThrows(IllegalArgumentException.class, () -> both.seal(FACE));
            assertFalse(refused.getMessage().isEmpty());
            byte[] sealed = both.allowMixed().seal(FACE);
            assertArrayEquals(FACE, Deadpan.open(sealed, classical));
            assertArrayEquals(FACE, Deadpan.open(sealed, hybrid));
            try (Passphrase passphrase = passphrase("correct horse")) {
                Sealer three = Sealer.to(hybrid.publicKey(), passphrase);
                assertArrayEquals(FACE, Deadpan.open(three.seal(FACE), passphrase));
                assertArrayEquals(FACE, Deadpan.open(three.seal(FACE), hybrid));
            }
        }
    }

    @Test
    void manyRecipientsOpenEach() throws IOException {
        List<PrivateKey> keys = new ArrayList<>();
        List<Recipient> recipients = new ArrayList<>();
        for (int number = 0; number < 40; number++) {
            keys.add(PrivateKey.generate(Kind.ML_KEM_1024));
            recipients.add(keys.getLast().publicKey());
        }
        byte[] sealed = Sealer.to(recipients).seal(FACE);
        for (PrivateKey key : keys) {
            assertArrayEquals(FACE, Deadpan.open(sealed, key));
        }
        assertArrayEquals(FACE, Opener.with(keys).open(sealed));
        keys.forEach(PrivateKey::close);
    }

    @Test
    void hiddenLengthsAreFew() throws IOException {
        try (PrivateKey key = PrivateKey.generate(Kind.XWING)) {
            Sealer hiding = Sealer.to(key.publicKey()).hideLength();
            Set<Integer> lengths = new HashSet<>();
            for (int length = 100_000; length < 100_500; length += 7) {
                byte[] sealed = hiding.seal(new byte[length]);
                assertEquals(hiding.sealedLength(length), sealed.length);
                assertEquals(length, Deadpan.open(sealed, key).length);
                lengths.add(sealed.length);
            }
            assertTrue(lengths.size() <= 2, () -> "lengths " + lengths);
            byte[] large = BytesTest.data(9_000_001);
            assertArrayEquals(large, Deadpan.open(hiding.seal(large), key));
            assertNotEquals(
                    Sealer.to(key.publicKey()).sealedLength(9_000_001),
                    hiding.sealedLength(9_000_001));
        }
    }

    @Test
    void ageFilesAreWritten() throws IOException {
        try (PrivateKey key = PrivateKey.generate(Kind.X25519)) {
            Sealer age = Sealer.to(key.publicKey()).ageFormat();
            byte[] sealed = age.seal(FACE);
            assertTrue(new String(sealed, UTF_8).startsWith("age-encryption.org/v1\n"));
            assertArrayEquals(FACE, Deadpan.open(sealed, key));
            byte[] large = BytesTest.data(5_000_000);
            assertArrayEquals(large, Deadpan.open(age.seal(large), key));
            assertThrows(IllegalArgumentException.class, () -> age.hideLength().seal(FACE));
        }
    }

    @Test
    void compressedDataAreShortAndOpen() throws IOException {
        try (PrivateKey key = PrivateKey.generate(Kind.XWING)) {
            Sealer small = Sealer.to(key.publicKey()).compress(3);
            for (int length : new int[] {0, 1, 100, 70_000, 9_000_000}) {
                byte[] sealed = small.seal(new byte[length]);
                assertTrue(sealed.length < 10_000 && sealed.length <= small.sealedLength(length));
                assertArrayEquals(new byte[length], Deadpan.open(sealed, key));
            }
            byte[] large = BytesTest.data(5_000_000);
            assertArrayEquals(large, Deadpan.open(small.hideLength().seal(large), key));
            assertThrows(IllegalArgumentException.class, () -> small.compress(20));
            assertThrows(IllegalArgumentException.class, () -> small.compress(0));
            assertThrows(IllegalArgumentException.class, () -> small.ageFormat().seal(FACE));
        }
    }

    /** A sealed file contains the cost of opening it, so a stranger may ask for too much. */
    @Test
    void costlyPassphrasesAreNotTried() {
        try (Passphrase passphrase = passphrase("correct horse")) {
            assertThrows(
                    CostlyPassphraseException.class, () -> Deadpan.open(scrypt(22), passphrase));
            assertThrows(LimitException.class, () -> Deadpan.open(scrypt(30), passphrase));
        }
    }

    @Test
    void theCostOfPassphrasesHasALimit() throws IOException {
        try (Passphrase passphrase = passphrase("correct horse");
                PrivateKey key = PrivateKey.generate(Kind.XWING)) {
            byte[] sealed = Deadpan.seal(FACE, passphrase);
            Opener careful = Opener.with(passphrase).maxCost((256 << 10) - 1, 64);
            assertThrows(CostlyPassphraseException.class, () -> careful.open(sealed));
            assertThrows(
                    CostlyPassphraseException.class,
                    () -> careful.newInputStream(new ByteArrayInputStream(sealed)));
            Opener enough = Opener.with(key, passphrase).maxCost(256 << 10, 3);
            assertArrayEquals(FACE, enough.open(sealed));
            byte[] both = Sealer.to(key.publicKey(), passphrase).seal(FACE);
            assertArrayEquals(FACE, Opener.with(passphrase, key).maxCost(0, 0).open(both));
            assertArrayEquals(FACE, Opener.with(key).maxCost(0, 0).open(both));
            assertThrows(
                    IllegalArgumentException.class, () -> Opener.with(passphrase).maxCost(-1, 3));
        }
    }

    /**
     * No public class of this package has the name of a public class in the platform's packages.
     */
    @Test
    void namesAreNotThoseOfThePlatform() throws Exception {
        var module = Deadpan.class.getModule();
        var found = module.getLayer().configuration().findModule("deadpan").orElseThrow();
        List<String> clashes = new ArrayList<>();
        try (var reader = found.reference().open();
                var list = reader.list()) {
            for (String file : list.filter(name -> name.endsWith(".class")).toList()) {
                String name = file.replaceAll(".*/|\\.class", "");
                for (String other : List.of("java.lang.", "java.util.", "java.io.")) {
                    if (!name.contains("-")
                            && isPublic("deadpan." + name)
                            && isPublic(other + name)) {
                        clashes.add(other + name);
                    }
                }
            }
        }
        assertEquals(List.of(), clashes);
    }

    private static boolean isPublic(String name) {
        try {
            Class<?> type = Class.forName(name, false, KeysTest.class.getClassLoader());
            return Modifier.isPublic(type.getModifiers());
        } catch (ClassNotFoundException none) {
            return false;
        }
    }

    /** Returns an age file. The cost of its passphrase is two to the power of {@code factor}. */
    private static byte[] scrypt(int factor) {
        String text =
                """
                age-encryption.org/v1
                -> scrypt AAAAAAAAAAAAAAAAAAAAAA %d
                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                --- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                """;
        return (text.formatted(factor) + "x".repeat(40)).getBytes(UTF_8);
    }
}

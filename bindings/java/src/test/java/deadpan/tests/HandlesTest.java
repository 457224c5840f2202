package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import deadpan.Deadpan;
import deadpan.Kind;
import deadpan.Opener;
import deadpan.Passphrase;
import deadpan.PrivateKey;
import deadpan.PublicKey;
import deadpan.Sealer;
import deadpan.SealingStream;
import deadpan.Session;
import deadpan.TruncatedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

class HandlesTest {
    @TempDir Path folder;

    private static Passphrase passphrase() {
        return Passphrase.of("correct horse".toCharArray());
    }

    private static void isClosed(String noun, org.junit.jupiter.api.function.Executable use) {
        var closed = assertThrows(IllegalStateException.class, use);
        assertTrue(closed.getMessage().contains(noun), closed::getMessage);
    }

    @Test
    void whatIsClosedSaysSo() throws IOException {
        PrivateKey key = PrivateKey.generate(Kind.XWING);
        PublicKey publicKey = key.publicKey();
        byte[] sealed = Deadpan.seal(new byte[5], publicKey);
        Opener two = Opener.with(key, key);
        key.close();
        key.close();
        isClosed("private key", () -> Deadpan.open(sealed, key));
        isClosed("private key", () -> two.open(sealed));
        isClosed("private key", () -> Opener.with(key).threads(1).open(sealed));
        isClosed("private key", key::toPem);
        Deadpan.seal(new byte[5], publicKey, key.publicKey());
        assertTrue(key.toString().contains(publicKey.fingerprint()));

        Passphrase passphrase = passphrase();
        Session session = Session.of(passphrase);
        passphrase.close();
        isClosed("passphrase", () -> Session.of(passphrase));
        isClosed("passphrase", () -> Deadpan.seal(new byte[5], passphrase));
        isClosed("passphrase", () -> Deadpan.open(sealed, passphrase));
        isClosed("passphrase", () -> PrivateKey.read(new byte[5], passphrase));
        session.close();
        isClosed("session", () -> Deadpan.seal(new byte[5], session));
        isClosed("session", () -> Deadpan.open(sealed, session));
        isClosed("session", () -> Deadpan.seal(new byte[5], session, publicKey));
    }

    @Test
    void aKeyMayBeClosedInUse() throws Exception {
        PrivateKey key = PrivateKey.generate(Kind.XWING);
        byte[] data = BytesTest.data(20_000_000);
        byte[] sealed = Deadpan.seal(data, key.publicKey());
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        Opener opener =
                Opener.with(key)
                        .progress(
                                _ -> {
                                    inside.countDown();
                                    Threads.await(leave);
                                });
        AtomicReference<byte[]> opened = new AtomicReference<>();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        // The output array has the right length, so the opener uses the key only once.
        byte[] out = new byte[data.length];
        Thread opening =
                Threads.start(
                        () -> {
                            opener.open(sealed, out);
                            opened.set(out);
                        },
                        thrown);
        Threads.await(inside);
        key.close();
        isClosed("private key", () -> Deadpan.open(sealed, key));
        leave.countDown();
        Threads.join(opening);
        assertNull(thrown.get());
        assertArrayEquals(data, opened.get());
    }

    @Test
    void manyThreadsMayClose() throws Exception {
        for (int round = 0; round < 50; round++) {
            PrivateKey key = PrivateKey.generate(Kind.X25519);
            byte[] sealed = Deadpan.seal(new byte[5], key.publicKey());
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread opening =
                    Threads.start(
                            () -> {
                                for (int time = 0; time < 1000; time++) {
                                    Deadpan.open(sealed, key);
                                }
                            },
                            thrown);
            Thread closing = Threads.start(key::close, new AtomicReference<>());
            key.close();
            Threads.join(opening);
            Threads.join(closing);
            Throwable closed = thrown.get();
            assertTrue(
                    closed == null || closed instanceof IllegalStateException, () -> "" + closed);
        }
    }

    /**
     * Returns a function that returns the number of an object's handle. The function returns 0
     * after the handle is freed.
     */
    private static LongSupplier handleOf(Object owner) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField("handle");
        field.setAccessible(true);
        Object handle = field.get(owner);
        Field state = handle.getClass().getDeclaredField("state");
        state.setAccessible(true);
        Object left = state.get(handle);
        Field number = left.getClass().getDeclaredField("number");
        number.setAccessible(true);
        Object count = number.get(left);
        return () -> ((java.util.concurrent.atomic.AtomicLong) count).get();
    }

    private static void isFreed(String noun, LongSupplier handle) throws InterruptedException {
        for (int wait = 0; wait < 200 && handle.getAsLong() != 0; wait++) {
            System.gc();
            Thread.sleep(10);
        }
        assertEquals(0, handle.getAsLong(), () -> noun + " was forgotten and not freed");
    }

    @Test
    void whatIsForgottenIsFreed() throws Exception {
        PrivateKey kept = PrivateKey.generate(Kind.XWING);
        Path sealed =
                Files.write(folder.resolve("sealed"), Deadpan.seal(new byte[5], kept.publicKey()));
        isFreed("private key", handleOf(PrivateKey.generate(Kind.XWING)));
        isFreed("public key", handleOf(PrivateKey.generate(Kind.XWING).publicKey()));
        isFreed("passphrase", handleOf(passphrase()));
        isFreed("session", handleOf(Session.of(passphrase())));
        isFreed("channel", handleOf(Opener.with(kept).newChannel(sealed)));
        isFreed(
                "channel of a channel",
                handleOf(Opener.with(kept).newChannel(Files.newByteChannel(sealed))));
        var half = new ByteArrayOutputStream();
        SealingStream stream = Sealer.to(kept.publicKey()).newOutputStream(half);
        stream.write(new byte[1_000_000]);
        LongSupplier handle = handleOf(stream);
        assertTrue(handle.getAsLong() != 0);
        stream = null;
        isFreed("sealing stream", handle);
        assertThrows(TruncatedException.class, () -> Deadpan.open(half.toByteArray(), kept));
        assertTrue(handleOf(kept).getAsLong() != 0, "a key that is in use was freed");
        assertEquals(5, Deadpan.open(Files.readAllBytes(sealed), kept).length);
    }

    /** Makes many new handles, and returns the highest slot number among them. */
    private static long highest() throws Exception {
        for (int time = 0; time < 5; time++) {
            // The collector frees public keys that nothing refers to.
            System.gc();
            Thread.sleep(10);
        }
        long highest = 0;
        List<PrivateKey> keys = new ArrayList<>();
        for (int number = 0; number < 500; number++) {
            keys.add(PrivateKey.generate(Kind.X25519));
            highest = Math.max(highest, handleOf(keys.getLast()).getAsLong() >> 1 & (1 << 24) - 1);
        }
        keys.forEach(PrivateKey::close);
        return highest;
    }

    @Test
    void manyCallsLeaveNoHandles() throws Exception {
        try (PrivateKey key = PrivateKey.generate(Kind.X25519)) {
            Path sealed =
                    Files.write(
                            folder.resolve("sealed"), Deadpan.seal(new byte[5], key.publicKey()));
            Calls.many(key, sealed, 500);
            long before = highest();
            for (int round = 0; round < 4; round++) {
                Calls.many(key, sealed, 500);
                highest();
            }
            // If each call left one handle, the handles would take 2000 slots.
            long after = highest();
            assertTrue(after < before + 1500, () -> "from slot " + before + " to " + after);
        }
    }
}

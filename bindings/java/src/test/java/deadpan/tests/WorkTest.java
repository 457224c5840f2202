package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import deadpan.Deadpan;
import deadpan.Kind;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.Progress;
import deadpan.Sealer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

class WorkTest {
    private static final PrivateKey KEY = PrivateKey.generate(Kind.XWING);
    private static final Sealer SEALER = Sealer.to(KEY.publicKey());
    private static final Opener OPENER = Opener.with(KEY);

    @TempDir Path folder;

    /** Makes a file of zeros that takes no room on the disk. */
    private Path large(long length) throws IOException {
        Path path = folder.resolve("plain");
        try (var file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(length);
        }
        return path;
    }

    @Test
    void progressIsTold() throws IOException {
        Path plain = large(50_000_000);
        Path sealed = folder.resolve("sealed");
        List<Long> told = Collections.synchronizedList(new ArrayList<>());
        SEALER.progress(told::add).sealFile(plain, sealed);
        assertEquals(50_000_000, told.getLast());
        assertEquals(told.stream().sorted().toList(), told);
        told.clear();
        OPENER.progress(told::add).openFile(sealed, folder.resolve("back"));
        assertEquals(50_000_000, told.getLast());
        told.clear();
        byte[] bytes = SEALER.progress(told::add).threads(2).seal(new byte[10]);
        assertEquals(10, told.getLast());
        assertEquals(10, OPENER.progress(told::add).open(bytes).length);
    }

    @Test
    void whatProgressThrowsStopsTheWork() throws IOException {
        Path plain = large(50_000_000);
        Path sealed = folder.resolve("sealed");
        RuntimeException enough = new IllegalStateException("enough");
        Sealer throwing =
                SEALER.progress(
                        _ -> {
                            throw enough;
                        });
        assertSame(
                enough,
                assertThrows(RuntimeException.class, () -> throwing.sealFile(plain, sealed)));
        assertEquals(1, enough.getSuppressed().length, "the library's error tells the file");
        assertFalse(Files.exists(sealed));
        Path tree = Files.createDirectory(folder.resolve("tree"));
        Files.write(tree.resolve("data"), BytesTest.data(20_000_000));
        assertSame(
                enough,
                assertThrows(
                        RuntimeException.class,
                        () -> throwing.sealFolder(tree, folder.resolve("x"))));
        assertSame(
                enough,
                assertThrows(RuntimeException.class, () -> throwing.seal(new byte[9_000_000])));
        assertSame(
                enough,
                assertThrows(
                        RuntimeException.class,
                        () ->
                                throwing.seal(
                                        Files.newInputStream(plain),
                                        OutputStream.nullOutputStream())));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(50_000_000);
            MemorySegment out = arena.allocate(60_000_000);
            assertSame(
                    enough, assertThrows(RuntimeException.class, () -> throwing.seal(data, out)));
        }
        assertEquals(List.of("plain", "tree"), Threads.names(folder));
    }

    @Test
    void progressMayUseTheLibrary() throws IOException {
        Path plain = large(20_000_000);
        SEALER.progress(
                        _ -> {
                            try {
                                assertEquals(
                                        1,
                                        Deadpan.open(
                                                        Deadpan.seal(new byte[1], KEY.publicKey()),
                                                        KEY)
                                                .length);
                            } catch (IOException failed) {
                                throw new AssertionError(failed);
                            }
                        })
                .sealFile(plain, folder.resolve("sealed"));
        OPENER.openFile(folder.resolve("sealed"), folder.resolve("back"));
    }

    @FunctionalInterface
    private interface LongWork {
        void run(CountDownLatch begun) throws IOException;
    }

    /** Interrupts work, and checks that the work ends soon and leaves no output. */
    private void interrupted(LongWork work) throws Exception {
        List<String> before = Threads.names(folder);
        CountDownLatch begun = new CountDownLatch(1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicReference<Boolean> flag = new AtomicReference<>();
        Thread thread =
                Threads.start(
                        () -> {
                            try {
                                work.run(begun);
                            } finally {
                                flag.set(Thread.currentThread().isInterrupted());
                            }
                        },
                        thrown);
        Threads.await(begun);
        long start = System.nanoTime();
        thread.interrupt();
        Threads.join(thread);
        assertTrue(System.nanoTime() - start < 5_000_000_000L, "it took too long");
        assertInstanceOf(InterruptedIOException.class, thrown.get());
        assertTrue(flag.get(), "the flag is not set");
        assertEquals(before, Threads.names(folder));
    }

    @Test
    void anInterruptStopsFiles() throws Exception {
        Path plain = large(20_000_000_000L);
        interrupted(
                begun ->
                        SEALER.progress(_ -> begun.countDown())
                                .sealFile(plain, folder.resolve("sealed")));
    }

    @Test
    void anInterruptStopsFolders() throws Exception {
        Path tree = Files.createDirectory(folder.resolve("tree"));
        Files.write(tree.resolve("data"), BytesTest.data(100_000_000));
        Progress slow = _ -> Threads.pause();
        Path sealed = folder.resolve("sealed");
        interrupted(begun -> SEALER.progress(begun(begun, slow)).sealFolder(tree, sealed));
        SEALER.sealFolder(tree, sealed);
        interrupted(
                begun ->
                        OPENER.progress(begun(begun, slow))
                                .openFolder(sealed, folder.resolve("back")));
    }

    private static Progress begun(CountDownLatch begun, Progress then) {
        return done -> {
            begun.countDown();
            then.done(done);
        };
    }

    @Test
    void anInterruptStopsMemoryAndLeavesNothingOpened() throws Exception {
        byte[] data = new byte[300_000_000];
        byte[] sealed = SEALER.seal(data);
        byte[] out = new byte[data.length];
        interrupted(
                begun ->
                        OPENER.progress(
                                        _ -> {
                                            begun.countDown();
                                            Threads.pause();
                                        })
                                .open(sealed, out));
        for (int place = 0; place < out.length; place += 1000) {
            assertEquals(0, out[place]);
        }
    }

    @Test
    void anInterruptReachesAStreamThatWaits() throws Exception {
        // The caller's thread reads the beginning, and other threads read the rest.
        for (int before : new int[] {0, 5_000_000}) {
            PipedInputStream pipe = new PipedInputStream();
            PipedOutputStream never = new PipedOutputStream(pipe);
            int[] left = {before};
            interrupted(
                    begun -> {
                        InputStream waiting =
                                Streams.reading(
                                        (bytes, offset, length) -> {
                                            if (left[0] > 0) {
                                                left[0] -= length;
                                                return length;
                                            }
                                            begun.countDown();
                                            return pipe.read(bytes, offset, length);
                                        });
                        SEALER.seal(waiting, OutputStream.nullOutputStream());
                    });
            never.close();
        }
    }

    @Test
    void anInterruptBeforeStopsLongWork() throws Exception {
        Path plain = large(1_000_000);
        Path sealed = folder.resolve("sealed");
        Throwable thrown =
                Threads.thrownBy(
                        () -> {
                            Thread.currentThread().interrupt();
                            SEALER.sealFile(plain, sealed);
                        });
        assertInstanceOf(InterruptedIOException.class, thrown);
        assertFalse(Files.exists(sealed));
        SEALER.sealFile(plain, sealed);
        assertTrue(Files.exists(sealed), "the next work is not stopped");
    }

    @Test
    void virtualThreadsWorkAndStop() throws Exception {
        Path plain = large(20_000_000_000L);
        CountDownLatch begun = new CountDownLatch(1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread =
                Thread.ofVirtual()
                        .start(
                                () -> {
                                    try {
                                        SEALER.progress(_ -> begun.countDown())
                                                .sealFile(plain, folder.resolve("sealed"));
                                    } catch (Throwable failed) {
                                        thrown.set(failed);
                                    }
                                });
        Threads.await(begun);
        thread.interrupt();
        Threads.join(thread);
        assertInstanceOf(InterruptedIOException.class, thrown.get());
    }

    @Test
    void manyThreadsUseOneKey() throws Exception {
        Thread[] threads = new Thread[16];
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        for (int number = 0; number < threads.length; number++) {
            byte[] data = BytesTest.data(1000 * number);
            threads[number] =
                    Threads.start(
                            () -> {
                                for (int time = 0; time < 100; time++) {
                                    assertEquals(
                                            data.length, OPENER.open(SEALER.seal(data)).length);
                                }
                            },
                            thrown);
        }
        for (Thread thread : threads) {
            Threads.join(thread);
        }
        assertNull(thrown.get());
    }
}

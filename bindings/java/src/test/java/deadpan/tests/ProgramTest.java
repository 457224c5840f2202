package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import deadpan.Deadpan;
import deadpan.Kind;
import deadpan.PrivateKey;
import deadpan.Progress;
import deadpan.Sealer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Tests programs that end in unusual ways, or that start without the library. */
class ProgramTest {
    @TempDir Path folder;

    private record Ended(int code, String text) {}

    /** Runs {@link #main} in a separate program. */
    private Ended program(String library, String... arguments) throws Exception {
        List<String> line =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString()));
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            // The program does not inherit the agents and settings of the test.
            if (option.startsWith("--")) {
                line.add(option);
            }
        }
        line.addAll(
                List.of(
                        "-Xms48m",
                        "-Xmx48m",
                        "-XX:+UseSerialGC",
                        "-XX:+AlwaysPreTouch",
                        "-XX:TieredStopAtLevel=1"));
        line.addAll(List.of("-p", System.getProperty("jdk.module.path")));
        line.addAll(
                List.of("-cp", System.getProperty("java.class.path"), ProgramTest.class.getName()));
        line.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(line).directory(folder.toFile()).redirectErrorStream(true);
        if (library != null) {
            builder.environment().put("DEADPAN_LIBRARY", library);
        }
        Path log = folder.resolve("log");
        Process process = builder.redirectOutput(log.toFile()).start();
        boolean isEnded = process.waitFor(50, TimeUnit.SECONDS);
        if (!isEnded) {
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(log);
        assertTrue(isEnded, () -> "the program hangs: " + text);
        Files.delete(log);
        return new Ended(process.exitValue(), text);
    }

    /**
     * A program that ends in the requested way.
     *
     * @param arguments the way in which the program ends
     * @throws Exception if the requested way is an exception
     */
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "work" -> work(false, _ -> {});
            case "exit" -> work(true, _ -> System.exit(7));
            case "halt" -> work(true, _ -> Runtime.getRuntime().halt(8));
            case "overflow" -> overflow();
            case "missing" -> missing();
            case "grow" -> grow();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    /** Ends or waits while another thread seals a large file. */
    private static void work(boolean isLast, Progress progress) throws Exception {
        try (var file = new RandomAccessFile("plain", "rw")) {
            file.setLength(20_000_000_000L);
        }
        PrivateKey key = PrivateKey.generate(Kind.XWING);
        CountDownLatch begun = new CountDownLatch(1);
        Sealer sealer =
                Sealer.to(key.publicKey())
                        .progress(
                                done -> {
                                    begun.countDown();
                                    progress.done(done);
                                });
        Thread.ofPlatform()
                .daemon()
                .start(
                        () -> {
                            try {
                                sealer.sealFile(Path.of("plain"), Path.of("sealed"));
                            } catch (InterruptedIOException stopped) {
                                // The program is ending.
                            } catch (IOException failed) {
                                failed.printStackTrace();
                            }
                        });
        Threads.await(begun);
        if (isLast) {
            Thread.sleep(30_000);
        }
    }

    private static void overflow() throws Exception {
        PrivateKey key = PrivateKey.generate(Kind.XWING);
        try {
            Sealer.to(key.publicKey()).progress(ProgramTest::forEver).seal(new byte[9_000_000]);
        } catch (StackOverflowError overflow) {
            System.out.println("overflow");
        }
    }

    private static void forEver(long done) {
        forEver(done + 1);
    }

    private static void missing() throws Exception {
        for (int time = 0; time < 2; time++) {
            try {
                Deadpan.version();
            } catch (LinkageError error) {
                System.out.println(error);
                System.out.println(error.getCause());
            }
        }
    }

    /**
     * Prints how many bytes the memory of the program grew during 5000 calls. The method prints the
     * smallest of three measurements, since a leak grows in each measurement.
     */
    private static void grow() throws Exception {
        try (PrivateKey key = PrivateKey.generate(Kind.X25519)) {
            Path sealed =
                    Files.write(Path.of("sealed"), Deadpan.seal(new byte[5], key.publicKey()));
            Calls.many(key, sealed, 2000);
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 3; round++) {
                long before = memory();
                Calls.many(key, sealed, 5000);
                least = Math.min(least, memory() - before);
            }
            System.out.println(least);
        }
    }

    private static long memory() throws IOException {
        System.gc();
        return 4096 * Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]);
    }

    @Test
    void manyCallsDoNotGrow() throws Exception {
        assumeTrue(
                Files.exists(Path.of("/proc/self/statm")), "the system does not tell the memory");
        Ended ended = program(null, "grow");
        assertEquals(0, ended.code, ended.text);
        // If each call leaked a kilobyte, the program would grow by 5 million bytes.
        assertTrue(Long.parseLong(ended.text.strip()) < 4 << 20, () -> "grown by " + ended.text);
    }

    @Test
    void aProgramEndsWithWorkUnderWay() throws Exception {
        Ended ended = program(null, "work");
        assertEquals(0, ended.code, ended.text);
        assertEquals("", ended.text);
        assertEquals(List.of("plain"), Threads.names(folder));
    }

    @Test
    void aCallbackMayEndTheProgram() throws Exception {
        assertEquals(7, program(null, "exit").code);
        // The callback does not return, so the work cannot end properly. The incomplete output has
        // a different name from the complete output.
        assertEquals(8, program(null, "halt").code);
        assertFalse(Files.exists(folder.resolve("sealed")));
    }

    @Test
    void aCallbackMayOverflowItsStack() throws Exception {
        Ended ended = program(null, "overflow");
        assertEquals("overflow\n", ended.text);
        assertEquals(0, ended.code);
    }

    @Test
    void aMissingLibraryIsExplained() throws Exception {
        String text = program("/no/such/library.so", "missing").text;
        assertTrue(text.contains("there is no /no/such/library.so"), text);
        assertTrue(text.contains("cargo build --profile dist -p deadpan-capi"), text);
        Path wrong = Files.writeString(folder.resolve("wrong.so"), "no library");
        text = program(wrong.toString(), "missing").text;
        assertTrue(text.contains("wrong.so is no library"), text);
        // With an empty path, the system searches for the library. Either the system finds the
        // library, or the error text says how to build the library.
        text = program("", "missing").text;
        assertTrue(text.isEmpty() || text.contains("cargo cinstall"), text);
    }
}

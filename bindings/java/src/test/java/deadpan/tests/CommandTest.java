package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import deadpan.Deadpan;
import deadpan.Kind;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.Sealer;
import deadpan.SealingStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The command line opens data that the package has sealed, and the package opens data that the
 * command line has sealed.
 */
class CommandTest {
    private static final String COMMAND = System.getenv("DEADPAN");
    private static final byte[] DATA = BytesTest.data(300_000);

    @TempDir Path folder;

    @BeforeEach
    void isThere() {
        assumeTrue(
                COMMAND != null && !COMMAND.isEmpty(),
                "the command line: DEADPAN does not name it");
    }

    private void command(String... arguments) throws Exception {
        List<String> line = new java.util.ArrayList<>(List.of(COMMAND));
        line.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(line).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().put("XDG_CONFIG_HOME", folder.toString());
        Process process = builder.redirectOutput(folder.resolve("log").toFile()).start();
        process.getOutputStream().close();
        assertTrue(process.waitFor(50, TimeUnit.SECONDS), "the command hangs");
        assertEquals(0, process.exitValue(), Files.readString(folder.resolve("log")));
    }

    private Path write(String name, byte[] bytes) throws Exception {
        Path path = Files.write(folder.resolve(name), bytes);
        return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void filesGoBothWays() throws Exception {
        for (Kind kind : Kind.values()) {
            try (PrivateKey key = PrivateKey.generate(kind)) {
                write("key", key.toPem());
                write("key.pub", key.publicKey().toPem().getBytes());
                Path plain = write("plain", DATA);
                Path ours = folder.resolve(kind + ".ours");
                Deadpan.sealFile(plain, ours, key.publicKey());
                command("open", "-i", "key", "-o", kind + ".opened", ours.getFileName().toString());
                assertArrayEquals(DATA, Files.readAllBytes(folder.resolve(kind + ".opened")));
                command("seal", "-r", "key.pub", "-o", kind + ".theirs", "plain");
                byte[] theirs = Files.readAllBytes(folder.resolve(kind + ".theirs"));
                assertArrayEquals(DATA, Deadpan.open(theirs, key));
                Deadpan.openFile(
                        folder.resolve(kind + ".theirs"), folder.resolve(kind + ".back"), key);
                assertArrayEquals(DATA, Files.readAllBytes(folder.resolve(kind + ".back")));
            }
        }
    }

    @Test
    void bytesStreamsAndFoldersGoBothWays() throws Exception {
        try (PrivateKey key = PrivateKey.generate(Kind.XWING)) {
            write("key", key.toPem());
            write("key.pub", key.publicKey().toPem().getBytes());
            write("bytes", Deadpan.seal(DATA, key.publicKey()));
            try (SealingStream out =
                    Sealer.to(key.publicKey())
                            .newOutputStream(Files.newOutputStream(folder.resolve("stream")))) {
                out.write(DATA);
                out.finish();
            }
            for (String name : List.of("bytes", "stream")) {
                command("open", "-i", "key", "-o", name + ".opened", name);
                assertArrayEquals(DATA, Files.readAllBytes(folder.resolve(name + ".opened")));
            }
            Files.createDirectories(folder.resolve("tree/in"));
            Files.write(folder.resolve("tree/in/file"), DATA);
            Deadpan.sealFolder(
                    folder.resolve("tree"), folder.resolve("tree.ours"), key.publicKey());
            command("open", "-i", "key", "-o", "tree.opened", "tree.ours");
            assertArrayEquals(DATA, Files.readAllBytes(folder.resolve("tree.opened/in/file")));
            command("seal", "-r", "key.pub", "-o", "tree.theirs", "tree");
            Opener.with(key).openFolder(folder.resolve("tree.theirs"), folder.resolve("tree.back"));
            assertArrayEquals(DATA, Files.readAllBytes(folder.resolve("tree.back/in/file")));
        }
    }
}

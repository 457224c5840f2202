import static java.nio.charset.StandardCharsets.UTF_8;

import deadpan.Deadpan;
import deadpan.Entry;
import deadpan.Kind;
import deadpan.NoKeyException;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.SealedChannel;
import deadpan.Sealer;
import deadpan.SealingStream;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** The examples of the README, as a whole program. */
public final class Face {
    private Face() {}

    /**
     * Seals and opens.
     *
     * @param arguments none
     * @throws IOException if that fails
     */
    public static void main(String[] arguments) throws IOException {
        try (PrivateKey key = PrivateKey.generate(Kind.XWING)) {
            byte[] sealed = Deadpan.seal("straight face".getBytes(UTF_8), key.publicKey());
            byte[] opened = Deadpan.open(sealed, key);
            System.out.println(new String(opened, UTF_8)); // straight face
        }

        Path folder = Files.createTempDirectory("face");
        Files.writeString(folder.resolve("report.txt"), "straight face");
        try (PrivateKey key = PrivateKey.generate(Kind.XWING)) {
            files(folder, key);
            streams(folder, key);
        }
    }

    private static void files(Path folder, PrivateKey key) throws IOException {
        Path report = folder.resolve("report.txt");
        Path sealed = folder.resolve("report.dpn");
        Sealer sealer = Sealer.to(key.publicKey()).hideLength().progress(System.out::println);
        sealer.sealFile(report, sealed);
        try {
            Deadpan.openFile(sealed, report, key);
        } catch (FileAlreadyExistsException exists) {
            Opener.with(key).replaceExisting().openFile(sealed, report);
        }
        try (PrivateKey other = PrivateKey.generate(Kind.XWING)) {
            Deadpan.openFile(sealed, folder.resolve("other.txt"), other);
        } catch (NoKeyException failed) {
            System.out.println(failed.getMessage());
        }

        Files.createDirectory(folder.resolve("node_modules"));
        Path output = folder.resolveSibling(folder.getFileName() + ".dpn");
        Sealer.to(key.publicKey())
                .exclude("node_modules/", "*.o", "!keep.o")
                .sealFolder(folder, output);
        for (Entry entry : Deadpan.listFolder(output, key)) {
            System.out.println(entry.path() + " " + entry.size());
        }
    }

    private static void streams(Path folder, PrivateKey key) throws IOException {
        Path log = folder.resolve("log.dpn");
        try (SealingStream out =
                Sealer.to(key.publicKey()).newOutputStream(Files.newOutputStream(log))) {
            out.write("first line\nsecond line\n".getBytes(UTF_8));
            out.finish(); // without this, log is cut short and does not open
        }
        try (SealedChannel channel = Opener.with(key).newChannel(log)) {
            ByteBuffer buffer = ByteBuffer.allocate(6);
            channel.position(11).read(buffer);
            System.out.println(new String(buffer.array(), UTF_8)); // second
        }
        try (SealingStream out =
                        Sealer.to(key.publicKey()).newOutputStream(Files.newOutputStream(log));
                GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write("first line\nsecond line\n".getBytes(UTF_8));
            gzip.finish(); // a Writer: flush()
            out.finish();
        }
        try (InputStream in = new GZIPInputStream(Opener.with(key).newInputStream(log))) {
            System.out.print(new String(in.readAllBytes(), UTF_8));
        }
    }
}

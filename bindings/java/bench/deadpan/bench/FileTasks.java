package deadpan.bench;

import deadpan.Kind;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.Sealer;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Deadpan with an X-Wing key, from file to file in the folder for temporary files. */
final class FileTasks extends Task {
    private final Path folder = Files.createTempDirectory("deadpan-worker-");
    private final Path plain = folder.resolve("plain");
    private final Path sealed = folder.resolve("sealed");
    private final Path opened = folder.resolve("opened");
    private final Sealer sealer;
    private final Opener opener;
    private final boolean isOpening;

    private FileTasks(PrivateKey key, long size, boolean isOpening) throws IOException {
        super(size);
        this.isOpening = isOpening;
        sealer = Sealer.to(key.publicKey());
        opener = Opener.with(key);
        fill(plain, size);
        seal();
        open();
    }

    /** Fills a file that may be longer than an array. */
    private static void fill(Path path, long size) throws IOException {
        byte[] piece = data(Math.min(size, 1 << 20));
        try (OutputStream out = Files.newOutputStream(path)) {
            for (long left = size; left > 0; left -= piece.length) {
                out.write(piece, 0, (int) Math.min(piece.length, left));
            }
        }
    }

    static Map<String, Maker> makers() {
        PrivateKey key = PrivateKey.generate(Kind.XWING);
        return Map.of(
                "file.seal",
                size -> new FileTasks(key, size, false),
                "file.open",
                size -> new FileTasks(key, size, true));
    }

    @Override
    void run() throws IOException {
        if (isOpening) {
            open();
        } else {
            seal();
        }
    }

    /** Seals to a new file: one that is replaced would be written to the disk first. */
    private void seal() throws IOException {
        Files.deleteIfExists(sealed);
        sealer.sealFile(plain, sealed);
    }

    private void open() throws IOException {
        Files.deleteIfExists(opened);
        opener.openFile(sealed, opened);
    }

    @Override
    void check() throws IOException {
        if (!isOpening) {
            open();
        }
        require(Files.mismatch(plain, opened) == -1);
    }

    @Override
    public void close() throws IOException {
        for (Path path : new Path[] {plain, sealed, opened, folder}) {
            Files.deleteIfExists(path);
        }
    }
}

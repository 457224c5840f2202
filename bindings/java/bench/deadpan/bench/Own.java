package deadpan.bench;

import static deadpan.bench.Task.data;
import static deadpan.bench.Task.require;

import deadpan.Kind;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.Sealer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;

/** Deadpan with an X-Wing key. */
final class Own {
    private final PrivateKey key = PrivateKey.generate(Kind.XWING);
    private final Sealer sealer = Sealer.to(key.publicKey());
    private final Opener opener = Opener.with(key);

    Map<String, Task.Maker> makers() {
        return Map.of(
                "seal", size -> memory(size, false),
                "open", size -> memory(size, true),
                "seal.array", size -> arrays(size, false),
                "open.array", size -> arrays(size, true),
                "seal.new", size -> newArrays(size, false),
                "open.new", size -> newArrays(size, true),
                "file.seal", size -> files(size, false),
                "file.open", size -> files(size, true));
    }

    /** Works from native memory to native memory that was touched before. */
    private Task memory(long size, boolean isOpening) throws Exception {
        Arena arena = Arena.ofShared();
        MemorySegment plain = arena.allocate(size);
        plain.copyFrom(MemorySegment.ofArray(data(size)));
        MemorySegment sealed = arena.allocate(sealer.sealedLength(size));
        MemorySegment opened = arena.allocate(size);
        return Task.of(
                isOpening,
                () -> require(sealer.seal(plain, sealed) == sealed.byteSize()),
                () -> require(opener.open(sealed, opened) == size),
                () -> require(opened.mismatch(plain) == -1),
                arena::close);
    }

    /** Works from arrays into arrays that are used again. */
    private Task arrays(long size, boolean isOpening) throws Exception {
        byte[] plain = data(size);
        byte[] sealed = new byte[(int) sealer.sealedLength(size)];
        byte[] opened = new byte[plain.length];
        return Task.of(
                isOpening,
                () -> require(sealer.seal(plain, sealed) == sealed.length),
                () -> require(opener.open(sealed, opened) == size),
                () -> require(Arrays.equals(opened, plain)),
                () -> {});
    }

    /** Works from arrays to new arrays. The previous result is already garbage during the call. */
    private Task newArrays(long size, boolean isOpening) throws Exception {
        byte[] plain = data(size);
        byte[][] sealed = new byte[1][];
        byte[][] opened = new byte[1][];
        return Task.of(
                isOpening,
                () -> {
                    sealed[0] = null;
                    sealed[0] = sealer.seal(plain);
                },
                () -> {
                    opened[0] = null;
                    opened[0] = opener.open(sealed[0]);
                },
                () -> require(Arrays.equals(opened[0], plain)),
                () -> {});
    }

    /** Works from a file to a new file. Replacing a file would wait until it is on the disk. */
    private Task files(long size, boolean isOpening) throws Exception {
        Path folder = Files.createTempDirectory("deadpan-worker-");
        Path plain = folder.resolve("plain");
        Path sealed = folder.resolve("sealed");
        Path opened = folder.resolve("opened");
        Files.write(plain, data(size));
        return Task.of(
                isOpening,
                () -> {
                    Files.deleteIfExists(sealed);
                    sealer.sealFile(plain, sealed);
                },
                () -> {
                    Files.deleteIfExists(opened);
                    opener.openFile(sealed, opened);
                },
                () -> require(Files.mismatch(plain, opened) == -1),
                () -> {
                    for (Path path : new Path[] {plain, sealed, opened, folder}) {
                        Files.deleteIfExists(path);
                    }
                });
    }
}

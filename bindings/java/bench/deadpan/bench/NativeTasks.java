package deadpan.bench;

import deadpan.Kind;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.Sealer;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Random;

/** Deadpan with an X-Wing key, from native memory to native memory that was touched before. */
final class NativeTasks extends Task {
    private final Arena arena = Arena.ofShared();
    private final Sealer sealer;
    private final Opener opener;
    private final boolean isOpening;
    private final MemorySegment plain;
    private final MemorySegment sealed;
    private final MemorySegment opened;
    private long length;

    private NativeTasks(PrivateKey key, long size, boolean isOpening) throws IOException {
        super(size);
        this.isOpening = isOpening;
        sealer = Sealer.to(key.publicKey());
        opener = Opener.with(key);
        plain = arena.allocate(size);
        fill(plain);
        sealed = arena.allocate(sealer.sealedLength(size));
        length = sealer.seal(plain, sealed);
        opened = isOpening ? arena.allocate(size) : plain;
    }

    static Map<String, Maker> makers() {
        PrivateKey key = PrivateKey.generate(Kind.XWING);
        return Map.of(
                "seal",
                size -> new NativeTasks(key, size, false),
                "open",
                size -> new NativeTasks(key, size, true));
    }

    private static void fill(MemorySegment memory) {
        byte[] piece = new byte[1 << 20];
        new Random(memory.byteSize()).nextBytes(piece);
        for (long done = 0; done < memory.byteSize(); done += piece.length) {
            int more = (int) Math.min(piece.length, memory.byteSize() - done);
            MemorySegment.copy(piece, 0, memory, ValueLayout.JAVA_BYTE, done, more);
        }
    }

    @Override
    void run() throws IOException {
        length = isOpening ? opener.open(sealed, opened) : sealer.seal(plain, sealed);
    }

    @Override
    void check() throws IOException {
        if (isOpening) {
            require(length == size() && opened.mismatch(plain) == -1);
        } else {
            MemorySegment again = Arena.ofAuto().allocate(size());
            require(
                    opener.open(sealed.asSlice(0, length), again) == size()
                            && again.mismatch(plain) == -1);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}

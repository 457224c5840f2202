package deadpan.bench;

import deadpan.Kind;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.Sealer;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;

/** Deadpan with an X-Wing key, from arrays to new arrays or into an array that is used again. */
final class ArrayTasks extends Task {
    private final Sealer sealer;
    private final Opener opener;
    private final boolean isOpening;
    private final boolean isNew;
    private final byte[] plain;
    private final byte[] sealed;
    private byte[] result;
    private int length;

    private ArrayTasks(PrivateKey key, long size, boolean isOpening, boolean isNew)
            throws IOException {
        super(size);
        this.isOpening = isOpening;
        this.isNew = isNew;
        sealer = Sealer.to(key.publicKey());
        opener = Opener.with(key);
        plain = data(size);
        sealed = isOpening ? sealer.seal(plain) : null;
        result = isNew ? null : new byte[(int) (isOpening ? size : sealer.sealedLength(size))];
    }

    static Map<String, Maker> makers() {
        PrivateKey key = PrivateKey.generate(Kind.XWING);
        return Map.of(
                "seal.new", size -> new ArrayTasks(key, size, false, true),
                "open.new", size -> new ArrayTasks(key, size, true, true),
                "seal.array", size -> new ArrayTasks(key, size, false, false),
                "open.array", size -> new ArrayTasks(key, size, true, false));
    }

    @Override
    void run() throws IOException {
        if (isNew) {
            // The result before is garbage now, and not only after the call.
            result = null;
            result = isOpening ? opener.open(sealed) : sealer.seal(plain);
            length = result.length;
        } else {
            length = isOpening ? opener.open(sealed, result) : sealer.seal(plain, result);
        }
    }

    @Override
    void check() throws IOException {
        require(result.length == length);
        require(Arrays.equals(plain, isOpening ? result : opener.open(result)));
    }
}

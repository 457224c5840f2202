package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import deadpan.Kind;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.SealedChannel;
import deadpan.Sealer;
import deadpan.SealingStream;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Calls of many kinds. The calls leave no handles or memory in use. */
final class Calls {
    private Calls() {}

    static void many(PrivateKey key, Path sealed, int times) throws IOException {
        Opener opener = Opener.with(key, key);
        byte[] bytes = Files.readAllBytes(sealed);
        Sealer sealer = Sealer.to(key.publicKey()).hideLength();
        for (int time = 0; time < times; time++) {
            assertEquals(5, opener.open(bytes).length);
            sealer.seal(new byte[100]);
            assertThrows(
                    IllegalArgumentException.class, () -> sealer.seal(new byte[5], new byte[5]));
            PrivateKey.generate(Kind.X25519).close();
            try (SealedChannel channel = opener.newChannel(sealed);
                    SealingStream stream =
                            sealer.newOutputStream(OutputStream.nullOutputStream())) {
                stream.write((int) channel.size());
                stream.finish();
            }
        }
    }
}

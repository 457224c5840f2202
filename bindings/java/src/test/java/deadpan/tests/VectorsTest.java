package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import deadpan.Deadpan;
import deadpan.DeadpanException;
import deadpan.Identity;
import deadpan.Opener;
import deadpan.Passphrase;
import deadpan.PrivateKey;
import deadpan.PublicKey;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.InflaterInputStream;

/**
 * Tests with test vectors of public specifications. The vectors are in a folder next to the
 * repository.
 */
class VectorsTest {
    private static final Path VECTORS = Path.of(System.getProperty("deadpan.vectors", "vectors"));

    private static List<Path> files(String name) throws IOException {
        Path folder = VECTORS.resolve(name);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (var list = Files.list(folder)) {
            return list.sorted().toList();
        }
    }

    @Test
    void vectorsAreThere() throws IOException {
        assumeFalse(
                files("age").isEmpty() || files("pem").isEmpty(), "the test vectors are missing");
        assertEquals(95, files("age").size());
    }

    @TestFactory
    Stream<DynamicTest> ageFiles() throws IOException {
        return files("age").stream()
                .map(
                        path ->
                                DynamicTest.dynamicTest(
                                        path.getFileName().toString(), () -> age(path)));
    }

    private static void age(Path path) throws Exception {
        byte[] bytes = Files.readAllBytes(path);
        int end = new String(bytes, ISO_8859_1).indexOf("\n\n");
        Map<String, List<String>> facts = new HashMap<>();
        for (String line : new String(bytes, 0, end, UTF_8).split("\n")) {
            String[] parts = line.split(": ", 2);
            facts.computeIfAbsent(parts[0], _ -> new ArrayList<>()).add(parts[1]);
        }
        InputStream rest = new ByteArrayInputStream(bytes, end + 2, bytes.length);
        byte[] sealed =
                facts.containsKey("compressed")
                        ? new InflaterInputStream(rest).readAllBytes()
                        : rest.readAllBytes();
        assumeFalse(facts.containsKey("armored"), "the library lacks armor");
        List<Identity> identities = new ArrayList<>();
        for (String text : facts.getOrDefault("identity", List.of())) {
            identities.add(PrivateKey.read(text.getBytes(UTF_8)));
        }
        for (String text : facts.getOrDefault("passphrase", List.of())) {
            identities.add(Passphrase.of(text.toCharArray()));
        }
        assumeFalse(identities.isEmpty(), "the file has no identity");
        Opener opener = Opener.with(identities);
        if (facts.get("expect").equals(List.of("success"))) {
            byte[] opened = opener.open(sealed);
            assertEquals(facts.get("payload").getFirst(), sha256(opened));
            var out = new ByteArrayOutputStream();
            opener.open(new ByteArrayInputStream(sealed), out);
            assertArrayEquals(opened, out.toByteArray());
        } else {
            assertThrows(DeadpanException.class, () -> opener.open(sealed));
            assertThrows(
                    DeadpanException.class, () -> opener.open(sealed, new byte[sealed.length]));
        }
    }

    private static String sha256(byte[] data) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
    }

    @TestFactory
    Stream<DynamicTest> pemKeys() throws IOException {
        return files("pem").stream()
                .map(
                        path ->
                                DynamicTest.dynamicTest(
                                        path.getFileName().toString(), () -> pem(path)));
    }

    private static void pem(Path path) throws IOException {
        byte[] text = Files.readAllBytes(path);
        String name = path.getFileName().toString();
        boolean isKem = name.startsWith("ML-KEM");
        if (name.startsWith("bad-") || !isKem) {
            // Signature keys do not open files.
            assertThrows(DeadpanException.class, () -> PrivateKey.read(text));
            assertThrows(DeadpanException.class, () -> PublicKey.read(text));
        } else if (name.endsWith(".pub")) {
            assertEquals(PublicKey.read(text), PublicKey.read(PublicKey.read(text).toPem()));
        } else {
            privatePem(path, text);
        }
    }

    private static void privatePem(Path path, byte[] text) throws IOException {
        String kind = path.getFileName().toString().replaceFirst("-[a-z]*[.]priv$", "");
        Path pub = path.resolveSibling(kind + ".pub");
        assumeTrue(Files.exists(pub), "there is no public key");
        PrivateKey key = PrivateKey.read(text);
        assertEquals(PublicKey.read(Files.readAllBytes(pub)), key.publicKey());
        assertEquals(3, Deadpan.open(Deadpan.seal(new byte[3], key.publicKey()), key).length);
        key.close();
    }
}

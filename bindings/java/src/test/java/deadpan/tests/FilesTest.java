package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import deadpan.Deadpan;
import deadpan.Description;
import deadpan.Entry;
import deadpan.Kind;
import deadpan.NewerVersionException;
import deadpan.NoKeyException;
import deadpan.NotSealedException;
import deadpan.Opener;
import deadpan.Passphrase;
import deadpan.PrivateKey;
import deadpan.Sealer;
import deadpan.TamperedException;
import deadpan.TruncatedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class FilesTest {
    private static final byte[] FACE = "straight face".getBytes(UTF_8);
    private static final PrivateKey KEY = PrivateKey.generate(Kind.XWING);
    private static final PrivateKey OTHER = PrivateKey.generate(Kind.XWING);
    private static final Sealer SEALER = Sealer.to(KEY.publicKey());
    private static final Opener OPENER = Opener.with(KEY);

    @TempDir Path folder;

    private Path plain() throws IOException {
        return Files.write(folder.resolve("plain"), FACE);
    }

    private Path sealed() throws IOException {
        Path sealed = folder.resolve("sealed");
        Deadpan.sealFile(plain(), sealed, KEY.publicKey());
        return sealed;
    }

    private List<String> names() throws IOException {
        try (var list = Files.list(folder)) {
            return list.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void filesComeBack() throws IOException {
        Path sealed = sealed();
        Path back = folder.resolve("back");
        Deadpan.openFile(sealed, back, KEY);
        assertArrayEquals(FACE, Files.readAllBytes(back));
        var exists =
                assertThrows(FileAlreadyExistsException.class, () -> OPENER.openFile(sealed, back));
        assertEquals(back.toString(), exists.getFile());
        assertTrue(exists.toString().startsWith("deadpan.OutputExistsException: "));
        assertTrue(exists.getMessage().contains(back.toString()));
        OPENER.replaceExisting().openFile(sealed, back);
        assertThrows(FileAlreadyExistsException.class, () -> SEALER.sealFile(back, sealed));
        SEALER.replaceExisting().sealFile(back, sealed);
        assertEquals(List.of("back", "plain", "sealed"), names());
    }

    @Test
    void failuresNameTheFileAndLeaveNothing() throws IOException {
        Path sealed = sealed();
        Path out = folder.resolve("out");
        Path missing = folder.resolve("missing");
        var absent = assertThrows(NoSuchFileException.class, () -> SEALER.sealFile(missing, out));
        assertEquals(missing.toString(), absent.getFile());
        assertTrue(absent.toString().startsWith("deadpan.FileMissingException: "));
        assertTrue(absent.getMessage().contains("missing"));
        assertThrows(NoSuchFileException.class, () -> OPENER.newChannel(missing));
        assertThrows(NoSuchFileException.class, () -> Deadpan.inspect(missing));
        assertThrows(NoSuchFileException.class, () -> Deadpan.listFolder(missing, KEY));
        Path nowhere = folder.resolve("no").resolve("such");
        assertThrows(NoSuchFileException.class, () -> OPENER.openFile(sealed, nowhere));
        var noKey = assertThrows(NoKeyException.class, () -> Deadpan.openFile(sealed, out, OTHER));
        assertTrue(noKey.getMessage().contains("sealed"));
        assertThrows(NotSealedException.class, () -> OPENER.openFile(plain(), out));

        byte[] bytes = Files.readAllBytes(sealed);
        Path bad = Files.write(folder.resolve("bad"), Arrays.copyOf(bytes, bytes.length - 1));
        var cut = assertThrows(TruncatedException.class, () -> OPENER.openFile(bad, out));
        assertTrue(cut.getMessage().contains("bad"));
        bytes[bytes.length - 1] ^= 1;
        Files.write(bad, bytes);
        var changed = assertThrows(TamperedException.class, () -> OPENER.openFile(bad, out));
        assertTrue(changed.getMessage().contains("bad"));
        assertThrows(
                IllegalArgumentException.class,
                () -> SEALER.replaceExisting().sealFile(plain(), plain()));
        assertEquals(List.of("bad", "plain", "sealed"), names());
    }

    @Test
    void aNewerVersionSaysSo() throws IOException {
        byte[] bytes = Deadpan.seal(FACE, KEY.publicKey());
        boolean isTold = false;
        for (int place = 0; place < 24; place++) {
            byte[] newer = bytes.clone();
            newer[place]++;
            try {
                OPENER.open(newer);
            } catch (NewerVersionException said) {
                isTold = true;
            } catch (IOException other) {
                // Another byte of the header.
            }
        }
        assertTrue(isTold);
    }

    private List<String> without(String... patterns) throws IOException {
        Path sealed = folder.resolve("tree.dpn");
        SEALER.exclude(patterns).replaceExisting().sealFolder(folder.resolve("tree"), sealed);
        return Deadpan.listFolder(sealed, KEY).stream()
                .filter(entry -> entry.kind() == Entry.Kind.FILE)
                .map(Entry::path)
                .sorted()
                .toList();
    }

    @Test
    void foldersWithoutWhatIsExcluded() throws IOException {
        Path tree = folder.resolve("tree");
        for (String name : List.of("a.c", "a.o", "in/größer", "in/keep.o", "node_modules/x")) {
            Files.createDirectories(tree.resolve(name).getParent());
            Files.write(tree.resolve(name), FACE);
        }
        List<String> all = List.of("a.c", "a.o", "in/größer", "in/keep.o", "node_modules/x");
        assertEquals(all, without());
        assertEquals(all, without("none"));
        assertEquals(List.of("a.c", "in/größer", "node_modules/x"), without("*.o"));
        assertEquals(
                List.of("a.c", "in/größer", "in/keep.o"),
                without("node_modules/", "*.o", "!keep.o"));
        assertEquals(List.of("a.c", "node_modules/x"), without("!keep.o", "*.o", "größer"));
        assertEquals(List.of("a.c", "a.o", "node_modules/x"), without("in/", "!in/keep.o"));
        assertEquals(List.of(), without("*"));

        // Each call adds patterns, and a sealer does not change.
        Path sealed = folder.resolve("both.dpn");
        Sealer first = SEALER.exclude(List.of("*.o", "node_modules/"));
        Sealer both = first.compress(3).exclude("!keep.o").hideLength().allowMixed();
        first.sealFolder(tree, folder.resolve("first.dpn"));
        both.sealFolder(tree, sealed);
        assertEquals(4, Deadpan.listFolder(folder.resolve("first.dpn"), KEY).size());
        assertEquals(5, Deadpan.listFolder(sealed, KEY).size());
        // Files are sealed as without patterns.
        SEALER.exclude("*").sealFile(tree.resolve("a.c"), folder.resolve("a.dpn"));
        Deadpan.openFile(folder.resolve("a.dpn"), folder.resolve("a"), KEY);
        assertArrayEquals(FACE, Files.readAllBytes(folder.resolve("a")));
    }

    @Test
    void invalidPatternsAreNamed() {
        for (String wrong : List.of("", "!", "/", "[a", "x/[!a", "[[:word:]]", "a\0b", "a\ud83d")) {
            IllegalArgumentException refused =
                    assertThrows(
                            IllegalArgumentException.class, () -> SEALER.exclude("*.o", wrong));
            assertTrue(
                    refused.getMessage().startsWith("the pattern \"" + wrong + "\" "),
                    refused::getMessage);
        }
        assertThrows(NullPointerException.class, () -> SEALER.exclude("*.o", null));
    }

    @Test
    void foldersComeBack() throws IOException {
        Path tree = Files.createDirectories(folder.resolve("tree").resolve("in")).getParent();
        Files.write(tree.resolve("in").resolve("größer"), FACE);
        Files.createSymbolicLink(tree.resolve("link"), Path.of("in"));
        Path sealed = folder.resolve("tree.dpn");
        Deadpan.sealFolder(tree, sealed, KEY.publicKey());
        List<Entry> entries = Deadpan.listFolder(sealed, KEY);
        assertTrue(
                entries.contains(new Entry("in/größer", Entry.Kind.FILE, FACE.length)),
                entries::toString);
        assertTrue(
                entries.stream().anyMatch(entry -> entry.kind() == Entry.Kind.FOLDER),
                entries::toString);
        assertTrue(
                entries.stream().anyMatch(entry -> entry.kind() == Entry.Kind.OTHER),
                entries::toString);
        Path back = folder.resolve("back");
        Deadpan.openFolder(sealed, back, KEY);
        assertArrayEquals(FACE, Files.readAllBytes(back.resolve("link").resolve("größer")));
        assertThrows(FileAlreadyExistsException.class, () -> OPENER.openFolder(sealed, back));
        assertThrows(FileAlreadyExistsException.class, () -> SEALER.sealFolder(tree, sealed));
        SEALER.replaceExisting().sealFolder(tree, sealed);
        assertThrows(
                IllegalArgumentException.class,
                () -> OPENER.openFile(sealed, folder.resolve("out")));
        assertThrows(
                IllegalArgumentException.class,
                () -> SEALER.sealFolder(plain(), folder.resolve("out")));
        assertThrows(NoKeyException.class, () -> Deadpan.listFolder(sealed, OTHER));
        Path notFolder = sealed();
        assertThrows(Exception.class, () -> Deadpan.listFolder(notFolder, KEY));
    }

    @Test
    void inspectTellsMoreToTheOwner() throws IOException {
        Path sealed = sealed();
        Description about = Deadpan.inspect(sealed);
        assertEquals(Description.Format.DEADPAN, about.format());
        assertEquals(Files.size(sealed), about.length());
        assertTrue(about.headerLength() > 0 && about.headerLength() < about.length());
        assertFalse(about.isSigned());
        assertEquals(
                List.of(new Description.KeyOwner("X-Wing", Kind.XWING.id())), about.addressees());
        assertEquals(Optional.empty(), about.contents());
        assertTrue(about.json().contains("X-Wing"));
        var contents = OPENER.inspect(sealed).contents().orElseThrow();
        assertEquals(Description.Contents.Type.FILE, contents.type());
        assertEquals(Optional.of("plain"), contents.name());
        assertFalse(contents.hidesLength());
        FileTime modified = Files.getLastModifiedTime(folder.resolve("plain"));
        assertTrue(
                Duration.between(modified.toInstant(), contents.modified().orElseThrow())
                                .abs()
                                .toMillis()
                        < 5);
        assertTrue((contents.mode().orElseThrow() & 0600) == 0600, contents::toString);

        Path hard = folder.resolve("a \"b\" \u00e9 \ud83d\ude00");
        Files.writeString(hard, "face");
        Path costly = folder.resolve("costly");
        try (Passphrase passphrase = Passphrase.of("correct horse".toCharArray())) {
            Deadpan.sealFile(hard, costly, KEY.publicKey(), passphrase);
        }
        assertEquals(
                Optional.of(hard.getFileName().toString()),
                OPENER.inspect(costly).contents().orElseThrow().name());
        assertTrue(
                Deadpan.inspect(costly)
                        .addressees()
                        .contains(
                                new Description.PassphraseOwner(
                                        Optional.of(new Description.Cost(256 << 10, 3, 4)))));
        var unsealed = assertThrows(NotSealedException.class, () -> Deadpan.inspect(plain()));
        assertTrue(unsealed.getMessage().contains("plain"));
    }

    @Test
    void namesThatAreNotUtf8AreReached() throws Exception {
        Process made =
                new ProcessBuilder("sh", "-c", "printf face > \"$(printf 'a\\377b')\"")
                        .directory(folder.toFile())
                        .start();
        assertEquals(0, made.waitFor());
        Path strange;
        try (var list = Files.list(folder)) {
            strange = list.findFirst().orElseThrow();
        }
        Path sealed = folder.resolve("sealed");
        SEALER.sealFile(strange, sealed);
        assertArrayEquals("face".getBytes(UTF_8), Deadpan.open(Files.readAllBytes(sealed), KEY));
        Path copy = folder.resolve("copy");
        OPENER.openFile(sealed, copy);
        assertArrayEquals("face".getBytes(UTF_8), Files.readAllBytes(copy));
        Files.delete(strange);
        OPENER.openFile(sealed, strange);
        assertArrayEquals("face".getBytes(UTF_8), Files.readAllBytes(strange));
    }

    @Test
    void pathsOfOtherFileSystemsAreRefused() throws IOException {
        URI archive = URI.create("jar:" + folder.resolve("a.zip").toUri());
        try (var zip = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
            Path inside = zip.getPath("/file");
            Path out = folder.resolve("out");
            var wrong =
                    assertThrows(
                            ProviderMismatchException.class, () -> SEALER.sealFile(inside, out));
            assertTrue(wrong.getMessage().contains("/file"));
        }
        assertThrows(NullPointerException.class, () -> SEALER.sealFile(null, folder));
        assertThrows(NullPointerException.class, () -> SEALER.sealFile(folder, null));
        assertThrows(NullPointerException.class, () -> OPENER.openFolder(folder, null));
        assertThrows(NullPointerException.class, () -> Deadpan.inspect(null));
        assertThrows(NullPointerException.class, () -> OPENER.newChannel((Path) null));
    }

    @Test
    void aFullDiskIsAnErrorOfTheFile() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "there is no /dev/full");
        try (var out = Files.newOutputStream(full)) {
            var input = new java.io.ByteArrayInputStream(new byte[1_000_000]);
            assertThrows(IOException.class, () -> SEALER.seal(input, out));
        }
        assertThrows(
                FileAlreadyExistsException.class,
                () -> SEALER.replaceExisting().sealFile(plain(), full));
    }
}

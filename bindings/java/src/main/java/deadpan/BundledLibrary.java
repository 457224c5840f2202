package deadpan;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The library that the jar of a release contains, for each system one.
 *
 * <p>The file {@code SHA256SUMS} beside the libraries lists their sums. The library is loaded from
 * a new folder that no other user can enter. The folder is removed at once, except on Windows,
 * which does not remove a loaded file.
 */
final class BundledLibrary {
    private static final String PLACE = "/META-INF/native/";

    private BundledLibrary() {}

    /**
     * Loads the library.
     *
     * @return its symbols, or {@code null} if the jar contains no library for this system
     * @throws UnsatisfiedLinkError if the library was changed, or cannot be loaded
     */
    static SymbolLookup load() {
        String name = system() + "/" + System.mapLibraryName("deadpan");
        try {
            byte[] library = read(name);
            if (library == null) {
                return null;
            }
            check(name, library);
            return load(library);
        } catch (IOException failed) {
            throw unusable(failed.toString());
        }
    }

    /** Returns the name of the system, as {@code release} writes it. */
    private static String system() {
        String name = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String processor = System.getProperty("os.arch");
        if (processor.equals("amd64")) {
            processor = "x86_64";
        }
        if (name.startsWith("windows")) {
            return "windows-" + processor;
        } else if (name.startsWith("mac")) {
            return "macos-" + processor;
        }
        // glibc has this function, and musl lacks it.
        boolean glibc =
                Linker.nativeLinker().defaultLookup().find("gnu_get_libc_version").isPresent();
        return name + (glibc ? "-" : "-musl-") + processor;
    }

    private static byte[] read(String name) throws IOException {
        try (InputStream in = BundledLibrary.class.getResourceAsStream(PLACE + name)) {
            return in == null ? null : in.readAllBytes();
        }
    }

    private static void check(String name, byte[] library) throws IOException {
        String sum;
        try {
            sum = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(library));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible); // each Java has SHA-256
        }
        byte[] sums = read("SHA256SUMS");
        String listed = sums == null ? "" : new String(sums, StandardCharsets.UTF_8);
        if (listed.lines().noneMatch((sum + "  " + name)::equals)) {
            throw new UnsatisfiedLinkError(
                    "the library in the jar was changed: "
                            + (PLACE + name).substring(1)
                            + " has a SHA-256 that SHA256SUMS beside it does not list: "
                            + sum);
        }
    }

    private static SymbolLookup load(byte[] library) throws IOException {
        // Only the owner can enter this folder.
        Path folder = Files.createTempDirectory("deadpan-").toAbsolutePath();
        Path file = folder.resolve(System.mapLibraryName("deadpan"));
        try {
            refuseReplaceable(folder.getParent());
            Files.write(file, library, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            return SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalArgumentException refused) {
            throw unusable(
                    "the system loads no library from "
                            + folder.getParent()
                            + ", which may be mounted with noexec");
        } finally {
            remove(file);
            remove(folder);
        }
    }

    /** Refuses a folder in which other users may rename files: without the sticky bit. */
    private static void refuseReplaceable(Path folder) throws IOException {
        if (!folder.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return;
        }
        int mode = (Integer) Files.getAttribute(folder, "unix:mode");
        if ((mode & 0022) != 0 && (mode & 01000) == 0) {
            throw unusable("other users may replace files in " + folder);
        }
    }

    private static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException loaded) {
            path.toFile().deleteOnExit();
        }
    }

    private static UnsatisfiedLinkError unusable(String why) {
        return new UnsatisfiedLinkError(
                "the library in the jar cannot be loaded: "
                        + why
                        + "\nset the property java.io.tmpdir to a folder of your own, or"
                        + " deadpan.library to the path of a libdeadpan");
    }
}

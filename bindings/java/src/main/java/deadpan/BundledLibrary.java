package deadpan;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The library that the jar of a release contains, for each system one.
 *
 * <p>The file {@code SHA256SUMS} beside the libraries lists their sums. Linux loads the library
 * from memory. Other systems, and a Linux that refuses this, load the library from a new folder.
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
            SymbolLookup inMemory = LibraryMemory.load(library);
            return inMemory != null
                    ? inMemory
                    : LibraryFolder.load(Path.of(System.getProperty("java.io.tmpdir")), library);
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

    static UnsatisfiedLinkError unusable(String why) {
        return new UnsatisfiedLinkError(
                "the library in the jar cannot be loaded: "
                        + why
                        + "\nset the property java.io.tmpdir to a folder of your own, or"
                        + " deadpan.library to the path of a libdeadpan");
    }
}

package deadpan;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Loads a library from a new folder that no other user can enter.
 *
 * <p>The folder is removed at once. Windows does not remove a loaded file, so there a later start
 * removes the folder.
 */
final class LibraryFolder {
    static final String PREFIX = "deadpan-";

    private static final String FILE = System.mapLibraryName("deadpan");

    private LibraryFolder() {}

    /**
     * Loads the library.
     *
     * @param place the folder in which the new folder is made
     * @throws UnsatisfiedLinkError if other users may replace the new folder, or the system does
     *     not load the library
     */
    static SymbolLookup load(Path place, byte[] library) throws IOException {
        Path folder = make(place);
        try {
            Path file = folder.resolve(FILE);
            Files.write(file, library, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            return SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalArgumentException refused) {
            throw BundledLibrary.unusable(
                    "the system loads no library from "
                            + folder.getParent()
                            + ", which may be mounted with noexec");
        } finally {
            remove(folder);
        }
    }

    private static Path make(Path place) throws IOException {
        if (!place.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return WindowsFolder.make(place.toAbsolutePath());
        }
        // The owner of a link may change it. So the path that is checked and used has no links.
        Path real = place.toRealPath();
        refuseReplaceable(real);
        return Files.createTempDirectory(real, PREFIX); // with the mode 0700
    }

    /**
     * Refuses a path on which another user than root may rename a folder. The owner of the folder
     * above may do so, and each user with the right to write there, except with the sticky bit.
     */
    private static void refuseReplaceable(Path place) throws IOException {
        int self = user();
        for (Path folder = place; folder != null; folder = folder.getParent()) {
            int owner = (Integer) Files.getAttribute(folder, "unix:uid", NOFOLLOW_LINKS);
            int mode = (Integer) Files.getAttribute(folder, "unix:mode", NOFOLLOW_LINKS);
            boolean foreign = owner != 0 && owner != self;
            boolean shared = (mode & 0022) != 0 && (mode & 01000) == 0;
            if (foreign || shared || !Files.isDirectory(folder, NOFOLLOW_LINKS)) {
                throw replaceable(folder);
            }
        }
    }

    static UnsatisfiedLinkError replaceable(Path folder) {
        return BundledLibrary.unusable("other users may replace files in " + folder);
    }

    /** Returns the number of the user who owns what this process makes. */
    private static int user() {
        Linker linker = Linker.nativeLinker();
        try {
            return (int)
                    linker.downcallHandle(
                                    linker.defaultLookup().find("geteuid").orElseThrow(),
                                    FunctionDescriptor.of(ValueLayout.JAVA_INT))
                            .invokeExact();
        } catch (Throwable thrown) {
            throw Failure.unexpected(thrown);
        }
    }

    static void remove(Path folder) {
        try {
            Files.deleteIfExists(folder.resolve(FILE));
            Files.deleteIfExists(folder);
        } catch (IOException loaded) {
            // A later start removes the folder.
        }
    }
}

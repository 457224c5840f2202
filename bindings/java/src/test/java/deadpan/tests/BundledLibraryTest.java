package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.SymbolLookup;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Tests how the library of a jar is loaded: from memory, or from a folder that nobody replaces. */
class BundledLibraryTest {
    @TempDir Path top;

    private Path place;
    private Path link;

    @BeforeEach
    void makePlace() throws Exception {
        assumeTrue(
                System.getProperty("os.name").equals("Linux"),
                "owners and modes of folders: this is no Linux");
        place = Files.createDirectory(top.resolve("place"));
        mode(top, 0700);
        mode(place, 0700);
        link = Files.createSymbolicLink(top.resolve("link"), place);
    }

    private static void mode(Path folder, int mode) throws Exception {
        Files.setAttribute(folder, "unix:mode", mode);
    }

    private static SymbolLookup call(String name, Class<?>[] types, Object... given)
            throws Throwable {
        Method load = Class.forName("deadpan." + name).getDeclaredMethod("load", types);
        load.setAccessible(true);
        try {
            return (SymbolLookup) load.invoke(null, given);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    private static SymbolLookup fromMemory(byte[] library) throws Throwable {
        return call("LibraryMemory", new Class<?>[] {byte[].class}, library);
    }

    private static SymbolLookup fromFolder(Path place, byte[] library) throws Throwable {
        return call("LibraryFolder", new Class<?>[] {Path.class, byte[].class}, place, library);
    }

    private static byte[] library() throws Exception {
        return Files.readAllBytes(Path.of(System.getenv("DEADPAN_LIBRARY")));
    }

    private static boolean isMapped(String name) throws Exception {
        return Files.readString(Path.of("/proc/self/maps")).contains(name);
    }

    /** Whether the place is refused because of the folder, which is the place or above it. */
    private static boolean isRefused(Path place, Path folder) throws Exception {
        // The data are no library, so the system does not load them.
        String message =
                assertThrows(
                                UnsatisfiedLinkError.class,
                                () -> fromFolder(place, "no library".getBytes()))
                        .getMessage();
        return message.contains("other users may replace files in " + folder + "\n");
    }

    /** Returns the descriptors of memory for libraries with this many bytes. */
    private static List<Path> memory(long size) throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : open.toList()) {
                try {
                    String target = Files.readSymbolicLink(descriptor).toString();
                    if (target.startsWith("/memfd:libdeadpan.so")
                            && Files.size(descriptor) == size) {
                        found.add(descriptor);
                    }
                } catch (NoSuchFileException closed) {
                    // The descriptor that listed the others.
                }
            }
        }
        return found;
    }

    @Test
    void linuxLoadsFromSealedMemory() throws Throwable {
        byte[] library = library();
        SymbolLookup symbols = fromMemory(library);
        assertTrue(symbols.find("dp_version").isPresent());
        assertTrue(isMapped("/memfd:libdeadpan.so (deleted)"));
        Path memory = memory(library.length).getFirst();
        for (StandardOpenOption how :
                List.of(StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            assertThrows(
                    IOException.class,
                    () -> Files.write(memory, new byte[1], StandardOpenOption.WRITE, how));
        }
        assertEquals(-1, Files.mismatch(memory, Path.of(System.getenv("DEADPAN_LIBRARY"))));
    }

    @Test
    void aLibraryOfAnotherLoaderIsLoadedAgain() throws Throwable {
        SymbolLookup first = fromMemory(library());
        SymbolLookup second = fromMemory(library());
        assertNotEquals(first.find("dp_version"), second.find("dp_version"));
    }

    @Test
    void dataThatAreNoLibraryLeaveNoMemory() throws Throwable {
        byte[] data = "no library".getBytes();
        assertNull(fromMemory(data));
        assertEquals(List.of(), memory(data.length));
    }

    @Test
    void aFolderIsUsedAndRemoved() throws Throwable {
        SymbolLookup symbols = fromFolder(place, library());
        assertTrue(symbols.find("dp_version").isPresent());
        assertTrue(isMapped(place.toRealPath() + "/deadpan-"));
        try (Stream<Path> left = Files.list(place)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @Test
    void aFolderThatOthersChangeIsRefused() throws Exception {
        Path real = top.toRealPath();
        for (int mode : new int[] {0777, 0720, 01777, 0755}) {
            mode(top, mode);
            boolean wanted = mode == 0777 || mode == 0720;
            for (Path used : List.of(top, place, link)) {
                assertEquals(wanted, isRefused(used, real), Integer.toOctalString(mode) + used);
            }
        }
    }

    @Test
    void aFolderOfAnotherUserIsRefused() throws Exception {
        boolean root = Files.getAttribute(place, "unix:uid").equals(0);
        assumeTrue(root, "folders of other users: only root makes them");
        Path real = top.toRealPath();
        // The owner of a folder may rename what is in it, also with the sticky bit.
        for (int mode : new int[] {0700, 01777}) {
            mode(top, mode);
            for (int owner : new int[] {65534, 0}) {
                Files.setAttribute(top, "unix:uid", owner);
                for (Path used : List.of(top, place, link)) {
                    assertEquals(owner != 0, isRefused(used, real), owner + " owns " + used);
                }
            }
        }
    }
}

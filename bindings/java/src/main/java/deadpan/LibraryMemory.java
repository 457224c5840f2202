package deadpan;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Loads a library on Linux from memory that has no name in a file system. So no other user can
 * replace a file, and no folder is needed from which the system loads libraries.
 */
final class LibraryMemory {
    private static final int CLOSE_ON_EXEC = 0x1;
    private static final int ALLOW_SEALING = 0x2;

    /** Since Linux 6.3, which may refuse to execute other memory. */
    private static final int EXECUTABLE = 0x10;

    private static final int ADD_SEALS = 1033;

    /** No writing, growing or shrinking, and no change of these seals. */
    private static final int ALL_SEALS = 0xf;

    private static final Linker LINKER = Linker.nativeLinker();

    private LibraryMemory() {}

    /**
     * Loads the library.
     *
     * @return its symbols, or {@code null} if this system loads no library from memory
     */
    static SymbolLookup load(byte[] library) {
        if (LINKER.defaultLookup().find("memfd_create").isEmpty()) {
            return null;
        }
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle create = function("memfd_create", 2, ADDRESS, JAVA_INT);
            MemorySegment name = arena.allocateFrom("libdeadpan.so");
            int flags = CLOSE_ON_EXEC | ALLOW_SEALING;
            int descriptor = (int) create.invokeExact(name, flags | EXECUTABLE);
            if (descriptor < 0) {
                descriptor = (int) create.invokeExact(name, flags);
            }
            if (descriptor < 0) {
                return null;
            }
            SymbolLookup symbols = load(descriptor, library);
            if (symbols == null) {
                int closed = (int) function("close", 1, JAVA_INT).invokeExact(descriptor);
            }
            return symbols;
        } catch (Throwable thrown) {
            throw Failure.unexpected(thrown);
        }
    }

    private static SymbolLookup load(int descriptor, byte[] library) throws Throwable {
        // The C library returns a library that is loaded already if the path is the same. So the
        // descriptor stays open: its number is not used again. The dots make the path another one
        // than the paths of other packages, which may have closed a descriptor with this number.
        String path = "/proc/self/fd/././" + descriptor;
        try {
            Files.write(Path.of(path), library, StandardOpenOption.WRITE);
        } catch (IOException refused) {
            return null; // for example, /proc is not mounted
        }
        MethodHandle control = function("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT);
        if ((int) control.invokeExact(descriptor, ADD_SEALS, ALL_SEALS) != 0) {
            return null;
        }
        try {
            return SymbolLookup.libraryLookup(path, Arena.global());
        } catch (IllegalArgumentException refused) {
            return null;
        }
    }

    /** Returns a function of the C library. The parameters after the first {@code fixed} vary. */
    private static MethodHandle function(String name, int fixed, MemoryLayout... parameters) {
        Linker.Option[] options = {};
        if (fixed < parameters.length) {
            options = new Linker.Option[] {Linker.Option.firstVariadicArg(fixed)};
        }
        return LINKER.downcallHandle(
                LINKER.defaultLookup().find(name).orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, parameters),
                options);
    }
}

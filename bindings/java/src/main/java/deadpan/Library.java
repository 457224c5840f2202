package deadpan;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The library {@code libdeadpan} and its functions.
 *
 * <p>Handles of the library are numbers and never addresses, so their layout is {@link #HANDLE}.
 */
final class Library {
    static final MemoryLayout INT = JAVA_INT;
    static final MemoryLayout LONG = JAVA_LONG;
    static final MemoryLayout HANDLE = JAVA_LONG;
    static final MemoryLayout SIZE = JAVA_LONG;
    static final MemoryLayout POINTER = ADDRESS;

    private static final Linker LINKER = Linker.nativeLinker();

    private static final String HOW =
            """
            cannot find the library libdeadpan%s
            use the jar of a release, which contains the library
            or install the library: cargo cinstall --release -p deadpan-capi
            or build it: cargo build --profile dist -p deadpan-capi, and set DEADPAN_LIBRARY=target/dist/libdeadpan.so\
            """;

    /** The library's symbols. If this is {@code null}, {@link #MISSING} says why. */
    private static final SymbolLookup SYMBOLS;

    private static final String MISSING;

    static {
        SymbolLookup symbols = null;
        String missing = null;
        try {
            symbols = find();
        } catch (UnsatisfiedLinkError error) {
            missing = error.getMessage();
        }
        SYMBOLS = symbols;
        MISSING = missing;
    }

    private Library() {}

    /** Returns a function of the library, which returns a code. */
    static MethodHandle function(String name, MemoryLayout... parameters) {
        return LINKER.downcallHandle(symbol(name), FunctionDescriptor.of(JAVA_INT, parameters));
    }

    /**
     * Returns a function for short calls. The function accepts memory on the Java heap. The
     * collector waits while the function runs, and the function must not call Java code.
     */
    static MethodHandle brief(String name, MemoryLayout... parameters) {
        return LINKER.downcallHandle(
                symbol(name),
                FunctionDescriptor.of(JAVA_INT, parameters),
                Linker.Option.critical(true));
    }

    /**
     * Returns the pointer for a static method that the library calls. The pointer is valid until
     * the program ends.
     */
    static MemorySegment callback(MethodHandle method, FunctionDescriptor descriptor) {
        return LINKER.upcallStub(method, descriptor, Arena.global());
    }

    /** Returns the version of the library. */
    static String version() {
        MethodHandle version =
                LINKER.downcallHandle(symbol("dp_version"), FunctionDescriptor.of(ADDRESS));
        try {
            return ((MemorySegment) version.invokeExact()).reinterpret(64).getString(0);
        } catch (Throwable thrown) {
            throw Failure.unexpected(thrown);
        }
    }

    private static MemorySegment symbol(String name) {
        if (SYMBOLS == null) {
            throw new UnsatisfiedLinkError(MISSING);
        }
        return SYMBOLS.find(name)
                .orElseThrow(
                        () ->
                                new UnsatisfiedLinkError(
                                        "libdeadpan lacks "
                                                + name
                                                + ": it is older than this package"));
    }

    private static SymbolLookup find() {
        String place = System.getProperty("deadpan.library", System.getenv("DEADPAN_LIBRARY"));
        if (place != null && !place.isEmpty()) {
            return load(Path.of(place));
        }
        SymbolLookup bundled = BundledLibrary.load();
        if (bundled != null) {
            return bundled;
        }
        for (String name : List.of("libdeadpan.so.0", System.mapLibraryName("deadpan"))) {
            try {
                return SymbolLookup.libraryLookup(name, Arena.global());
            } catch (IllegalArgumentException absent) {
                // Tries the next name.
            }
        }
        throw new UnsatisfiedLinkError(HOW.formatted(""));
    }

    private static SymbolLookup load(Path place) {
        try {
            return SymbolLookup.libraryLookup(place.toAbsolutePath(), Arena.global());
        } catch (IllegalArgumentException unusable) {
            String why =
                    Files.exists(place)
                            ? ": " + place + " is no library"
                            : ": there is no " + place;
            throw new UnsatisfiedLinkError(HOW.formatted(why));
        }
    }
}

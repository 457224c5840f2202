package deadpan;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Files and folders by their paths. */
final class Places {
    private static final MemoryLayout[] PARAMETERS = {
        Library.HANDLE,
        Library.POINTER,
        Library.POINTER,
        Library.INT,
        Library.HANDLE,
        Library.POINTER
    };
    static final MethodHandle SEAL_FILE = Library.function("dp_seal_file", PARAMETERS);
    static final MethodHandle OPEN_FILE = Library.function("dp_open_file", PARAMETERS);
    static final MethodHandle SEAL_FOLDER = Library.function("dp_seal_folder", PARAMETERS);
    private static final MethodHandle OPEN_FOLDER =
            Library.function(
                    "dp_open_folder",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.POINTER,
                    Library.HANDLE,
                    Library.POINTER);
    private static final MethodHandle LIST_FOLDER =
            Library.function(
                    "dp_list_folder",
                    Library.HANDLE,
                    Library.POINTER,
                    Library.POINTER,
                    Library.HANDLE,
                    Library.POINTER);
    private static final MethodHandle INSPECT =
            Library.function(
                    "dp_inspect",
                    Library.POINTER,
                    Library.HANDLE,
                    Library.POINTER,
                    Library.SIZE,
                    Library.POINTER,
                    Library.POINTER);

    private Places() {}

    /** Seals or opens from one path to another path. */
    static void run(
            MethodHandle how, long list, Path input, Path output, boolean replace, Effort effort)
            throws IOException {
        Given.notNull(input, "input");
        Given.notNull(output, "output");
        try (Work work = new Work(effort, null)) {
            work.run(
                    new Failure.Subject(input, output),
                    call ->
                            (int)
                                    how.invokeExact(
                                            list,
                                            NativePath.of(input, call.arena),
                                            NativePath.of(output, call.arena),
                                            replace ? 1 : 0,
                                            work.number(),
                                            call.error));
        }
    }

    static void openFolder(Ring ring, Path input, Path folder, Effort effort) throws IOException {
        Given.notNull(input, "input");
        Given.notNull(folder, "folder");
        try (Work work = new Work(effort, null)) {
            long number = ring.number();
            work.run(
                    new Failure.Subject(input, folder),
                    call ->
                            (int)
                                    OPEN_FOLDER.invokeExact(
                                            number,
                                            NativePath.of(input, call.arena),
                                            NativePath.of(folder, call.arena),
                                            work.number(),
                                            call.error));
        }
    }

    static List<Entry> list(Ring ring, Path input) throws IOException {
        Given.notNull(input, "input");
        try (Listing listing = new Listing()) {
            long number = ring.number();
            try {
                Call.run(
                        new Failure.Subject(input, null),
                        call ->
                                (int)
                                        LIST_FOLDER.invokeExact(
                                                number,
                                                NativePath.of(input, call.arena),
                                                Callback.EACH,
                                                listing.number,
                                                call.error));
            } catch (IOException failed) {
                Throwable thrown = listing.takeThrown();
                throw thrown == null ? failed : Failure.thrown(thrown, failed);
            }
            return List.copyOf(listing.entries);
        }
    }

    /** Describes a sealed file. The ring may be zero, which stands for no keys. */
    static Description inspect(Path input, long ring) throws IOException {
        Given.notNull(input, "input");
        byte[] text =
                Call.text(
                        new Failure.Subject(input, null),
                        call ->
                                (int)
                                        INSPECT.invokeExact(
                                                NativePath.of(input, call.arena),
                                                ring,
                                                call.text,
                                                call.text.byteSize(),
                                                call.result,
                                                call.error));
        return Description.parse(new String(text, StandardCharsets.UTF_8));
    }

    private static final class Listing extends Callback {
        private static final List<Entry.Kind> KINDS =
                List.of(Entry.Kind.FILE, Entry.Kind.FOLDER, Entry.Kind.OTHER);

        private final Thread caller = Thread.currentThread();
        private final List<Entry> entries = new ArrayList<>();

        @Override
        void each(String path, int kind, long size) throws InterruptedIOException {
            if (caller.isInterrupted()) {
                throw new InterruptedIOException("the thread was interrupted");
            }
            entries.add(new Entry(path, KINDS.get(kind), size));
        }
    }
}

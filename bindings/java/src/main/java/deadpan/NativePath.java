package deadpan;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.util.Arrays;

/** Paths in the encoding of the system. */
final class NativePath {
    private static final boolean IS_UTF_8 =
            "UTF-8".equalsIgnoreCase(System.getProperty("sun.jnu.encoding"));

    private NativePath() {}

    /** Returns the bytes of a path, followed by a zero. */
    static MemorySegment of(Path path, Arena arena) {
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw new ProviderMismatchException(path + " is not a path of the default file system");
        }
        byte[] bytes = bytes(path);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, Arrays.copyOf(bytes, bytes.length + 1));
    }

    private static byte[] bytes(Path path) {
        String text = path.toString();
        boolean isAscii = text.chars().allMatch(character -> character < 128);
        if (isAscii || IS_UTF_8 && text.indexOf('\ufffd') < 0) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        // If a path is not valid in the system's encoding, its text differs from the path. The URI
        // has its bytes.
        return unescaped(path.toUri().getRawPath());
    }

    private static byte[] unescaped(String path) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int end = path.length() > 1 && path.endsWith("/") ? path.length() - 1 : path.length();
        for (int place = 0; place < end; place++) {
            if (path.charAt(place) == '%') {
                bytes.write(Integer.parseInt(path, place + 1, place + 3, 16));
                place += 2;
            } else {
                bytes.write(path.charAt(place));
            }
        }
        return bytes.toByteArray();
    }
}

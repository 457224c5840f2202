package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The examples of the README are parts of a program that runs together with these tests. */
class ReadmeTest {
    private static final Path PLACE = Path.of(System.getProperty("deadpan.binding", "."));

    /** Returns a text without blanks and line ends, because a formatter chooses them. */
    private static String plain(String text) {
        return text.replaceAll("\\s", "");
    }

    @Test
    void examplesAreThoseOfTheProgram() throws Exception {
        String program = plain(Files.readString(PLACE.resolve("examples").resolve("Face.java")));
        var blocks =
                Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                        .matcher(Files.readString(PLACE.resolve("README.md")));
        int count = 0;
        while (blocks.find()) {
            String block = plain(blocks.group(1));
            assertTrue(program.contains(block), () -> "the program lacks this example: " + block);
            count++;
        }
        assertTrue(count >= 3, "the README lacks its examples");
    }
}

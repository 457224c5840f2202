package deadpan;

import java.io.IOException;

/**
 * Describes what is wrong with sealed data or keys. The subclasses distinguish the causes, and the
 * message names the file.
 *
 * <p>If a file cannot be read or written, a method throws {@link java.nio.file.FileSystemException}
 * or a subclass of that exception. If the thread is interrupted, the method throws {@link
 * java.io.InterruptedIOException}, as in the rest of the platform. A direct instance of this class
 * stands for a failure of the system.
 *
 * {@snippet :
 * try {
 *     Deadpan.openFile(sealed, plain, key);
 * } catch (TamperedException changed) {
 *     report(changed);
 * } catch (NoKeyException other) {
 *     ask(other);
 * }
 * }
 */
public class DeadpanException extends IOException {
    private static final long serialVersionUID = 1;

    DeadpanException(String message) {
        super(message);
    }
}

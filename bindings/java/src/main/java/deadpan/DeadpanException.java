package deadpan;

import java.io.IOException;

/**
 * Says what is wrong with sealed data or keys. The subclasses distinguish the causes, and the
 * message names the file.
 *
 * <p>Files that cannot be read or written give {@link java.nio.file.FileSystemException} and its
 * subclasses, and an interrupted thread gets {@link java.io.InterruptedIOException}, as in the rest
 * of the platform. An exception of this class itself, and not of a subclass, stands for a failure
 * of the system.
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

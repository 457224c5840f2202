package deadpan.tests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Threads for tests. No thread waits forever. */
final class Threads {
    private static final long SECONDS = 30;

    private Threads() {}

    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    static void await(CountDownLatch latch) {
        boolean isInterrupted = Thread.interrupted();
        try {
            if (!latch.await(SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("waited for too long");
            }
        } catch (InterruptedException interrupted) {
            isInterrupted = true;
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Runs code in another thread. Returns the exception that it throws, or {@code null}. */
    static Throwable thrownBy(Body body) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        join(start(body, thrown));
        return thrown.get();
    }

    /** Starts a thread, and stores the exception that the thread throws. */
    static Thread start(Body body, AtomicReference<Throwable> thrown) {
        return Thread.ofPlatform()
                .daemon()
                .start(
                        () -> {
                            try {
                                body.run();
                            } catch (Throwable failed) {
                                thrown.set(failed);
                            }
                        });
    }

    static void join(Thread thread) throws InterruptedException {
        thread.join(SECONDS * 1000);
        if (thread.isAlive()) {
            throw new AssertionError("the thread hangs");
        }
    }

    /** Waits for a short time. */
    static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the names in a folder. */
    static List<String> names(Path folder) throws IOException {
        try (var list = Files.list(folder)) {
            return list.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }
}

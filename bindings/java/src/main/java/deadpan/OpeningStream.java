package deadpan;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Opens the sealed data of another stream while the program reads from this stream. The library
 * writes its output without waiting for a read. The library therefore runs in its own thread, which
 * delivers one piece at a time.
 */
final class OpeningStream extends InputStream {
    private final InputStream sealed;
    private final Exchange exchange;
    private final Cleaner.Cleanable cleanable;

    private OpeningStream(InputStream sealed, Exchange exchange, Thread worker) {
        this.sealed = sealed;
        this.exchange = exchange;
        // Neither `exchange` nor `worker` refers to this stream. So the garbage collector can free
        // the stream when nothing else refers to it.
        this.cleanable =
                Handle.CLEANER.register(
                        this,
                        () -> {
                            exchange.close();
                            worker.interrupt();
                        });
    }

    /** Starts to open, and waits for the first piece. */
    static OpeningStream of(Opener opener, InputStream sealed) throws IOException {
        Exchange exchange = new Exchange();
        Thread worker =
                Thread.ofPlatform()
                        .daemon()
                        .name("deadpan-opening")
                        .start(() -> exchange.fill(opener, sealed));
        OpeningStream stream = new OpeningStream(sealed, exchange, worker);
        boolean isBegun = false;
        try {
            exchange.begin();
            isBegun = true;
            return stream;
        } finally {
            if (!isBegun) {
                stream.cleanable.clean();
            }
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) == -1 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, Given.notNull(bytes, "bytes").length);
        try {
            return exchange.take(bytes, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int available() {
        return exchange.available();
    }

    /** Stops the work, and closes the other stream. */
    @Override
    public void close() throws IOException {
        cleanable.clean();
        sealed.close();
    }

    /** The object on which the worker and the reader wait for each other. */
    private static final class Exchange extends OutputStream {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private byte[] piece = {};
        private int position;
        private boolean isEnded;
        private boolean isClosed;
        private Throwable failed;

        /** Opens all data. The worker runs this method. */
        void fill(Opener opener, InputStream sealed) {
            Throwable thrown = null;
            try {
                opener.open(sealed, this);
            } catch (Throwable failure) {
                thrown = failure;
            }
            lock.lock();
            try {
                isEnded = true;
                failed = thrown;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            acquire();
            try {
                while (position < piece.length && !isClosed) {
                    await();
                }
                if (isClosed) {
                    throw new IOException("the stream was closed");
                }
                piece = Arrays.copyOfRange(bytes, offset, offset + length);
                position = 0;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        /** Waits for a piece, the end or a failure, and throws the exception of a failure. */
        void begin() throws IOException {
            acquire();
            try {
                awaitPiece();
            } finally {
                lock.unlock();
            }
        }

        int take(byte[] bytes, int offset, int length) throws IOException {
            acquire();
            try {
                if (length == 0 && !isClosed) {
                    return 0;
                }
                awaitPiece();
                int count = Math.min(length, piece.length - position);
                if (count == 0) {
                    return -1;
                }
                System.arraycopy(piece, position, bytes, offset, count);
                Arrays.fill(piece, position, position + count, (byte) 0);
                position += count;
                changed.signalAll();
                return count;
            } finally {
                lock.unlock();
            }
        }

        int available() {
            lock.lock();
            try {
                return piece.length - position;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                isClosed = true;
                Arrays.fill(piece, (byte) 0);
                position = piece.length;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        private void awaitPiece() throws IOException {
            while (position == piece.length && !isEnded && !isClosed) {
                await();
            }
            if (isClosed) {
                throw new IOException("the stream is closed");
            }
            if (position == piece.length && failed != null) {
                throw Failure.thrown(failed, null);
            }
        }

        private void acquire() throws InterruptedIOException {
            try {
                lock.lockInterruptibly();
            } catch (InterruptedException interrupted) {
                throw interrupted();
            }
        }

        private void await() throws InterruptedIOException {
            try {
                changed.await();
            } catch (InterruptedException interrupted) {
                throw interrupted();
            }
        }

        private static InterruptedIOException interrupted() {
            Thread.currentThread().interrupt();
            return new InterruptedIOException("the thread was interrupted");
        }
    }
}

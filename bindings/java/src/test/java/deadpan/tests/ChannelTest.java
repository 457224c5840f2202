package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import deadpan.Kind;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.SealedChannel;
import deadpan.Sealer;
import deadpan.TamperedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

class ChannelTest {
    private static final PrivateKey KEY = PrivateKey.generate(Kind.XWING);
    private static final Sealer SEALER = Sealer.to(KEY.publicKey());
    private static final Opener OPENER = Opener.with(KEY);
    private static final byte[] DATA = BytesTest.data(3_000_000);

    @TempDir Path folder;

    private Path sealed() throws IOException {
        return Files.write(folder.resolve("sealed"), SEALER.seal(DATA));
    }

    @Test
    void anyPlaceIsRead() throws IOException {
        Path path = sealed();
        try (SealedChannel byPath = OPENER.newChannel(path);
                SealedChannel byChannel = OPENER.newChannel(Files.newByteChannel(path))) {
            for (SealedChannel channel : new SealedChannel[] {byPath, byChannel}) {
                assertEquals(DATA.length, channel.size());
                for (int place : new int[] {0, 2_999_990, 65_503, 65_504, 1_000_000, 5}) {
                    for (ByteBuffer buffer :
                            new ByteBuffer[] {
                                ByteBuffer.allocate(1000), ByteBuffer.allocateDirect(1000)
                            }) {
                        int wanted = Math.min(1000, DATA.length - place);
                        assertEquals(wanted, channel.position(place).read(buffer));
                        assertEquals(place + wanted, channel.position());
                        assertEquals(ByteBuffer.wrap(DATA, place, wanted), buffer.flip());
                    }
                }
                ByteBuffer whole = ByteBuffer.allocate(DATA.length + 10);
                assertEquals(DATA.length, channel.position(0).read(whole));
                assertArrayEquals(DATA, Arrays.copyOf(whole.array(), DATA.length));
                assertEquals(-1, channel.read(whole));
                assertEquals(-1, channel.position(Long.MAX_VALUE).read(whole));
                assertEquals(0, channel.position(0).read(ByteBuffer.allocate(0)));
            }
        }
        try (var stream = OPENER.newInputStream(path)) {
            assertEquals(2_000_000, stream.skip(2_000_000));
            assertArrayEquals(
                    Arrays.copyOfRange(DATA, 2_000_000, DATA.length), stream.readAllBytes());
        }
    }

    @Test
    void misuseIsNamed() throws IOException {
        SealedChannel channel = OPENER.newChannel(sealed());
        assertThrows(IllegalArgumentException.class, () -> channel.position(-1));
        assertThrows(
                NonWritableChannelException.class, () -> channel.write(ByteBuffer.allocate(1)));
        assertThrows(NonWritableChannelException.class, () -> channel.truncate(1));
        assertThrows(
                ReadOnlyBufferException.class,
                () -> channel.read(ByteBuffer.allocate(1).asReadOnlyBuffer()));
        assertThrows(NullPointerException.class, () -> channel.read(null));
        channel.close();
        channel.close();
        assertFalse(channel.isOpen());
        assertThrows(ClosedChannelException.class, () -> channel.read(ByteBuffer.allocate(1)));
        assertThrows(ClosedChannelException.class, channel::size);
        assertThrows(ClosedChannelException.class, channel::position);
        assertThrows(ClosedChannelException.class, () -> channel.position(1));
        assertThrows(
                NullPointerException.class, () -> OPENER.newChannel((SeekableByteChannel) null));
    }

    @Test
    void damageIsFoundWhereItIsRead() throws IOException {
        byte[] bytes = SEALER.seal(DATA);
        bytes[1_500_000] ^= 1;
        try (SealedChannel channel = OPENER.newChannel(Files.write(folder.resolve("bad"), bytes))) {
            ByteBuffer buffer = ByteBuffer.allocate(100);
            assertEquals(100, channel.read(buffer.clear()));
            channel.position(1_495_000);
            buffer.clear();
            ByteBuffer large = ByteBuffer.allocate(200_000);
            assertThrows(TamperedException.class, () -> channel.read(large));
            assertEquals(0, large.position());
            assertEquals(1_495_000, channel.position());
            assertEquals(100, channel.position(2_500_000).read(buffer));
        }
    }

    /** A channel that a test can delay, and that can return wrong numbers. */
    private static final class Strange implements SeekableByteChannel {
        private final byte[] bytes = bytes();
        private int position;
        private volatile Integer answer;
        private volatile RuntimeException thrown;
        private volatile Runnable before = () -> {};
        private volatile ByteBuffer kept;
        private volatile boolean isOpen = true;

        private static byte[] bytes() {
            try {
                return SEALER.seal(DATA);
            } catch (IOException failed) {
                throw new AssertionError(failed);
            }
        }

        @Override
        public int read(ByteBuffer target) {
            before.run();
            kept = target;
            if (thrown != null) {
                throw thrown;
            }
            if (answer != null) {
                return answer;
            }
            int length = Math.min(Math.min(target.remaining(), 40_000), bytes.length - position);
            if (length <= 0) {
                return -1;
            }
            target.put(bytes, position, length);
            position += length;
            return length;
        }

        @Override
        public SeekableByteChannel position(long place) {
            position = (int) place;
            return this;
        }

        @Override
        public long position() {
            return position;
        }

        @Override
        public long size() {
            return bytes.length;
        }

        @Override
        public int write(ByteBuffer source) {
            throw new NonWritableChannelException();
        }

        @Override
        public SeekableByteChannel truncate(long size) {
            throw new NonWritableChannelException();
        }

        @Override
        public boolean isOpen() {
            return isOpen;
        }

        @Override
        public void close() {
            isOpen = false;
        }
    }

    @Test
    void strangeChannelsDoNoHarm() throws IOException {
        Strange strange = new Strange();
        SealedChannel channel = OPENER.newChannel(strange);
        ByteBuffer buffer = ByteBuffer.allocate(100);
        for (int answer : new int[] {0, -2, 7, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            strange.answer = answer;
            var wrong =
                    assertThrows(IOException.class, () -> channel.position(1_000_000).read(buffer));
            assertTrue(
                    wrong.getMessage().contains("the channel returned " + answer),
                    wrong::getMessage);
        }
        strange.answer = null;
        strange.thrown = new UnsupportedOperationException("no");
        assertSame(
                strange.thrown, assertThrows(RuntimeException.class, () -> channel.read(buffer)));
        strange.thrown = null;
        assertEquals(100, channel.position(1_000_000).read(buffer));
        // The channel has stored a buffer in memory of the library, and this memory is no longer
        // valid.
        assertThrows(IllegalStateException.class, () -> strange.kept.put(0, (byte) 1));
        // A channel that reads from itself would read forever.
        strange.before =
                () -> {
                    try {
                        channel.read(ByteBuffer.allocate(10));
                    } catch (IOException failed) {
                        throw new AssertionError(failed);
                    }
                };
        assertThrows(
                IllegalStateException.class,
                () -> channel.position(2_000_000).read(buffer.clear()));
        channel.close();
        assertFalse(strange.isOpen);
    }

    @Test
    void anotherThreadMayClose() throws Exception {
        Strange strange = new Strange();
        SealedChannel channel = OPENER.newChannel(strange);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        strange.before =
                () -> {
                    inside.countDown();
                    Threads.await(leave);
                };
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread reading = Threads.start(() -> channel.read(ByteBuffer.allocate(1_000_000)), thrown);
        Threads.await(inside);
        channel.close();
        leave.countDown();
        Threads.join(reading);
        assertInstanceOf(AsynchronousCloseException.class, thrown.get());
    }

    @Test
    void anInterruptClosesTheChannel() throws Exception {
        SealedChannel channel = OPENER.newChannel(sealed());
        Throwable thrown =
                Threads.thrownBy(
                        () -> {
                            Thread.currentThread().interrupt();
                            try {
                                channel.read(ByteBuffer.allocate(10));
                            } finally {
                                assertTrue(Thread.interrupted());
                            }
                        });
        assertInstanceOf(ClosedByInterruptException.class, thrown);
        assertFalse(channel.isOpen());
    }

    @Test
    void manyThreadsReadOneChannel() throws Exception {
        try (SealedChannel channel = OPENER.newChannel(sealed())) {
            Thread[] threads = new Thread[8];
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            for (int number = 0; number < threads.length; number++) {
                threads[number] =
                        Threads.start(
                                () -> {
                                    ByteBuffer buffer = ByteBuffer.allocate(1000);
                                    for (int time = 0; time < 100; time++) {
                                        channel.position(0).read(buffer.clear());
                                    }
                                },
                                thrown);
            }
            for (Thread thread : threads) {
                Threads.join(thread);
            }
            assertNull(thrown.get());
        }
    }
}

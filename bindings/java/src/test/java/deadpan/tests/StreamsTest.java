package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import deadpan.Deadpan;
import deadpan.Kind;
import deadpan.NoKeyException;
import deadpan.NotSealedException;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.Sealer;
import deadpan.SealingStream;
import deadpan.TruncatedException;
import deadpan.UnfinishedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

class StreamsTest {
    private static final PrivateKey KEY = PrivateKey.generate(Kind.XWING);
    private static final Sealer SEALER = Sealer.to(KEY.publicKey());
    private static final Opener OPENER = Opener.with(KEY);

    @TempDir Path folder;

    private static byte[] sealed(byte[] data) throws IOException {
        var out = new ByteArrayOutputStream();
        SEALER.seal(new ByteArrayInputStream(data), out);
        return out.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 65503, 65504, 65505, 65536, 1048575, 1048576, 1048577, 5_000_000})
    void streamsComeBack(int length) throws IOException {
        byte[] data = BytesTest.data(length);
        byte[] sealed = sealed(data);
        var back = new ByteArrayOutputStream();
        OPENER.open(new Trickle(sealed, 4001), back);
        assertArrayEquals(data, back.toByteArray());
        assertArrayEquals(data, OPENER.open(sealed));
        var one = new ByteArrayOutputStream();
        SEALER.threads(1).seal(new Trickle(data, 77_777), one);
        assertArrayEquals(data, OPENER.threads(2).open(one.toByteArray()));
    }

    /** A stream whose reads return only a few bytes each. */
    private static final class Trickle extends InputStream {
        private final ByteArrayInputStream input;
        private final int most;

        Trickle(byte[] data, int most) {
            this.input = new ByteArrayInputStream(data);
            this.most = most;
        }

        @Override
        public int read() {
            return input.read();
        }

        @Override
        public int read(byte[] bytes, int offset, int length) {
            return input.read(bytes, offset, Math.min(length, most));
        }
    }

    @Test
    void exceptionsOfStreamsComeOutAsTheyAre() throws IOException {
        IOException io = new IOException("the line is cut");
        RuntimeException runtime = new IllegalStateException("enough");
        Error error = new StackOverflowError();
        byte[] sealed = sealed(BytesTest.data(1_000_000));
        for (Throwable thrown : new Throwable[] {io, runtime, error}) {
            InputStream bad = Streams.reading((_, _, _) -> Streams.sneak(thrown));
            assertSame(
                    thrown,
                    assertThrows(
                            Throwable.class,
                            () -> SEALER.seal(bad, OutputStream.nullOutputStream())));
            assertSame(
                    thrown,
                    assertThrows(
                            Throwable.class,
                            () -> OPENER.open(bad, OutputStream.nullOutputStream())));
            OutputStream full = Streams.writing((_, _, _) -> Streams.sneak(thrown));
            var data = new ByteArrayInputStream(BytesTest.data(1_000_000));
            assertSame(thrown, assertThrows(Throwable.class, () -> SEALER.seal(data, full)));
            assertSame(
                    thrown,
                    assertThrows(
                            Throwable.class,
                            () -> OPENER.open(new ByteArrayInputStream(sealed), full)));
            assertSame(thrown, assertThrows(Throwable.class, () -> SEALER.newOutputStream(full)));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -2, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 20})
    void countsThatAreNonsenseAreErrors(int count) {
        InputStream bad = Streams.reading((_, _, _) -> count);
        var thrown =
                assertThrows(
                        IOException.class, () -> SEALER.seal(bad, OutputStream.nullOutputStream()));
        assertTrue(
                thrown.getMessage().contains("the input stream returned " + count),
                thrown::getMessage);
        assertThrows(IOException.class, () -> OPENER.open(bad, OutputStream.nullOutputStream()));
    }

    @Test
    void closedFilesAndMissingStreamsAreErrors() throws IOException {
        Path path = Files.write(folder.resolve("plain"), new byte[5_000_000]);
        InputStream closed = Files.newInputStream(path);
        closed.close();
        assertThrows(IOException.class, () -> SEALER.seal(closed, OutputStream.nullOutputStream()));
        InputStream open = Files.newInputStream(path);
        OutputStream closing =
                Streams.writing(
                        (_, _, _) -> {
                            open.close();
                            return 0;
                        });
        assertThrows(ClosedChannelException.class, () -> SEALER.seal(open, closing));
        assertThrows(NullPointerException.class, () -> SEALER.seal((InputStream) null, closing));
        assertThrows(NullPointerException.class, () -> SEALER.seal(open, null));
        assertThrows(NullPointerException.class, () -> OPENER.open(open, null));
        assertThrows(NullPointerException.class, () -> SEALER.newOutputStream(null));
        assertThrows(NullPointerException.class, () -> SEALER.newChannel(null));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 77_777, 131_072, 1_000_000})
    void whatIsWrittenInPiecesComesBack(int piece) throws IOException {
        byte[] data = BytesTest.data(piece == 1 ? 70_000 : 3_000_000);
        var out = new ByteArrayOutputStream();
        try (SealingStream stream = SEALER.newOutputStream(out)) {
            for (int done = 0; done < data.length; done += piece) {
                if (piece == 1) {
                    stream.write(data[done]);
                } else {
                    stream.write(data, done, Math.min(piece, data.length - done));
                }
                if (done % 5 == 0) {
                    stream.flush();
                }
            }
            stream.finish();
        }
        assertArrayEquals(data, OPENER.open(out.toByteArray()));
        var again = new ByteArrayOutputStream();
        try (SealingStream channel = SEALER.newChannel(Channels.newChannel(again))) {
            ByteBuffer direct = ByteBuffer.allocateDirect(data.length).put(data).flip();
            assertEquals(data.length, channel.write(direct));
            assertEquals(0, direct.remaining());
            assertEquals(0, channel.write(direct));
            assertTrue(channel.isOpen());
            channel.finish();
            assertFalse(channel.isOpen());
        }
        assertArrayEquals(data, OPENER.open(again.toByteArray()));
    }

    @Test
    void aStreamWithoutItsEndDoesNotOpen() throws IOException {
        var out = new ByteArrayOutputStream();
        SealingStream stream = SEALER.newOutputStream(out);
        stream.write(BytesTest.data(500_000));
        stream.abandon();
        assertFalse(stream.isOpen());
        assertThrows(ClosedChannelException.class, () -> stream.write(1));
        stream.close();
        assertThrows(TruncatedException.class, () -> OPENER.open(out.toByteArray()));
    }

    private static void isCutShort(ByteArrayOutputStream out) {
        assertThrows(TruncatedException.class, () -> OPENER.open(out.toByteArray()));
    }

    @Test
    void halfOfTheDataIsNeverComplete() throws IOException {
        byte[] half = BytesTest.data(500_000);
        RuntimeException lost = new IllegalStateException("the second half is lost");
        var out = new ByteArrayOutputStream();
        var left =
                assertThrows(
                        IllegalStateException.class,
                        () -> {
                            try (OutputStream stream = SEALER.newOutputStream(out)) {
                                stream.write(half);
                                throw lost;
                            }
                        });
        assertSame(lost, left);
        assertEquals(UnfinishedException.class, lost.getSuppressed()[0].getClass());
        isCutShort(out);
        out.reset();
        SealingStream stream = SEALER.newOutputStream(out);
        stream.write(half);
        // Each call of close throws an exception, because the first caller may swallow the
        // exception.
        for (int time = 0; time < 2; time++) {
            var cut = assertThrows(UnfinishedException.class, stream::close);
            assertTrue(cut.getMessage().contains("finish() was not called"), cut::getMessage);
        }
        isCutShort(out);
    }

    /** Makes a stream on top of another one. */
    @FunctionalInterface
    interface Wrapper {
        Closeable around(OutputStream inner) throws IOException;
    }

    @Test
    void aStreamOnTopThatClosesDoesNotComplete() throws IOException {
        for (Wrapper wrapper :
                List.<Wrapper>of(
                        BufferedOutputStream::new,
                        GZIPOutputStream::new,
                        ObjectOutputStream::new,
                        OutputStreamWriter::new,
                        PrintWriter::new,
                        PrintStream::new)) {
            var out = new ByteArrayOutputStream();
            assertThrows(
                    UnfinishedException.class,
                    () -> {
                        try (SealingStream stream = SEALER.newOutputStream(out);
                                Closeable top = wrapper.around(stream)) {
                            assertTrue(top != stream);
                            stream.write(BytesTest.data(500_000));
                        }
                    });
            isCutShort(out);
        }
    }

    @Test
    void bytesBehindTheEndAreNoSecret() throws IOException {
        var out = new ByteArrayOutputStream();
        var late =
                assertThrows(
                        UnfinishedException.class,
                        () -> {
                            // A PrintWriter holds bytes in its own buffer, and suppresses
                            // exceptions.
                            try (SealingStream stream = SEALER.newOutputStream(out);
                                    PrintWriter writer = new PrintWriter(stream)) {
                                writer.print("late");
                                stream.finish();
                            }
                        });
        assertTrue(late.getMessage().contains("written after finish()"), late::getMessage);
        out.reset();
        try (SealingStream stream = SEALER.newOutputStream(out);
                PrintWriter writer = new PrintWriter(stream)) {
            writer.print("early");
            writer.flush();
            stream.finish();
            stream.finish();
        }
        assertEquals("early", new String(OPENER.open(out.toByteArray())));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 65503, 65504, 65505, 1048577, 5_000_000})
    void aStreamOpensWhileItIsRead(int length) throws IOException {
        byte[] data = BytesTest.data(length);
        byte[] sealed = sealed(data);
        boolean[] isClosed = {false};
        InputStream source =
                new FilterInputStream(new Trickle(sealed, 4001)) {
                    @Override
                    public void close() {
                        isClosed[0] = true;
                    }
                };
        try (InputStream stream = OPENER.newInputStream(source)) {
            assertEquals(length == 0 ? -1 : data[0] & 0xff, stream.read());
            byte[] rest = stream.readAllBytes();
            assertArrayEquals(Arrays.copyOfRange(data, Math.min(1, length), length), rest);
            assertEquals(-1, stream.read());
            assertEquals(0, stream.read(new byte[0]));
        }
        assertTrue(isClosed[0]);
    }

    @Test
    void aStreamThatIsReadDoesNotEndBeforeItsEnd() throws IOException {
        byte[] data = BytesTest.data(3_000_000);
        byte[] sealed = sealed(data);
        for (int length : new int[] {sealed.length - 1, 2_000_000}) {
            byte[] cut = Arrays.copyOf(sealed, length);
            try (InputStream stream = OPENER.newInputStream(new ByteArrayInputStream(cut))) {
                assertThrows(TruncatedException.class, stream::readAllBytes);
                assertThrows(TruncatedException.class, stream::read);
            }
        }
        byte[] empty = {};
        assertThrows(
                NotSealedException.class,
                () -> OPENER.newInputStream(new ByteArrayInputStream(empty)));
        try (PrivateKey other = PrivateKey.generate(Kind.XWING)) {
            assertThrows(
                    NoKeyException.class,
                    () -> Opener.with(other).newInputStream(new ByteArrayInputStream(sealed)));
        }
        IOException broken = new IOException("the line is cut");
        assertSame(
                broken,
                assertThrows(
                        IOException.class,
                        () ->
                                OPENER.newInputStream(
                                        Streams.reading((_, _, _) -> Streams.sneak(broken)))));
    }

    @Test
    void aStreamThatIsReadEndsWhenItIsClosedOrForgotten() throws Exception {
        byte[] sealed = sealed(BytesTest.data(5_000_000));
        for (boolean isClosed : new boolean[] {true, false}) {
            InputStream stream = OPENER.newInputStream(new ByteArrayInputStream(sealed));
            assertTrue(stream.read(new byte[100]) > 0);
            assertTrue(stream.available() > 0);
            if (isClosed) {
                stream.close();
                stream.close();
                assertThrows(IOException.class, stream::read);
            }
            stream = null;
            for (int wait = 0; wait < 500 && isOpening(); wait++) {
                System.gc();
                Thread.sleep(10);
            }
            assertFalse(isOpening(), "the thread of a stream is left");
        }
    }

    private static boolean isOpening() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("deadpan-opening"));
    }

    @Test
    void aThreadThatWaitsForAStreamIsInterrupted() throws Exception {
        byte[] sealed = sealed(BytesTest.data(3_000_000));
        var pipe = new PipedInputStream(8_000_000);
        try (var feed = new PipedOutputStream(pipe)) {
            feed.write(sealed, 0, 2_000_000);
            InputStream stream = OPENER.newInputStream(pipe);
            var thrown = new AtomicReference<Throwable>();
            Thread reader = Threads.start(stream::readAllBytes, thrown);
            while (reader.getState() != Thread.State.WAITING) {
                Threads.pause();
            }
            reader.interrupt();
            Threads.join(reader);
            assertEquals(InterruptedIOException.class, thrown.get().getClass());
            stream.close();
        }
    }

    @Test
    void aStreamThatFailedDoesNotGoOn() throws IOException {
        boolean[] isFull = {false};
        boolean[] isClosed = {false};
        var out = new ByteArrayOutputStream();
        OutputStream limited =
                new FilterOutputStream(out) {
                    @Override
                    public void write(byte[] bytes, int offset, int length) throws IOException {
                        if (isFull[0]) {
                            throw new IOException("full");
                        }
                        out.write(bytes, offset, length);
                    }

                    @Override
                    public void close() {
                        isClosed[0] = true;
                    }
                };
        SealingStream stream = SEALER.newOutputStream(limited);
        isFull[0] = true;
        byte[] much = BytesTest.data(1_000_000);
        assertEquals(
                "full", assertThrows(IOException.class, () -> stream.write(much)).getMessage());
        isFull[0] = false;
        var after = assertThrows(IOException.class, () -> stream.write(much));
        assertTrue(after.getMessage().contains("failed before"));
        assertThrows(IOException.class, stream::finish);
        var cut = assertThrows(UnfinishedException.class, stream::close);
        assertTrue(cut.getMessage().contains("failed before finish()"), cut::getMessage);
        assertTrue(isClosed[0]);
        assertThrows(ClosedChannelException.class, () -> stream.write(much));
        assertThrows(IOException.class, () -> OPENER.open(out.toByteArray()));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> SEALER.newOutputStream(out).write(much, 1, much.length));
    }

    @Test
    void dataThatCannotBeReadLeaveNoGap() throws IOException {
        var out = new ByteArrayOutputStream();
        SealingStream stream = SEALER.newOutputStream(out);
        ByteBuffer freed;
        try (Arena arena = Arena.ofConfined()) {
            freed = arena.allocate(1000).asByteBuffer();
        }
        assertThrows(IllegalStateException.class, () -> stream.write(freed));
        assertThrows(IOException.class, () -> stream.write(1));
        assertThrows(IOException.class, stream::finish);
        assertThrows(UnfinishedException.class, stream::close);
        isCutShort(out);
    }

    @Test
    void aStreamThatItsOwnOutputWritesToSaysSo() throws IOException {
        SealingStream[] stream = {null};
        OutputStream loop =
                Streams.writing(
                        (_, _, _) -> {
                            if (stream[0] != null) {
                                stream[0].write(new byte[200_000]);
                            }
                            return 0;
                        });
        stream[0] = SEALER.newOutputStream(loop);
        assertThrows(IllegalStateException.class, () -> stream[0].write(new byte[1_000_000]));
        assertThrows(UnfinishedException.class, stream[0]::close);
    }

    @Test
    void thePlatformsStreamsWorkOnTop() throws IOException {
        Path path = folder.resolve("zip.dpn");
        try (SealingStream out = SEALER.newOutputStream(Files.newOutputStream(path));
                var zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry("file"));
            zip.write("straight face".getBytes());
            zip.finish();
            out.finish();
        }
        try (var zip = new ZipInputStream(OPENER.newInputStream(path))) {
            assertEquals("file", zip.getNextEntry().getName());
            assertEquals("straight face", new String(zip.readAllBytes()));
        }
        PrivateKey other = PrivateKey.generate(Kind.XWING);
        assertThrows(NoKeyException.class, () -> Opener.with(other).newInputStream(path));
        other.close();
        assertThrows(
                NoKeyException.class,
                () -> Deadpan.open(Files.readAllBytes(path), PrivateKey.generate(Kind.P256)));
    }

    @Test
    void aStreamThatIsUsedByItsOwnOutputIsRefused() throws IOException {
        var within = new SealingStream[1];
        var out =
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        write(new byte[] {(byte) b}, 0, 1);
                    }

                    @Override
                    public void write(byte[] bytes, int offset, int length) throws IOException {
                        if (within[0] != null) {
                            within[0].write(1);
                        }
                    }
                };
        var stream = Sealer.to(KEY.publicKey()).newOutputStream(out);
        within[0] = stream;
        assertThrows(IllegalStateException.class, () -> stream.write(new byte[3_000_000]));
        within[0] = null;
        stream.abandon();
        stream.close();
    }
}

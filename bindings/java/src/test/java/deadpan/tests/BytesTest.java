package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import deadpan.BufferTooSmallException;
import deadpan.Deadpan;
import deadpan.DeadpanException;
import deadpan.Kind;
import deadpan.NoKeyException;
import deadpan.NotSealedException;
import deadpan.Opener;
import deadpan.PrivateKey;
import deadpan.Sealer;
import deadpan.TamperedException;
import deadpan.TruncatedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

class BytesTest {
    private static final PrivateKey KEY = PrivateKey.generate(Kind.XWING);
    private static final PrivateKey OTHER = PrivateKey.generate(Kind.XWING);
    private static final Sealer SEALER = Sealer.to(KEY.publicKey());
    private static final Opener OPENER = Opener.with(KEY);
    private static final int LONG = 9_000_000;

    static byte[] data(int length) {
        byte[] data = new byte[length];
        new Random(length).nextBytes(data);
        return data;
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0, 1, 65503, 65504, 65505, 65535, 65536, 65537, 1048575, 1048576, 1048577, 4194303,
                4194304, 4194305, LONG
            })
    void everyFormOfEveryLengthComesBack(int length) throws IOException {
        byte[] data = data(length);
        byte[] sealed = SEALER.seal(data);
        assertEquals(SEALER.sealedLength(length), sealed.length);
        assertArrayEquals(data, OPENER.open(sealed));

        byte[] out = new byte[sealed.length + 1];
        out[sealed.length] = 42;
        assertEquals(sealed.length, SEALER.seal(data, out));
        assertEquals(42, out[sealed.length], "nothing behind the result is written");
        byte[] opened = new byte[length];
        assertEquals(length, OPENER.open(Arrays.copyOf(out, sealed.length), opened));
        assertArrayEquals(data, opened);

        for (boolean isDirect : new boolean[] {false, true}) {
            ByteBuffer from = buffer(length + 7, isDirect).position(7).put(data).position(7);
            ByteBuffer to = buffer(sealed.length + 5, !isDirect).position(3);
            SEALER.seal(from, to);
            assertEquals(0, from.remaining());
            assertEquals(3 + sealed.length, to.position());
            ByteBuffer back = buffer(length, isDirect);
            OPENER.open(to.flip().position(3), back);
            assertEquals(ByteBuffer.wrap(data), back.flip());
        }
        memoryOfEachKind(data, sealed.length);
    }

    private static ByteBuffer buffer(int length, boolean isDirect) {
        return isDirect ? ByteBuffer.allocateDirect(length) : ByteBuffer.allocate(length);
    }

    /** Long data between confined memory and the heap go through threads of the library. */
    private static void memoryOfEachKind(byte[] data, int sealedLength) throws IOException {
        try (Arena confined = Arena.ofConfined();
                Arena shared = Arena.ofShared()) {
            MemorySegment from = confined.allocate(data.length);
            MemorySegment.copy(data, 0, from, ValueLayout.JAVA_BYTE, 0, data.length);
            MemorySegment sealed = MemorySegment.ofArray(new byte[sealedLength]);
            assertEquals(sealedLength, Deadpan.seal(from.asReadOnly(), sealed, KEY.publicKey()));
            MemorySegment back = shared.allocate(data.length);
            assertEquals(data.length, Deadpan.open(sealed.asReadOnly(), back, KEY));
            assertEquals(-1, back.mismatch(from));
            MemorySegment again = shared.allocate(sealedLength);
            assertEquals(sealedLength, SEALER.seal(back, again));
            assertEquals(data.length, OPENER.open(again, from));
            assertEquals(-1, back.mismatch(from));
        }
    }

    @Test
    void arraysOfOtherTypesAreMemoryToo() throws IOException {
        long[] numbers = {1, 2, 3};
        byte[] sealed = new byte[(int) SEALER.sealedLength(24)];
        SEALER.seal(MemorySegment.ofArray(numbers), MemorySegment.ofArray(sealed));
        long[] back = new long[3];
        assertEquals(24, OPENER.open(MemorySegment.ofArray(sealed), MemorySegment.ofArray(back)));
        assertArrayEquals(numbers, back);
    }

    @Test
    void everyChangedByteIsFound() throws IOException {
        byte[] sealed = Deadpan.seal(data(50), KEY.publicKey());
        for (int place = 0; place < sealed.length; place++) {
            byte[] bad = sealed.clone();
            bad[place] ^= 1;
            int changed = place;
            assertThrows(
                    DeadpanException.class, () -> Deadpan.open(bad, KEY), () -> "byte " + changed);
        }
        for (int length = 0; length < sealed.length; length++) {
            byte[] cut = Arrays.copyOf(sealed, length);
            assertThrows(
                    DeadpanException.class,
                    () -> Deadpan.open(cut, KEY),
                    () -> "length " + cut.length);
        }
        byte[] more = Arrays.copyOf(sealed, sealed.length + 1);
        assertThrows(DeadpanException.class, () -> Deadpan.open(more, KEY));
    }

    @ParameterizedTest
    @ValueSource(ints = {50, 70_000, LONG})
    void damageHasItsCauseAndLeavesNothing(int length) throws IOException {
        byte[] sealed = SEALER.seal(data(length));
        byte[] out = new byte[length];
        sealed[sealed.length - 1] ^= 1;
        assertThrows(TamperedException.class, () -> OPENER.open(sealed, out));
        assertArrayEquals(new byte[length], out, "unverified data reached the caller");
        assertThrows(TamperedException.class, () -> OPENER.open(sealed));
        sealed[sealed.length - 1] ^= 1;
        byte[] cut = Arrays.copyOf(sealed, sealed.length - 1);
        assertThrows(TruncatedException.class, () -> OPENER.open(cut, out));
        assertArrayEquals(new byte[length], out, "unverified data reached the caller");
        assertThrows(NoKeyException.class, () -> Deadpan.open(sealed, OTHER));
        assertArrayEquals(data(length), Deadpan.open(sealed, OTHER, KEY));
        assertThrows(NotSealedException.class, () -> OPENER.open(new byte[length]));
    }

    @ParameterizedTest
    @ValueSource(ints = {50, 70_000, LONG})
    void smallBuffersAreToldWhatTheyNeed(int length) throws IOException {
        byte[] data = data(length);
        byte[] sealed = SEALER.seal(data);
        byte[] room = new byte[sealed.length - 1];
        var small = assertThrows(BufferTooSmallException.class, () -> SEALER.seal(data, room));
        assertEquals(sealed.length, small.needed());
        assertTrue(small.getMessage().contains(Integer.toString(sealed.length)));
        byte[] less = new byte[length - 1];
        small = assertThrows(BufferTooSmallException.class, () -> OPENER.open(sealed, less));
        assertEquals(length, small.needed());
        assertArrayEquals(new byte[length - 1], less, "a part was left behind");
        ByteBuffer direct = ByteBuffer.allocateDirect(length).put(data).flip();
        ByteBuffer none = ByteBuffer.allocateDirect(length);
        assertThrows(BufferTooSmallException.class, () -> SEALER.seal(direct, none));
        assertEquals(0, direct.position());
        assertEquals(0, none.position());
    }

    @ParameterizedTest
    @ValueSource(ints = {50, LONG})
    void inputAndOutputMustBeApart(int length) {
        byte[] both = new byte[2 * length + 9000];
        assertThrows(IllegalArgumentException.class, () -> SEALER.seal(both, both));
        MemorySegment memory = MemorySegment.ofArray(both);
        MemorySegment first = memory.asSlice(0, length);
        MemorySegment second = memory.asSlice(length - 1);
        assertThrows(IllegalArgumentException.class, () -> SEALER.seal(first, second));
        ByteBuffer readOnly = ByteBuffer.allocate(length + 9000).asReadOnlyBuffer();
        assertThrows(
                ReadOnlyBufferException.class,
                () -> SEALER.seal(ByteBuffer.allocate(length), readOnly));
        assertThrows(
                ReadOnlyBufferException.class,
                () -> OPENER.open(ByteBuffer.allocate(length), readOnly));
    }

    @Test
    void nothingIsNoArgument() {
        assertThrows(NullPointerException.class, () -> SEALER.seal((byte[]) null));
        assertThrows(NullPointerException.class, () -> SEALER.seal(new byte[1], null));
        assertThrows(
                NullPointerException.class,
                () -> SEALER.seal((MemorySegment) null, MemorySegment.NULL));
        assertThrows(NullPointerException.class, () -> OPENER.open((byte[]) null));
        assertThrows(NullPointerException.class, () -> OPENER.open(ByteBuffer.allocate(1), null));
        assertThrows(NullPointerException.class, () -> Sealer.to(KEY.publicKey(), null));
        assertThrows(NullPointerException.class, () -> Opener.with(KEY, null));
        assertThrows(IllegalArgumentException.class, Sealer::to);
        assertThrows(IllegalArgumentException.class, Opener::with);
        assertThrows(IllegalArgumentException.class, () -> SEALER.sealedLength(-1));
        assertThrows(IllegalArgumentException.class, () -> SEALER.threads(-1));
        assertThrows(NullPointerException.class, () -> SEALER.progress(null));
    }

    /** Memory in use cannot be freed, and freed memory is refused. */
    @Test
    void freedMemoryIsRefused() throws Exception {
        Arena arena = Arena.ofShared();
        MemorySegment data = arena.allocate(200 << 20);
        MemorySegment out = arena.allocate(SEALER.sealedLength(data.byteSize()));
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        AtomicBoolean isRefused = new AtomicBoolean();
        Thread other =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    Threads.await(inside);
                                    try {
                                        arena.close();
                                    } catch (IllegalStateException inUse) {
                                        isRefused.set(true);
                                    } finally {
                                        leave.countDown();
                                    }
                                });
        long length =
                SEALER.progress(
                                _ -> {
                                    inside.countDown();
                                    Threads.await(leave);
                                })
                        .seal(data, out);
        other.join();
        assertTrue(isRefused.get(), "the memory was freed in use");
        assertEquals(out.byteSize(), length);
        arena.close();
        assertThrows(IllegalStateException.class, () -> SEALER.seal(data, out));
        assertThrows(IllegalStateException.class, () -> SEALER.threads(1).seal(data, out));
        Arena freed = Arena.ofConfined();
        MemorySegment gone = freed.allocate(LONG);
        Sealer freeing = SEALER.progress(_ -> freed.close());
        MemorySegment heap = MemorySegment.ofArray(new byte[2 * LONG]);
        Throwable refused = null;
        try {
            freeing.seal(gone, heap);
        } catch (WrongThreadException | IllegalStateException failed) {
            refused = failed;
        }
        assertNotNull(refused, "memory was freed in use");
        Arena confined = Arena.ofConfined();
        MemorySegment mine = confined.allocate(100);
        Throwable thrown =
                Threads.thrownBy(() -> SEALER.seal(mine, MemorySegment.ofArray(new byte[4000])));
        assertEquals(WrongThreadException.class, thrown.getClass());
        confined.close();
    }
}

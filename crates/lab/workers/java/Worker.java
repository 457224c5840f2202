// A worker for `deadpan lab`: the lab measures Java methods in the Java process that runs them.
//
//     deadpan lab timing --worker 'java -XX:+UseSerialGC Worker.java'
//
// To measure a method of your own, copy this file and change the variable TARGETS.
// docs/lab-worker.md describes the protocol.

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

public class Worker {
    /** Makes the call's arguments from an input, which is not timed, and makes the call, which is. */
    interface Target {
        void prepare(byte[] input);

        boolean call();
    }

    /** A target's name, the parts of its input, and the classes that the lab compares. */
    record Entry(String name, String parts, String classes, Target target) {}

    static final Entry[] TARGETS = {
        new Entry("early-exit", "secret:32,public:32", "first,last", new Compare() {
            public boolean call() {
                return earlyExit(left, right);
            }
        }),
        new Entry("message-digest-is-equal", "secret:32,public:32", "first,last", new Compare() {
            public boolean call() {
                return MessageDigest.isEqual(left, right);
            }
        }),
    };

    /** Holds both sides of a comparison, always in the same two arrays. */
    abstract static class Compare implements Target {
        final byte[] left = new byte[32], right = new byte[32];

        public void prepare(byte[] input) {
            System.arraycopy(input, 0, left, 0, 32);
            System.arraycopy(input, 32, right, 0, 32);
        }
    }

    static boolean earlyExit(byte[] left, byte[] right) {
        for (int i = 0; i < left.length; i++) {
            if (left[i] != right[i]) return false;
        }
        return true;
    }

    static final int VERSION = 1, NO_CALL = -1;
    static long state;
    static boolean sink;

    /**
     * Waits. Each iteration depends on the iteration before it, and the first iteration depends on
     * seed. Iterations therefore overlap neither with each other nor with the code that computes
     * seed.
     */
    static void spin(int turns, long seed) {
        long x = state + seed;
        for (int i = 0; i < turns; i++) x = x * 6364136223846793005L + 1;
        state = x;
    }

    static long measure(Target target, int repeats, int before, int within) {
        spin(before, 0);
        // The fence waits until the copy of the input has left the store buffer.
        VarHandle.fullFence();
        long start = System.nanoTime();
        for (int i = 0; i < repeats; i++) sink = target.call();
        if (within > 0) spin(within, System.nanoTime());
        return System.nanoTime() - start;
    }

    static ByteBuffer read(DataInputStream in, int count) throws IOException {
        byte[] bytes = new byte[count];
        in.readFully(bytes);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    static ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    public static void main(String[] arguments) throws IOException {
        DataInputStream in = new DataInputStream(System.in);
        OutputStream out = new BufferedOutputStream(System.out, 1 << 16);
        // The output of a target goes to standard error, because the lab reads standard output.
        System.setOut(System.err);
        StringBuilder hello = new StringBuilder("language: Java\nruntime: " + System.getProperty("java.vm.name") + " "
            + Runtime.version() + "\nclock: System.nanoTime\nhertz: 1000000000\nwarm-up: 50000\n");
        for (Entry entry : TARGETS) {
            hello.append("target: " + entry.name + " " + entry.parts + " " + entry.classes + "\n");
        }
        byte[] text = hello.toString().getBytes(StandardCharsets.UTF_8);
        out.write("DPWK".getBytes(StandardCharsets.US_ASCII));
        out.write(buffer(8).putInt(VERSION).putInt(text.length).array());
        out.write(text);
        try {
            for (long request = 1; ; request++) {
                out.flush();
                ByteBuffer head = read(in, 20);
                int number = head.getInt(), index = head.getInt(), repeats = head.getInt();
                int slots = head.getInt(), length = head.getInt();
                ByteBuffer data = read(in, slots * (8 + length));
                // Garbage is collected between the requests, as far as possible.
                if (request % 256 == 0) System.gc();
                ByteBuffer answer = buffer(8 + 8 * slots).putInt(number).putInt(slots);
                byte[] input = new byte[length];
                Target target = index == NO_CALL ? TARGETS[0].target : TARGETS[index].target;
                for (int slot = 0; slot < slots; slot++) {
                    int before = data.getInt(), within = data.getInt();
                    data.get(input);
                    if (index != NO_CALL) target.prepare(input);
                    answer.putLong(measure(target, index == NO_CALL ? 0 : repeats, before, within));
                }
                out.write(answer.array());
            }
        } catch (EOFException end) {
            // The lab has closed the pipe.
        }
    }
}

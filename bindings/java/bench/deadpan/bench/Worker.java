package deadpan.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Runs operations for {@code scripts/bench languages}, and times them.
 *
 * <p>A line {@code NAME SIZE TIMES} runs the operation {@code NAME} {@code TIMES} times on {@code
 * SIZE} bytes, and prints the total in nanoseconds. For a wrong line, the worker prints {@code
 * error} and the reason.
 */
public final class Worker {
    private final Map<String, Task.Maker> makers = new HashMap<>();
    private String prepared = "";
    private Task task;

    private Worker() throws Exception {
        makers.putAll(new Own().makers());
        makers.putAll(Jca.makers());
    }

    /**
     * Reads lines until the input ends.
     *
     * @param arguments none
     * @throws Exception if the operations cannot be prepared
     */
    public static void main(String[] arguments) throws Exception {
        Worker worker = new Worker();
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(worker.answer(line));
            System.out.flush();
        }
        worker.drop();
    }

    private String answer(String line) {
        try {
            String[] words = line.split(" ");
            if (words.length != 3) {
                throw new IllegalArgumentException(
                        "a line has a name, a size and a number of times");
            }
            return Long.toString(
                    time(words[0], Long.parseLong(words[1]), Integer.parseInt(words[2])));
        } catch (Exception | OutOfMemoryError wrong) {
            return "error " + String.valueOf(wrong).replace('\n', ' ');
        }
    }

    private long time(String name, long size, int times) throws Exception {
        if (size < 0 || times < 1) {
            throw new IllegalArgumentException("a size is 0 or more, and times are 1 or more");
        }
        prepare(name, size);
        long start = System.nanoTime();
        for (int time = 0; time < times; time++) {
            task.run().run();
        }
        long took = System.nanoTime() - start;
        task.check().run();
        return took;
    }

    private void prepare(String name, long size) throws Exception {
        Task.Maker maker = makers.get(name);
        if (maker == null) {
            throw new IllegalArgumentException("no operation is called " + name);
        }
        String wanted = name + " " + size;
        if (!prepared.equals(wanted)) {
            drop();
            task = maker.make(size);
            prepared = wanted;
        }
    }

    /** Frees the data of the last operation. */
    private void drop() throws Exception {
        if (task != null) {
            task.close().run();
        }
        prepared = "";
        task = null;
        System.gc();
    }
}

package deadpan.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs operations for {@code scripts/bench-languages}, and times them.
 *
 * <p>A line {@code NAME SIZE TIMES} runs an operation so many times on data of so many bytes, and
 * prints the nanoseconds of all of them. A line {@code list} prints the names. A line that is wrong
 * prints {@code error} and why.
 */
public final class Worker {
    /** Data of this size and more are freed when other data are asked for. */
    private static final long LARGE = 16 << 20;

    private final Map<String, Task.Maker> makers = new TreeMap<>();
    private final Map<String, Task> tasks = new LinkedHashMap<>();

    private Worker() throws Exception {
        makers.putAll(NativeTasks.makers());
        makers.putAll(ArrayTasks.makers());
        makers.putAll(FileTasks.makers());
        makers.putAll(BouncyCastle.makers());
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
        for (Task task : worker.tasks.values()) {
            task.close();
        }
    }

    private String answer(String line) {
        try {
            if (line.equals("list")) {
                return String.join(" ", makers.keySet());
            }
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
        Task task = prepared(name, size);
        long start = System.nanoTime();
        for (int time = 0; time < times; time++) {
            task.run();
        }
        long took = System.nanoTime() - start;
        task.check();
        return took;
    }

    private Task prepared(String name, long size) throws Exception {
        Task.Maker maker = makers.get(name);
        if (maker == null) {
            throw new IllegalArgumentException("no operation is called " + name);
        }
        String wanted = name + " " + size;
        if (!tasks.containsKey(wanted)) {
            drop(size);
            tasks.put(wanted, maker.make(size));
        }
        return tasks.get(wanted);
    }

    /** Frees large data, and all data if the new ones are large. */
    private void drop(long size) throws IOException {
        var each = tasks.values().iterator();
        while (each.hasNext()) {
            Task task = each.next();
            if (size >= LARGE || task.size() >= LARGE) {
                task.close();
                each.remove();
            }
        }
        if (size >= LARGE) {
            System.gc();
        }
    }
}

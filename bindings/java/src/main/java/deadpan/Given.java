package deadpan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/** Checks arguments of the caller. The error for a {@code null} names the argument. */
final class Given {
    private Given() {}

    /** Returns the argument. */
    static <T> T notNull(T argument, String name) {
        if (argument == null) {
            throw new NullPointerException(name + " is null");
        }
        return argument;
    }

    /** Copies a list of arguments. */
    static <T> List<T> list(T[] arguments, String noun) {
        return list(Arrays.asList(notNull(arguments, "the list for each " + noun)), noun);
    }

    /** Copies a list of arguments. */
    static <T> List<T> list(Collection<? extends T> arguments, String noun) {
        List<T> copy = new ArrayList<>(notNull(arguments, "the list for each " + noun));
        for (int place = 0; place < copy.size(); place++) {
            notNull(copy.get(place), noun + " " + (place + 1));
        }
        return List.copyOf(copy);
    }
}

package deadpan;

/** The options of long work: the number of threads, and the callback for progress. */
record Effort(int threads, Progress progress) {
    static final Effort PLAIN = new Effort(0, null);

    Effort withThreads(int number) {
        if (number < 0) {
            throw new IllegalArgumentException(number + " is no number of threads");
        }
        return new Effort(number, progress);
    }

    Effort withProgress(Progress told) {
        return new Effort(threads, Given.notNull(told, "progress"));
    }

    boolean isPlain() {
        return threads == 0 && progress == null;
    }
}

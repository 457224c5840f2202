package deadpan.bench;

import java.util.Arrays;

/** Another library's cipher, from an array into an array that is used again. */
abstract class PeerTask extends Task {
    static final int TAG = 16;

    final byte[] plain;
    final byte[] sealed;
    private final byte[] opened;

    PeerTask(long size, boolean isOpening) {
        super(size);
        plain = data(size);
        sealed = new byte[plain.length + TAG];
        opened = isOpening ? new byte[plain.length] : null;
    }

    /** Seals the plain data. A task that opens calls this once when it is made. */
    abstract void seal() throws Exception;

    /** Opens the sealed data into an array. */
    abstract void open(byte[] into) throws Exception;

    @Override
    final void run() throws Exception {
        if (opened == null) {
            seal();
        } else {
            open(opened);
        }
    }

    @Override
    final void check() throws Exception {
        byte[] result = opened;
        if (result == null) {
            result = new byte[plain.length];
            open(result);
        }
        require(Arrays.equals(result, plain));
    }
}

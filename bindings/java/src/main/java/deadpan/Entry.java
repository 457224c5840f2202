package deadpan;

/**
 * An entry of a sealed folder.
 *
 * @param path the path in the folder, with slashes; bytes that are not UTF-8 are replaced
 * @param kind the kind of the entry
 * @param size the number of bytes
 */
public record Entry(String path, Kind kind, long size) {
    /** The kind of an entry. */
    public enum Kind {
        /** A regular file. */
        FILE,
        /** A folder. */
        FOLDER,
        /** A link, or something else. */
        OTHER
    }
}

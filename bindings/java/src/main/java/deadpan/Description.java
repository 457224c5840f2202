package deadpan;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Describes a sealed file.
 *
 * @param format the format of the file
 * @param length the length of the sealed file
 * @param headerLength the length of the file's header
 * @param isSigned whether the file has a signature, which may be wrong
 * @param addressees whom the file is sealed to, as far as the header shows it
 * @param contents the properties that only the owner of a key sees; empty without a key that opens
 *     the file
 * @param json the whole description as JSON, with fields that other versions of the library may add
 */
public record Description(
        Format format,
        long length,
        long headerLength,
        boolean isSigned,
        List<Addressee> addressees,
        Optional<Contents> contents,
        String json) {

    /** The format of a file. */
    public enum Format {
        /** Deadpan's own format. */
        DEADPAN,
        /** The format of age. */
        AGE
    }

    /** Somebody to whom a file is sealed, as far as the header shows it. */
    public sealed interface Addressee {}

    /**
     * The owner of a key.
     *
     * @param kind the name of the key's kind
     * @param id the number of the kind in HPKE's registry, as in {@link Kind#id}
     */
    public record KeyOwner(String kind, int id) implements Addressee {}

    /**
     * Everybody who knows a passphrase.
     *
     * @param cost the cost of trying a passphrase; empty if the header does not contain it
     */
    public record PassphraseOwner(Optional<Cost> cost) implements Addressee {}

    /** A recipient of a type that this package does not know. */
    public record Other() implements Addressee {}

    /**
     * The cost of trying a passphrase.
     *
     * @param memory the memory in KiB
     * @param passes the passes over the memory
     * @param lanes how many cores can share the work
     */
    public record Cost(long memory, long passes, long lanes) {}

    /**
     * The properties that only the owner of a key sees.
     *
     * @param type the kind of the sealed data
     * @param name the name of the file or folder
     * @param modified the time when the file was last changed
     * @param mode the permissions of the file, as {@code chmod} writes them
     * @param hidesLength whether the data are padded
     * @param compressed whether the data are compressed
     */
    public record Contents(
            Type type,
            Optional<String> name,
            Optional<Instant> modified,
            OptionalInt mode,
            boolean hidesLength,
            boolean compressed) {
        /** The kind of data that was sealed. */
        public enum Type {
            /** Bytes, without a name. */
            BYTES,
            /** A file. */
            FILE,
            /** A folder. */
            FOLDER
        }
    }

    static Description parse(String json) {
        Fields all = new Fields((Map<?, ?>) Json.read(json));
        List<?> recipients = (List<?>) all.fields.get("recipients");
        return new Description(
                all.text("format").equals("age") ? Format.AGE : Format.DEADPAN,
                all.number("length"),
                all.number("header_length"),
                all.flag("signed"),
                recipients.stream().map(one -> addressee(new Fields((Map<?, ?>) one))).toList(),
                all.has("kind") ? Optional.of(contents(all)) : Optional.empty(),
                json);
    }

    private static Addressee addressee(Fields fields) {
        return switch (fields.text("type")) {
            case "key" -> new KeyOwner(fields.text("kind"), (int) fields.number("kem"));
            case "passphrase" ->
                    new PassphraseOwner(
                            fields.has("memory")
                                    ? Optional.of(
                                            new Cost(
                                                    fields.number("memory"),
                                                    fields.number("passes"),
                                                    fields.number("lanes")))
                                    : Optional.empty());
            default -> new Other();
        };
    }

    private static Contents contents(Fields fields) {
        Contents.Type type =
                switch (fields.text("kind")) {
                    case "file" -> Contents.Type.FILE;
                    case "folder" -> Contents.Type.FOLDER;
                    default -> Contents.Type.BYTES;
                };
        return new Contents(
                type,
                fields.has("name") ? Optional.of(fields.text("name")) : Optional.empty(),
                fields.has("modified") ? Optional.of(fields.time("modified")) : Optional.empty(),
                fields.has("mode")
                        ? OptionalInt.of((int) fields.number("mode"))
                        : OptionalInt.empty(),
                fields.flag("hides_length"),
                fields.flag("compressed"));
    }

    /** The fields of an object, by their types. */
    private record Fields(Map<?, ?> fields) {
        boolean has(String name) {
            return fields.get(name) != null;
        }

        String text(String name) {
            return (String) fields.get(name);
        }

        long number(String name) {
            return ((BigDecimal) fields.get(name)).longValueExact();
        }

        boolean flag(String name) {
            return Boolean.TRUE.equals(fields.get(name));
        }

        Instant time(String name) {
            BigDecimal seconds = (BigDecimal) fields.get(name);
            BigDecimal nanoseconds = seconds.remainder(BigDecimal.ONE).movePointRight(9);
            return Instant.ofEpochSecond(seconds.longValue(), nanoseconds.longValue());
        }
    }
}

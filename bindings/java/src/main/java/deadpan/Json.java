package deadpan;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the JSON that the library writes: objects as {@link Map}, arrays as {@link List}, numbers
 * as {@link BigDecimal}.
 */
final class Json {
    private final String text;
    private int place;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        return new Json(text).value();
    }

    private Object value() {
        return switch (next()) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("rue", true);
            case 'f' -> word("alse", false);
            case 'n' -> word("ull", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (text.charAt(place) == '}') {
            place++;
            return fields;
        }
        do {
            expect('"');
            String name = string();
            expect(':');
            fields.put(name, value());
        } while (goesOn('}'));
        return fields;
    }

    private List<Object> array() {
        List<Object> values = new ArrayList<>();
        if (text.charAt(place) == ']') {
            place++;
            return values;
        }
        do {
            values.add(value());
        } while (goesOn(']'));
        return values;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (char character = next(); character != '"'; character = next()) {
            string.append(character == '\\' ? escaped() : character);
        }
        return string.toString();
    }

    private char escaped() {
        char character = next();
        return switch (character) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                place += 4;
                yield (char) Integer.parseInt(text, place - 4, place, 16);
            }
            default -> character;
        };
    }

    private BigDecimal number() {
        int begin = place - 1;
        while (place < text.length() && "0123456789+-.eE".indexOf(text.charAt(place)) >= 0) {
            place++;
        }
        return new BigDecimal(text.substring(begin, place));
    }

    private Object word(String rest, Object value) {
        for (char character : rest.toCharArray()) {
            expect(character);
        }
        return value;
    }

    private boolean goesOn(char end) {
        char character = next();
        if (character != ',' && character != end) {
            throw new IllegalArgumentException("no JSON at " + place);
        }
        return character == ',';
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw new IllegalArgumentException("no JSON at " + place);
        }
    }

    private char next() {
        return text.charAt(place++);
    }
}

package deadpan.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import deadpan.Deadpan;
import deadpan.Identity;
import deadpan.Kind;
import deadpan.Opener;
import deadpan.Padding;
import deadpan.Passphrase;
import deadpan.PrivateKey;
import deadpan.Progress;
import deadpan.PublicKey;
import deadpan.Recipient;
import deadpan.SealedChannel;
import deadpan.Sealer;
import deadpan.SealingStream;
import deadpan.Session;
import deadpan.StrictBase64;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Every public method refuses {@code null} with a text that names the argument. */
class NullsTest {
    @TempDir Path folder;

    private final Map<Class<?>, Object> samples = new HashMap<>();

    private <T> void sample(Class<T> type, T value) {
        samples.put(type, value);
    }

    @Test
    void nullIsRefusedWithAText() throws Exception {
        PrivateKey key = PrivateKey.generate(Kind.X25519);
        Passphrase passphrase = Passphrase.of("correct horse".toCharArray());
        Path file = Files.write(folder.resolve("file"), Deadpan.seal(new byte[1], key.publicKey()));
        SealingStream stream =
                Sealer.to(key.publicKey()).newOutputStream(OutputStream.nullOutputStream());
        sample(PrivateKey.class, key);
        sample(PublicKey.class, key.publicKey());
        sample(Passphrase.class, passphrase);
        sample(Sealer.class, Sealer.to(key.publicKey()));
        sample(Opener.class, Opener.with(key));
        sample(SealingStream.class, stream);
        sample(SealedChannel.class, Opener.with(key).newChannel(file));
        sample(StrictBase64.class, StrictBase64.STANDARD);
        sample(Padding.class, Padding.PKCS7);
        sample(Kind.class, Kind.X25519);
        sample(Progress.class, done -> {});
        sample(Recipient[].class, new Recipient[] {key.publicKey()});
        sample(Identity[].class, new Identity[] {key});
        sample(Collection.class, List.of(key));
        sample(Path.class, file);
        sample(String.class, "text");
        sample(String[].class, new String[] {"text"});
        sample(byte[].class, new byte[500]);
        sample(char[].class, new char[] {'a'});
        sample(ByteBuffer.class, ByteBuffer.allocate(500));
        sample(MemorySegment.class, MemorySegment.ofArray(new byte[500]));
        sample(InputStream.class, InputStream.nullInputStream());
        sample(OutputStream.class, OutputStream.nullOutputStream());
        sample(SeekableByteChannel.class, Files.newByteChannel(file));
        sample(WritableByteChannel.class, Channels.newChannel(OutputStream.nullOutputStream()));
        sample(int.class, 16);
        sample(long.class, 16L);
        sample(Session.class, null);

        List<String> wrong = new ArrayList<>();
        int count = 0;
        for (Class<?> owner :
                List.of(
                        Deadpan.class,
                        Sealer.class,
                        Opener.class,
                        PrivateKey.class,
                        PublicKey.class,
                        Passphrase.class,
                        Session.class,
                        SealingStream.class,
                        SealedChannel.class,
                        StrictBase64.class,
                        Padding.class)) {
            for (Method method : owner.getDeclaredMethods()) {
                boolean isOurs =
                        Modifier.isPublic(method.getModifiers())
                                && !(owner == SealedChannel.class
                                        && method.getName().equals("write"))
                                && !method.isBridge()
                                && !method.getName().equals("equals")
                                && !method.getName().equals("valueOf");
                Parameter[] parameters = method.getParameters();
                for (int place = 0; isOurs && place < parameters.length; place++) {
                    if (!parameters[place].getType().isPrimitive()) {
                        count++;
                        check(method, place, wrong);
                    }
                }
            }
        }
        assertTrue(count > 60, "only " + count + " arguments");
        assertEquals(List.of(), wrong);
    }

    private void check(Method method, int place, List<String> wrong) throws Exception {
        Object[] arguments = new Object[method.getParameterCount()];
        for (int other = 0; other < arguments.length; other++) {
            Class<?> type = method.getParameterTypes()[other];
            assertTrue(samples.containsKey(type), () -> "no sample of " + type);
            arguments[other] = other == place ? null : samples.get(type);
        }
        try {
            method.invoke(samples.get(method.getDeclaringClass()), arguments);
            wrong.add(method + " takes null as argument " + place);
        } catch (InvocationTargetException thrown) {
            Throwable cause = thrown.getCause();
            String text = String.valueOf(cause.getMessage());
            if (!(cause instanceof NullPointerException) || !text.matches("[a-z ]+ is null")) {
                wrong.add(method + " with null as argument " + place + ": " + cause);
            }
        }
    }

    @Test
    void nullAmongSeveralIsNamedByItsPlace() throws Exception {
        try (PrivateKey key = PrivateKey.generate(Kind.X25519)) {
            for (Threads.Body body :
                    List.<Threads.Body>of(
                            () -> Sealer.to(key.publicKey(), null),
                            () -> Deadpan.seal(new byte[1], key.publicKey(), null))) {
                assertEquals("recipient 2 is null", Threads.thrownBy(body).getMessage());
            }
            assertEquals(
                    "identity 1 is null",
                    Threads.thrownBy(() -> Opener.with((Identity) null)).getMessage());
        }
    }
}

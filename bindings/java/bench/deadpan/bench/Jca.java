package deadpan.bench;

import static deadpan.bench.Task.require;

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.Arrays;
import java.util.Map;

import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The platform's own cryptography: X25519 with a fresh key pair, then HKDF-SHA256 (RFC 5869,
 * written with {@link Mac}, which also exists in Java before 25), then AES-256-GCM. One call
 * encrypts all data as one message, from an array into an array that is used again. The encryption
 * is classical, because Java 24 has ML-KEM but no hybrid scheme. The key is fresh each time, so the
 * nonce is zero.
 */
final class Jca {
    private static final int TAG = 16;

    private final KeyPairGenerator generator = KeyPairGenerator.getInstance("X25519");
    private final KeyPair owner = generator.generateKeyPair();
    private PublicKey fresh;

    private Jca() throws Exception {}

    static Map<String, Task.Maker> makers() {
        return Map.of(
                "jca.seal", size -> new Jca().task(size, false),
                "jca.open", size -> new Jca().task(size, true));
    }

    private Task task(long size, boolean isOpening) throws Exception {
        byte[] plain = Task.data(size);
        byte[] sealed = new byte[plain.length + TAG];
        byte[] opened = new byte[plain.length];
        return Task.of(
                isOpening,
                () -> {
                    KeyPair pair = generator.generateKeyPair();
                    fresh = pair.getPublic();
                    PrivateKey mine = pair.getPrivate();
                    cipher(Cipher.ENCRYPT_MODE, mine, owner.getPublic(), plain, sealed);
                },
                () -> cipher(Cipher.DECRYPT_MODE, owner.getPrivate(), fresh, sealed, opened),
                () -> require(Arrays.equals(opened, plain)),
                () -> {});
    }

    private void cipher(int mode, PrivateKey mine, PublicKey theirs, byte[] input, byte[] output)
            throws Exception {
        KeyAgreement agreement = KeyAgreement.getInstance("X25519");
        agreement.init(mine);
        agreement.doPhase(theirs, true);
        byte[] extracted = hmac(new byte[32], agreement.generateSecret());
        byte[] context = Arrays.copyOf(fresh.getEncoded(), fresh.getEncoded().length + 1);
        context[context.length - 1] = 1;
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        SecretKeySpec key = new SecretKeySpec(hmac(extracted, context), "AES");
        cipher.init(mode, key, new GCMParameterSpec(8 * TAG, new byte[12]));
        require(cipher.doFinal(input, 0, input.length, output, 0) == output.length);
    }

    private static byte[] hmac(byte[] key, byte[] data) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(data);
    }
}

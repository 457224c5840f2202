package deadpan.bench;

import org.bouncycastle.crypto.SecretWithEncapsulation;
import org.bouncycastle.crypto.digests.SHA256Digest;
import org.bouncycastle.crypto.engines.AESEngine;
import org.bouncycastle.crypto.generators.HKDFBytesGenerator;
import org.bouncycastle.crypto.modes.GCMBlockCipher;
import org.bouncycastle.crypto.params.AEADParameters;
import org.bouncycastle.crypto.params.HKDFParameters;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.pqc.crypto.xwing.XWingKEMExtractor;
import org.bouncycastle.pqc.crypto.xwing.XWingKEMGenerator;
import org.bouncycastle.pqc.crypto.xwing.XWingKeyGenerationParameters;
import org.bouncycastle.pqc.crypto.xwing.XWingKeyPairGenerator;
import org.bouncycastle.pqc.crypto.xwing.XWingPrivateKeyParameters;
import org.bouncycastle.pqc.crypto.xwing.XWingPublicKeyParameters;

import java.security.SecureRandom;
import java.util.Map;

/**
 * Bouncy Castle: its X-Wing, then HKDF-SHA256, then AES-256-GCM of all data in one message, from an
 * array into an array that is used again. All of it is written in Java. The key is fresh each time,
 * so the nonce is zero.
 */
final class BouncyCastle extends PeerTask {
    private final XWingPublicKeyParameters publicKey;
    private final XWingPrivateKeyParameters privateKey;
    private final SecureRandom random = new SecureRandom();
    private byte[] encapsulation;

    private BouncyCastle(long size, boolean isOpening) throws Exception {
        super(size, isOpening);
        var generator = new XWingKeyPairGenerator();
        generator.init(new XWingKeyGenerationParameters(random));
        var pair = generator.generateKeyPair();
        publicKey = (XWingPublicKeyParameters) pair.getPublic();
        privateKey = (XWingPrivateKeyParameters) pair.getPrivate();
        if (isOpening) {
            seal();
        }
    }

    static Map<String, Maker> makers() {
        return Map.of(
                "bc.seal",
                size -> new BouncyCastle(size, false),
                "bc.open",
                size -> new BouncyCastle(size, true));
    }

    @Override
    void seal() throws Exception {
        SecretWithEncapsulation made =
                new XWingKEMGenerator(random).generateEncapsulated(publicKey);
        encapsulation = made.getEncapsulation();
        require(cipher(true, made.getSecret(), plain, sealed) == sealed.length);
    }

    @Override
    void open(byte[] into) throws Exception {
        byte[] secret = new XWingKEMExtractor(privateKey).extractSecret(encapsulation);
        cipher(false, secret, sealed, into);
    }

    private static int cipher(boolean isSealing, byte[] secret, byte[] input, byte[] output)
            throws Exception {
        byte[] key = new byte[32];
        var hkdf = new HKDFBytesGenerator(new SHA256Digest());
        hkdf.init(new HKDFParameters(secret, null, "seal".getBytes("UTF-8")));
        hkdf.generateBytes(key, 0, key.length);
        var gcm = GCMBlockCipher.newInstance(AESEngine.newInstance());
        gcm.init(isSealing, new AEADParameters(new KeyParameter(key), 8 * TAG, new byte[12]));
        int done = gcm.processBytes(input, 0, input.length, output, 0);
        return done + gcm.doFinal(output, done);
    }
}

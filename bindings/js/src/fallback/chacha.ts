/** ChaCha20-Poly1305 for platforms without it. */

export { chacha20poly1305 } from "@noble/ciphers/chacha.js";

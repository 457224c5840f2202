/** AES-CBC without its padding, and with keys of 192 bits, which WebCrypto does not offer. */

export { cbc } from "@noble/ciphers/aes.js";

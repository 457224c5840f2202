/** P-256 for what WebCrypto does not offer: the public key of a scalar, and compressed points. */

export { p256 } from "@noble/curves/nist.js";

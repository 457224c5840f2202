/** X25519 and Ed25519 for platforms without them. */

export { ed25519, x25519 } from "@noble/curves/ed25519.js";

/** SHA-3, which no platform has. */

export { sha3_256, shake256 } from "@noble/hashes/sha3.js";

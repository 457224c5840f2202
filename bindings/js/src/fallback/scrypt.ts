/** scrypt, which no platform has. */

export { scryptAsync } from "@noble/hashes/scrypt.js";

/** BLAKE3 in WebAssembly: no platform has it, and noble takes ten times as long. */

export { createDeriveKey, createHasher, hash } from "blake3-jit";

/** Argon2id in WebAssembly: no platform has it. A file of its own, so that bundlers leave out the rest of hash-wasm. */

export { argon2id } from "hash-wasm";

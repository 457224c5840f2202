/** ML-KEM for platforms without it, and for expanded keys. */

export { ml_kem768, ml_kem1024 } from "@noble/post-quantum/ml-kem.js";

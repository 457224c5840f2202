/** ML-DSA for platforms without it. */

export { ml_dsa44, ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";

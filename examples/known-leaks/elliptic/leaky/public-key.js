// The multiplication of the base point by a secret number, which is the public key, or the nonce's point of a signature.
const curve = new (require("elliptic").ec)("secp256k1");
module.exports = (scalar) => curve.g.mul(scalar.toString("hex"));

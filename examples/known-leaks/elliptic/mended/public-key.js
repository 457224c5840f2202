// The same with OpenSSL, which is part of Node.js.
const curve = require("node:crypto").createECDH("secp256k1");
module.exports = (scalar) => curve.setPrivateKey(scalar);

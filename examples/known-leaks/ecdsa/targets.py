# The script `run` inserts these lines into the lab's worker for Python, after the list of targets.
def number(data):
    # The first byte is 1, so that all numbers have the same length.
    return (int.from_bytes(b"\1" + data[1:], "big"),)


if sys.argv[1] == "leaky":
    from ecdsa import SECP256k1

    def multiply(secret):
        return (SECP256k1.generator * secret).x()

else:
    from cryptography.hazmat.primitives.asymmetric import ec

    CURVE = ec.SECP256K1()

    def multiply(secret):
        return ec.derive_private_key(secret, CURVE)


TARGETS = [("multiplication", "secret:32", "bit,random", number, multiply)]

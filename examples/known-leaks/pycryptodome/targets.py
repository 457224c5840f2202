# The script `run` inserts these lines into the lab's worker for Python, after the list of targets.
from Crypto.Cipher import PKCS1_OAEP


class Opened:
    """A key whose ciphertexts are their own plaintexts. RSA itself takes ten times as long as the decoding, and its
    noise would hide the leak from a measurement of seconds."""

    n = 1 << 1023

    def _decrypt(self, number):
        return number

    def _decrypt_to_bytes(self, number):
        return number.to_bytes(128, "big")


CIPHER = PKCS1_OAEP.new(Opened())


def refuse(ciphertext):
    try:
        CIPHER.decrypt(ciphertext)
    except ValueError:
        return
    raise AssertionError("a plaintext was accepted")


TARGETS = [("oaep", "secret:128", "random", lambda data: (data,), refuse)]

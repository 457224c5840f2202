from typing import Literal, TypeAlias

from typing_extensions import Buffer

_Scheme: TypeAlias = Literal[
    "zero", "pkcs7", "ansi-x9.23", "iso10126", "rfc4303", "iso7816-4", "arbitrary-tail", "not-last"
]

def pad(data: Buffer, block: int = 16, scheme: _Scheme = "pkcs7") -> bytes: ...
def unpad(data: Buffer, block: int = 16, scheme: _Scheme = "pkcs7") -> bytes: ...

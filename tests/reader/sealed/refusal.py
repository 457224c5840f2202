"""Why a file is not opened. Whose fault it is decides the exit status."""


class Refused(Exception):
    """The file is not one that a writer makes, or it was changed."""


class NoKey(Exception):
    """No key at hand belongs to any of the file's recipients."""


def require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Refused(otherwise)

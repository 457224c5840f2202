"""Reasons why a file is not opened. They decide the exit status."""


class Refused(Exception):
    """The file is not one that a writer makes, or it was changed."""


class NoKey(Exception):
    """None of the given keys belongs to a recipient of the file."""


def require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Refused(otherwise)

"""The command line: ``python -m deadpan``."""

import signal
import sys

from deadpan import _native


def main():
    # With Python's own signal handlers, a signal would not interrupt a command that waits.
    for number in (signal.SIGINT, signal.SIGXFSZ):
        if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGXFSZ:
            signal.signal(number, signal.SIG_DFL)
    return _native.command([sys.executable, "-P", "-m", "deadpan"], _native.__file__, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

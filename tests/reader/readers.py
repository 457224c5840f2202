"""The readers that can be checked: the one in Python, and any program that answers in the same way."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import open as opener
from sealed.refusal import NoKey, Refused

OPEN = Path(__file__).with_name("open.py")


class Own:
    """The reader in Python."""

    own = True

    def read(self, *arguments) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, OPEN, *map(str, arguments)], capture_output=True)

    def status(self, *arguments) -> int:
        """Reads in this process: starting Python would take most of the time."""
        try:
            opener.run(opener.parse([*map(str, arguments)]))
        except Refused:
            return 1
        except NoKey:
            return 3
        return 0

    def close(self):
        pass


class Other:
    """A program that runs until its input ends. It gets the arguments of `open.py` as a list in one line of JSON, and
    answers with one line: an object with `status`, which means the same as that of `open.py`, `stdout` in base64, and
    `stderr`.
    """

    own = False

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, *arguments) -> subprocess.CompletedProcess:
        self.process.stdin.write(json.dumps([*map(str, arguments)]).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the reader has ended with status {self.process.wait()}")
        said = json.loads(line)
        output = base64.b64decode(said["stdout"])
        return subprocess.CompletedProcess(arguments, said["status"], output, said["stderr"].encode())

    def status(self, *arguments) -> int:
        return self.read(*arguments).returncode

    def close(self):
        self.process.stdin.close()
        self.process.wait()

"""The files that earlier versions made, with what must come out: `tests/frozen`."""

import re
from pathlib import Path
from typing import Iterator

FROZEN = Path(__file__).parent.parent / "frozen"
# The commands that need only what the reader supports. The reader checks signatures without an option for that.
COMMAND = re.compile(
    r"\$ deadpan open -q((?: -i \S+)+| --passphrase-file \S+)(?: --require-signature=\S+)? -o - (\S+\.dpn)"
)


def cases() -> Iterator[tuple[Path, list[str | Path], bytes]]:
    """Yields each file with the reader's options and the data that were sealed."""
    for script in sorted(FROZEN.glob("*/opens.txt")):
        for step in script.read_text().split("\n$ "):
            command, *lines = f"$ {step}".split("\n\n")[0].splitlines()
            if found := COMMAND.fullmatch(command):
                options = [word if word.startswith("-") else script.parent / word for word in found[1].split()]
                options = ["--key" if option == "-i" else option for option in options]
                yield script.parent / found[2], options, "".join(f"{line}\n" for line in lines).encode()

"""The command lines of the program that is checked."""

import os
import subprocess
from pathlib import Path

# The kinds of keys, each with the option that chooses it.
MODES = {
    "X25519": ["--mode", "ecc"],
    "P-256": ["--mode", "ecc", "--curve", "p256"],
    "ML-KEM-768": ["--mode", "pqc"],
    "ML-KEM-1024": ["--mode", "pqc", "--level", "1024"],
    "MLKEM768-P256": ["--mode", "hybrid", "--curve", "p256"],
    "X-Wing": ["--mode", "hybrid"],
}


class Program:
    def __init__(self, binary: str, home: Path):
        self.binary = str(Path(binary).resolve())
        # The checks must not use the keys and settings of the user who runs them.
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DEADPAN", "XDG_"))}
        self.environment = kept | {"HOME": str(home)}

    def keygen(self, kind: str, private: Path) -> Path:
        """Makes a key; returns the file with its public half."""
        self.run("keygen", "--no-passphrase", *MODES[kind], "-o", private)
        return private.with_suffix(".pub")

    def signing_key(self, mode: str, private: Path) -> Path:
        """Makes a key for signing; returns the file with its public half."""
        self.run("keygen", "--sign", "--no-passphrase", "--mode", mode, "-o", private)
        return private.with_suffix(".pub")

    def seal(self, data: Path, to: Path, public=(), passphrase: Path | None = None, options=(), pipe: bool = False):
        arguments = [part for key in public for part in ("-r", key)]
        if passphrase:
            arguments += ["--passphrase", "--passphrase-file", passphrase]
        if pipe:
            self.run("seal", *options, *arguments, "-o", to, stdin=data)
        else:
            self.run("seal", *options, *arguments, "-o", to, data)

    def open(self, private: Path, sealed: Path, options=()) -> subprocess.CompletedProcess:
        return self.start("open", "-i", private, *options, "-o", "-", sealed)

    def open_with(self, passphrase: Path, sealed: Path) -> subprocess.CompletedProcess:
        return self.start("open", "--passphrase-file", passphrase, "-o", "-", sealed)

    def open_to(self, private: Path, sealed: Path, output: Path) -> subprocess.CompletedProcess:
        return self.start("open", "-i", private, "-o", output, sealed)

    def start(self, *arguments, stdin: Path | None = None) -> subprocess.CompletedProcess:
        with open(stdin or "/dev/null", "rb") as file:
            # Standard input is a real pipe, which has no length.
            return subprocess.run(
                [self.binary, *map(str, arguments)], input=file.read(), capture_output=True, env=self.environment
            )

    def run(self, *arguments, stdin: Path | None = None):
        done = self.start(*arguments, stdin=stdin)
        if done.returncode != 0:
            raise RuntimeError(
                f"{' '.join(map(str, arguments))}: status {done.returncode}\n{done.stderr.decode(errors='replace')}"
            )

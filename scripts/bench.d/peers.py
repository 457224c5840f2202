"""Other programs: their keys, their versions, and why they cannot take part."""

import os
import re
import shutil
import subprocess
import tempfile


class Unfit(Exception):
    """A program that cannot take part, and why."""


def quiet(command, environment=None):
    """Preparations show what they print only when they fail."""
    result = subprocess.run(command, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said = (result.stdout + result.stderr).strip()
    if result.returncode != 0:
        raise Unfit(f"`{os.path.basename(command[0])}` failed: {said.splitlines()[-1] if said else 'it said nothing'}")
    return said


def version(program):
    option = {"openssl": ["version"], "7z": [], "7zz": []}.get(program, ["--version"])
    result = subprocess.run([program, *option], capture_output=True, text=True)
    lines = (result.stdout + result.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"


def age_key(keygen, options, path):
    """Makes a key of age or of a program like it, and says to whom it belongs."""
    quiet([keygen, *options, "-o", path])
    with open(path) as lines:
        return re.search(r"# public key: (\S+)", lines.read()).group(1)


# Compression would measure zlib.
GPG_CIPHER = ["--cipher-algo", "AES256", "--compress-algo", "none"]


def gpg_key(home):
    """An unprotected key for `bench`."""
    unprotected = ["--pinentry-mode", "loopback", "--passphrase", ""]
    key = ["--quick-generate-key", "bench", "future-default", "default", "never"]
    quiet(["gpg", "--batch", "--quiet", *unprotected, *key], {"GNUPGHOME": home})


def new_gpg_home():
    """Not in the working folder: the agent's socket lies in it, and the name of a socket must be shorter than 108 bytes."""
    return tempfile.mkdtemp(prefix="bench-gpg-")


def remove_gpg_home(home):
    if shutil.which("gpgconf"):
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], capture_output=True)
    shutil.rmtree(home, ignore_errors=True)

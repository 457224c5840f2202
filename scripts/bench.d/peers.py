"""Other programs: their keys, their versions, and the reasons why some are skipped."""

import os
import re
import shutil
import subprocess
import tempfile


class Unfit(Exception):
    """The reason why a program is skipped."""


def quiet(command, environment=None):
    """Runs a preparation. Its output is shown only if it fails."""
    result = subprocess.run(
        command, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    output = (result.stdout + result.stderr).strip()
    if result.returncode != 0:
        message = output.splitlines()[-1] if output else "it wrote no message"
        raise Unfit(f"`{os.path.basename(command[0])}` failed: {message}")
    return output


def version(program):
    option = {"openssl": ["version"], "s5cmd": ["version"], "7z": [], "7zz": []}.get(program, ["--version"])
    result = subprocess.run([program, *option], capture_output=True, text=True)
    lines = (result.stdout + result.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"


def age_key(keygen, options, path):
    """Makes a key of age or of a compatible program, and returns its recipient."""
    quiet([keygen, *options, "-o", path])
    with open(path) as lines:
        return re.search(r"# public key: (\S+)", lines.read()).group(1)


# No compression: it would measure zlib.
GPG_CIPHER = ["--cipher-algo", "AES256", "--compress-algo", "none"]


def gpg_key(home):
    """Makes an unprotected key for the user `bench`."""
    unprotected = ["--pinentry-mode", "loopback", "--passphrase", ""]
    key = ["--quick-generate-key", "bench", "future-default", "default", "never"]
    quiet(["gpg", "--batch", "--quiet", *unprotected, *key], {"GNUPGHOME": home})


def new_gpg_home():
    """Makes a home folder for gpg with a short path: a socket's path must be shorter than 108 bytes."""
    return tempfile.mkdtemp(prefix="bench-gpg-")


def remove_gpg_home(home):
    if shutil.which("gpgconf"):
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], capture_output=True)
    shutil.rmtree(home, ignore_errors=True)

"""The contestants: how each program copies or seals objects of the bucket.

A command is a pipeline of one or more stages. Words in braces are filled in: `source` is a key, or the prefix of many
without its slash; `new` is the key or prefix that is written, below `out/`; `local` is a folder that does not exist.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass

from peers import quiet, version
from server import ACCESS, BUCKET, REGION, SECRET

PEERS = ["rclone", "s5cmd", "boto3"]
PLAIN, INSIDE, SEALS = "plain copy", "copy inside the store", "sealed"
HERE = os.path.dirname(os.path.abspath(__file__))
AT = f"s3://{BUCKET}/"
REMARKS = [
    "deadpan: a hybrid key (X-Wing), unprotected.",
    "rclone: copies go through this machine (`--disable copy`); crypt is NaCl's secretbox with a shared key, and seals "
    "the names too; many objects with `--transfers 32 --checkers 32`, otherwise the defaults.",
    "s5cmd cat | pipe: `s5cmd cat OBJECT | s5cmd pipe OBJECT`; cp down, cp up: into a folder beside the store's files, "
    "and back.",
    "boto3: `upload_fileobj` of the body that `get_object` returns, with its default settings.",
]


@dataclass(frozen=True)
class Contestant:
    name: str
    kind: str
    # The commands for one object, and for all objects below a prefix. None if the program has no such command.
    one: list = None
    many: list = None
    # The commands that seal give another command, which prints the clear data of an object.
    opened: list = None
    # The end of the names of its objects.
    ending: str = ""

    @property
    def ours(self):
        return self.name.startswith("deadpan")

    def fill(self, stages, places):
        return [[word.format(**places) for word in stage] for stage in stages]


def environment(binary, store, work):
    """Returns the variables for all programs. No program reads settings of the user."""
    variables = {**store.environment(), "HOME": work, "DEADPAN_HOME": os.path.join(work, "home"), "RCLONE_CONFIG": ""}
    quiet([binary, "keygen", "--mode", "hybrid", "--no-passphrase"], variables)
    common = {
        "TYPE": "s3",
        "PROVIDER": "Other",
        "ACCESS_KEY_ID": ACCESS,
        "SECRET_ACCESS_KEY": SECRET,
        "REGION": REGION,
        "ENDPOINT": store.endpoint,
    }
    variables |= {f"RCLONE_CONFIG_STORE_{name}": value for name, value in common.items()}
    variables |= {"RCLONE_CONFIG_CRYPT_TYPE": "crypt", "RCLONE_CONFIG_CRYPT_REMOTE": f"store:{BUCKET}/out"}
    if shutil.which("rclone"):
        variables["RCLONE_CONFIG_CRYPT_PASSWORD"] = quiet(["rclone", "obscure", "correct horse battery staple"])
    return variables


def deadpan(binary, work):
    key = os.path.join(work, "home", "hybrid.pub")
    return Contestant(
        "deadpan seal",
        SEALS,
        [[binary, "seal", AT + "{source}", "--to", AT + "{new}.dpn", "-r", key]],
        [[binary, "seal", AT + "{source}/", "--to", AT + "{new}/", "-r", key]],
        [[binary, "open", "-o", "-", "{file}"]],
        ".dpn",
    )


def opening(binary):
    return Contestant("deadpan open", "opened", [[binary, "open", AT + "{source}", "--to", AT + "{new}"]])


def peers(names):
    """Returns the contestants of the installed peers, their versions, and the missing peers."""
    makers = {"rclone": _rclone, "s5cmd": _s5cmd, "boto3": _boto3}
    here, versions, missing = [], {}, {}
    for name in names:
        found = _python() if name == "boto3" else shutil.which(name)
        if not found:
            missing[name] = "not installed"
            continue
        versions[name] = _boto3_version() if name == "boto3" else version(name)
        here += makers[name]()
    return here, versions, missing


def _rclone():
    # Without --disable the store would copy by itself.
    through, many = ["--disable", "copy"], ["--transfers", "32", "--checkers", "32"]
    source, new = f"store:{BUCKET}/{{source}}", f"store:{BUCKET}/{{new}}"
    return [
        Contestant(
            "rclone",
            PLAIN,
            [["rclone", "copyto", *through, source, new]],
            [["rclone", "copy", *through, *many, source, new]],
        ),
        Contestant(
            "rclone crypt",
            SEALS,
            [["rclone", "copyto", source, "crypt:{name}"]],
            [["rclone", "copy", *many, source, "crypt:{name}"]],
            [["rclone", "cat", "crypt:{opened}"]],
        ),
    ]


def _s5cmd():
    down, up = f"s5cmd cp '{AT}{{source}}/*' {{local}}/", f"s5cmd cp {{local}}/ {AT}{{new}}/"
    return [
        Contestant("s5cmd cat | pipe", PLAIN, [["s5cmd", "cat", AT + "{source}"], ["s5cmd", "pipe", AT + "{new}"]]),
        Contestant("s5cmd cp down, cp up", PLAIN, None, [["sh", "-c", f"{down} && {up}"]]),
        Contestant(
            "s5cmd cp",
            INSIDE,
            [["s5cmd", "cp", AT + "{source}", AT + "{new}"]],
            [["s5cmd", "cp", AT + "{source}/*", AT + "{new}/"]],
        ),
    ]


def _boto3():
    return [Contestant("boto3", PLAIN, [[_python(), "-B", f"{HERE}/boto3_copy.py", BUCKET, "{source}", "{new}"]])]


def _python():
    """Finds the Python that has boto3."""
    python = os.path.join(os.environ["BENCH_CLIENTS"], "bin", "python")
    has = os.path.exists(python) and subprocess.run([python, "-c", "import boto3"], capture_output=True).returncode == 0
    return python if has else None


def _boto3_version():
    return quiet(
        [_python(), "-c", "import boto3, platform; print(boto3.__version__, 'Python', platform.python_version())"]
    )

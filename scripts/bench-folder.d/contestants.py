"""The contestants: how each program makes one file of a folder, and a folder of that file.

A way is a pipeline of one or more stages. Words in braces are filled in: `parent` is the folder that holds the source
folder, `name` is the source folder's name, `file` is the one file, `into` is an empty folder, and `new` is the folder
that comes out, below `into`.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass, field

from child import Failed
from peers import GPG_CIPHER, Unfit, age_key, gpg_key, quiet, version

PEERS = ["age", "7z", "gpgtar"]
YARDSTICK = "tar"
FOLDER = "folder"


@dataclass(frozen=True)
class Way:
    shown: str
    stages: list
    # The stage whose memory is measured, which is the one that seals.
    measured: int = 0

    def fill(self, places):
        return [[word.format(**places) for word in stage] for stage in self.stages]


@dataclass
class Contestant:
    name: str
    # The suffix that the names of its files must have.
    ending: str
    pack: Way
    unpack: Way
    lists: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    note: str = ""

    @property
    def ours(self):
        return self.name.startswith("deadpan")

    @property
    def ways(self):
        """Returns the commands by operation, in the order in which they run."""
        return {"pack": self.pack, **{way.shown: way for way in self.lists}, "unpack": self.unpack}


def tar():
    return Contestant(
        YARDSTICK,
        ".tar",
        Way("tar cf", [["tar", "-cf", "{file}", "-C", "{parent}", "{name}"]]),
        Way("tar xf", [["tar", "-xf", "{file}", "-C", "{into}"]]),
        [Way("tar tf", [["tar", "-tf", "{file}"]])],
    )


def deadpan(binary, work):
    """Makes a contestant with its own key folder, like that of a user with one unprotected key."""
    environment = {"DEADPAN_HOME": os.path.join(work, "home")}
    quiet([binary, "keygen", "--mode", "hybrid", "--no-passphrase"], environment)
    run = lambda command, *words: Way(f"deadpan {command}", [[binary, *command.split(), *words]])
    folder = "{parent}/{name}"
    lists = [run("list", "{file}"), run("list --json", "{file}")]
    sealed = Contestant(
        "deadpan seal",
        ".dpn",
        run("seal", "-o", "{file}", folder),
        run("open", "-o", "{new}", "{file}"),
        lists,
        environment,
    )
    lists = [Way("deadpan list (pack)", lists[0].stages)]
    packed = Contestant(
        "deadpan pack",
        ".tar",
        run("pack", "-o", "{file}", folder),
        run("unpack", "-o", "{new}", "{file}"),
        lists,
        environment,
    )
    sealed.note = "hybrid key (X-Wing), unprotected"
    packed.note = "the same archive, not sealed"
    return sealed, packed


def peers(names, work, gpg_home, runner):
    """Returns the contestants that work here, the versions of all, and why the other peers are skipped."""
    makers = {"age": _age, "7z": _7z, "gpgtar": lambda work: _gpgtar(gpg_home)}
    here, versions, missing = [], {program: version(program) for program in ("tar", "cp")}, {}
    if "GNU" not in versions["tar"]:
        versions["tar"] += " (this is not GNU tar)"
    for name in names:
        program = _sevenzip() if name == "7z" else name
        if not program or not shutil.which(program):
            missing[name] = "not installed"
            continue
        try:
            contestant = makers[name](work)
            _try(contestant, work, runner)
        except Unfit as reason:
            missing[name] = str(reason)
            continue
        versions[name] = version(program)
        here.append(contestant)
    return here, versions, missing


def _age(work):
    key = os.path.join(work, "age-key")
    recipient = age_key("age-keygen", [], key)
    return Contestant(
        "age",
        ".tar.age",
        Way(
            "tar c | age",
            [["tar", "-c", "-C", "{parent}", "{name}"], ["age", "-r", recipient, "-o", "{file}"]],
            measured=1,
        ),
        Way("age -d | tar x", [["age", "-d", "-i", key, "{file}"], ["tar", "-x", "-C", "{into}"]]),
        note="X25519",
    )


def _7z(work):
    program, secret = _sevenzip(), "-pcorrect horse battery staple"
    silent = ["-bd", "-bso0", "-bsp0"]
    return Contestant(
        "7z",
        ".7z",
        Way("7z a", [[program, "a", "-t7z", "-mx=0", "-mhe=on", secret, *silent, "{file}", "{parent}/{name}"]]),
        Way("7z x", [[program, "x", secret, *silent, "-o{into}", "{file}"]]),
        note="a passphrase, AES-256 CBC, names sealed too, no compression; its key derivation is in the time. "
        "It does not authenticate",
    )


def _sevenzip():
    """Finds 7-Zip: Debian's package 7zip names it 7zz, p7zip names it 7z."""
    return next((name for name in ("7z", "7zz") if shutil.which(name)), None)


def _gpgtar(home):
    gpg_key(home)
    options = " ".join(["--batch", "--quiet", "--trust-model", "always", *GPG_CIPHER])
    return Contestant(
        "gpgtar",
        ".tar.gpg",
        Way(
            "gpgtar --encrypt",
            [["gpgtar", "--encrypt", "--gpg-args", options, "-r", "bench", "-o", "{file}", "-C", "{parent}", "{name}"]],
        ),
        Way(
            "gpgtar --decrypt",
            [["gpgtar", "--decrypt", "--gpg-args", "--batch --quiet", "--directory", "{into}", "{file}"]],
        ),
        environment={"GNUPGHOME": home},
        note="AES-256 CFB with MDC, no compression, Curve25519; opening asks gpg-agent, whose processor time is not "
        "counted",
    )


def _try(contestant, work, runner):
    """Skips a peer that cannot pack and unpack one line here. A peer that fails later stops the benchmark."""
    place = os.path.join(work, "try")
    places = {
        "parent": place,
        "name": FOLDER,
        "file": f"{place}/sealed{contestant.ending}",
        "into": f"{place}/into",
        "new": f"{place}/into/{FOLDER}",
    }
    os.makedirs(f"{place}/{FOLDER}/inner")
    os.mkdir(places["into"])
    with open(f"{place}/{FOLDER}/inner/file", "w") as file:
        file.write("one line\n")
    try:
        for way in contestant.ways.values():
            runner.pipeline(way.fill(places), "/dev/null", contestant.environment)
        if subprocess.run(["diff", "-r", f"{place}/{FOLDER}", places["new"]], capture_output=True).returncode != 0:
            raise Unfit(f"{contestant.name} does not open what it sealed")
    except Failed as failure:
        raise Unfit(str(failure).splitlines()[-1]) from None
    finally:
        shutil.rmtree(place)

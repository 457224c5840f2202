"""What is measured: how data are hidden, by which program the pictures are written again, and how they are revealed."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

from peers import Unfit, quiet

# Stand for the data, the folder of the pictures, and the revealed data.
DATA, PICTURES, BACK = "{data}", "{pictures}", "{back}"


@dataclass
class Case:
    name: str
    hide: list
    reveal: list
    environment: dict = field(default_factory=dict)
    # Writes one picture again: (source, target) gives a command. Such a case is only revealed.
    again: object = None
    ending: str = ""
    # A remark for the page.
    note: str = ""
    # The part of the data that is hidden: templates are larger than what they carry.
    part: int = 1
    # The most times of `cp`, and the least MiB a second.
    times_cp: dict = field(default_factory=dict)
    rates: dict = field(default_factory=dict)


CARRIERS = {"hide": 1.3, "reveal": 1.3}
NAMES = [
    "png", "png-raw", "png-spare", "webp", "webp-raw", "webp-spare",
    "again-png-optipng", "again-png-pillow", "again-webp-cwebp", "again-webp-pillow", "template",
    "template-uncompressed",
]  # fmt: skip

PILLOW = "import sys; from PIL import Image; Image.open(sys.argv[1]).save(sys.argv[2], lossless=True)"


def cases(binary, work, options):
    """Returns the selected cases, the versions of the other programs, and why cases are skipped."""
    environment = {"DEADPAN_HOME": os.path.join(work, "home")}
    quiet([binary, "keygen", "--no-passphrase"], environment)
    makers = {
        **{name: lambda name=name: _carriers(binary, *name.split("-")) for name in NAMES if not _is_special(name)},
        "again-png-optipng": lambda: _optipng(binary),
        "again-png-pillow": lambda: _pillow(binary, "png"),
        "again-webp-cwebp": lambda: _cwebp(binary),
        "again-webp-pillow": lambda: _pillow(binary, "webp"),
        "template": lambda: _template(binary, work),
        "template-uncompressed": lambda: _template(binary, work, "--uncompressed"),
    }
    here, versions, missing = [], {}, {}
    for name in options.only:
        try:
            case, program = makers[name]()
        except Unfit as reason:
            missing[name] = str(reason)
            continue
        case.environment = environment
        versions.update(program)
        here.append(case)
    return here, versions, missing


def _is_special(name):
    return name.startswith(("again", "template"))


def _carriers(binary, ending, kind="sealed"):
    options = {"sealed": [], "raw": ["--raw"], "spare": ["--spare", "2"]}[kind]
    raw = options if kind == "raw" else []
    shown = {"sealed": "sealed", "raw": "raw", "spare": "sealed, 2 spare pictures"}[kind]
    case = Case(
        f"{_format(ending)}, {shown}",
        [binary, "picture", "hide", "--format", ending, *options, "-o", f"{PICTURES}/", DATA],
        [binary, "picture", "reveal", *raw, "-o", BACK, PICTURES],
        times_cp={} if kind == "spare" else CARRIERS,
    )
    return case, {}


def _again(binary, ending, program, again):
    case, _ = _carriers(binary, ending)
    case.name = f"{_format(ending)}, written again by {program}"
    case.again, case.ending = again, ending
    case.times_cp, case.rates = {}, {"reveal": 300}
    return case


def _optipng(binary):
    if not shutil.which("optipng"):
        raise Unfit("optipng is not installed")
    # One try, with the least compression.
    tried = ["-zc1", "-zm8", "-zs0", "-f0"]
    command = lambda source, target: ["optipng", "-quiet", "-o1", *tried, "-force", "-out", target, source]
    return _again(binary, "png", "optipng", command), {"optipng": _version(["optipng", "--version"])}


def _cwebp(binary):
    if not shutil.which("cwebp"):
        raise Unfit("cwebp is not installed")
    command = lambda source, target: ["cwebp", "-quiet", "-lossless", source, "-o", target]
    return _again(binary, "webp", "cwebp", command), {"cwebp": _version(["cwebp", "-version"])}


def _pillow(binary, ending):
    python = os.environ.get("DEADPAN_PYTHON") or sys.executable
    test = "import PIL; from PIL import features; print(PIL.__version__, features.check('webp'))"
    found = subprocess.run([python, "-c", test], capture_output=True, text=True)
    if found.returncode != 0 or not found.stdout.endswith("True\n"):
        raise Unfit("DEADPAN_PYTHON names no Python that has Pillow")
    command = lambda source, target: [python, "-c", PILLOW, source, target]
    return _again(binary, ending, "Pillow", command), {"Pillow": found.stdout.split()[0]}


def _template(binary, work, *more):
    folder = os.path.join(work, "covers")
    cover = os.path.join(folder, "cover-000.png")
    if not os.path.exists(cover):
        quiet([os.environ["BENCH_COVERS"], folder, "1", "4000", "2750"])
    case = Case(
        "templates, 2 bits" + (", uncompressed" if more else ""),
        [binary, "picture", "hide", "--cover", cover, "--bits", "2", *more, "-o", f"{PICTURES}/", DATA],
        [binary, "picture", "reveal", "-o", BACK, PICTURES],
        part=4,
        note="sealed; a quarter of the data, in one cover that is used again and again, a PNG like a photograph",
        rates={"hide": 250, "reveal": 500},
    )
    return case, {}


def _format(ending):
    return {"png": "PNG", "webp": "WebP"}[ending]


def _version(command):
    return quiet(command).splitlines()[0]

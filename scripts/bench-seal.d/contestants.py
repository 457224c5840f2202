"""The contestants: the keys and the commands of each program.

A command is a list of words; IN and OUT stand for its input file and its output file. Through pipes a program reads
standard input and writes standard output.
"""

import filecmp
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field

from peers import GPG_CIPHER, Unfit, age_key, gpg_key, quiet, version

IN, OUT = "{in}", "{out}"
YARDSTICK = "cp"
MODES = ["ecc", "pqc", "hybrid"]
PEERS = ["age", "rage", "gpg", "openssl", "nkCryptoTool"]


@dataclass
class Contestant:
    name: str
    seal: list
    open: list
    environment: dict = field(default_factory=dict)
    # The commands that seal and open inside a pipeline, or none if the program does not take part there.
    seal_pipe: list = field(default_factory=list)
    open_pipe: list = field(default_factory=list)
    # A remark for the page.
    note: str = ""
    # The largest size to measure. Modes differ by the key exchange only, so larger files give no new information.
    most: float = float("inf")

    @property
    def ours(self):
        return self.name.startswith("deadpan")


def fill(command, source, target):
    return [{IN: source, OUT: target}.get(word, word) for word in command]


def yardstick():
    copy = ["cp", IN, OUT]
    return Contestant(YARDSTICK, copy, copy, seal_pipe=["cat"], open_pipe=["cat"])


def deadpan(binary, work):
    """Makes a contestant for each mode, with its own key folder, like that of a user with one unprotected key."""
    contestants = []
    for mode in MODES:
        environment = {"DEADPAN_HOME": os.path.join(work, f"home-{mode}")}
        quiet([binary, "keygen", "--mode", mode, "--no-passphrase"], environment)
        contestants.append(
            Contestant(
                f"deadpan {mode}",
                [binary, "seal", "--mode", mode, "-o", OUT, IN],
                [binary, "open", "-o", OUT, IN],
                environment,
                [binary, "seal", "--mode", mode],
                [binary, "open"],
            )
        )
    return contestants


def peers(names, work, gpg_home):
    """Returns the contestants that work here, the versions, and why the other peers are skipped."""
    makers = {
        "age": _age,
        "rage": _rage,
        "gpg": lambda work: _gpg(work, gpg_home),
        "openssl": _openssl,
        "nkCryptoTool": _nkcryptotool,
    }
    here, versions, missing = [], {}, {}
    for name in names:
        program = {"nkCryptoTool": "nkct"}.get(name, name)
        if not shutil.which(program):
            missing[name] = "not installed"
            continue
        try:
            contestants = makers[name](work)
            for contestant in contestants:
                _try(contestant, work)
        except Unfit as reason:
            missing[name] = str(reason)
            continue
        versions[name] = version(program)
        here += contestants
    return here, versions, missing


def _age(work):
    return [_age_like("age", "age-keygen", [], work, "X25519"), *_age_hybrid(work)]


def _age_hybrid(work):
    """Makes age's hybrid contestant: since 1.3, age has a hybrid of ML-KEM-768 and X25519."""
    if "-pq" not in subprocess.run(["age-keygen", "--help"], capture_output=True, text=True).stderr:
        return []
    contestant = _age_like("age", "age-keygen", ["-pq"], work, "ML-KEM-768 with X25519")
    contestant.name = "age hybrid"
    contestant.most = 16 << 20
    return [contestant]


def _rage(work):
    return [_age_like("rage", "rage-keygen", [], work, "X25519")]


def _age_like(program, keygen, options, work, note):
    key = os.path.join(work, "-".join([program, *options, "key"]))
    recipient = age_key(keygen, options, key)
    seal, unseal = [program, "-r", recipient], [program, "-d", "-i", key]
    return Contestant(program, [*seal, "-o", OUT, IN], [*unseal, "-o", OUT, IN], {}, seal, unseal, note)


def _gpg(work, home):
    environment = {"GNUPGHOME": home}
    passphrase = os.path.join(work, "gpg-passphrase")
    with open(passphrase, "w") as file:
        file.write("correct horse battery staple\n")
    gpg = ["gpg", "--batch", "--quiet", "--yes", "--pinentry-mode", "loopback", "--passphrase-file", passphrase]
    gpg_key(home)
    # By default, gpg hashes 65 million bytes to derive the key, which would dominate the measured time.
    fast = ["--s2k-mode", "1", "--no-symkey-cache"]
    symmetric = Contestant(
        "gpg passphrase",
        [*gpg, *GPG_CIPHER, *fast, "--symmetric", "-o", OUT, IN],
        [*gpg, "--no-symkey-cache", "-o", OUT, "--decrypt", IN],
        environment,
        note="AES-256 CFB with MDC, no compression, one round of key derivation",
    )
    key = Contestant(
        "gpg key",
        [*gpg, *GPG_CIPHER, "--trust-model", "always", "--recipient", "bench", "--encrypt", "-o", OUT, IN],
        [*gpg, "-o", OUT, "--decrypt", IN],
        environment,
        note="AES-256 CFB with MDC, no compression, Curve25519; opening asks gpg-agent, whose processor time is not "
        "counted",
    )
    return [symmetric, key]


def _openssl(_work):
    cipher = ["openssl", "enc", "-aes-256-ctr", "-K", "5a" * 32, "-iv", "00" * 16]
    contestant = Contestant("openssl enc", [*cipher, "-in", IN, "-out", OUT], [*cipher, "-d", "-in", IN, "-out", OUT])
    contestant.seal_pipe, contestant.open_pipe = cipher, [*cipher, "-d"]
    contestant.note = "AES-256 CTR with a bare key: no authentication, no recipients"
    return [contestant]


def _nkcryptotool(work):
    """Makes contestants of the three modes. Recipients are signed bundles; keys are unprotected, like ours."""
    keys = os.path.join(work, "nkcryptotool")
    os.mkdir(keys)
    environment = {"NK_PASSPHRASE": ""}
    private = lambda name: os.path.join(keys, f"private_{name}.key")
    quiet(["nkct", "--mode", "pqc", "--gen-sign-key", "--key-dir", keys], environment)
    contestants = []
    for mode in MODES:
        program, bundle = ["nkct", "--mode", mode], os.path.join(keys, f"{mode}.nkkb")
        quiet([*program, "--gen-enc-key", "--key-dir", keys], environment)
        signed = ["--signing-privkey", private("sign_pqc"), "--keybundle-handle", "bench", "--keybundle-output", bundle]
        said = quiet([*program, "--gen-keybundle", "--key-dir", keys, *signed], environment)
        fingerprint = re.search(r"\b[0-9a-f]{64}\b", said)
        if not fingerprint:
            raise Unfit("it named no fingerprint of its key bundle")
        if mode == "hybrid":
            identity = [
                "--user-mlkem-privkey",
                private("enc_hybrid_mlkem"),
                "--user-ecdh-privkey",
                private("enc_hybrid_ecdh"),
            ]
        else:
            identity = ["--user-privkey", private(f"enc_{mode}")]
        recipient = ["--recipient-keybundle", bundle, "--recipient-fingerprint", fingerprint.group()]
        contestants.append(
            Contestant(
                f"nkCryptoTool {mode}",
                [*program, "--encrypt", *recipient, "--output-file", OUT, IN],
                [*program, "--decrypt", *identity, "--output-file", OUT, IN],
                environment,
                note="AES-256-GCM; unprotected keys",
                most=float("inf") if mode == "hybrid" else 16 << 20,
            )
        )
    return contestants


def _try(contestant, work):
    """Skips a peer that cannot seal and open one line here. A peer that fails later stops the benchmark."""
    plain, sealed, opened = (os.path.join(work, name) for name in ("try", "try-sealed", "try-opened"))
    with open(plain, "w") as file:
        file.write("one line\n")
    try:
        quiet(fill(contestant.seal, plain, sealed), contestant.environment)
        quiet(fill(contestant.open, sealed, opened), contestant.environment)
        if not filecmp.cmp(plain, opened, shallow=False):
            raise Unfit(f"{contestant.name} does not open what it sealed")
    finally:
        for path in (plain, sealed, opened):
            if os.path.exists(path):
                os.remove(path)

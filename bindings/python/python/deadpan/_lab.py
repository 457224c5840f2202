"""The implementation of `deadpan.lab`, whose own names are only those for users."""

import contextlib
import gc
import json
import os
import pathlib
import random
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import types

from deadpan import _native

# The lab starts this program as its worker. The program sends its pipes to the process that called the lab, because
# that process has the measured function.
_RELAY = (
    "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
    "socket.send_fds(s, [b'x'], [0, 1]); s.recv(1)"
)


class Comparison:
    """The result of a comparison. ``record`` is all of it, as the lab writes it to a JSON file."""

    def __init__(self, text):
        self.record = json.loads(text)
        self._sentence, self._pictures = _native.lab_shown(text)

    @property
    def verdict(self):
        """``LEAK``, ``NO_LEAK_ABOVE``, ``BELOW_THRESHOLD``, ``INCONCLUSIVE``, ``INVALID`` or ``UNMEASURABLE``."""
        return self._timing["verdict"]

    @property
    def leaks(self):
        """Whether a difference above the threshold was found, and found again in fresh data."""
        return self.verdict == "LEAK"

    @property
    def at_most_ns(self):
        """The largest difference between the classes, for most calls, in nanoseconds: large if there is a leak."""
        return self._timing["pairs"][0]["bound_ns"]

    @property
    def threshold_ns(self):
        """The difference that counts as a leak, in nanoseconds."""
        return self._timing["design"]["delta_ns"]

    @property
    def pictures(self):
        """The pictures as SVG texts, by their names."""
        return dict(self._pictures)

    @property
    def _timing(self):
        return self.record["timing"][0]

    def __str__(self):
        return f"{self.verdict}: {self._sentence}"

    def __repr__(self):
        return f"<Comparison {self}>"

    def _repr_html_(self):
        import base64
        import html

        picture = next((svg for name, svg in self._pictures if name.endswith("quantiles")), None)
        picture = picture or next((svg for _, svg in self._pictures), "")
        source = base64.b64encode(picture.encode()).decode()
        image = f'<img alt="" style="max-width: 100%" src="data:image/svg+xml;base64,{source}">' if picture else ""
        return f"<p><b>{self.verdict}</b> {html.escape(self._sentence)}</p>{image}"


def compare_timing(
    func, class_a, class_b, *, names=("a", "b"), quick=False, time_limit=None, delta_ns=None, alpha=0.01, seed=None
):
    """Compares the time of ``func`` for two classes of inputs, and returns a `Comparison`.

    A class is a function that makes an input from a ``random.Random``, or the input itself. A tuple becomes several
    arguments of ``func``, which runs in this process, on this thread. The lab runs in a second process. It prescribes
    the order of the calls, and reads how long they took.

    ``delta_ns`` is the difference that counts as a leak, and ``alpha`` the chance of a false alarm. ``quick`` takes a
    quarter of the data. ``time_limit`` is in seconds.
    """
    if len(names) != 2 or names[0] == names[1] or not all(_is_name(name) for name in names):
        raise ValueError("names are two different words of letters, digits, spaces and -")
    if not callable(func):
        raise TypeError("func must be callable")
    draw = random.Random(seed)
    makers = [_maker(given, draw) for given in (class_a, class_b)]
    targets = [(_name_of(func), "secret:1", "zeros,ones", lambda data: makers[data[0]](), func)]
    _check_numbers(time_limit, delta_ns, alpha, seed)
    # The calls below raise any exception of the class or function before the lab starts.
    start = time.perf_counter()
    for maker in makers:
        func(*maker())
    took = (time.perf_counter() - start) / 2
    # The path of a socket must be short.
    home = tempfile.gettempdir() if len(tempfile.gettempdir()) < 60 else "/tmp"
    with tempfile.TemporaryDirectory(prefix="deadpan-lab-", dir=home) as folder, contextlib.ExitStack() as stack:
        place = pathlib.Path(folder)
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(place / "worker"))
        listener.listen(1)
        words = _words(place, names, quick, time_limit, delta_ns, alpha, seed)
        errors = stack.enter_context(open(place / "errors", "w+"))
        lab = subprocess.Popen(words, env=_environment(), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        try:
            _serve(lab, listener, targets, took)
            lab.wait()
        except BaseException:
            lab.kill()
            lab.wait()
            raise
        record = place / "record.json"
        if not record.exists():
            errors.seek(0)
            raise RuntimeError(f"the lab ended without a result\n{errors.read().strip()}")
        return Comparison(record.read_text())


def _serve(lab, listener, targets, took):
    """Makes the measurements that the lab asks for, until it has enough."""
    listener.settimeout(0.1)
    while True:
        try:
            connection, _ = listener.accept()
            break
        except TimeoutError:
            if lab.poll() is not None:
                return
    with connection:
        _, descriptors, _, _ = socket.recv_fds(connection, 1, 2)
        with open(descriptors[0], "rb") as source, open(descriptors[1], "wb") as sink:
            worker = types.ModuleType("deadpan_lab_worker")
            exec(_native.lab_worker(), worker.__dict__)
            # For a slow function, 1000 calls would take longer than the measurements.
            warm_up = max(1, min(1000, int(0.2 / max(took, 1e-9))))
            worker.HELLO = worker.HELLO.replace("warm-up: 1000", f"warm-up: {warm_up}")
            collected, frozen = gc.isenabled(), gc.get_freeze_count()
            try:
                worker.serve(targets, source, sink)
            except (EOFError, BrokenPipeError):
                pass
            finally:
                if not frozen:
                    gc.unfreeze()
                if collected:
                    gc.enable()


def _maker(given, draw):
    """Returns a function that makes the arguments for one call."""
    make = given if callable(given) else lambda _: _fresh(given)

    def arguments():
        made = make(draw)
        return made if isinstance(made, tuple) else (made,)

    return arguments


def _fresh(value):
    """Returns a new object, where that is simple: an object may keep results of earlier calls, such as its hash."""
    if isinstance(value, tuple):
        return tuple(map(_fresh, value))
    if type(value) is bytes:
        return bytes(bytearray(value))
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
    return value


def _words(place, names, quick, time_limit, delta_ns, alpha, seed):
    for index, name in enumerate(names):
        (place / f"class-{index}").write_bytes(bytes([index]))
    worker = shlex.join([sys.executable, "-c", _RELAY, str(place / "worker")])
    words = [sys.executable, "-P", "-m", "deadpan", "lab", "timing", "--worker", worker, "--no-trace"]
    for index, name in enumerate(names):
        words.append(f"--class-file={name}={place / f'class-{index}'}")
    words += [f"--json={place / 'record.json'}", f"--alpha={alpha}", *(["--quick"] if quick else [])]
    words += [f"--time-limit={time_limit}"] if time_limit is not None else []
    words += [f"--delta={delta_ns}"] if delta_ns is not None else []
    words += [f"--seed={seed}"] if seed is not None else []
    return words


def _check_numbers(time_limit, delta_ns, alpha, seed):
    if time_limit is not None and not 0 < time_limit < 1e6:
        raise ValueError("time_limit is a number of seconds above 0")
    if delta_ns is not None and not 0 <= delta_ns < 1e12:
        raise ValueError("delta_ns is a number of nanoseconds")
    if not 0 < alpha < 1:
        raise ValueError("alpha is a share between 0 and 1")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 1 << 64):
        raise ValueError("seed is a number from 0 to 2**64 - 1")


def _environment():
    """Returns the environment in which the second process finds this package."""
    home = str(pathlib.Path(__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])}


def _is_name(name):
    is_word = isinstance(name, str) and 0 < len(name) <= 30 and name[0].isalnum()
    return is_word and all(c.isalnum() or c in " -" for c in name)


def _name_of(func):
    name = getattr(func, "__qualname__", type(func).__qualname__)
    return "".join(c if c.isalnum() or c in ".-_" else "-" for c in name).strip("-") or "function"

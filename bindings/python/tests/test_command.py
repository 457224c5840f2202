"""The command line inside of the interpreter."""

import os
import signal
import subprocess
import sys
import time

import deadpan
import pytest


def command(tmp_path, *words, **options):
    env = {**os.environ, "DEADPAN_HOME": str(tmp_path / "home")}
    words = [sys.executable, "-m", "deadpan", *map(str, words)]
    return subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, **options)


def test_seals_and_opens(tmp_path):
    (tmp_path / "plain").write_text("straight face")
    assert command(tmp_path, "--version").stdout == f"deadpan {deadpan.__version__}\n"
    done = command(tmp_path, "seal", "plain")
    assert done.returncode == 0, done.stderr
    done = command(tmp_path, "open", "-o", "-", "plain.dpn")
    assert (done.returncode, done.stdout) == (0, "straight face")


def test_errors_have_the_usual_codes(tmp_path):
    done = command(tmp_path, "sael", "plain")
    assert done.returncode == 2 and "did you mean: deadpan seal" in done.stderr
    (tmp_path / "plain").write_text("straight face")
    assert command(tmp_path, "open", "plain").returncode == 1
    assert command(tmp_path, "seal", "missing").returncode == 2


def test_the_lab(tmp_path):
    done = command(tmp_path, "lab", "timing", "--list", "--target", "ct.eq.u32")
    assert done.returncode == 0 and "ct.eq.u32" in done.stdout
    done = command(tmp_path, "lab", "speed", "--table", "generations")
    assert done.returncode == 2 and "interpreter" in done.stderr


def test_an_output_without_a_reader_ends_it_quietly(tmp_path):
    words = [sys.executable, "-m", "deadpan", "random", "50000000"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(1000)
    process.stdout.close()
    assert process.wait(60) in (-signal.SIGPIPE, 0, 141) and process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_it_waits(tmp_path, number):
    env = {**os.environ, "DEADPAN_HOME": str(tmp_path / "home")}
    words = [sys.executable, "-m", "deadpan", "seal", "-o", "sealed"]
    reset = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = subprocess.Popen(
        words, cwd=tmp_path, env=env, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=reset
    )
    time.sleep(1)
    process.send_signal(number)
    assert process.wait(20) == -number
    process.stdin.close()
    assert [path.name for path in tmp_path.iterdir()] in ([], ["home"])

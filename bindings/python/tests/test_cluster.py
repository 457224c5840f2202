"""Many objects with Ray: there and back, killed workers, a killed driver, failures, and where the keys are not."""

import contextlib
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import deadpan
import pytest
from deadpan import cluster
from store import command, server

# The data are so long that four shares of a job (four processes) make different parts of the result.
LONG = random.Random(1).randbytes(100_000_000)
SMALL = {f"small/{number:03}.txt": f"face {number}\n".encode() * number for number in range(200)}
KEY = deadpan.PrivateKey.generate("ecc")


@pytest.fixture(scope="module")
def store():
    with server() as store:
        store.put("data/long.bin", LONG)
        for name, data in SMALL.items():
            store.put(f"data/{name}", data)
        yield store


@pytest.fixture(scope="module")
def place(store, tmp_path_factory):
    """Returns a folder with the keys; the environment leads to the server."""
    place = tmp_path_factory.mktemp("cluster")
    (place / "my.key").write_bytes(KEY.to_pem())
    (place / "my.key").chmod(0o600)
    (place / "my.pub").write_text(KEY.public.to_pem())
    # If Ray used a folder below `place`, the paths of its sockets would be too long.
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as session:
        for name, value in (store.environment(place / "home") | {"RAY_TMPDIR": session}).items():
            patch.setenv(name, value)
        made = command("cluster", "key", "-o", place / "job.key")
        assert made.returncode == 0, made.stderr
        yield place


@pytest.fixture(scope="module")
def ray(place):
    """Starts Ray with four workers, which have the environment of the server."""
    ray = pytest.importorskip("ray", reason="Ray is missing; bindings/python/run installs it")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture
def alone(place):
    """Is for tests that need Ray, and have it started by what they test."""
    return pytest.importorskip("ray", reason="Ray is missing; bindings/python/run installs it")


def seal(place, prefix, **options):
    return cluster.seal("s3://bucket/data/", f"s3://bucket/{prefix}/", place / "my.pub", **options)


def check(store, place, prefix):
    """Opens everything below a prefix with the command line, and compares it."""
    back = place / f"{prefix}.back"
    opened = command("open", f"s3://bucket/{prefix}/", "--to", back, "-i", place / "my.key")
    assert opened.returncode == 0, opened.stderr
    found = {str(path.relative_to(back)): path.read_bytes() for path in back.rglob("*") if path.is_file()}
    assert found.pop("long.bin") == LONG and found == SMALL
    state = [key for key in store.keys("_deadpan/") if not key.endswith("/job")]
    assert (store.uploads(), state) == (0, [])


def processes(*words):
    """Returns the processes with these words in their command lines, and the processes that started them."""
    found = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        path = pathlib.Path("/proc", process)
        with contextlib.suppress(OSError):
            line = (path / "cmdline").read_bytes().decode(errors="replace")
            if "_child" in line and all(word in line for word in words):
                found[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def wait_for(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not (result := what()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return result


def wait_until_begun(store):
    """Waits until all shares work on one upload. Whoever is killed before leaves an upload that nobody knows."""

    def is_begun():
        return store.uploads() == 1 and any(key.endswith("/manifest") for key in store.keys("_deadpan/"))

    wait_for(is_begun)
    time.sleep(1)
    wait_for(is_begun)


def test_there_and_back(store, place, ray):
    options = {"job_key": place / "job.key", "shards": 4}
    summary = seal(place, "x", **options)
    assert (summary["made"], summary["there"], summary["failed"], summary["shards"]) == (201, 0, 0, 4)
    assert summary["job_is_new"] is True
    assert summary["bytes"] == len(LONG) + sum(map(len, SMALL.values()))
    check(store, place, "x")
    # The second run seals only the new objects.
    store.put("data/new.txt", b"new")
    summary = seal(place, "x", **options)
    assert (summary["made"], summary["there"], summary["job_is_new"]) == (1, 201, False)
    store.ask("DELETE", "/bucket/data/new.txt")
    summary = cluster.open("s3://bucket/x/", "s3://bucket/clear/", place / "my.key", exclude="new.*", **options)
    assert summary["made"] == 201
    assert store.get("clear/long.bin") == LONG and len(store.keys("clear/")) == 201
    # There are as many shares as the cluster has CPUs.
    summary = seal(place, "some", include=["small/00*"], options=["--hide-length"], job_key=place / "job.key")
    assert (summary["made"], summary["shards"]) == (10, 4)


def test_a_killed_worker_is_replaced(store, place, ray):
    result = []
    options = {"job_key": place / "job.key", "shards": 4, "options": ["--bwlimit", "8M"]}
    thread = threading.Thread(target=lambda: result.append(seal(place, "killed", **options)))
    thread.start()
    ((child, worker),) = wait_for(lambda: processes("--shard=2/4", "/killed/")).items()
    wait_until_begun(store)
    os.kill(worker, signal.SIGKILL)
    # When Ray's task is killed, the command of the task also ends, and Ray runs the task again.
    wait_for(lambda: child not in processes(), 10)
    ((again, other),) = wait_for(lambda: processes("--shard=2/4", "/killed/")).items()
    assert again != child and other != worker
    # Only the command is killed, as if the machine lacked memory.
    os.kill(again, signal.SIGKILL)
    thread.join(120)
    assert result[0]["made"] + result[0]["there"] == 201 and result[0]["failed"] == 0
    check(store, place, "killed")


def test_a_killed_driver_is_started_again(store, place, alone):
    words = ["seal", "s3://bucket/data/", "s3://bucket/driver/", "-r", place / "my.pub", "--shards", "2", "--json"]
    # Without --job-key, the first command makes this user's job key, and later commands use it again.
    driver = [sys.executable, "-m", "deadpan.cluster", *map(str, words)]
    env = {**os.environ, "RAY_ADDRESS": "local"}
    first = subprocess.Popen(
        [*driver, "--", "--bwlimit", "12M"],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_for(lambda: processes("/driver/"))
    wait_until_begun(store)
    first.kill()
    first.wait()
    wait_for(lambda: not processes("/driver/"), 30)
    assert store.uploads() == 1
    again = subprocess.run(driver, env=env, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout.splitlines()[-1])["failed"] == 0
    check(store, place, "driver")
    # The command without Ray continues the same job.
    local = subprocess.run([*driver[:-3], "--local", "--json"], capture_output=True, text=True, timeout=120)
    assert local.returncode == 0 and json.loads(local.stdout)["there"] == 201, local.stderr


def test_wrong_credentials(place, alone):
    # The server accepts one request from a user without permissions: the request that makes the bucket.
    with server(INITIAL_NO_AUTH_ACTION_COUNT="1") as strict:
        words = ["seal", "s3://bucket/data/", "s3://bucket/denied/", "-r", place / "my.pub"]
        denied = [sys.executable, "-m", "deadpan.cluster", *map(str, words)]
        env = {**os.environ, "AWS_ENDPOINT_URL": strict.url, "RAY_ADDRESS": "local"}
        for more in (["--shards", "2"], ["--local"]):
            done = subprocess.run([*denied, *more], env=env, capture_output=True, text=True, timeout=120)
            assert done.returncode == 4, done.stderr
            assert "error: s3://bucket/" in done.stderr and "hint: " in done.stderr and "Traceback" not in done.stderr


def test_a_failing_object_is_named(store, place, ray):
    options = {"job_key": place / "job.key", "shards": 3}
    assert cluster.seal("s3://bucket/data/small/", "s3://bucket/bad/", place / "my.pub", **options)["made"] == 200
    store.put("bad/damaged.dpn", b"not sealed at all")
    with pytest.raises(deadpan.Error, match="s3://bucket/bad/damaged.dpn: not a sealed file") as caught:
        cluster.open("s3://bucket/bad/", "s3://bucket/good/", [place / "my.key"], **options)
    assert caught.value.exit == 1 and caught.value.summary["failed"] == 1
    assert [one["file"] for one in caught.value.failed] == ["s3://bucket/bad/damaged.dpn"]
    # All other objects exist.
    assert len(store.keys("good/")) == 200
    (place / "other.key").write_bytes(deadpan.PrivateKey.generate("ecc").to_pem())
    (place / "other.key").chmod(0o600)
    with pytest.raises(deadpan.NoKeyError, match="\n199 more failed"):
        cluster.open("s3://bucket/bad/", "s3://bucket/none/", place / "other.key", exclude="damaged.*", **options)
    # If no object failed, the exception has the command's own message.
    with pytest.raises(ValueError, match="--no-such-option"):
        seal(place, "y", options=["--no-such-option"], **options)
    with pytest.raises(ValueError, match="missing.pub"):
        cluster.seal("s3://bucket/data/", "s3://bucket/y/", place / "missing.pub", **options)
    with pytest.raises(FileNotFoundError, match="missing.key"):
        seal(place, "y", job_key=place / "missing.key")


def test_no_key_travels(store, place, ray, monkeypatch):
    pickle = pytest.importorskip("ray.cloudpickle")
    secrets = [KEY.to_pem().splitlines()[1], (place / "job.key").read_bytes().strip()]
    sent, seen, remote = [], set(), ray.remote

    def spy(**how):
        def wrap(function):
            task = remote(**how)(function)

            class Spy:
                @staticmethod
                def remote(*arguments):
                    sent.append(pickle.dumps((arguments, how)))
                    return task.remote(*arguments)

            sent.append(pickle.dumps(function))
            return Spy

        return wrap

    def watch():
        while not over.is_set():
            for process in filter(str.isdigit, os.listdir("/proc")):
                for name in ("cmdline", "environ"):
                    with contextlib.suppress(OSError):
                        text = pathlib.Path("/proc", process, name).read_bytes()
                        seen.add(hashlib.sha256(text).digest())
                        assert not any(secret in text for secret in secrets), (process, name)
            time.sleep(0.05)

    monkeypatch.setattr(ray, "remote", spy)
    over, failures = threading.Event(), []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        options = {"job_key": place / "job.key", "shards": 2, "include": "small/*"}
        assert seal(place, "quiet", **options)["made"] == 200
        opened = cluster.open("s3://bucket/quiet/", "s3://bucket/loud/", place / "my.key", **options)
        assert opened["made"] == 200
    finally:
        over.set()
        thread.join()
    assert failures == [] and len(seen) > 4
    # Two functions and four tasks were sent to Ray, and these six messages contain only paths, and no keys.
    assert len(sent) == 6 and all(len(one) < 2000 for one in sent)
    assert not any(secret in one for secret in secrets for one in sent)
    assert sum(b"job.key" in one for one in sent) == 4
    logs = pathlib.Path(ray._private.worker.global_worker.node.get_session_dir_path()) / "logs"
    for path in logs.rglob("*"):
        if path.is_file():
            assert not any(secret in path.read_bytes() for secret in secrets), path


def test_without_ray(store, place, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match="pip install ray"):
        seal(place, "z")
    words = ["seal", "s3://bucket/data/", "s3://bucket/z/", "-r", str(place / "my.pub")]
    assert cluster.main(words) == 2
    assert "error: Ray is not installed\ninstall it with `pip install ray`" in capsys.readouterr().err
    assert cluster.main([*words, "--local", "--include", "small/*", "--", "--hide-length"]) == 0
    told = capsys.readouterr().err
    assert "seal: 200 made" in told and "note: " not in told
    # A new job does not change the results of the last job, and prints a note about this.
    for key in store.keys("_deadpan/"):
        store.ask("DELETE", f"/bucket/{key}")
    assert cluster.main([*words, "--local", "--include", "small/*"]) == 0
    assert "200 there already\nnote: this job has not made" in capsys.readouterr().err
    assert seal(place, "w", engine="local")["made"] == 201
    check(store, place, "w")
    for arguments, words in [
        ({"engine": "slurm"}, "there is no engine 'slurm'"),
        ({"engine": "local", "shards": 2}, "are for Ray"),
        ({"shards": 0}, "ask for at least 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            seal(place, "z", **arguments)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cluster, "seal", interrupted)
        assert cluster.main(["seal", "s3://bucket/data/", "s3://bucket/z/"]) == 130
    with pytest.raises(ValueError, match="there is no recipient"):
        cluster.seal("s3://bucket/data/", "s3://bucket/z/", [])


def test_help(capsys):
    with pytest.raises(SystemExit) as caught:
        cluster.main(["--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert all(word in text for word in ("Examples:", "Exit codes:", "--shards N", "ray://"))
    assert all(len(line) <= 120 for line in text.splitlines())
    for words in (["seal", "a", "b", "-i", "key"], ["seal", "a", "b", "--shards", "0"], ["seal", "a"]):
        with pytest.raises(SystemExit) as caught:
            cluster.main(words)
        assert caught.value.code == 2

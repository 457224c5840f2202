"""Ray: the same shares as tasks of a running cluster on this machine, and as processes without it."""

import contextlib
import os
import shlex
import subprocess
import tempfile

from child import Failed
from contestants import AT, SEALS, Contestant
from peers import quiet

TASKS, PROCESSES = "deadpan.cluster, 4 tasks", "deadpan seal, 4 shares"
WORKERS, OBJECTS = 4, 12


def python():
    """Finds the Python that has Ray and the package."""
    found = os.environ["BENCH_PYTHON"]
    test = [found, "-c", "import ray, deadpan.cluster"]
    return found if os.path.exists(found) and subprocess.run(test, capture_output=True).returncode == 0 else None


@contextlib.contextmanager
def running(python, environment):
    """Starts a cluster with as many workers, whose tasks have this environment, and gives the one that finds it."""
    # Names of sockets must be short.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        environment = {**os.environ, **environment, "RAY_TMPDIR": folder, "RAY_USAGE_STATS_ENABLED": "0"}
        # By default, Ray runs its tasks at a low priority, so the store would get the cores first. The processes
        # without Ray have the store's priority.
        environment["RAY_worker_niceness"] = "0"
        ray = os.path.join(os.path.dirname(python), "ray")
        words = [f"--num-cpus={WORKERS}", "--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={folder}"]
        head = [ray, "start", "--head", "--block", "--port=0", "--node-ip-address=127.0.0.1", *words]
        with open(os.path.join(folder, "messages"), "w+") as messages:
            process = subprocess.Popen(head, env=environment, stdout=messages, stderr=messages)
            try:
                # The address of the cluster stands in the folder.
                test = [python, "-c", "import ray; ray.init('auto', logging_level='ERROR')"]
                while subprocess.run(test, env=environment, capture_output=True).returncode != 0:
                    if process.poll() is not None:
                        messages.seek(0)
                        raise Failed(f"Ray does not start:\n{messages.read().strip()}")
                yield environment | {"RAY_ADDRESS": "auto"}
            finally:
                process.terminate()
                process.wait()


def version(python):
    return quiet([python, "-c", "import platform, ray; print(ray.__version__, 'Python', platform.python_version())"])


def contestants(python, binary, environment):
    home = environment["DEADPAN_HOME"]
    key, job_key = os.path.join(home, "hybrid.pub"), os.path.join(home, "job.key")
    quiet([binary, "cluster", "key", "-o", job_key], environment)
    source, new, keys = f"{AT}{{source}}/", f"{AT}{{new}}/", ["-r", key, "--job-key", job_key]
    words = shlex.join([binary, "seal", source, "--to", new, *keys])
    shares = " ".join(f'{words} --shard {number}/{WORKERS} & all+=" $!";' for number in range(WORKERS))
    waited = f"{shares} for one in $all; do wait $one || exit; done"
    tasks = [python, "-m", "deadpan.cluster", "seal", source, new, *keys, "--shards", str(WORKERS)]
    opened = [[binary, "open", "-o", "-", "{file}"]]
    return [
        Contestant(PROCESSES, SEALS, None, [["bash", "-c", waited]], opened, ".dpn"),
        Contestant(TASKS, SEALS, None, [tasks], opened, ".dpn"),
    ]

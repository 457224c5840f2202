"""Seals and opens all objects below a prefix, on the machines of a Ray cluster or on this machine alone.

>>> from deadpan import cluster
>>> cluster.seal("s3://data/", "s3://backup/", "alice", job_key="job.key")      # doctest: +SKIP
{'made': 5000, 'there': 0, 'failed': 0, 'bytes': 5368709120, ...}

Each share of the work is one Ray task, which runs ``deadpan seal ... --shard I/N`` as a child process. All state lies
in the bucket of the results. If a task is lost, Ray runs the share again, and the share does only what is missing.
Keys never travel: a task gets the paths of key files, and each machine has the files.
"""

import argparse
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from deadpan._native import Error, NoKeyError, SignatureError

__all__ = ["open", "seal"]

# The exception for each exit code of the command line. All other codes become OSError.
_ERRORS = {1: Error, 2: ValueError, 3: NoKeyError, 5: SignatureError}
# If the machine or process of a share (a part of the job) is lost, Ray runs the share again up to this number of times.
_RETRIES = 5
# If one share (a part of the job) fails, the other shares get this number of seconds to end by themselves.
_GRACE = 2
# The largest number of failed objects that a report names. The limit keeps the result of a task small for any number of
# objects.
_NAMED = 100
# Several shares (parts of the job) may make one object of at least _LONG bytes. A report lists at most _LISTED of these
# objects.
_LONG, _LISTED = 64 << 20, 10_000


def seal(
    src,
    dest,
    to,
    *,
    job_key=None,
    shards=None,
    engine="ray",
    address=None,
    include=(),
    exclude=(),
    force=False,
    options=(),
):
    """Seals each object below ``src`` to the recipients ``to``, and puts the results below ``dest``.

    ``to`` is one recipient or several, as ``deadpan seal -r`` takes them. ``options`` are more words for the command,
    such as ``["--hide-length", "--bwlimit", "50M"]``. All machines of the cluster need the package, credentials for the
    store, and the file ``job_key`` (``deadpan cluster key -o job.key``). Without ``job_key``, the own key of this user
    is taken, if Ray runs on this machine only. ``shards`` is the number of tasks, by default that of the cluster's
    CPUs. ``engine="local"`` does all of the work here, without Ray.

    Returns the numbers of objects that were made, were there already and failed, and the number of bytes. If an object
    fails, the others are done, and then an exception names the object; its ``failed`` lists all that failed, and its
    ``summary`` has the numbers. Call the function again to do only what is missing.
    """
    words = _repeated("--recipient", to)
    if not words and not options:
        raise ValueError("there is no recipient\nname at least one, such as a file with a public key")
    words += [*_repeated("--include", include), *_repeated("--exclude", exclude), *["--force"] * force, *options]
    return _job("seal", words, src, dest, job_key, shards, engine, address)


def open(
    src,
    dest,
    identity=(),
    *,
    job_key=None,
    shards=None,
    engine="ray",
    address=None,
    include=(),
    exclude=(),
    force=False,
    options=(),
):
    """Opens each sealed object below ``src``, and puts the results below ``dest``.

    ``identity`` is one private key or several, as ``deadpan open -i`` takes them: paths of files that each machine has.
    A folder as ``dest`` must be one that all machines share. The other parameters are those of ``seal``.
    """
    words = [*_repeated("--identity", identity), *_repeated("--include", include), *_repeated("--exclude", exclude)]
    words += [*["--force"] * force, *options]
    return _job("open", words, src, dest, job_key, shards, engine, address)


def _repeated(option, values):
    if isinstance(values, (str, os.PathLike)):
        values = [values]
    return [f"{option}={os.fspath(value)}" for value in values]


def _job(verb, words, src, dest, job_key, shards, engine, address):
    words = [verb, "--json", "--to", os.fspath(dest), *words]
    if job_key is not None:
        job_key = os.path.abspath(job_key)
        os.stat(job_key)
    if shards is not None and shards < 1:
        raise ValueError("there are no shards to run\nask for at least 1")
    if engine == "local":
        if shards is not None or address is not None:
            raise ValueError("shards and addresses are for Ray\nleave them out, or leave out engine='local'")
        reports = []
    elif engine == "ray":
        job_key, reports = _shares(words, os.fspath(src), job_key, shards, address)
    else:
        raise ValueError(f"there is no engine {engine!r}\nchoose 'ray' or 'local'")
    # The last pass does the remaining work, such as objects that failed in a part of the job.
    last = _run([*words, *_key(job_key), "--", os.fspath(src)], os.getcwd())
    summary = _sum(reports, last)
    if last["exit"]:
        raise _error(last, summary)
    return summary


def _key(job_key):
    return [] if job_key is None else [f"--job-key={job_key}"]


def _shares(words, src, job_key, shards, address):
    """Runs all shares with Ray. Returns the path of the job's key, and the reports."""
    try:
        import ray
    except ModuleNotFoundError as error:
        text = "Ray is not installed\ninstall it with `pip install ray`, or choose engine='local' to work without it"
        raise ModuleNotFoundError(text, name="ray") from error
    is_own = not ray.is_initialized()
    if is_own:
        # Ray must not send usage statistics, except if the user has asked for them.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        more = {"include_dashboard": False} if address is None else {}
        ray.init(address, logging_level="WARNING", **more)
    pending = {}
    try:
        if job_key is None:
            job_key = _own_key(ray)
        count = shards or max(1, int(ray.cluster_resources().get("CPU", 1)))
        task = ray.remote(
            num_cpus=1, max_retries=_RETRIES, retry_exceptions=[_LostError], scheduling_strategy="SPREAD"
        )(_share)
        words = [*words, *_key(job_key)]
        for index in range(count):
            shard = f"{index}/{count}"
            pending[task.remote([*words, f"--shard={shard}", "--", src], os.getcwd())] = shard
        reports = []
        while pending:
            (done, *_), _ = ray.wait(list(pending))
            shard = pending.pop(done)
            try:
                report = ray.get(done)
            except ray.exceptions.RayError as error:
                raise OSError(f"share {shard} was lost, and its last try too: {error}") from error
            # If no object failed, the command itself failed, for example because of wrong options or missing files.
            if report["exit"] and not report["failed"]:
                raise _error(report, report["summary"])
            reports.append(report)
        return job_key, reports
    finally:
        if is_own:
            # When the connection ends, Ray also ends the tasks.
            ray.shutdown()
        elif pending:
            # If a task ends at the moment when it is canceled, Ray can end this process (seen with Ray 2.60). Shares
            # (parts of the job) that fail for the same reason end at about the same time, so this code waits before it
            # cancels the other tasks.
            _, left = ray.wait(list(pending), num_returns=len(pending), timeout=_GRACE)
            for task in left:
                ray.cancel(task, force=True)


def _own_key(ray):
    """Returns the path of this user's own key of jobs, which `deadpan seal` takes without --job-key, too."""
    if ray.util.client.ray.is_connected() or sum(node["Alive"] for node in ray.nodes()) != 1:
        raise ValueError(
            "the machines of a job need one key\nmake it with `deadpan cluster key -o job.key`, put the file onto each "
            "machine as a secret, and name it with job_key"
        )
    home, config = os.environ.get("DEADPAN_HOME"), os.environ.get("XDG_CONFIG_HOME", "")
    config = pathlib.Path(config) if os.path.isabs(config) else pathlib.Path.home() / ".config"
    path = (pathlib.Path(home) if home else config / "deadpan").absolute() / "jobs"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        made = _run(["cluster", "key", "-o", str(path)], os.getcwd())
        # Another program may have made the file in the meantime.
        if made["exit"] and not path.exists():
            raise _error(made, None)
    return str(path)


class _LostError(Exception):
    """The command of a share was killed."""


def _share(words, folder):
    """Is the task of a share."""
    report = _run(words, folder)
    if report["exit"] < 0:
        name = signal.Signals(-report["exit"]).name
        raise _LostError(f"its command ended by {name}; if nobody sent it, the machine may lack memory")
    return report


def _run(words, folder):
    """Runs the command line as a child. Returns its exit code, summary and message, and the objects that failed."""
    child = [sys.executable, "-P", "-c", "from deadpan.cluster import _child; _child()", str(os.getpid()), *words]
    folder = folder if os.path.isdir(folder) else None
    summary, whole, failed, long = None, None, [], {}
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(child, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        try:
            for line in process.stdout:
                fields = json.loads(line)
                if fields.get("summary"):
                    summary = fields
                elif fields.get("error") and "file" not in fields:
                    whole = fields
                elif fields.get("error") and len(failed) < _NAMED:
                    failed.append({name: fields.get(name) for name in ("file", "error", "hint", "exit")})
                elif fields.get("state") == "made" and fields["bytes"] >= _LONG and len(long) < _LISTED:
                    long[fields["file"]] = fields["bytes"]
            code = process.wait()
        finally:
            process.terminate()
        log.seek(0)
        message = log.read(1 << 16).decode(errors="replace").strip()
    # A command that fails as a whole reports the failure in a separate JSON object, or in its summary.
    whole = whole or (summary if summary and summary["error"] else None)
    if whole:
        message = f"error: {whole['error']}" + (f"\nhint: {whole['hint']}" if whole["hint"] else "")
    return {"exit": code, "summary": summary, "failed": failed, "long": long, "message": message}


def _child():
    """Is the command line, which ends with the process that started it: without its task nobody wants its work."""
    from deadpan.__main__ import main

    parent = int(sys.argv.pop(1))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            sys.exit(4)
    sys.exit(main())


def _sum(reports, last):
    """Adds up what the shares made. Which objects there are, the last pass knows: it has seen all of them."""
    summary = last["summary"]
    if summary is None:
        return None
    counted = [report for report in (*reports, last) if report["summary"]]
    made, moved = (sum(report["summary"][name] for report in counted) for name in ("made", "bytes"))
    # If two shares (parts of the job) complete the same long object at the same moment, both shares count the object.
    seen = set()
    for report in counted:
        twice = seen & report["long"].keys()
        made, moved = made - len(twice), moved - sum(report["long"][file] for file in twice)
        seen |= report["long"].keys()
    there = max(0, summary["made"] + summary["there"] - made)
    is_new = any(report["summary"]["job_is_new"] for report in counted)
    return {
        **summary,
        "made": made,
        "there": there,
        "bytes": moved,
        "job_is_new": is_new,
        "shards": len(reports) or 1,
    }


def _error(report, summary):
    """Returns the exception for a command that failed."""
    code, failed = report["exit"], report["failed"]
    # If there are several failures, the exit code of the command is the highest of their codes.
    worst = next((one for one in failed if one["exit"] == code), None)
    text = worst["error"] if worst else report["message"].removeprefix("error: ") or f"the command ended with {code}"
    others = (summary or {}).get("failed", 0) - 1
    if others > 0:
        text += f"\n{others} more failed"
    error = _ERRORS.get(code, OSError)(text)
    if worst and worst["hint"]:
        error.add_note(f"hint: {worst['hint']}")
    error.exit, error.failed, error.summary = max(code, 0) or 4, failed, summary
    return error


# The note that `deadpan seal` prints without --json comes from crates/cli/src/command/many/job_report.rs.
_FOREIGN = (
    "note: this job has not made the results that were there already, and they may be sealed for others: "
    "deadpan inspect shows the recipients, and deadpan rewrap --recursive changes them"
)

_EPILOG = """\
Examples:
  python -m deadpan.cluster seal s3://data/ s3://backup/ -r alice --job-key /secrets/job.key
  python -m deadpan.cluster seal s3://data/ s3://backup/ -r alice.pub --shards 64 --address ray://head:10001 \\
      --job-key /secrets/job.key -- --hide-length --bwlimit 50M
  python -m deadpan.cluster open s3://backup/ s3://data/ -i /secrets/alice.key --job-key /secrets/job.key
  python -m deadpan.cluster seal s3://data/ s3://backup/ -r alice --local     without Ray

Words after -- go to `deadpan seal` or `deadpan open` as they are. Run a command again to do only what is missing.

Exit codes: those of `deadpan seal`
  0  done
  1  wrong data: an object is changed, cut short or not sealed; a key is invalid
  2  usage: the arguments are wrong, or Ray is missing
  3  no key fits
  4  the system failed: the store, the network, a machine that was lost again and again
  5  a required signature is missing, by somebody unknown, for others, or under another name
"""


def _arguments():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m deadpan.cluster",
        usage="%(prog)s {seal,open} SRC DEST [OPTIONS] [-- WORD ...]",
        description="Seals or opens all objects below a prefix, on the machines of a Ray cluster.",
        epilog=_EPILOG,
        formatter_class=form,
        allow_abbrev=False,
    )
    parser.add_argument("command", choices=["seal", "open"], help="what to do")
    parser.add_argument("src", metavar="SRC", help="the prefix of the sources, such as s3://data/")
    parser.add_argument("dest", metavar="DEST", help="the prefix of the results, such as s3://backup/")
    add = parser.add_argument
    add("-r", "--recipient", action="append", default=[], metavar="KEY", help="seal to this key; may be repeated")
    add("-i", "--identity", action="append", default=[], metavar="KEY", help="open with this key; may be repeated")
    add("--include", action="append", default=[], metavar="PATTERN", help="take only objects with such names")
    add("--exclude", action="append", default=[], metavar="PATTERN", help="leave out objects with such names")
    add("-f", "--force", action="store_true", help="replace results that are older than their sources")
    add("--job-key", metavar="FILE", help="the job's key, in a file that each machine has [default: your own]")
    add("--shards", type=int, metavar="N", help="the number of tasks [default: the CPUs of the cluster]")
    add("--address", help="the Ray cluster [default: RAY_ADDRESS, or a new one on this machine]")
    add("--local", action="store_true", help="do it on this machine, without Ray")
    add("--json", action="store_true", help="print the numbers as JSON")
    return parser


def main(words=None):
    """Is the command ``python -m deadpan.cluster``. Returns the exit code."""
    words = list(sys.argv[1:] if words is None else words)
    cut = words.index("--") if "--" in words else len(words)
    parser = _arguments()
    args = parser.parse_args(words[:cut])
    keys, others = (args.recipient, args.identity) if args.command == "seal" else (args.identity, args.recipient)
    if others:
        parser.error("-r is for seal, and -i for open")
    if args.shards is not None and args.shards < 1:
        parser.error("--shards needs a number from 1 on")
    try:
        summary = (seal if args.command == "seal" else open)(
            args.src,
            args.dest,
            keys,
            job_key=args.job_key,
            shards=args.shards,
            engine="local" if args.local else "ray",
            address=args.address,
            include=args.include,
            exclude=args.exclude,
            force=args.force,
            options=words[cut + 1 :],
        )
    except (Error, ImportError, OSError, ValueError) as error:
        for line in [f"error: {error}", *getattr(error, "__notes__", [])]:
            print(line, file=sys.stderr)
        return getattr(error, "exit", 4 if isinstance(error, OSError) else 2)
    except KeyboardInterrupt:
        return 130
    if args.json:
        print(json.dumps(summary))
    else:
        numbers = "{made} made ({bytes} bytes), {there} there already".format(**summary)
        print(f"{args.command}: {numbers}", file=sys.stderr)
        if summary["job_is_new"] and summary["there"]:
            print(_FOREIGN, file=sys.stderr)
    return 0


if __name__ == "__main__":
    # Ray finds the task by the name of its module, and the name of this module is `__main__` now.
    from deadpan import cluster

    sys.exit(cluster.main())

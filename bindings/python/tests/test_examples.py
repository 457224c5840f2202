"""The command lines of examples/cluster, with what each engine tells its tasks, and with the rights of its policy."""

import functools
import json
import os
import re
import shlex
import subprocess
import sys
import urllib.parse

import deadpan
import pytest
from store import ROOT, command, server

EXAMPLES = ROOT / "examples/cluster"
LONG = bytes(range(256)) * 300_000
SMALL = {f"{number}.txt": b"face" * number for number in range(20)}
KEY = deadpan.PrivateKey.generate("ecc")


@pytest.fixture(scope="module")
def store():
    with server() as store:
        fill(store)
        yield store


def fill(store):
    store.ask("PUT", "/source")
    store.ask("PUT", "/source/long.bin", LONG)
    for name, data in SMALL.items():
        store.ask("PUT", f"/source/{name}", data)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "my.key").write_bytes(KEY.to_pem())
    (tmp_path / "my.key").chmod(0o600)
    (tmp_path / "recipient.pub").write_text(KEY.public.to_pem())
    assert command("cluster", "key", "-o", tmp_path / "job.key").returncode == 0
    return tmp_path


def yaml_documents(name):
    yaml = pytest.importorskip("yaml", reason="PyYAML is missing; it comes with Ray")
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


def run_all(store, place, target, words, task, count=8, keys=None):
    """Runs the words of all tasks, each with the environment of its engine, and compares the results."""
    files = {"/etc/deadpan/": place, "/run/secrets/deadpan/": place, "$HOME/": place}
    text = shlex.join(words)
    text = re.sub("(s3|gs)://SOURCE/", "s3://source/", re.sub("(s3|gs)://TARGET/", f"s3://bucket/{target}/", text))
    for folder, real in files.items():
        text = text.replace(folder, f"{real}/")
    assert not re.search(r"\b[A-Z]{5,}\b", text.replace("JOB_KEY", "").replace("RECIPIENT", "")), text
    # The program is the command line of this package.
    program = place / "bin/deadpan"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m deadpan "$@"\n')
    program.chmod(0o755)
    for index in range(count):
        env = {**os.environ, **store.environment(place / "home"), **(keys or {}), **task(index), "HOME": str(place)}
        env["PATH"] = f"{program.parent}:{os.environ['PATH']}"
        done = subprocess.run(shlex.split(text), env=env, cwd=place, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    env = {**os.environ, **store.environment(place / "home")}
    back = place / "back"
    opened = command("open", f"s3://bucket/{target}/", "--to", back, "-i", place / "my.key", env=env)
    assert opened.returncode == 0, opened.stderr
    found = {path.name: path.read_bytes() for path in back.iterdir()}
    assert found.pop("long.bin") == LONG and found == SMALL
    assert store.uploads() == 0


def test_kubernetes(store, place):
    _, job = yaml_documents("kubernetes.yaml")
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    variables = {one["name"]: one["value"] for one in container["env"]}
    assert variables["JOB_COMPLETIONS"] == str(spec["completions"]) == str(spec["parallelism"])
    assert spec["completionMode"] == "Indexed" and spec["backoffLimitPerIndex"] == 3
    assert container["resources"]["limits"]["memory"] == "512Mi" and pod["serviceAccountName"] == "deadpan"
    mounted = {one["name"] for one in container["volumeMounts"]}
    assert mounted == {one["name"] for one in pod["volumes"]}
    words = container["command"] + container["args"]
    task = lambda index: {"JOB_COMPLETION_INDEX": str(index), "JOB_COMPLETIONS": variables["JOB_COMPLETIONS"]}
    run_all(store, place, "kubernetes", words, task, spec["completions"])


def test_kubernetes_against_its_schema():
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is missing")
    for document in yaml_documents("kubernetes.yaml"):
        validate.validate(document, "1.33", strict=True)


def test_aws_batch(store, place):
    definition = json.loads((EXAMPLES / "aws-batch.json").read_text())
    given = definition["parameters"] | {"recipient": str(place / "recipient.pub")}
    words = definition["containerProperties"]["command"]
    words = [given[word.removeprefix("Ref::")] if word.startswith("Ref::") else word for word in words]
    size = int(re.search(r"size=(\d+)", (EXAMPLES / "aws-batch.sh").read_text())[1])
    secret = {
        one["name"]: (place / "job.key").read_text().strip() for one in definition["containerProperties"]["secrets"]
    }
    task = lambda index: {"AWS_BATCH_JOB_ARRAY_INDEX": str(index), "AWS_BATCH_JOB_ARRAY_SIZE": str(size)}
    run_all(store, place, "batch", words, task, size, secret)
    subprocess.run(["bash", "-n", EXAMPLES / "aws-batch.sh"], check=True)


def test_slurm(store, place):
    script = EXAMPLES / "slurm.sbatch"
    first, last = map(int, re.search(r"^#SBATCH --array=(\d+)-(\d+)$", script.read_text(), re.MULTILINE).groups())
    subprocess.run(["bash", "-n", script], check=True)
    copy = place / "slurm.sbatch"
    copy.write_text(
        script.read_text().replace("s3://SOURCE/", "s3://source/").replace("s3://TARGET/", "s3://bucket/slurm/")
    )
    task = lambda index: {
        "SLURM_ARRAY_TASK_ID": str(index),
        "SLURM_ARRAY_TASK_MIN": str(first),
        "SLURM_ARRAY_TASK_COUNT": str(last - first + 1),
    }
    run_all(store, place, "slurm", ["bash", str(copy)], task, last - first + 1)


def test_cloud_run(store, place):
    (job,) = yaml_documents("cloud-run.yaml")
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    mounted = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    for volume in spec["template"]["spec"]["volumes"]:
        (item,) = volume["secret"]["items"]
        assert any(word.endswith(f"={mounted[volume['name']]}/{item['path']}") for word in container["args"])
    count = spec["taskCount"]
    task = lambda index: {"CLOUD_RUN_TASK_INDEX": str(index), "CLOUD_RUN_TASK_COUNT": str(count)}
    run_all(store, place, "cloud-run", container["command"] + container["args"], task, count)


def test_the_policy_is_enough(place):
    policy = (EXAMPLES / "policy.json").read_text().replace("SOURCE", "source").replace("TARGET", "bucket")
    with server(INITIAL_NO_AUTH_ACTION_COUNT="1000") as store:
        fill(store)
        # To remove an object, a user needs a permission for the bucket on moto, and a permission for the object on S3.
        policy = policy.replace('"arn:aws:s3:::bucket/_deadpan/*"', '"arn:aws:s3:::bucket"')
        keys = user(store, policy)
        # After this request, the server checks the permissions of each request.
        store.ask("POST", "/moto-api/reset-auth", b"0")
        env = {**os.environ, **store.environment(place / "home"), **keys}
        run = functools.partial(command, env=env)
        seal = ["seal", "s3://source/", "--to", "s3://bucket/x/", "-r", place / "recipient.pub"]
        shares = [*seal, "--job-key", place / "job.key", "--shard"]
        for share in ("0/2", "0/2", "1/2"):
            done = run(*shares, share)
            assert done.returncode == 0, done.stderr
        done = run(*seal, "--job-key", place / "job.key")
        assert done.returncode == 0 and "21 there already" in done.stderr, done.stderr
        # This user can neither remove results nor replace sources.
        plain = place / "plain"
        plain.write_text("face")
        denied = run("seal", plain, "--to", "s3://source/new", "-r", place / "recipient.pub")
        assert denied.returncode == 4, denied.stderr


def user(store, policy):
    """Makes a user with this policy, and returns its keys."""

    def ask(action, **fields):
        body = urllib.parse.urlencode({"Action": action, "Version": "2010-05-08", "UserName": "worker", **fields})
        return store.ask("POST", "/", body.encode(), "iam").decode()

    ask("CreateUser")
    ask("PutUserPolicy", PolicyName="deadpan", PolicyDocument=policy)
    made = ask("CreateAccessKey")
    names = {"AWS_ACCESS_KEY_ID": "AccessKeyId", "AWS_SECRET_ACCESS_KEY": "SecretAccessKey"}
    return {variable: re.search(f"<{tag}>([^<]*)<", made)[1] for variable, tag in names.items()}

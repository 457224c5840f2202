"""The store: versitygw, whose objects are files of a folder, on a free port of this machine."""

import contextlib
import datetime
import hashlib
import hmac
import http.client
import os
import shutil
import socket
import subprocess
import time
import urllib.parse

from child import Failed

ACCESS, SECRET, REGION, BUCKET = "access", "a-secret-for-this-run", "us-east-1", "bucket"
TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def running(folder, log=None):
    """Starts a store over `folder`, and stops it at the end. With `log`, each request becomes a line of that file."""
    port = _free_port()
    command = [os.environ["BENCH_SERVER"], "--port", f"127.0.0.1:{port}", "--region", REGION, "--keep-alive", "--quiet"]
    command += ["--access-log", log] if log else []
    environment = {**os.environ, "ROOT_ACCESS_KEY": ACCESS, "ROOT_SECRET_KEY": SECRET}
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}.messages", "w") as messages:
        process = subprocess.Popen([*command, "posix", folder], env=environment, stdout=messages, stderr=messages)
    try:
        _wait(process, port, messages.name)
        yield Store(folder, port, process)
    finally:
        process.kill()
        process.wait()


class Store:
    def __init__(self, folder, port, process):
        self.folder, self.port, self.process = folder, port, process
        self.endpoint = f"http://127.0.0.1:{port}"

    def path(self, key):
        """Returns the file that holds an object."""
        return os.path.join(self.folder, BUCKET, key)

    def make_bucket(self):
        with self._connected() as connection:
            self._put(connection, f"/{BUCKET}", b"")

    def put(self, objects):
        """Uploads objects, each a key and its data: bytes, or a file."""
        with self._connected() as connection:
            for key, data in objects:
                self._put(connection, f"/{BUCKET}/{urllib.parse.quote(key)}", data)

    def clear(self, *kept):
        """Removes all objects but `kept`, and what is left of unfinished uploads.

        The files are removed, not the objects by requests: these would take longer than a measurement.
        """
        folder = self.path("")
        for name in set(os.listdir(folder)) - {*kept, ".sgwtmp"}:
            _remove(os.path.join(folder, name))
        unfinished = os.path.join(folder, ".sgwtmp", "multipart")
        for name in os.listdir(unfinished) if os.path.isdir(unfinished) else []:
            _remove(os.path.join(unfinished, name))

    def processor(self):
        """Returns the processor time that the server took so far, in seconds."""
        with open(f"/proc/{self.process.pid}/stat") as line:
            fields = line.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def environment(self):
        """Returns the variables from which clients learn the store and its credentials."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint,
            # s5cmd has a name of its own.
            "S3_ENDPOINT_URL": self.endpoint,
            "NO_PROXY": "127.0.0.1",
        }

    def _connected(self):
        return contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port))

    def _put(self, connection, path, data):
        size = len(data) if isinstance(data, bytes) else os.fstat(data.fileno()).st_size
        headers = _signed("PUT", f"127.0.0.1:{self.port}", path)
        connection.request("PUT", path, data, {**headers, "content-length": str(size)})
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        if answer.status != 200:
            raise Failed(f"the store refuses to take {path}: {answer.status} {text}")


def _signed(method, host, path):
    """Returns the headers of a request with a signature of version 4, which does not cover the body."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": now}
    names = ";".join(headers)
    lines = [method, path, "", *(f"{name}:{value}" for name, value in headers.items()), "", names, "UNSIGNED-PAYLOAD"]
    scope = f"{now[:8]}/{REGION}/s3/aws4_request"
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{digest}".encode(), "sha256").hex()
    credential = f"Credential={ACCESS}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**headers, "authorization": f"AWS4-HMAC-SHA256 {credential}"}


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _wait(process, port, messages):
    for _ in range(300):
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    with open(messages) as lines:
        raise Failed(f"the store does not start:\n{lines.read().strip()}")


def _remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

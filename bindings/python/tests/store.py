"""A server of S3's protocol on this machine: moto, which scripts/tool installs."""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).parents[3]
MOTO = ROOT / "target/tools/moto/bin/moto_server"


class Store:
    """A running server with an empty bucket."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def ask(self, method, path, body=None, service="s3"):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        # moto does not check the signature.
        scope = f"AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/{service}/aws4_request"
        kind = "application/octet-stream" if service == "s3" else "application/x-www-form-urlencoded"
        headers = {"Authorization": f"{scope}, SignedHeaders=host, Signature=0", "Content-Type": kind}
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=headers)
        with opener.open(request, timeout=60) as answer:
            return answer.read()

    def put(self, key, body):
        self.ask("PUT", f"/bucket/{key}", body)

    def get(self, key):
        return self.ask("GET", f"/bucket/{key}")

    def keys(self, prefix=""):
        return re.findall("<Key>([^<]*)</Key>", self.ask("GET", f"/bucket?list-type=2&prefix={prefix}").decode())

    def uploads(self):
        """Returns the number of uploads that have begun and not ended."""
        return self.ask("GET", "/bucket?uploads").decode().count("<UploadId>")

    def environment(self, home):
        """Returns what the command line needs to work with this server."""
        return {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
            "NO_PROXY": "127.0.0.1",
            "DEADPAN_HOME": str(home),
        }


@contextlib.contextmanager
def server(**environment):
    """Runs a server, or skips the test."""
    if not MOTO.exists():
        pytest.skip("moto is missing; scripts/tool moto installs it")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [MOTO, "-H", "127.0.0.1", "-p", str(port)],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.05)
        store = Store(port)
        store.ask("PUT", "/bucket")
        yield store
    finally:
        process.kill()
        process.wait()


def command(*words, **options):
    """Runs the command line."""
    words = [sys.executable, "-m", "deadpan", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, **options)

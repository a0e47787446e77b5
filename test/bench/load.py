# SPDX-License-Identifier: MIT
"""Requests in numbers: wrk with requests.lua, and one keep-alive connection for single requests."""

import http.client
import json
import os
import shlex
import signal
import ssl
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from support.spec import API_VERSION

from . import machine

SCRIPT = Path(__file__).with_name("requests.lua")
COUNT_LIMIT_S = 60  # for a counted run that never comes to its end


def versioned(path):
    return f"{path}?api-version={API_VERSION}"


def wrk(endpoint, method, target, token, body=None, connections=1, **more):
    """As wrk_of(), with a token and a JSON body as the resource manager wants them."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return wrk_of(endpoint, method, target, headers, json.dumps(body).encode(), connections, **more)


def wrk_of(
    endpoint, method, target, headers, body=b"",
    connections=1, seconds=2, count=0, accepted=202, numbers=0, pid=None
):  # fmt: skip
    """Returns requests, seconds, failed, p50_us, p99_us; cpu_us of process `pid` for each request.

    With `count`, runs until so many were answered `accepted`; else for `seconds`. requests.lua says what
    `target` and `numbers` are."""
    with tempfile.NamedTemporaryFile(suffix=".body") as file:
        file.write(body)
        file.flush()
        env = {**os.environ, "METHOD": method, "TARGET": target, "COUNT": str(count), "ACCEPTED": str(accepted)}
        env |= {"NUMBERS": str(numbers), "HEADERS": "".join(f"{k}: {v}\n" for k, v in headers.items())}
        if method == "PUT":
            env["BODY"] = file.name
        before = machine.cpu_seconds(pid) if pid else 0
        limit = COUNT_LIMIT_S if count else seconds
        argv = ["wrk", "-t1", f"-c{connections}", f"-d{limit}s", "-s", str(SCRIPT), endpoint]
        found = run(argv, env)
    found["seconds"] = found.pop("us") / 1e6
    found["rate"] = found["requests"] / found["seconds"]
    if pid:
        found["cpu_us"] = (machine.cpu_seconds(pid) - before) * 1e6 / max(found["requests"], 1)
    if found["failed"]:
        raise AssertionError(f"{found['failed']} of {found['requests']} requests to {target} failed")
    if count and found["seconds"] > COUNT_LIMIT_S - 1:
        raise AssertionError(f"{count} requests to {target} were not accepted in {COUNT_LIMIT_S} s")
    return found


def run(argv, env):
    """Runs wrk to its end, or until the script says that enough was accepted."""
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) as process:
        last = "null"
        for line in process.stdout:
            if line == "accepted\n":
                process.send_signal(signal.SIGINT)
            last = line
    if process.returncode != 0 or not last.startswith("{"):
        raise AssertionError(f"{shlex.join(argv)} -> {process.returncode} {last}")
    return json.loads(last)


class Client:
    """One keep-alive TLS connection."""

    def __init__(self, daemon):
        context = ssl.create_default_context(cafile=daemon.ca)
        self.endpoint = urlsplit(daemon.endpoint)
        self.http = http.client.HTTPSConnection(
            self.endpoint.hostname, self.endpoint.port, context=context, timeout=60
        )
        self.head = {
            "Authorization": f"Bearer {daemon.token()}",
            "Content-Type": "application/json",
        }
        self.http.connect()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.http.close()

    def call(self, method, url, body=None):
        """Body of the answer; anything but 2xx is a failure."""
        self.http.request(method, url, body, self.head)
        response = self.http.getresponse()
        content = response.read()
        if not 200 <= response.status < 300:
            raise AssertionError(f"{method} {url} -> {response.status} {content[:300]!r}")
        return content

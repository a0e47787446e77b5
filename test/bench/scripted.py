# SPDX-License-Identifier: MIT
"""Tests as users write them: each empties its subscription, makes a cluster of fake nodes and runs a scripted job, over
one connection that is kept (HTTPS)."""

import http.client
import json
import ssl
import time
from urllib.parse import urlsplit

from support.daemon import Daemon
from support.testing import KEY
from support.world import cluster_body, job_body

from .figures import Figure
from .size import size

TESTS, AIM_S = size(1000, 2), 10
API = "?api-version=2018-05-01"


class Client:
    """One connection; http.client takes a tenth of the time of requests."""

    def __init__(self, daemon):
        at = urlsplit(daemon.endpoint)
        self.connection = http.client.HTTPSConnection(at.hostname, at.port, context=ssl.create_default_context(cafile=daemon.ca))
        self.headers = {"Authorization": "Bearer " + daemon.token(), KEY: daemon.env["BATCHAID_TESTING_KEY"]}
        self.headers["Content-Type"] = "application/json"
        self.asked = 0

    def call(self, method, path, body=None):
        self.asked += 1
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        reply = self.connection.getresponse()
        text = reply.read()
        assert reply.status < 400, (method, path, reply.status, text)
        return json.loads(text) if text else None


def one_test(client, subscription):
    client.call("POST", "/batchaid/testing/reset", {"subscription": subscription})
    group = f"/subscriptions/{subscription}/resourceGroups/g"
    place = f"{group}/providers/Microsoft.BatchAI/workspaces/w"
    client.call("PUT", group + API, {"location": "eastus"})
    client.call("PUT", place + API, {"location": "eastus"})
    client.call("PUT", f"{place}/experiments/e{API}", {})
    client.call("PUT", f"{place}/clusters/c{API}", cluster_body(1, vmSize="FAKE"))
    job = f"{place}/experiments/e/jobs/j{API}"
    client.call("PUT", job, job_body(f"{place}/clusters/c", "train"))
    while (state := client.call("GET", job)["properties"]["executionState"]) not in ("succeeded", "failed"):
        pass
    assert state == "failed"  # as the rule says


def measure():
    daemon = Daemon(arguments=["--testing", "--ephemeral"])
    with daemon:
        client = Client(daemon)
        client.call("POST", "/batchaid/testing/rules", {"exitCode": 3, "stdout": ["epoch 1", "epoch 2"]})
        start = time.monotonic()
        for _ in range(TESTS):
            one_test(client, daemon.subscription)
        took = time.monotonic() - start
        client.call("POST", "/batchaid/testing/reset")
    return [Figure(f"{TESTS:,} tests: reset, cluster, scripted job", "s", [took], AIM_S)]

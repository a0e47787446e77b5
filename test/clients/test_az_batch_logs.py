# SPDX-License-Identifier: MIT
"""`az batch node service-logs upload`, with Debian's az and with the newest one, to blobs here."""

import json
import os
import subprocess

import pytest
from support.batch_jobs import Jobs, add_pool
from support.clients import az_of_pypi, environment, needs, needs_names
from support.daemon import BUILD
from support.waiting import PATIENCE


@pytest.fixture(params=["2.45", "2.91"])
def az(request, daemon, store, tmp_path):
    """az(word...) -> what it printed, with the variables of `batchaid env ACCOUNT`."""
    needs("az")
    needs_names()
    folder = "/usr/bin" if request.param == "2.45" else az_of_pypi("2.91.0").parent
    account = {
        "AZURE_BATCH_ACCOUNT": store.name,
        "AZURE_BATCH_ACCESS_KEY": store.batch.keys(store.name)[0],
        "AZURE_BATCH_ENDPOINT": store.plane.url,
    }
    env = environment(daemon, HOME=tmp_path, AZURE_CORE_COLLECT_TELEMETRY="no", AZURE_CORE_ONLY_SHOW_ERRORS="1", **account)
    env["PATH"] = f"{BUILD}:{folder}:{os.environ['PATH']}"

    def run(*words):
        done = subprocess.run(["az", *words], capture_output=True, text=True, env=env, timeout=120 * PATIENCE)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module")
def node(store):
    """The node of a pool that has run a task; its name."""
    add_pool(store.plane, "logged", targetDedicatedNodes=1)
    jobs = Jobs(store.plane, "logged")
    yield jobs().done("/bin/true", id="t")["nodeInfo"]["nodeId"]
    jobs.remove()
    store.plane.remove_pool("logged")


def test_the_logs_of_a_node_are_blobs_of_the_container(az, store, node):
    where = ("--pool-id", "logged", "--node-id", node, "--container-url", store.url())
    told = az("batch", "node", "service-logs", "upload", *where, "--start-time", "2018-06-01T00:00:00Z")
    blobs = store.blobs(told["virtualDirectoryName"])
    assert told["numberOfFilesUploaded"] == len(blobs) and {"daemon.log", "events.log"} <= set(blobs)
    assert f"node={node}" in blobs["daemon.log"] and " to=idle\n" in blobs["events.log"]
    until = ("--start-time", "2018-06-01T00:00:00Z", "--end-time", "2018-06-02T00:00:00Z")
    assert az("batch", "node", "service-logs", "upload", *where, *until)["numberOfFilesUploaded"] == 0

# SPDX-License-Identifier: MIT
"""Published clients of Azure Batch: each takes a pool, a job and its tasks, with a package, a resource file and outputs,
through their life (test/clients/batch, test/clients/go/batch)."""

import re
from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import BlobSasPermissions, generate_blob_sas
from support import operations
from support.batch_packages import package, packaged
from support.clients import PROGRAMS, install, live, needs, needs_names, python_home
from support.daemon import ROOT
from support.go_modules import go_programs
from support.java import compiled, truststore

from test_batch_management import CLIENTS as MANAGEMENT

BATCH = PROGRAMS / "batch"
# Java 17 hides from the package what it looks into.
OPENED = ["--add-opens", "java.base/java.util=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED"]


def python(version):
    """Debian has 13.0; of the others each has an environment of its own."""
    if version == "13.0.0":
        return ["/usr/bin/python3", BATCH / "life.py", version]
    life = "life_15.py" if version.startswith("15.") else "life.py"
    return [python_home(f"azure-batch=={version}") / "bin" / "python", BATCH / life, version]


def node(module):
    needs("node", "npm")
    npm = ["npm", "install", "--no-audit", "--no-fund"]
    home = install("batch packages of npm", npm, files=[BATCH / "node" / "package.json"])
    return ["env", f"NODE_PATH={home}/node_modules", "node", BATCH / "node" / "life.js", module]


def go():
    return [go_programs("go", PROGRAMS / "go") / "batch"]


def java(daemon, folder):
    path = compiled("azure-batch", BATCH / "java", "BatchLife")
    return ["java", *OPENED, *truststore(daemon, folder), "-cp", path, "BatchLife"]


CLIENTS = {
    "python-batch-4.1.3": ("2018-03-01.6.1", lambda *_: python("4.1.3")),
    "python-batch-6.0.1": ("2018-12-01.8.0", lambda *_: python("6.0.1")),
    "python-batch-10.0.0": ("2020-09-01.12.0", lambda *_: python("10.0.0")),
    "python-batch-13.0.0": ("2022-10-01.16.0", lambda *_: python("13.0.0")),
    "python-batch-14.2.0": ("2024-02-01.19.0", lambda *_: python("14.2.0")),
    "python-batch-15.1.0": ("2025-06-01", lambda *_: python("15.1.0")),
    "node-azure-batch-9.0.0": ("2020-03-01.11.0", lambda *_: node("azure-batch")),
    "node-@azure/batch-10.2.0": ("2022-10-01.16.0", lambda *_: node("@azure/batch")),
    "go-batch": ("2020-09-01.12.0", lambda *_: go()),
    "java-batch": ("2024-07-01.20.0", java),
}


@pytest.fixture(scope="module")
def account(daemon, temporary_in_file):
    """What `batchaid env ACCOUNT` adds, a package of the account, and the URL of a blob."""
    needs_names()
    b = temporary_in_file(packaged(daemon))
    package(b, "app01", "1.0", "from a package")
    b.store.share(b.store_name, "inputs", kind="blobs")
    (b.store.folder(b.store_name, "inputs", "blobs") / "blob.txt").write_text("from a blob\n")
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    sas = generate_blob_sas(b.store_name, "inputs", "blob.txt", account_key=b.store.keys(b.store_name)[0],
                            permission=BlobSasPermissions(read=True), expiry=until)  # fmt: skip
    return {
        "AZURE_BATCH_ACCOUNT": b.name,
        "AZURE_BATCH_ACCESS_KEY": b.keys(b.name)[0],
        "AZURE_BATCH_ENDPOINT": f"https://{b.get(b.name)['properties']['accountEndpoint']}",
        "PACKAGE": "app01#1.0",
        "BLOB_URL": f"https://{b.store_name}.blob.core.localhost:{daemon.port}/inputs/blob.txt?{sas}",
    }


@pytest.mark.parametrize("client", CLIENTS)
def test_the_life_of_a_pool_a_job_and_its_tasks(daemon, account, tmp_path, client):
    version, program = CLIENTS[client]
    said = live(daemon, program(daemon, tmp_path), judged_by=operations.BATCH, **account)
    assert said == f"ok {client} {version}"


def test_each_client_of_the_page_is_run():
    """docs/clients.md: each row of the table of Azure Batch's clients names one that a test runs, with its api-version."""
    page = (ROOT / "docs" / "clients.md").read_text().split("\n## Azure Batch\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `?(\w+)`? (.+) \| (\d\S+) \|$", page, re.M)
    told = sorted((language.lower(), version) for language, _, version in rows if language != "az")
    run = [(name.split("-")[0], version) for name, (version, _) in CLIENTS.items()]
    run += [("python", version) for version, _ in MANAGEMENT.values()]
    assert told == sorted(run)
    numbers = {number for _, name, _ in rows for number in re.findall(r"\d+\.\d+\.\d+", name)}
    assert {m[0] for name in [*CLIENTS, *MANAGEMENT] if (m := re.search(r"\d+\.\d+\.\d+$", name))} <= numbers
    # test_az_batch_logs.py and both tests of the walkthrough
    assert [(name, version) for language, name, version in rows if language == "az"] == [
        ("2.45 (Debian 12)", "2022-10-01.16.0"), ("2.91 (PyPI)", "2024-02-01.19.0"),
    ]  # fmt: skip

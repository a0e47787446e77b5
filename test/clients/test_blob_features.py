# SPDX-License-Identifier: MIT
"""The newest package for blobs, with what it has for tags, the archive, append blobs and structured messages."""

import subprocess

import pytest
from support.clients import PROGRAMS, python_home
from support.storage import KEY, StorageDaemon


@pytest.fixture(scope="module")
def daemon():
    with StorageDaemon() as d:
        yield d


def test_what_the_newest_package_has(daemon):
    python = python_home("azure-storage-blob==12.31.1", "azure-storage-extensions==0.1.0") / "bin" / "python"
    done = subprocess.run(
        [python, PROGRAMS / "storage" / "features.py", daemon.blob.url, KEY], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "all right\n"), done.stderr

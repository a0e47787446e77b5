# SPDX-License-Identifier: MIT
"""The tests that azure-batch brings along in its source package, which its makers run against the service: here against
the package for tests (python/batchaid). The framework of their repository is stood in for by sdk_suites/."""

import io
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.clients import install, needs_names, python_home
from support.daemon import BATCHAID, ROOT

HERE = Path(__file__).parent / "sdk_suites"
NAME = "azure-batch-14.2.0"
PACKAGES = (
    "azure-batch==14.2.0", "azure-mgmt-batch==17.3.0", "azure-mgmt-storage==21.2.1", "azure-mgmt-resource==23.1.1",
    "azure-identity==1.17.1", "azure-storage-blob==12.31.1", "msrest==0.7.1", "pytest==7.4.4", "requests==2.32.3",
)  # fmt: skip


def archive():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("hello.txt", "Hello World")
    return out.getvalue()


# What is said in another way here, in which file, and why.
CHANGES = (
    # An application's package is looked at when it is activated, and must be an archive.
    ("batch_preparers.py", "b'Hello World'", repr(archive())),
    # The suite's container is its makers' own.
    ("test_batch.py", '"https://computecontainer.blob.core.windows.net/"', "self.container_url()"),
    # Nodes of virtual machines could not be reimaged then.
    ("test_batch.py", "self.assertBatchError('OperationNotValidOnNode',", "self.served_here("),
)


@pytest.fixture(scope="module")
def python():
    return python_home(*PACKAGES) / "bin" / "python"


@pytest.fixture(scope="module")
def suite():
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--retries", "1", "--no-deps"]
    fetch = [*pip, "--no-binary", ":all:", "--no-build-isolation", "azure-batch==14.2.0"]
    home = install(f"{NAME}-suite", ["sh", "-c", '"$@" || true', "sh", *fetch], ["tar", "xzf", f"{NAME}.tar.gz"])
    return home / NAME / "tests"


def test_the_suite_of_azure_batch_passes(suite, python, tmp_path):
    needs_names()
    shutil.copytree(suite, tmp_path / "suite")
    for name, theirs, ours in CHANGES:
        path = tmp_path / "suite" / name
        text = path.read_text()
        assert text.count(theirs) == 1
        path.write_text(text.replace(theirs, ours))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BATCHA", "AZURE_", "PYTEST", "PYTHON"))}
    env.update(BATCHAID=str(BATCHAID), PYTHONPATH=f"{HERE}:{ROOT / 'python'}", PYTHONDONTWRITEBYTECODE="1")
    argv = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "batchaid.pytest_plugin", "-p", "suite_plugin"]
    done = subprocess.run([*argv, tmp_path / "suite"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "14 passed" in done.stdout

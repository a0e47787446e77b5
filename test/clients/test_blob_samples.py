# SPDX-License-Identifier: MIT
"""The samples of azure-storage-blob, out of its source package, in tests of the package for tests (python/batchaid).

Not run: those that copy from the internet, want a proxy, aiohttp or azure-identity; those with page blobs (hello_world), soft
deletion of blobs (common) or Query Blob Contents, which are not served."""

import os
import subprocess
import sys

import pytest
from support.clients import install, needs_names, python_home
from support.daemon import BATCHAID, ROOT

VERSION = "12.31.1"
SAMPLES = (
    "client_side_encryption", "container_access_policy", "containers", "enumerate_blobs", "network_activity_logging",
    "walk_blob_hierarchy",
)  # fmt: skip
# A test of somebody who tries a sample: an account, its connection string, the sample as it is.
TEST = '''
import base64, os, subprocess
import pytest

KEY = base64.b64encode(b"k" * 64).decode()


@pytest.mark.parametrize("sample", {samples!r})
def test_a_sample_runs(batchaid, sample):
    account = "samples" + sample.replace("_", "")[:16]
    batchaid.seed({{"groups": {{"g": {{"location": "eastus", "storageAccounts": {{account: {{
        "location": "eastus", "kind": "StorageV2", "sku": {{"name": "Standard_LRS"}}, "keys": [KEY, KEY]}}}}}}}}}})
    port = batchaid.cloud.endpoint.rsplit(":", 1)[1]
    blobs = f"https://{{account}}.blob.core.localhost:{{port}}"
    text = f"DefaultEndpointsProtocol=https;AccountName={{account}};AccountKey={{KEY}};BlobEndpoint={{blobs}};"
    done = subprocess.run([{python!r}, os.path.join({folder!r}, f"blob_samples_{{sample}}.py")], capture_output=True, text=True,
                          timeout=100, env={{**os.environ, "STORAGE_CONNECTION_STRING": text}})
    assert done.returncode == 0, done.stdout + done.stderr
'''


@pytest.fixture(scope="module")
def samples():
    """Their folder, with what they send."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--retries", "1", "--no-deps"]
    name = f"azure_storage_blob-{VERSION}"
    fetch = [*pip, "--no-binary", ":all:", "--no-build-isolation", f"azure-storage-blob=={VERSION}"]
    unpack = ["tar", "xzf", f"{name}.tar.gz"]
    home = install(f"azure-storage-blob-samples-{VERSION}", ["sh", "-c", '"$@" || true', "sh", *fetch], unpack)
    folder = home / name / "samples"
    (folder / "SampleSource.txt").write_text("what a sample sends\n" * 100)
    return folder


def test_the_samples_of_azure_storage_blob_run(samples, tmp_path):
    needs_names()
    python = str(python_home(f"azure-storage-blob=={VERSION}", "azure-storage-file-share==12.27.1") / "bin" / "python")
    (tmp_path / "test_samples.py").write_text(TEST.format(samples=SAMPLES, python=python, folder=str(samples)))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BATCHA", "AZURE_", "PYTEST", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "batchaid.pytest_plugin", tmp_path], cwd=tmp_path,
        env={**env, "BATCHAID": str(BATCHAID), "PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(SAMPLES)} passed" in done.stdout

# SPDX-License-Identifier: MIT
"""The samples of Azure's SDKs, out of their source packages, in tests of the package for tests (etc/wheel/batchaid).

Not run: of blobs those that copy from the internet, want a proxy, page blobs (hello_world), soft deletion of blobs (common),
Query Blob Contents or an account of Azure Active Directory's (authentication); of file shares those of snapshots (share)."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.clients import install, needs_names, python_home
from support.daemon import BATCHAID, ROOT

HERE = Path(__file__).parent / "sdk_samples"
WITH = ("azure-identity==1.17.1", "aiohttp==3.11.11", "pytest==7.4.4")


@dataclass
class Samples:
    package: str
    version: str
    kind: str
    names: tuple
    needs: tuple = ()

    @property
    def folder(self):
        return f"{self.package.replace('-', '_')}-{self.version}"


def both(prefix, *names):
    """Each as it is written with and without asyncio."""
    return tuple(f"{prefix}{name}{more}" for name in names for more in ("", "_async"))


BLOBS = Samples(
    "azure-storage-blob", "12.31.1", "blob",
    (
        "blob_samples_client_side_encryption", "blob_samples_network_activity_logging", "blob_samples_walk_blob_hierarchy",
        *both("blob_samples_", "container_access_policy", "containers", "enumerate_blobs"),
    ),
    ("azure-storage-file-share==12.27.1",),
)  # fmt: skip
FILES = Samples(
    "azure-storage-file-share", "12.21.0", "file",
    both("file_samples_", "authentication", "client", "directory", "hello_world", "service"),
)  # fmt: skip
SECRETS = Samples(
    "azure-keyvault-secrets", "4.12.0", "vault",
    both("", "hello_world", "list_operations", "backup_restore_operations", "recover_purge_operations"),
)  # fmt: skip


def samples_of(samples):
    """Their folder, with what they send."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--retries", "1", "--no-deps"]
    fetch = [*pip, "--no-binary", ":all:", "--no-build-isolation", f"{samples.package}=={samples.version}"]
    unpack = ["tar", "xzf", f"{samples.folder}.tar.gz"]
    home = install(f"{samples.package}-samples-{samples.version}", ["sh", "-c", '"$@" || true', "sh", *fetch], unpack)
    folder = home / samples.folder / "samples"
    (folder / "SampleSource.txt").write_text("what a sample sends\n" * 100)
    return folder


@pytest.mark.parametrize("samples", [BLOBS, FILES, SECRETS], ids=lambda s: s.package)
def test_the_samples_of_a_package_run(samples, tmp_path):
    needs_names()
    python = python_home(f"{samples.package}=={samples.version}", *samples.needs, *WITH) / "bin" / "python"
    folder = samples_of(samples)
    shutil.copy(HERE / "samples.py", tmp_path / "test_samples.py")
    shutil.copy(HERE / "run_sample.py", tmp_path)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BATCHA", "AZURE_", "PYTEST", "PYTHON"))}
    env.update(BATCHAID=str(BATCHAID), PYTHONPATH=str(ROOT / "etc/wheel"), PYTHONDONTWRITEBYTECODE="1")
    env.update(SAMPLES=str(folder), SAMPLES_KIND=samples.kind, SAMPLES_NAMES=" ".join(samples.names))
    argv = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "batchaid.pytest_plugin", tmp_path]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(samples.names)} passed" in done.stdout

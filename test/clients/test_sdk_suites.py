# SPDX-License-Identifier: MIT
"""The tests that azure-batch and azure-mgmt-batch bring along in their source packages, which their makers run against the
service: here against the package for tests (etc/wheel/batchaid). The framework of their repository is stood in for by
sdk_suites/."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.clients import install, needs_names, python_home
from support.daemon import BATCHAID, ROOT

HERE = Path(__file__).parent / "sdk_suites"
FRAMEWORK = (
    "azure-mgmt-storage==21.2.1", "azure-mgmt-resource==23.1.1", "azure-identity==1.17.1", "azure-storage-blob==12.31.1",
    "msrest==0.7.1", "pytest==7.4.4", "requests==2.32.3",
)  # fmt: skip


@dataclass
class Suite:
    name: str
    version: str
    passed: int
    needs: tuple
    # What is said in another way here: in which file, what, how.
    changes: tuple
    # Their tests that are not run.
    without: tuple = ()

    @property
    def package(self):
        return f"{self.name}=={self.version}"

    @property
    def folder(self):
        return f"{self.name}-{self.version}"


BATCH = Suite(
    "azure-batch",
    "14.2.0",
    14,
    ("azure-mgmt-batch==17.3.0",),
    (
        # The suite's container is its makers' own.
        ("test_batch.py", '"https://computecontainer.blob.core.windows.net/"', "self.container_url()"),
        # Nodes of virtual machines could not be reimaged then.
        ("test_batch.py", "self.assertBatchError('OperationNotValidOnNode',", "self.served_here("),
    ),
)
MANAGEMENT = Suite(
    "azure-mgmt-batch",
    "17.3.0",
    5,
    (
        "azure-mgmt-keyvault==10.3.1", "azure-mgmt-network==25.4.0", "azure-devtools==1.2.0", "python-dotenv==1.0.1",
    ),
    (("test_mgmt_batch.py", "time.sleep(15)", "pass"),),
    (
        "list_operations",  # asserts the first operation of a list that is the service's own
        "subscription_quota",  # asserts the quota of its makers' subscription
        "account_advanced",  # makes a virtual network
    ),
)  # fmt: skip


def home_of(suite):
    """Where its source package is unpacked."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--retries", "1", "--no-deps"]
    fetch = [*pip, "--no-binary", ":all:", "--no-build-isolation", suite.package]
    unpack = ["tar", "xzf", f"{suite.folder}.tar.gz"]
    return install(f"{suite.folder}-suite", ["sh", "-c", '"$@" || true', "sh", *fetch], unpack) / suite.folder / "tests"


def say_in_another_way(folder, changes):
    for name, theirs, ours in changes:
        path = folder / name
        text = path.read_text()
        assert text.count(theirs) == 1
        path.write_text(text.replace(theirs, ours))


@pytest.mark.parametrize("suite", [BATCH, MANAGEMENT], ids=lambda s: s.name)
def test_the_suite_of_a_package_passes(suite, tmp_path):
    needs_names()
    python = python_home(suite.package, *suite.needs, *FRAMEWORK) / "bin" / "python"
    shutil.copytree(home_of(suite), tmp_path / "suite")
    say_in_another_way(tmp_path / "suite", suite.changes)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BATCHA", "AZURE_", "PYTEST", "PYTHON"))}
    env.update(BATCHAID=str(BATCHAID), PYTHONPATH=f"{HERE}:{ROOT / 'etc/wheel'}", PYTHONDONTWRITEBYTECODE="1")
    env["AZURE_TEST_RUN_LIVE"] = "yes"
    argv = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "batchaid.pytest_plugin", "-p", "suite_plugin"]
    argv += ["-k", " and ".join(f"not {name}" for name in suite.without) or "test"]
    done = subprocess.run([*argv, tmp_path / "suite"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{suite.passed} passed" in done.stdout

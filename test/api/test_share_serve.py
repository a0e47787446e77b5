# SPDX-License-Identifier: MIT
"""A machine's key opens an SFTP server that has the folders of this key and nothing else. It is asked here packet by
packet, by a machine that wants more: with a namespace and Landlock, with each alone, as root and as an ordinary user."""

import os
import subprocess

import pytest
from support.daemon import BATCHAID
from support.sftp import EXTENDED, LSTAT, MKDIR, READLINK, REMOVE, RENAME, SETSTAT, STAT, SYMLINK, Refused, Sftp, refused
from support.someone import CREATE_RULESET, UID, UNSHARE, as_someone, without_calls

WAYS = {"both": [], "namespace": [CREATE_RULESET], "landlock": [UNSHARE]}
SERVERS = {"dev", "etc", "lib", "lib64", "passwd", "shares", "usr"}  # the root of sftp-server and its libraries
MINE, OTHER = "acct/files/data", "acct/files/other"


class Head:
    """The daemon's machine: a state directory with a secret and two shares."""

    def __init__(self, folder):
        self.state, self.storage, self.keys = folder / "state", folder / "state/storage", folder / "state/keys"
        self.keys.mkdir(parents=True)
        for share in (MINE, OTHER):
            (self.storage / share).mkdir(parents=True)
            (self.storage / share).chmod(0o777)
            (self.storage / share / "file").write_text(share)
        self.secret = self.state / "token.key"
        self.secret.write_text("secret")
        self.secret.chmod(0o600)

    def give_to(self, uid):
        subprocess.run(["chown", "-R", f"{uid}:{uid}", self.state], check=True)

    def key(self, name, *folders, account=0):
        lines = ["key x", f"storage {self.storage}", f"account {account}", *(f"folder {f}" for f in folders)]
        (self.keys / name).write_text("\n".join(lines) + "\n")
        return self.keys / name


@pytest.fixture(params=["root", "someone"])
def head(request, tmp_path):
    if os.geteuid() != 0 and request.param == "root":
        pytest.skip("needs root")
    head = Head(tmp_path)
    head.whose = as_someone() if request.param == "someone" else []
    if head.whose:
        for folder in (tmp_path, *tmp_path.parents[:2]):
            folder.chmod(0o755)
        head.give_to(UID)
    return head


@pytest.fixture(params=WAYS)
def sftp(request, head):
    head.way = request.param
    calls = WAYS[request.param]
    limits = without_calls(*calls) if calls else []
    with Sftp([*head.whose, *limits, BATCHAID, "share-serve", head.key("m1", MINE)]) as it:
        yield it


def test_the_share_is_used_like_any_folder(sftp, head):
    assert sftp.read(f"{MINE}/file") == MINE.encode()
    sftp.write(f"{MINE}/new", b"hello")
    assert (head.storage / MINE / "new").read_text() == "hello"
    sftp.ask(MKDIR, f"{MINE}/folder", 0)
    sftp.ask(RENAME, f"{MINE}/new", f"{MINE}/folder/moved")
    assert sftp.names(f"{MINE}/folder") == {"moved"}
    sftp.ask(REMOVE, f"{MINE}/folder/moved")
    if head.way != "landlock" or not head.whose:
        sftp.write(f"{MINE}/own", b"")
        sftp.set_mode(f"{MINE}/own", 0o700)
        assert (head.storage / MINE / "own").stat().st_mode & 0o777 == 0o700


def test_nothing_else_is_read_written_or_listed(sftp, head):
    state, storage = head.state, head.storage
    (storage / MINE / "out").symlink_to(head.secret)
    (storage / MINE / "up").symlink_to(f"../../../../{head.secret.name}")
    (storage / MINE / "root").symlink_to("/")
    secrets = [head.secret, f"..{head.secret}", "../" * 12 + str(head.secret)[1:], "../token.key",
               f"{MINE}/../../../../token.key", f"{MINE}/out", f"{MINE}/up", f"{MINE}/root{head.secret}",
               f"/proc/self/root{head.secret}", f"/proc/{os.getpid()}/root{head.secret}",
               "/etc/shadow", "/etc/group", f"{OTHER}/file", storage / OTHER / "file",
               head.keys / "m1", "/proc/self/environ", "/proc/self/mem", f"/proc/{os.getpid()}/environ"]  # fmt: skip
    for path in map(str, secrets):
        assert refused(sftp.open, path), path
        assert refused(sftp.open, path, 2 | 8), path
        assert refused(sftp.open, path, 2 | 8 | 16), path  # cut to nothing
        assert refused(sftp.ask, REMOVE, path) or path.startswith(MINE), path
        assert refused(sftp.ask, RENAME, path, f"{MINE}/stolen") or path.startswith(MINE), path
    allowed = {"data", "acct", "files"} | (SERVERS if head.way == "namespace" else set())
    for folder in ("/", "..", "/etc", "/proc", "/tmp", "/root", state, storage, f"{MINE}/..", OTHER, f"{MINE}/root"):
        names = set() if refused(sftp.names, str(folder)) else sftp.names(str(folder))
        assert names <= allowed, (folder, names)
        assert refused(sftp.write, f"{folder}/made", b"x"), folder
        assert refused(sftp.ask, MKDIR, f"{folder}/made", 0), folder
        assert refused(sftp.ask, SYMLINK, "/", f"{folder}/made"), folder
    assert head.secret.read_text() == "secret"


def test_a_hard_link_to_a_secret_is_not_made(sftp, head):
    assert refused(sftp.ask, EXTENDED, "hardlink@openssh.com", str(head.secret), f"{MINE}/hard")
    assert refused(sftp.ask, EXTENDED, "posix-rename@openssh.com", str(head.secret), f"{MINE}/hard")
    assert refused(sftp.ask, EXTENDED, "hardlink@openssh.com", f"{OTHER}/file", f"{MINE}/hard")


def test_modes_of_the_daemons_own_files_stay(sftp, head):
    for path in (head.secret, head.state, head.storage, head.storage / OTHER / "file", head.keys / "m1"):
        before = path.stat().st_mode
        assert refused(sftp.set_mode, str(path), 0o777)
        assert refused(sftp.ask, SETSTAT, str(path), 1, bytes(8))  # the size
        assert refused(sftp.ask, SETSTAT, str(path), 8, bytes(8))  # the times
        assert path.stat().st_mode == before
    assert head.secret.read_text() == "secret"


@pytest.mark.parametrize("sftp", ["both", "namespace"], indirect=True)  # Landlock alone hides contents, not names
def test_a_root_of_its_own_does_not_even_show_names(sftp, head):
    for path in (head.secret, head.state, head.storage / OTHER, f"/shares/{OTHER}", "/root", "/home", "/proc/1"):
        for ask in (STAT, LSTAT, READLINK):
            with pytest.raises(Refused) as why:
                sftp.ask(ask, str(path))
            assert why.value.code in (2, 3, 4)
            assert ask == READLINK or why.value.code == 2, path


def test_a_key_that_was_taken_back_opens_nothing(head):
    with pytest.raises(ConnectionError, match="this key was taken back"):
        Sftp([*head.whose, BATCHAID, "share-serve", head.keys / "gone"])


def test_a_folder_outside_the_storage_directory_is_no_share(head):
    with pytest.raises(ConnectionError, match="is not a path below the storage directory"):
        Sftp([*head.whose, BATCHAID, "share-serve", head.key("m2", "../..")])


def test_without_any_confinement_it_serves_nothing(head):
    limits = without_calls(CREATE_RULESET, UNSHARE)
    with pytest.raises(ConnectionError, match="neither Landlock .* nor mount namespaces"):
        Sftp([*head.whose, *limits, BATCHAID, "share-serve", head.key("m1", MINE)])


def test_root_gives_its_rights_up(head):
    if head.whose:
        pytest.skip("root alone has rights to give up")
    folder = head.storage / MINE
    (folder / "closed").write_text("x")
    (folder / "closed").chmod(0o600)
    with Sftp([BATCHAID, "share-serve", head.key("m1", MINE, account=2100000000)]) as sftp:
        assert refused(sftp.open, f"{MINE}/closed")
        sftp.write(f"{MINE}/new", b"")
        assert (folder / "new").stat().st_uid == 2100000000

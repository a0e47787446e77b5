# SPDX-License-Identifier: MIT
"""serve --ephemeral: a daemon that leaves nothing, however it ends."""

import os
import shutil
import subprocess
import tempfile

import pytest
from azure.storage.blob import BlobServiceClient
from support.daemon import BATCHAID, ROOT, Daemon, processes_of
from support.failing import environment
from support.ports import free_port
from support.storage import KEY, StorageDaemon
from support.waiting import wait_for
from support.world import Place

EPHEMERAL = ["--ephemeral"]


@pytest.fixture
def daemon():
    d = Daemon(arguments=EPHEMERAL)
    yield d.start()
    assert d.close() == []


def busy(d):
    """A place with a job that runs."""
    place = Place(d).make()
    job = place.job(place.cluster(), "(setsid sleep 7531 &) ; sleep 7532").running()
    nodes = d.state_dir / "nodes"
    wait_for(lambda: sum("sleep" in text for text in processes_of(nodes).values()) >= 2, what="its processes")
    return place


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_nothing_is_left(daemon, how):
    """No file, no mount and no process, also of a job that runs."""
    busy(daemon)
    own = daemon.state_dir
    if how == "stopped":
        assert daemon.stop() == 0
        assert not own.exists()
    else:
        daemon.kill9()
    wait_for(lambda: not own.exists() and not processes_of(own), what="all to be gone")
    assert str(own) not in open("/proc/self/mountinfo").read()


def test_a_directory_of_its_own_in_tmpdir(tmp_path):
    argv = [BATCHAID, "serve", "--ephemeral", "--listen", "localhost:0"]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    p = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert p.stdout.readline().startswith("ready https://")
        (made,) = tmp_path.iterdir()
        assert made.stat().st_mode & 0o777 in (0o700, 0o711) and (made / "ca.pem").exists()
    finally:
        p.terminate()
        _, log = p.communicate(timeout=30)
    assert p.returncode == 0 and str(made) in log
    assert not list(tmp_path.iterdir())


# --- what it finds at the start ---------------------------------------------------------------------


class Own:
    """A daemon in a directory of its own choice, which is in `place`."""

    def __init__(self, place, *arguments, port=0, **more):
        env = {**os.environ, "TMPDIR": str(place), **more.pop("env", {})}
        env = {name: value for name, value in env.items() if value is not None}
        argv = [BATCHAID, "serve", "--ephemeral", "--listen", f"localhost:{port}", *arguments]
        self.process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def ready(self):
        return self.process.stdout.readline().startswith("ready https://")

    def end(self):
        self.process.terminate()
        return self.process.communicate(timeout=30)[1]


def kill_with_remover(p):
    """As the kernel does where memory runs out, or who stops a container."""
    children = subprocess.run(["pgrep", "-P", str(p.pid)], capture_output=True, text=True, check=True).stdout.split()
    for pid in children:
        if open(f"/proc/{pid}/comm").read().strip() == "batchaid-remove":
            os.kill(int(pid), 9)
    p.kill()
    p.communicate()


def test_the_next_one_removes_what_a_killed_one_has_left(tmp_path):
    """Not what another one is in, nor what only has such a name."""
    (other := tmp_path / "batchaid-mine00").mkdir()
    (other / "precious").write_text("data")
    living, killed = Own(tmp_path), Own(tmp_path)
    assert living.ready() and killed.ready()
    before = set(tmp_path.iterdir())
    kill_with_remover(killed.process)
    assert set(tmp_path.iterdir()) == before, "nobody was left to remove it"
    after = Own(tmp_path)
    assert after.ready()
    wait_for(lambda: len(before & set(tmp_path.iterdir())) == len(before) - 1, what="it is gone")
    for own in (living, after):
        own.end()
        assert own.process.returncode == 0
    assert list(tmp_path.iterdir()) == [other] and (other / "precious").read_text() == "data"


def test_of_two_at_once_at_one_port_one_serves(tmp_path):
    port = free_port()
    both = [Own(tmp_path, port=port) for _ in range(2)]
    ready = [own.ready() for own in both]
    assert sorted(ready) == [False, True]
    logs = [own.end() for own in both]
    assert f"port {port}: Address already in use" in logs[ready.index(False)]
    assert [own.process.returncode for own in both] == [1 - r for r in ready]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("without", ["HOME", "PATH", "USER"])
def test_it_needs_no_variable(tmp_path, without):
    own = Own(tmp_path, env={without: None})
    assert own.ready()
    own.end()
    assert own.process.returncode == 0 and list(tmp_path.iterdir()) == []


def test_it_needs_no_standard_input(tmp_path):
    own = Own(tmp_path, preexec_fn=lambda: os.close(0))
    assert own.ready()
    own.end()
    assert own.process.returncode == 0 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_a_place_where_nothing_can_be_made_is_named(tmp_path, place):
    (tmp_path / "file").touch()
    own = Own(tmp_path / place)
    assert not own.ready()
    log = own.process.communicate(timeout=30)[1]
    assert own.process.returncode == 1 and str(tmp_path / place) in log and "TMPDIR" in log and "--state-dir" in log
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_on_a_full_disk_it_says_so_and_leaves_nothing(tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "none", tmp_path], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        own = Own(tmp_path)
        assert not own.ready()
        log = own.process.communicate(timeout=30)[1]
        assert own.process.returncode == 1 and "No space left on device" in log
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_what_lies_elsewhere_is_not_touched(daemon, tmp_path):
    """A share whose folder is a link to a folder of the site, mounted on a node."""
    tmp_path.chmod(0o777)
    (tmp_path / "precious").write_text("data")
    folder = daemon.state_dir / "storage" / "acct" / "files"
    folder.mkdir(parents=True)
    (folder / "out").symlink_to(tmp_path)
    place = Place(daemon).make()
    job = place.job(place.cluster(), "cat $AZ_BATCHAI_MOUNT_ROOT/out/precious").succeeded()
    assert daemon.stop() == 0
    assert not daemon.state_dir.exists() and (tmp_path / "precious").read_text() == "data"


def test_users_programs_that_know_the_directory_go_on(daemon):
    """Their environment is what `batchaid env` prints."""
    env = {**os.environ, **daemon.env}
    assert any(str(daemon.state_dir) in value for value in env.values())
    other = subprocess.Popen(["sleep", "100"], env=env)
    busy(daemon)
    assert daemon.stop() == 0
    assert other.poll() is None
    other.kill()
    other.wait()


def test_mounts_below_a_directory_with_a_blank_are_removed(tmp_path):
    place = tmp_path / "a \\ b"
    own = Own(tmp_path, "--state-dir", str(place))
    assert own.ready()
    (place / "mounted").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", place / "mounted"], capture_output=True).returncode:
        own.end()
        pytest.skip("no file system can be mounted here")
    try:
        (place / "mounted" / "file").touch()
        own.end()
        assert own.process.returncode == 0 and list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", place / "mounted"], capture_output=True)


def test_a_backup_of_its_database_is_refused_with_the_reason(daemon, tmp_path):
    done = daemon.tool("backup", str(tmp_path / "copy"), check=False)
    assert done.returncode == 1 and "an ephemeral daemon keeps it to itself" in done.stderr and "batchaid dump" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_something_in_it_is_refused(tmp_path):
    (tmp_path / "precious").write_text("data")
    argv = [BATCHAID, "serve", "--ephemeral", "--state-dir", tmp_path, "--listen", "localhost:0"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "does not exist yet, or is empty" in done.stderr and str(tmp_path) in done.stderr
    assert [e.name for e in tmp_path.iterdir()] == ["precious"]


def test_nothing_is_synced_from_the_start_on(library, tmp_path):
    count = tmp_path / "count"
    count.touch()
    with StorageDaemon(arguments=EPHEMERAL, environment=environment(library, "sync", 0, count)) as d:
        Place(d).make()
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        for size in (10, 1 << 20):
            put = d.blob.call("PUT", f"/box/{size}", bytes(size), x_ms_blob_type="BlockBlob")
            assert put.status == 201, put
        assert count.stat().st_size == 0


@pytest.fixture
def memory():
    if not os.access("/dev/shm", os.W_OK) or shutil.disk_usage("/dev/shm").free < 1 << 28:
        pytest.skip("no file system in memory with room")
    with tempfile.TemporaryDirectory(prefix="batchaid-test-", dir="/dev/shm") as d:
        yield d


def test_blobs_in_memory_are_as_elsewhere(memory):
    """Small ones and large ones, whose bytes are freed beside the loop; put, put over, read, listed, removed."""
    large, small = os.urandom(1 << 20) * 40, b"small"
    with StorageDaemon(state_dir=memory, arguments=EPHEMERAL) as d:
        client = BlobServiceClient(d.blob.url, credential=KEY, max_single_put_size=4 << 20)
        box = client.create_container("box")
        for body in (large, small, large, small):
            box.upload_blob("b", body, overwrite=True)
            assert box.download_blob("b").readall() == body
        for n in range(20):
            box.upload_blob(f"n/{n}", large[:n])
        box.upload_blob("large", large)
        assert sorted(b.size for b in box.list_blobs(name_starts_with="n/")) == list(range(20))
        pieces = box.download_blob("large", max_concurrency=1).chunks()
        begun = next(pieces)
        box.delete_blob("large")
        assert large.startswith(begun) and not [b for b in box.list_blobs(name_starts_with="large")]
        client.delete_container("box")


# The second is ready, but `batchaid env` fails.
@pytest.mark.parametrize("ready", ["", "ready https://localhost:1"])
def test_a_cloud_that_does_not_start_leaves_nothing(ready, tmp_path, monkeypatch):
    stand_in = tmp_path / "batchaid"
    stand_in.write_text(f"#!/bin/sh\n[ $1 = serve ] || exit 1\necho '{ready}'\n[ -z '{ready}' ] || exec sleep 7533\n")
    stand_in.chmod(0o755)
    (own := tmp_path / "own").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    monkeypatch.setenv("TMPDIR", str(own))
    monkeypatch.setenv("BATCHAID", str(stand_in))
    monkeypatch.syspath_prepend(str(ROOT / "etc/wheel"))
    from batchaid.cloud import Cloud

    cloud = Cloud()
    with pytest.raises((RuntimeError, subprocess.CalledProcessError)), cloud:
        pass
    assert cloud.process is None and not list(own.iterdir())

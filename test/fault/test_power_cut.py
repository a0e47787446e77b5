# SPDX-License-Identifier: MIT
"""A power cut: what was acknowledged is there, whole, when the machine is on again. The state directory is a disk of
its own; what that disk holds at one moment, without what only the kernel has, is what a power cut leaves."""

import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from support.storage import StorageDaemon
from support.waiting import wait_for

WRITERS, NAMES, ENOUGH, CUTS = 6, 40, 400, 5


def mount(image, state):
    done = subprocess.run(["mount", "-o", "loop,noatime", image, state], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a disk in a file cannot be mounted here: {done.stderr.strip()}")


def umount(state):
    subprocess.run(["umount", state], check=True)


@pytest.fixture
def disk():
    """A directory whose folder `state` is a disk in the file `image`."""
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("needs root and mkfs.ext4")
    where = Path(tempfile.mkdtemp(prefix="batchaid-test-"))
    (where / "state").mkdir()
    with open(where / "image", "wb") as f:
        f.truncate(256 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", where / "image"], check=True)
    mount(where / "image", where / "state")
    (where / "state").chmod(0o711)
    try:
        yield where
    finally:
        while os.path.ismount(where / "state"):
            umount(where / "state")
        shutil.rmtree(where, ignore_errors=True)  # the daemon may have removed it


class Writer(threading.Thread):
    """Puts blobs, half of them over and over, and deletes some of these; knows which bytes of each were acknowledged
    last (None: that it is gone), and which were on their way."""

    def __init__(self, plane, number):
        super().__init__()
        self.plane, self.number = plane, number
        self.acknowledged, self.asked = {}, {}
        self.going = True

    def run(self):
        n = 0
        while self.going:
            n += 1
            name = f"w{self.number}/" + (f"again{n % NAMES}" if n % 2 else f"once/{n}")
            deletes = n % 2 and self.acknowledged.get(name) and n % 5 == 0
            body = None if deletes else f"{name} {n} ".encode() * (1 + n % 300)
            self.asked[name] = body
            try:
                if deletes:
                    done = self.plane.call("DELETE", f"/box/{name}").status == 202
                else:
                    done = self.plane.call("PUT", f"/box/{name}", body, x_ms_blob_type="BlockBlob").status == 201
            except OSError:
                return
            if done:
                self.acknowledged[name] = body


class Appender(threading.Thread):
    """Appends to a blob of its own; knows what was acknowledged, and what was on its way."""

    def __init__(self, plane, number):
        super().__init__()
        self.plane, self.name = plane, f"log{number}"
        self.acknowledged, self.asked = {self.name: b""}, {self.name: b""}
        self.going = True

    def run(self):
        assert self.plane.call("PUT", f"/box/{self.name}", b"", x_ms_blob_type="AppendBlob").status == 201
        n = 0
        while self.going:
            n += 1
            piece = f"{self.name} {n} ".encode() * (1 + n % 100)
            self.asked[self.name] = self.acknowledged[self.name] + piece
            try:
                done = self.plane.call("PUT", f"/box/{self.name}?comp=appendblock", piece).status == 201
            except OSError:
                return
            if done:
                self.acknowledged[self.name] = self.asked[self.name]


def cut(d, where, writers):
    """The disk as it is while the daemon stands still, and what had been acknowledged by then."""
    os.kill(d.process.pid, signal.SIGSTOP)
    known = [(dict(w.acknowledged), dict(w.asked)) for w in writers]
    subprocess.run(["cp", "--sparse=always", where / "image", where / "after"], check=True)
    for w in writers:
        w.going = False
    d.kill9()
    for w in writers:
        w.join()
    umount(where / "state")
    (where / "after").rename(where / "image")
    mount(where / "image", where / "state")
    return known


def rows_of_another_boot(state):
    """How many puts the journal has. The kernel of this test has not started anew, so the rows must say so."""
    with closing(sqlite3.connect(next(state.glob("*.db")), isolation_level=None)) as db:
        return db.execute("UPDATE kept_put SET boot = 'before'").rowcount


def cuts(d, disk, writer, enough):
    """What was acknowledged and what was asked by each writer at each power cut, until a cut that cost something: when
    the disk had written all by itself just before, the cut shows nothing, and another is made."""
    for attempt in range(CUTS):
        writers = [writer(d.blob, f"{attempt}-{i}") for i in range(WRITERS)]
        for w in writers:
            w.start()
        wait_for(lambda writers=writers: enough(writers), what="writes")
        known = cut(d, disk, writers)
        kept = rows_of_another_boot(disk / "state")
        d.start()
        yield known
        if kept > 0 and any("journal.restored" in line for line in d.log()):
            return
    pytest.fail(f"{CUTS} power cuts cost nothing: they show nothing")


@pytest.fixture
def daemon(disk):
    with StorageDaemon(state_dir=disk) as d:
        d.expect_log("journal.restored")
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        yield d


def test_acknowledged_blobs_outlive_a_power_cut(daemon, disk):
    for known in cuts(daemon, disk, Writer, lambda writers: sum(len(w.acknowledged) for w in writers) >= ENOUGH):
        for acknowledged, asked in known:
            for name in asked:
                got = daemon.blob.call("GET", f"/box/{name}")
                may_be = {acknowledged.get(name), asked[name]}
                assert got.status in (200, 404)
                is_there = got.body if got.status == 200 else None
                assert is_there in may_be, f"{name} is torn or lost, or is there again: {is_there and is_there[:80]!r}"
                if is_there:
                    assert got.headers["content-md5"], "what was noted of it still counts"


def test_what_was_appended_outlives_a_power_cut(daemon, disk):
    def enough(writers):
        return sum(len(w.acknowledged[w.name]) for w in writers) >= ENOUGH * 500

    for known in cuts(daemon, disk, Appender, enough):
        for acknowledged, asked in known:
            for name in asked:
                got = daemon.blob.call("GET", f"/box/{name}")
                assert got.status == 200 and got.headers["x-ms-blob-type"] == "AppendBlob", got
                assert got.body in (acknowledged[name], asked[name]), f"{name} is torn: {len(got.body)} bytes"

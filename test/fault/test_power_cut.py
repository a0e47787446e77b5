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
from xml.etree import ElementTree

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
        d.expect_log("journal.change_settled")  # a change that the cut met halfway
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


PIECE = b"piece " * 20
TAGS = b"<?xml version='1.0'?><Tags><TagSet><Tag><Key>v</Key><Value>2</Value></Tag></TagSet></Tags>"


def tier(name):
    return "PUT", "?comp=tier", b"", {"x_ms_access_tier": name}


class Changer(threading.Thread):
    """Takes each of its blobs through all steps of its kind; knows how many were acknowledged, and were asked for."""

    def __init__(self, plane, number):
        super().__init__()
        self.plane, self.number = plane, number
        self.acknowledged, self.asked = {}, {}
        self.going = True

    def steps(self, kind):
        """Each with what is seen of the blob after it: its length, tier, seal, and the tag by which it is found."""
        put = ("PUT", "", PIECE, {"x_ms_blob_type": "BlockBlob", "x_ms_tags": "v=1"})
        make = ("PUT", "", b"", {"x_ms_blob_type": "AppendBlob"})
        add = ("PUT", "?comp=appendblock", b"", {"x_ms_copy_source": f"{self.plane.url}/box/source"})
        n = str(len(PIECE))
        return {
            "block": [
                (put, (n, "Hot", None, "1")),
                (("PUT", "?comp=tags", TAGS, {}), (n, "Hot", None, "2")),
                (tier("Archive"), (n, "Archive", None, "2")),
                (tier("Cool"), (n, "Cool", None, "2")),
            ],
            "append": [
                (make, ("0", None, None, None)),
                (add, (n, None, None, None)),
                (add, (str(2 * len(PIECE)), None, None, None)),
                (("PUT", "?comp=seal", b"", {}), (str(2 * len(PIECE)), None, "true", None)),
            ],
        }[kind]

    def run(self):
        n = 0
        while self.going:
            n += 1
            name = f"{'block' if n % 2 else 'append'}/{self.number}/{n}"
            for step, ((method, query, body, headers), _) in enumerate(self.steps(name.split("/")[0]), 1):
                self.asked[name] = step
                try:
                    done = self.plane.call(method, f"/box/{name}{query}", body, **headers).status
                except OSError:
                    return
                assert done in (200, 201, 202, 204), (name, step, done)
                self.acknowledged[name] = step


def found(plane):
    """The tag v of each blob that is found by it."""
    tags, marker = {}, ""
    while True:
        got = plane.call("GET", f"/box?restype=container&comp=blobs&where=v%3E%3D%270%27&marker={marker}")
        root = ElementTree.fromstring(got.body.decode("utf-8-sig"))
        tags |= {b.findtext("Name"): b.findtext("Tags/TagSet/Tag/Value") for b in root.iter("Blob")}
        marker = root.findtext("NextMarker")
        if not marker:
            return tags


def test_changes_of_tags_tiers_and_seals_outlive_a_power_cut(daemon, disk):
    plane = daemon.blob
    plane.call("PUT", "/box?restype=container&comp=acl", x_ms_blob_public_access="blob")
    plane.call("PUT", "/box/source", PIECE, x_ms_blob_type="BlockBlob")
    for known in cuts(daemon, disk, Changer, lambda writers: sum(len(w.acknowledged) for w in writers) >= ENOUGH // 4):
        tags = found(plane)
        for acknowledged, asked in known:
            for name, last in asked.items():
                steps = [None, *(after for _, after in Changer(plane, 0).steps(name.split("/")[0]))]
                head = plane.call("HEAD", f"/box/{name}").headers
                seen = (head["Content-Length"], head["x-ms-access-tier"], head["x-ms-blob-sealed"], tags.get(name))
                seen = seen if head["x-ms-blob-type"] else None
                assert seen in (steps[acknowledged.get(name, 0)], steps[last]), f"{name} is {seen} after step {last}"
                assert (name in tags) == bool(seen and seen[3]), "what is not there is found"

# SPDX-License-Identifier: MIT
"""A backup of the database is put back beside folders of shares and containers that went on."""

import base64
import hashlib
import os
import sqlite3
from contextlib import closing

import pytest
from support.storage import StorageDaemon


def md5(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


def block_list(*ids):
    latest = "".join(f"<Latest>{base64.b64encode(i).decode()}</Latest>" for i in ids)
    return f"<BlockList>{latest}</BlockList>".encode()


class Kept:
    """A daemon of which a backup was made; back() puts it back."""

    def __init__(self, d):
        self.d, self.copy = d, d.dir / "backup.db"

    def back_up(self):
        self.d.tool("backup", str(self.copy))

    def back(self):
        self.d.stop()
        self.d.tool("restore", str(self.copy))
        self.d.start()

    def call(self, method, path, body=b"", expect=None, **headers):
        reply = self.d.blob.call(method, path, body, **headers)
        assert expect is None or reply.status == expect, reply
        return reply

    def container(self, name):
        return self.call("PUT", f"/{name}?restype=container", expect=201)

    def put(self, path, body, **headers):
        return self.call("PUT", path, body, 201, x_ms_blob_type="BlockBlob", **headers)

    def block(self, path, id, body=b"x"):
        name = base64.b64encode(id).decode().replace("=", "%3D")
        return self.call("PUT", f"{path}?comp=block&blockid={name}", body, 201)

    def blocks(self, path):
        reply = self.call("GET", f"{path}?comp=blocklist&blocklisttype=all")
        return reply.body.decode() if reply.status == 200 else reply.code


@pytest.fixture
def kept():
    with StorageDaemon() as d:
        k = Kept(d)
        k.container("box")
        yield k


def test_what_was_noted_of_other_bytes_is_not_shown(kept):
    """Neither MD5 nor blocks. Metadata is the name's, whoever wrote the file."""
    old = kept.put("/box/put", b"old!", x_ms_meta_a="1")
    kept.block("/box/made", b"one", b"old!")
    kept.call("PUT", "/box/made?comp=blocklist", block_list(b"one"), 201)
    kept.put("/box/stays", b"same")
    shown = kept.call("HEAD", "/box/stays").headers
    kept.back_up()
    kept.put("/box/put", b"new!")
    kept.block("/box/made", b"two", b"new!")
    kept.call("PUT", "/box/made?comp=blocklist", block_list(b"two"), 201)
    kept.back()
    for name in ("put", "made"):
        got = kept.call("GET", f"/box/{name}", expect=200)
        assert got.body == b"new!"
        assert got.headers.get("Content-MD5") in (None, md5(b"new!"))
        assert got.headers["ETag"] != old.headers["ETag"]
        assert "<Name>" not in kept.blocks(f"/box/{name}")
    listed = kept.call("GET", "/box?restype=container&comp=list", expect=200).body.decode()
    assert md5(b"old!") not in listed
    assert kept.call("GET", "/box/put").headers["x-ms-meta-a"] == "1"
    again = kept.call("HEAD", "/box/stays").headers
    assert (again["ETag"], again["Content-MD5"]) == (shown["ETag"], md5(b"same"))


def test_an_etag_from_before_stands_for_nothing_else(kept):
    kept.put("/box/b", b"bytes")
    kept.back_up()
    seen = [kept.call("PUT", "/box/b?comp=metadata", x_ms_meta_a=str(i)).headers["ETag"] for i in range(3)]
    kept.back()
    now = [kept.call("PUT", "/box/b?comp=metadata", x_ms_meta_a=f"other{i}").headers["ETag"] for i in range(3)]
    assert not set(seen) & set(now)
    wrong = kept.call("PUT", "/box/b?comp=metadata", x_ms_meta_a="lost", If_Match=seen[0])
    assert (wrong.status, wrong.code) == (412, "ConditionNotMet")


def test_a_new_container_has_nothing_of_one_that_had_its_number(kept):
    kept.back_up()
    kept.container("gone")
    kept.block("/gone/b", b"secret", b"of others")
    kept.put("/gone/a//b", b"aside")
    hidden = [p for p in kept.d.folder.glob(".*/*") if p.is_dir()]
    assert hidden
    kept.d.stop()
    os.rmdir(kept.d.folder / "blobs" / "gone")
    kept.d.start()
    kept.back()
    kept.container("new")
    assert kept.blocks("/new/b") == "BlobNotFound"
    kept.block("/new/b", b"own")
    assert "c2VjcmV0" not in kept.blocks("/new/b")
    assert kept.call("GET", "/new/a//b").status == 404
    assert all(not list(p.iterdir()) or p.parent.name == ".blocks" for p in hidden if p.exists())


def left_open(copy):
    """How many changes of files were under way when the copy was made."""
    with closing(sqlite3.connect(copy)) as db:
        return db.execute("SELECT (SELECT count(*) FROM item_change) + (SELECT count(*) FROM kept_put)").fetchone()[0]


@pytest.mark.parametrize("size", [800, 100_000])  # with its bytes in the database, and without
def test_a_change_under_way_is_not_completed_on_files_that_went_on(kept, size):
    kept.d.expect_log(r"journal\.")
    kept.call("PUT", "/box/log", expect=201, x_ms_blob_type="AppendBlob")

    def append(body):
        kept.call("PUT", "/box/log?comp=appendblock", body, 201)

    for _ in range(50):
        append(b"a" * size)
        kept.d.kill9()
        kept.copy.unlink(missing_ok=True)
        kept.back_up()
        kept.d.start()
        if left_open(kept.copy):
            break
    assert left_open(kept.copy)
    file = kept.d.folder / "blobs" / "box" / "log"
    was = file.read_bytes()
    append(b"b" * 1_000_000)
    file.write_bytes(file.read_bytes()[:-1])  # a job writes to it
    left = file.read_bytes()
    assert len(left) > len(was)
    kept.back()
    assert file.read_bytes() == left

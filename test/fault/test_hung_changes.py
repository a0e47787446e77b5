# SPDX-License-Identifier: MIT
"""A change takes long, and others come meanwhile. A share hangs between the commit of a change and the change of its file: what was refused has not happened, neither
when the share answers again nor at a later start."""

from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from support.failing import HELD_DIRECTORY
from support.hanging import hanging_folder
from support.storage import StorageDaemon
from support.waiting import wait_for

WORKERS = 2


@pytest.fixture
def d(loser):
    with StorageDaemon(environment=loser.environment) as d:
        d.expect_log(r"share\.|journal\.")
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        assert d.file.call("PUT", "/share?restype=share").status == 201
        yield d


def hangs_before_it(d, loser, plane, folder, change, state):
    """`change()` is refused, because its folder hangs by then; `state()` stays."""
    was = state()
    share = hanging_folder(d.folder / folder)
    try:
        assert state() == was
        refused_while_it_hangs(d, loser, plane, share, change)
        share.go_on()
        wait_for(lambda: any("share.recovered" in line for line in d.log()), what="the share to answer")
        assert state() == was
        left = "SELECT id FROM item_change UNION ALL SELECT id FROM kept_put"
        wait_for(lambda: not d.rows(left), what="the journal to be empty")
        d.restart()
        assert state() == was
    finally:
        share.close()


def refused_while_it_hangs(d, loser, plane, share, change):
    with ThreadPoolExecutor(1 + WORKERS) as pool:
        with loser.held():
            changing = pool.submit(change)
            wait_for(lambda: loser.waits, what="the commit")
            share.stop()
            readers = [pool.submit(plane.call, "HEAD", f"/{share.folder.name}/other{i}") for i in range(WORKERS)]
            wait_for(lambda: any("share.hung" in line for line in d.log()), what="the share to hang")
        reply = changing.result()
        share.go_on()
        assert reply.status == 503, reply
        assert all(reader.result().status == 404 for reader in readers)


def shown(d, kind):
    def look():
        got = d.blob.call("GET", "/box/b")
        return got.status, got.body, got.headers["x-ms-meta-v"], got.headers["x-ms-blob-committed-block-count"]

    return look


@pytest.mark.parametrize("change", ["small put", "put", "delete", "append", "large append"])
def test_of_a_blob(d, loser, change):
    kind = "AppendBlob" if "append" in change else "BlockBlob"
    assert d.blob.call("PUT", "/box/b", b"", x_ms_blob_type=kind, x_ms_meta_v="1").status == 201
    changes = {
        "small put": lambda: d.blob.call("PUT", "/box/b", b"new", x_ms_blob_type=kind, x_ms_meta_v="2"),
        "put": lambda: d.blob.call("PUT", "/box/b", bytes(100_000), x_ms_blob_type=kind, x_ms_meta_v="2"),
        "delete": lambda: d.blob.call("DELETE", "/box/b"),
        "append": lambda: d.blob.call("PUT", "/box/b?comp=appendblock", b"more"),
        "large append": lambda: d.blob.call("PUT", "/box/b?comp=appendblock", bytes(100_000)),
    }
    hangs_before_it(d, loser, d.blob, "blobs/box", changes[change], shown(d, kind))


def test_of_a_file(d, loser):
    def put(size, v):
        return d.file.call("PUT", "/share/f", x_ms_type="file", x_ms_content_length=str(size), x_ms_meta_v=v)

    def look():
        head = d.file.call("HEAD", "/share/f")
        return head.status, head.headers["Content-Length"], head.headers["x-ms-meta-v"]

    assert put(1, "1").status == 201
    hangs_before_it(d, loser, d.file, "files/share", lambda: put(2, "2"), look)


def meta(d, path):
    head = d.file.call("HEAD", path)
    return head.status, head.headers["x-ms-meta-v"]


def test_what_is_made_in_a_directory_while_it_gets_its_name_keeps_its_notes(d, loser):
    old = d.file.call("PUT", "/share/old?restype=directory", x_ms_meta_v="of old")
    gone = d.file.call("PUT", "/share/new?restype=directory", x_ms_meta_v="of what is gone")
    assert (old.status, gone.status) == (201, 201)
    (d.folder / "files/share/new").rmdir()
    with ThreadPoolExecutor(1) as pool:
        with loser.held(HELD_DIRECTORY):
            source = {"x_ms_file_rename_source": f"{d.file.url}/share/old"}
            renaming = pool.submit(d.file.call, "PUT", "/share/new?restype=directory&comp=rename", **source)
            wait_for(lambda: loser.waits, what="the sync")
            put = d.file.call("PUT", "/share/new/f", x_ms_type="file", x_ms_content_length="1", x_ms_meta_v="of f")
            assert put.status == 201
        assert renaming.result().status == 200
    assert meta(d, "/share/new/f") == (200, "of f")
    assert meta(d, "/share/new?restype=directory") == (200, "of old")


def test_a_directory_that_is_made_while_another_of_the_name_goes_keeps_its_notes(d, loser):
    path = "/share/d?restype=directory"
    assert d.file.call("PUT", path, x_ms_meta_v="old").status == 201
    with ThreadPoolExecutor(2) as pool:
        with loser.held(HELD_DIRECTORY):
            removing = pool.submit(d.file.call, "DELETE", path)
            wait_for(lambda: loser.waits, what="the sync")
            making = pool.submit(d.file.call, "PUT", path, x_ms_meta_v="new")
            # The shares of this daemon hang after 2 s: what still waits then waits for its turn.
            wait([making], timeout=1)
        assert (removing.result().status, making.result().status) == (202, 201)
    assert meta(d, path) == (200, "new")


@pytest.mark.parametrize("by", ["a request", "a job"])
@pytest.mark.parametrize("made", ["created", "copied"])
def test_a_directory_that_goes_while_a_file_is_made_in_it_does_not_come_back(d, loser, by, made):
    other = d.file.call("PUT", "/share/other", x_ms_type="file", x_ms_content_length="1")
    assert (other.status, d.file.call("PUT", "/share/d?restype=directory").status) == (201, 201)
    directory = d.folder / "files/share/d"
    headers = {
        "created": {"x_ms_type": "file", "x_ms_content_length": "1"},
        "copied": {"x_ms_copy_source": f"{d.file.url}/share/other"},
    }[made]
    with ThreadPoolExecutor(2) as pool:
        with loser.held():
            making = pool.submit(d.file.call, "PUT", "/share/d/f", **headers)
            wait_for(lambda: loser.waits, what="the commit")
            if by == "a job":
                directory.rename(directory.with_name("e"))
            else:
                going = pool.submit(d.file.call, "DELETE", "/share/d?restype=directory")
                wait_for(lambda: not directory.exists(), what="the directory to go")
        assert (making.result().status, making.result().code) == (404, "ParentNotFound")
        assert by == "a job" or going.result().status == 202
    assert d.file.call("HEAD", "/share/d?restype=directory").status == 404


def test_a_file_with_the_name_of_a_directory_is_refused_before_anything_is_noted(d, loser):
    assert d.file.call("PUT", "/share/d?restype=directory", x_ms_meta_v="of d").status == 201
    with ThreadPoolExecutor(1) as pool:
        with loser.held():
            making = pool.submit(d.file.call, "PUT", "/share/d", x_ms_type="file", x_ms_content_length="1", x_ms_meta_v="2")
            wait_for(lambda: making.done() or loser.waits, what="the answer")
            assert making.done() and making.result().status == 409, making
    assert meta(d, "/share/d?restype=directory") == (200, "of d")


def test_a_change_that_a_stopping_daemon_abandons_is_completed_by_the_next(d, loser):
    """Its file is placed, but the sync of the folder takes too long for the stop."""
    look = shown(d, "BlockBlob")
    assert d.blob.call("PUT", "/box/b", bytes(90_000), x_ms_blob_type="BlockBlob", x_ms_meta_v="1").status == 201
    with ThreadPoolExecutor(2) as pool:
        with loser.held(HELD_DIRECTORY):
            new = {"x_ms_blob_type": "BlockBlob", "x_ms_meta_v": "2"}
            changing = pool.submit(d.blob.call, "PUT", "/box/b", b"n" * 100_000, **new)
            wait_for(lambda: loser.waits, what="the sync")
            assert d.stop() == 0
            wait([changing])
    d.start()
    assert look()[:3] == (200, b"n" * 100_000, "2")

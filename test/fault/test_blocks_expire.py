# SPDX-License-Identifier: MIT
"""Blocks that are not committed are forgotten a week after the last of their blob was put."""

import base64
import os
import time

import pytest
from support.storage import StorageDaemon
from support.waiting import wait_for

DAY = 24 * 3600


def name(id):
    return base64.b64encode(id).decode()


@pytest.fixture
def d(clock):
    with StorageDaemon(environment=clock.environment) as d:
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        yield d


def put(d, blob, id):
    assert d.blob.call("PUT", f"/box/{blob}?comp=block&blockid={name(id)}", id).status == 201


def files(d):
    """Of blocks, by their blob's directory."""
    found = {}
    for path in d.folder.glob(".blocks/*/*/*"):
        found.setdefault(path.parent, []).append(path)
    return found


def age(path, days):
    at = time.time() - days * DAY
    os.utime(path, (at, at))


def aged(d, blob, ids, days):
    """Puts blocks of these ages, and says in which directory they are."""
    before = set(files(d))
    for id in ids:
        put(d, blob, id)
    (made,) = set(files(d)) - before
    for path, n in zip(sorted(made.iterdir()), days, strict=True):
        age(path, n)
    age(made, min(days))
    return made


def test_a_start_forgets_them(d):
    old = aged(d, "old", [b"aaa", b"bbb"], [8, 9])
    mixed = aged(d, "mixed", [b"aaa", b"bbb"], [30, 6])
    d.restart()
    wait_for(lambda: not old.exists(), 20, "old blocks to go")
    assert len(files(d)[mixed]) == 2, "the last was put six days ago"
    assert d.blob.call("GET", "/box/old?comp=blocklist&blocklisttype=all").code == "BlobNotFound"
    listed = f"<BlockList><Latest>{name(b'aaa')}</Latest><Latest>{name(b'bbb')}</Latest></BlockList>"
    assert d.blob.call("PUT", "/box/mixed?comp=blocklist", listed.encode()).status == 201
    assert d.blob.call("GET", "/box/mixed").body == b"aaabbb"
    put(d, "old", b"ccc")
    assert any("blocks.removed" in line and "blobs=1" in line for line in d.log())


def test_so_does_each_day(d, clock):
    wait_for(lambda: any("daemon.ready" in line for line in d.log()), 10, "the start to be over")
    old = aged(d, "old", [b"aaa"], [6.5])
    new = aged(d, "new", [b"aaa"], [0])
    clock.go_on(DAY + 60)
    d.blob.call("GET", "/box?restype=container")  # something happens, so that the loop looks at the clock
    wait_for(lambda: not old.exists(), 20, "old blocks to go")
    assert new.exists()

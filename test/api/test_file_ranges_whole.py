# SPDX-License-Identifier: MIT
"""A range that is put into a file is whole for whoever asks for as much beside it: all of it or nothing."""

import base64
import hashlib
import threading

import pytest
from support.blobs import daemon  # noqa: F401 a fixture

MIB = 1 << 20
RANGE = 4 * MIB  # the most that one request puts
ROUNDS = 12


@pytest.fixture
def file(daemon, request):  # noqa: F811
    share = "r" + hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    assert daemon.file.call("PUT", f"/{share}?restype=share").status == 201
    path = f"/{share}/f"
    made = daemon.file.call("PUT", path, x_ms_type="file", x_ms_content_length=str(3 * RANGE))
    assert made.status == 201, made
    yield path
    assert daemon.file.call("DELETE", f"/{share}?restype=share").status == 202


def put(daemon, path, letter, at):  # noqa: F811
    span = f"bytes={at}-{at + RANGE - 1}"
    done = daemon.file.call("PUT", path + "?comp=range", letter * RANGE, x_ms_write="update", x_ms_range=span)
    assert done.status == 201, done


class Putter(threading.Thread):
    """Puts one range over and over, each time with another letter."""

    def __init__(self, daemon, path, at):  # noqa: F811
        super().__init__()
        self.daemon, self.path, self.at, self.going, self.puts = daemon, path, at, True, 0

    def run(self):
        while self.going:
            put(self.daemon, self.path, b"a" if self.puts % 2 else b"b", self.at)
            self.puts += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.going = False
        self.join()


@pytest.mark.parametrize("first, last", [(RANGE, 2 * RANGE), (RANGE - MIB, 2 * RANGE - MIB), (RANGE + MIB, 2 * RANGE - 5)])
def test_a_download_beside_puts_has_all_of_a_range_or_nothing(daemon, file, first, last):  # noqa: F811
    put(daemon, file, b"b", RANGE)
    with Putter(daemon, file, RANGE) as putter:
        rounds = 0
        while putter.is_alive() and (rounds < ROUNDS or putter.puts < ROUNDS):
            got = daemon.file.call("GET", file, x_ms_range=f"bytes={first}-{last - 1}")
            assert got.status == 206 and len(got.body) == last - first
            inside = got.body[max(RANGE - first, 0) : 2 * RANGE - first]
            assert inside in (b"a" * len(inside), b"b" * len(inside)), f"torn in round {rounds}"
            rounds += 1


def test_the_md5_of_a_download_beside_puts_is_of_the_bytes_that_were_sent(daemon, file):  # noqa: F811
    put(daemon, file, b"b", RANGE)
    with Putter(daemon, file, RANGE) as putter:
        rounds = 0
        while putter.is_alive() and (rounds < ROUNDS or putter.puts < ROUNDS):
            span = f"bytes={RANGE}-{2 * RANGE - 1}"
            got = daemon.file.call("GET", file, x_ms_range=span, x_ms_range_get_content_md5="true")
            assert got.status == 206 and len(got.body) == RANGE
            md5 = base64.b64encode(hashlib.md5(got.body).digest()).decode()
            assert got.headers["Content-MD5"] == md5, f"of other bytes in round {rounds}"
            rounds += 1

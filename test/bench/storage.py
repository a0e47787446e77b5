# SPDX-License-Identifier: MIT
"""Blobs, beside Azurite in the same run: over plain HTTP, both in their defaults, with their files on one disk.

Every request has the same shared access signature, which costs the generator nothing and both services the same
check. Before each timed part the disk is made clean, so that nobody waits for what the other has not written yet."""

import http.client
import os
import shutil
import socket
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from statistics import median

from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas
from support import azurite
from support.storage import ACCOUNT, KEY, VERSION, StorageDaemon

from . import machine, stage
from .figures import Figure
from .load import wrk_of
from .size import size

ROUNDS, SECONDS, SYNC_SECONDS = size(5), size(2), size(0.5, 0.1)
CLIENTS, SMALL = 8, os.urandom(4096)
READ_BLOBS = size(1000, 10)
LISTED, LIST_ROUNDS = size(10_000, 20), size(5)
START_ROUNDS = size(5)
STREAM_MIB, PIECE = size(256, 2), 1 << 20
HEADERS = {"x-ms-version": VERSION, "x-ms-blob-type": "BlockBlob"}
# Multiples of the peer.
AIM_REQUESTS, AIM_UP, AIM_UP_UNSYNCED, AIM_DOWN, AIM_SMALLER = 5, 2.5, 3, 4, 20
AIM_LIST_MS = 100
OURS, UNSYNCED, PEER = "batchaid", "batchaid without sync", "Azurite"


def sas():
    return generate_account_sas(
        ACCOUNT,
        KEY,
        ResourceTypes(service=True, container=True, object=True),
        AccountSasPermissions(read=True, write=True, delete=True, list=True, create=True),
        datetime.now(timezone.utc) + timedelta(days=1),
        start=datetime.now(timezone.utc) - timedelta(hours=1),
    )


class Side:
    """One of the services that are measured."""

    def __init__(self, name, server):
        self.name, self.server, self.sas = name, server, sas()
        self.port, self.pid = server.blob.port, server.process.pid

    def path(self, name, query=""):
        return f"/{ACCOUNT}/bench{name}?{query}{self.sas}"

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def call(self, connection, method, path, body=None):
        connection.request(method, path, body, HEADERS)
        reply = connection.getresponse()
        content = reply.read()
        assert 200 <= reply.status < 300, f"{self.name}: {method} {path} -> {reply.status} {content[:300]!r}"
        return content

    def make_container(self):
        self.call(self.connect(), "PUT", self.path("", "restype=container&"))

    def fill(self, prefix, count):
        """Small blobs `prefix`-1 to `prefix`-`count`."""

        def fill_some(first):
            connection = self.connect()
            for n in range(first, count + 1, CLIENTS):
                self.call(connection, "PUT", self.path(f"/{prefix}-{n}"), SMALL)

        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(fill_some, range(1, CLIENTS + 1)))

    def load(self, method, name, **more):
        os.sync()
        found = wrk_of(
            f"http://127.0.0.1:{self.port}", method, self.path(name), HEADERS, SMALL,
            connections=CLIENTS, seconds=SECONDS, pid=self.pid, **more
        )  # fmt: skip
        return found["rate"], found["cpu_us"]


def new_ours(config=None):
    return stage.new_daemon(config, lambda config, directory: StorageDaemon(config, state_dir=directory))


def new_peer():
    return azurite.Azurite(Path(tempfile.mkdtemp(prefix="azurite-", dir=stage.directory())))


def close_peer(peer):
    peer.close()
    shutil.rmtree(peer.directory)


@contextmanager
def sides():
    """Ours, ours with storage.sync off, and the peer if it can be had, each with an empty container."""
    with ExitStack() as stack:
        servers = {OURS: new_ours(), UNSYNCED: new_ours({"storage": {"sync": False}})}
        for ours in servers.values():
            stack.callback(stage.close, ours)
        if stage.is_here(PEER, azurite.home):
            servers[PEER] = new_peer()
            stack.callback(close_peer, servers[PEER])
        found = [Side(name, server.start()) for name, server in servers.items()]
        for side in found:
            side.make_container()
        yield found


def against(samples):
    return {PEER: samples[PEER]} if PEER in samples else {}


def more(name, unit, samples, factor=None, side=OURS, peers=None):
    """A figure of which more is better, `factor` times the peer's aimed at."""
    aim = factor * median(samples[PEER]) if factor and PEER in samples else None
    return Figure(name, unit, samples[side], aim, True, {**against(samples), **(peers or {})})


def less(name, unit, samples, factor=None, aim=None, side=OURS):
    """A figure of which less is better, a `factor`th of the peer's aimed at."""
    if factor and PEER in samples:
        aim = median(samples[PEER]) / factor
    return Figure(name, unit, samples[side], aim, against=against(samples))


def measure_requests():
    with sides() as found:
        for side in found:
            side.fill("read", READ_BLOBS)
        names = [s.name for s in found]
        puts, put_cpu, gets, get_cpu = ({n: [] for n in names} for _ in range(4))
        syncs = []
        for number in range(ROUNDS):
            syncs.append(machine.syncs_per_second(stage.directory(), SYNC_SECONDS))
            for side in found:
                for rates, cpus, found_ones in (
                    (puts, put_cpu, side.load("PUT", f"/put-{number}-%d")),
                    (gets, get_cpu, side.load("GET", "/read-%d", numbers=READ_BLOBS)),
                ):
                    rates[side.name].append(found_ones[0])
                    cpus[side.name].append(found_ones[1])
    cpu = "  CPU of the server"
    return [
        more(f"puts of 4 KiB, {CLIENTS} clients", "1/s", puts, AIM_REQUESTS, peers={"fdatasync": syncs}),
        less(cpu, "us", put_cpu),
        more("  with storage.sync off", "1/s", puts, side=UNSYNCED),
        less(cpu, "us", put_cpu, side=UNSYNCED),
        more(f"gets of 4 KiB, {CLIENTS} clients", "1/s", gets, AIM_REQUESTS),
        less(cpu, "us", get_cpu),
    ]


def up(side, source):
    """MB/s of one Put Blob, until it is acknowledged."""
    size = source.seek(0, os.SEEK_END)
    head = "".join(f"{k}: {v}\r\n" for k, v in {**HEADERS, "Content-Length": size, "Host": "127.0.0.1"}.items())
    with socket.create_connection(("127.0.0.1", side.port)) as s:
        start = time.monotonic()
        s.sendall(f"PUT {side.path('/large')} HTTP/1.1\r\n{head}\r\n".encode())
        s.sendfile(source, 0)
        reply = http.client.HTTPResponse(s)
        reply.begin()
        assert reply.status == 201, f"{side.name}: {reply.status} {reply.read()[:300]!r}"
        return size / 1e6 / (time.monotonic() - start)


def down(side, size):
    """MB/s of one Get Blob."""
    piece = memoryview(bytearray(PIECE))
    connection = side.connect()
    start = time.monotonic()
    connection.request("GET", side.path("/large"), headers=HEADERS)
    reply, got = connection.getresponse(), 0
    while n := reply.readinto(piece):
        got += n
    assert got == size, f"{side.name}: {got} of {size} bytes"
    return size / 1e6 / (time.monotonic() - start)


def measure_streams():
    with sides() as found, tempfile.TemporaryFile(dir=stage.directory()) as source:
        for _ in range(STREAM_MIB):
            source.write(os.urandom(1 << 20))
        source.flush()
        size = STREAM_MIB << 20
        samples = {s.name: [machine.rss_mb(s.pid)] for s in found}
        ups, downs, peaks = ({s.name: [] for s in found} for _ in range(3))
        for _ in range(ROUNDS):
            for side in found:
                os.sync()
                machine.forget_peak(side.pid)
                ups[side.name].append(up(side, source))
                os.sync()
                downs[side.name].append(down(side, size))
                peaks[side.name].append(machine.peak_rss_mb(side.pid))
    return [
        more(f"upload of {STREAM_MIB} MiB", "MB/s", ups, AIM_UP),
        more("  with storage.sync off", "MB/s", ups, AIM_UP_UNSYNCED, UNSYNCED),
        more(f"download of {STREAM_MIB} MiB", "MB/s", downs, AIM_DOWN),
        less("memory after the start", "MB", samples, AIM_SMALLER),
        less(f"its peak during {STREAM_MIB} MiB up and down", "MB", peaks, AIM_SMALLER),
    ]


def whole_list(side):
    """Blobs and pages, as a client asks that goes on at each marker; counted without parsing."""
    connection, marker, blobs, pages = side.connect(), "", 0, 0
    while marker is not None:
        page = side.call(connection, "GET", side.path("", f"restype=container&comp=list&{marker}"))
        blobs, pages = blobs + page.count(b"<Blob>"), pages + 1
        _, found, rest = page.rpartition(b"<NextMarker>")
        marker = f"marker={rest.split(b'<')[0].decode()}&" if found else None
    return blobs, pages


def measure_lists():
    with sides() as found:
        for side in found:
            side.fill("listed", LISTED)
        wall = {s.name: [] for s in found}
        cpu = {s.name: [] for s in found}
        for _ in range(LIST_ROUNDS):
            for side in found:
                before, start = machine.cpu_seconds(side.pid), time.monotonic()
                blobs, pages = whole_list(side)
                wall[side.name].append((time.monotonic() - start) * 1000)
                cpu[side.name].append((machine.cpu_seconds(side.pid) - before) * 1000)
                assert blobs == LISTED, f"{side.name}: {blobs} blobs in the list"
    name = f"list of {LISTED:,} blobs"
    return [less(name, "ms", wall, aim=AIM_LIST_MS), less("  CPU of the server", "ms", cpu)]


def first_answer_ms(new, close):
    """From exec until a list of containers has come."""
    server = new()
    try:
        start = time.monotonic()
        server.start()
        assert server.blob.call("GET", "/?comp=list").status == 200
        return (time.monotonic() - start) * 1000
    finally:
        close(server)


def measure_start():
    kinds = {OURS: (new_ours, stage.close)}
    if stage.is_here(PEER, azurite.home):
        kinds[PEER] = (new_peer, close_peer)
    samples = {n: [first_answer_ms(*k) for _ in range(START_ROUNDS)] for n, k in kinds.items()}
    return [less("start until the first answer of the blob service", "ms", samples, AIM_SMALLER)]

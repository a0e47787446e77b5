# SPDX-License-Identifier: MIT
"""As a cloud for tests, beside those that others use: moto's server for AWS, and Azurite, all of which keep nothing
that must last. Small objects are put and got over plain HTTP, as each has them: a blob, an object of S3. The bare
server (echo.c), which answers from memory whatever it is asked, says how much of the two cores the client leaves."""

import os
import shutil
import tempfile
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from support import azurite, moto
from support.storage import StorageDaemon
from support.testing import Testing

from . import machine, stage, storage
from .figures import Figure
from .load import wrk_of
from .size import size

ROUNDS, SECONDS, CLIENTS = size(3), size(2), 8
READ, RESET = size(100, 10), size(1000, 10)
SMALL = os.urandom(4096)
AIM_FASTER, AIM_SMALLER, AIM_START_MS, AIM_RESET_MS = 20, 10, 15, 10
OURS, AZURITE, MOTO, BARE = "batchaid", "Azurite", "moto", "bare server"
MEMORY = Path("/dev/shm")  # where `serve --ephemeral` puts its state if nobody says another place
ARGUMENTS = ["--ephemeral", "--testing"]


class Blobs(storage.Side):
    headers = storage.HEADERS

    def object(self, name):
        return self.path(f"/{name}")


class Aws:
    """moto looks whose a signature is, and not whether it is good."""

    name, headers = MOTO, {
        "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=a"
    }

    def __init__(self, server):
        self.server, self.port, self.pid = server, server.port, server.process.pid

    def object(self, name):
        return f"/bench/{name}"

    def make_container(self):
        assert self.server.call("PUT", "/bench") == 200

    def fill(self, prefix, count):
        for n in range(1, count + 1):
            assert self.server.call("PUT", self.object(f"{prefix}-{n}"), SMALL) == 200


def new_ours(config=None):
    place = MEMORY if os.access(MEMORY, os.W_OK) else stage.directory()
    daemon = StorageDaemon(config, state_dir=tempfile.mkdtemp(prefix="run-", dir=place), arguments=ARGUMENTS)
    return daemon


def close_azurite(server):
    server.close()
    shutil.rmtree(server.directory)


class Bare:
    """The bare server."""

    name, headers = BARE, {}

    def __init__(self, echo):
        self.port, self.pid = echo.port, echo.process.pid

    def object(self, name):
        return f"/{name}"


def bare_loads():
    """Its puts and gets in a second."""
    with tempfile.TemporaryDirectory() as folder, machine.Echo(Path(folder) / "state", SMALL, plain=True) as echo:
        side = Bare(echo)
        return load(side, "PUT", "put-%d"), load(side, "GET", "read-%d", numbers=READ)


@contextmanager
def sides():
    """Those that can be had, started, with how long each took in ms, and an empty container in each."""
    with ExitStack() as stack:
        made = [(partial(Blobs, OURS), new_ours(), stage.close)]
        if stage.is_here(AZURITE, azurite.home):
            folder = Path(tempfile.mkdtemp(prefix="azurite-", dir=stage.directory()))
            made.append((partial(Blobs, AZURITE), azurite.Azurite(folder, azurite.IN_MEMORY), close_azurite))
        if stage.is_here(MOTO, moto.home):
            log = stack.enter_context(open(os.devnull, "wb"))
            made.append((Aws, moto.Moto(log), moto.Moto.close))
        found = []
        for side, server, close in made:
            stack.callback(close, server)
            begun = time.monotonic()
            server.start()
            took = (time.monotonic() - begun) * 1000
            found.append(side(server))
            found[-1].start_ms, found[-1].idle_mb = took, machine.rss_mb(found[-1].pid)
            found[-1].make_container()
        yield found


def load(side, method, name, **more):
    found = wrk_of(
        f"http://127.0.0.1:{side.port}", method, side.object(name), side.headers, SMALL,
        connections=CLIENTS, seconds=SECONDS, **more
    )  # fmt: skip
    return found["rate"]


def reset_ours(daemon):
    """1,000 jobs that wait, and what they stand in."""
    stage.Stage(daemon, nodes=0).fill(RESET)
    testing = Testing(daemon)
    begun = time.monotonic()
    testing.call("POST", "/reset", {}, expect=200)
    return (time.monotonic() - begun) * 1000


def reset_moto(server):
    """1,000 buckets."""
    for n in range(RESET):
        assert server.call("PUT", f"/bucket-{n}") == 200
    begun = time.monotonic()
    assert server.call("POST", "/moto-api/reset") == 200
    return (time.monotonic() - begun) * 1000


def figure(name, unit, samples, factor, more_is_better=False, aim=None):
    """`factor` times better than the better peer is aimed at."""
    peers = {n: s for n, s in samples.items() if n != OURS}
    theirs = [median(s) for n, s in peers.items() if n != BARE]
    if aim is None and theirs:
        aim = max(theirs) * factor if more_is_better else min(theirs) / factor
    return Figure(name, unit, samples[OURS], aim, more_is_better, peers)


def measure():
    starts, idle, puts, gets, peaks, resets = ({} for _ in range(6))

    def note(table, side, value):
        table.setdefault(side.name, []).append(value)

    for _ in range(ROUNDS):
        for table, rate in zip((puts, gets), bare_loads()):
            table.setdefault(BARE, []).append(rate)
        with sides() as found:
            for side in found:
                note(starts, side, side.start_ms)
                note(idle, side, side.idle_mb)
                note(puts, side, load(side, "PUT", "put-%d"))
                side.fill("read", READ)
                note(gets, side, load(side, "GET", "read-%d", numbers=READ))
                note(peaks, side, machine.peak_rss_mb(side.pid))
                if side.name == OURS:
                    note(resets, side, reset_ours(side.server))
                elif side.name == MOTO:
                    note(resets, side, reset_moto(side.server))
    return [
        figure("as a fake: start until a request is answered", "ms", starts, AIM_FASTER, aim=AIM_START_MS),
        figure("  memory then", "MB", idle, AIM_SMALLER),
        figure(f"  puts of 4 KiB, {CLIENTS} clients", "1/s", puts, AIM_FASTER, True),
        figure(f"  gets of 4 KiB, {CLIENTS} clients", "1/s", gets, AIM_FASTER, True),
        figure("  memory at most", "MB", peaks, AIM_SMALLER),
        figure(f"  reset, {RESET:,} jobs (moto: buckets)", "ms", resets, AIM_FASTER, aim=AIM_RESET_MS),
    ]

# SPDX-License-Identifier: MIT
"""Libraries that are preloaded into a daemon: failing.c lets one of its calls fail, or counts them; killing.c kills
it before one of them; losing.c lets a write to its database fail; clock.c sets its clocks."""

import os
import shutil
import struct
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from .waiting import wait_for

STEPS_MAX = 200  # calls of one change


def built(folder, name):
    made = folder / f"{name}.so"
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([cc, "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return built(tmp_path_factory.mktemp("failing"), "failing")


def preloaded(library, **more):
    """The environment of a daemon with that library, in any build."""
    sanitizer = os.environ.get("ASAN_OPTIONS", "")
    return {
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": f"{sanitizer}:verify_asan_link_order=0".lstrip(":"),
        **{key: str(value) for key, value in more.items()},
    }


def environment(library, kind, at, count):
    """Of a daemon whose call number `at` of this kind fails (0: none); `count` gets a byte for each."""
    return preloaded(library, FAILING_CALL=kind, FAILING_AT=at, FAILING_COUNT=count)


class Killer:
    """Kills daemons with its environment, as kill -9 does, before one of their calls that change files."""

    def __init__(self, folder):
        self.file = folder / "killing"
        self.file.write_bytes(bytes(16))
        self.environment = preloaded(built(folder, "killing"), KILLING_FILE=self.file)

    def arm(self, calls):
        """The next call but so many will not be made; 0: all are made."""
        with open(self.file, "r+b") as f:
            f.write(struct.pack("q", calls))

    def kill_at_each_step(self, d, fresh, change, state, others, is_settled=lambda: True):
        """The daemon is killed before one call after another of a change, until the change has no more calls; then
        there is the thing as it was, or as it becomes. `fresh(n)` makes one and returns its name, change(name) raises
        an OSError where nobody answers, state(name) looks at it, others(name) shows that it can be changed as any
        other. `is_settled()`: the daemon does nothing more for what was acknowledged."""
        was, becoming = state(fresh("was")), fresh("becomes")
        change(becoming)
        becomes = state(becoming)
        assert was != becomes
        seen = set()
        for n in range(1, STEPS_MAX):
            here = fresh(n)
            self.arm(n)
            acknowledged = True
            try:
                change(here)
            except OSError:
                acknowledged = False
            wait_for(lambda: not self.left or is_settled(), what="the change to be settled")
            if self.left:
                self.arm(0)
                assert acknowledged and state(here) == becomes
                break
            wait_for(lambda: not d.running, what="the daemon to be dead")
            d.crash()
            now = state(here)
            assert now == becomes or (now == was and not acknowledged), f"killed before call {n}: {now}"
            seen.add(now == becomes)
            others(here)
        assert n < STEPS_MAX - 1 and False in seen
        print(f"{n - 1} calls")

    @property
    def left(self):
        """How many calls it has still to live, if it was armed and is not dead."""
        return struct.unpack("qq", self.file.read_bytes())[0]


@pytest.fixture
def killer(tmp_path):
    return Killer(tmp_path)


HELD_DIRECTORY = 2


class Loser:
    """Lets daemons with its environment lose what they commit: their disk is full for one write to a database's log.
    Or their commits take long."""

    def __init__(self, folder):
        self.file = folder / "losing"
        self.file.write_bytes(bytes(24))
        self.environment = preloaded(built(folder, "losing"), LOSING_FILE=self.file)

    def arm(self, writes):
        """The next write but so many will fail; 0: none."""
        with open(self.file, "r+b") as f:
            f.write(struct.pack("q", writes))

    @property
    def left(self):
        """How many writes are still to come until that; 0: it has failed."""
        return struct.unpack("qqq", self.file.read_bytes())[0]

    @contextmanager
    def held(self, what=1):
        """No commit ends meanwhile. HELD_DIRECTORY: nor does one sync of a directory."""
        self._hold(what)
        try:
            yield
        finally:
            self._hold(0)

    def _hold(self, held):
        with open(self.file, "r+b") as f:
            f.seek(8)
            f.write(struct.pack("q", held))

    @property
    def waits(self):
        """Something waits to be let go."""
        return struct.unpack("qqq", self.file.read_bytes())[2] == 1


@pytest.fixture
def loser(tmp_path):
    return Loser(tmp_path)


class Clock:
    """The clocks of daemons with its environment."""

    def __init__(self, folder):
        self.file = folder / "clock"
        self.wall = self.mono = 0
        self._write()
        self.environment = preloaded(built(folder, "clock"), CLOCK_FILE=self.file)

    def _write(self):
        with open(self.file, "r+b" if self.file.exists() else "wb") as f:
            f.write(struct.pack("qq", self.wall, self.mono))

    def set(self, seconds):
        """Somebody sets the wall clock, by so much."""
        self.wall += int(seconds * 1e9)
        self._write()

    def go_on(self, seconds):
        """So much time goes by."""
        self.mono += int(seconds * 1e9)
        self.set(seconds)


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)

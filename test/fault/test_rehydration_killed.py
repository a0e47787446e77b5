# SPDX-License-Identifier: MIT
"""kill -9 while an archived blob is rehydrated in strict mode: it can be read when its time is over, or it is still
archived and can be rehydrated again; its bytes are never lost."""

import pytest
from support.storage import StorageDaemon
from support.testing import Clock, Strict

BYTES = b"old bytes"
SPANS = {"Standard": ("PT14H58M", "PT2M"), "High": ("PT58M", "PT2M")}  # nearly all of its time, and the rest


class Frozen:
    """A container of archived blobs, in a daemon with strict mode and a clock that tests move."""

    def __init__(self, environment):
        self.d = StorageDaemon(environment=environment, arguments=["--testing"])

    def make(self):
        self.d.expect_log(r"journal\.|testing\.enabled")
        self.strict()
        assert self.d.blob.call("PUT", "/box?restype=container").status == 201
        return self

    @property
    def clock(self):
        """Of the daemon that runs now: each has a key of its own."""
        return Clock(self.d)

    def strict(self):
        """A daemon that has started anew knows nothing of it."""
        Strict(self.d).set()

    def put(self, name):
        reply = self.d.blob.call("PUT", f"/box/{name}", BYTES, x_ms_blob_type="BlockBlob", x_ms_access_tier="Archive")
        assert reply.status == 201, reply
        return name

    def thaw(self, name, priority):
        headers = {"x_ms_access_tier": "Cool", "x_ms_rehydrate_priority": priority}
        reply = self.d.blob.call("PUT", f"/box/{name}?comp=tier", **headers)
        assert reply.status == 202, reply

    def kill(self):
        self.d.kill9()
        self.d.start()
        self.strict()

    def shown(self, name):
        """Tier, state and priority; and whether the bytes can be had, which must be the right ones."""
        self.strict()
        head, got = (self.d.blob.call(method, f"/box/{name}") for method in ("HEAD", "GET"))
        assert head.status == 200 and head.headers["Content-Length"] == str(len(BYTES)), head
        assert (got.status, got.body) == (200, BYTES) or (got.status, got.code) == (409, "BlobArchived"), got
        said = ("x-ms-access-tier", "x-ms-archive-status", "x-ms-rehydrate-priority")
        return *(head.headers[key] for key in said), got.status == 200

    def goes_on(self, name, priority):
        """It takes the rest of its time, and no more."""
        nearly, rest = SPANS[priority]
        for span in (nearly, rest):
            assert self.shown(name) == pending(priority)
            self.clock.advance(span)
        assert self.shown(name) == READY


ARCHIVED, READY = ("Archive", None, None, False), ("Cool", None, None, True)


def pending(priority):
    return "Archive", "rehydrate-pending-to-cool", priority, False


@pytest.fixture
def frozen(killer):
    made = Frozen(killer.environment)
    with made.d:
        yield made.make()


@pytest.mark.parametrize("name", ["b", "a//"])
@pytest.mark.parametrize("priority", SPANS)
def test_it_goes_on_after_a_kill(frozen, name, priority):
    frozen.put(name)
    frozen.thaw(name, priority)
    for _ in range(2):  # the second time its time was over, and the clock is the real one again
        frozen.kill()
        frozen.goes_on(name, priority)


def test_a_raised_priority_is_kept(frozen):
    frozen.put("b")
    frozen.thaw("b", "Standard")
    frozen.thaw("b", "High")
    frozen.kill()
    frozen.goes_on("b", "High")


def test_a_priority_is_raised_after_a_kill(frozen):
    frozen.put("b")
    frozen.thaw("b", "Standard")
    frozen.kill()
    frozen.thaw("b", "High")
    frozen.goes_on("b", "High")


def test_what_began_at_a_later_clock_is_not_lost(frozen):
    """The clock of a daemon that has started anew is the real one again."""
    frozen.put("b")
    frozen.clock.advance("P3D")
    frozen.thaw("b", "Standard")
    assert frozen.shown("b") == pending("Standard")
    frozen.kill()
    frozen.clock.advance("P4D")
    assert frozen.shown("b") == READY


def killed_at_each_step(frozen, killer, before, change):
    """Under `change`, the request; afterwards the blob is rehydrated to its end, whatever became of it."""

    def fresh(n):
        name = frozen.put(f"b{n}")
        for priority in before:
            frozen.thaw(name, priority)
        return name

    def ends(name):
        _, state, priority, _ = frozen.shown(name)
        if not state:
            assert frozen.shown(name) == ARCHIVED
            frozen.thaw(name, change)
        frozen.goes_on(name, priority or change)
        frozen.clock.change(real=True)

    killer.kill_at_each_step(frozen.d, fresh, lambda name: frozen.thaw(name, change), frozen.shown, ends)


@pytest.mark.parametrize("priority", SPANS)
def test_it_is_killed_at_each_step_of_the_beginning(frozen, killer, priority):
    killed_at_each_step(frozen, killer, [], priority)


def test_it_is_killed_at_each_step_of_a_raised_priority(frozen, killer):
    killed_at_each_step(frozen, killer, ["Standard"], "High")

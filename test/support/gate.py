# SPDX-License-Identifier: MIT
"""Clients that write while a daemon is up, and stand still while it is killed and started."""

import threading

import requests

from .waiting import wait_for


class Gate:
    """Lets clients work while the daemon is up, and knows when all of them stand still."""

    def __init__(self, most):
        """`most`: how often a client may submit in a cycle."""
        self.most = most
        self.condition = threading.Condition()
        self.open, self.stop = False, False
        self.working = set()
        self.left = {}

    def pass_through(self, client):
        with self.condition:
            self.working.discard(client)
            self.condition.notify_all()
            self.condition.wait_for(lambda: self.open or self.stop)
            if self.stop:
                return False
            self.working.add(client)
            return True

    def pass_out(self, client):
        with self.condition:
            self.working.discard(client)
            self.condition.notify_all()

    def may_submit(self, client):
        with self.condition:
            left = self.left.get(client, self.most)
            self.left[client] = left - 1
            return left > 0

    def let_in(self):
        with self.condition:
            self.left.clear()
            self.open = True
            self.condition.notify_all()

    def shut(self):
        """No new request begins; those under way end, one way or the other."""
        with self.condition:
            self.open = False

    def wait_still(self):
        with self.condition:
            assert self.condition.wait_for(lambda: not self.working, 60), "a client hangs"

    def finish(self):
        with self.condition:
            self.stop = True
            self.condition.notify_all()


class Writer(threading.Thread):
    """A client that writes until it is told to stop; never more than one request at a time. What it knows of what it
    wrote: there (acknowledged), gone (deleted with success), or unknown. Subclasses have step(), one request or none,
    and verify(), which compares that with what the daemon has."""

    def __init__(self, gate, rng):
        super().__init__(daemon=True)
        self.gate, self.rng = gate, rng
        self.there, self.gone, self.unknown = set(), set(), set()
        self.counter = self.acknowledged = 0
        self.failure = None

    def run(self):
        try:
            while self.gate.pass_through(self):
                try:
                    self.step()
                except requests.RequestException:
                    pass  # the daemon was killed under this request; the next cycle comes
        except Exception as e:  # shown by kill_again_and_again()
            self.failure = e
            self.gate.pass_out(self)


def kill_again_and_again(d, gate, writers, kills, rng):
    """kill -9 at random moments while they write; what was acknowledged must be there after each."""

    def acknowledged():
        return sum(w.acknowledged for w in writers)

    for w in writers:
        w.start()
    for n in range(1, kills + 1):
        gate.let_in()
        # How long the daemon works before it is killed is what such tests are about.
        threading.Event().wait(rng.uniform(0.0, 0.25))
        # A slow machine has had no load by then.
        wait_for(lambda: acknowledged() > n or any(w.failure for w in writers), 60, "a write to be acknowledged")
        d.kill9()
        gate.shut()
        gate.wait_still()
        d.start()
        for w in writers:
            assert w.failure is None, repr(w.failure)
            w.verify()
    gate.finish()
    for w in writers:
        w.join()
    print(f"{acknowledged()} writes were acknowledged between {kills} kills")
    assert acknowledged() > kills, "there was no load"

# SPDX-License-Identifier: MIT
"""Clients that write while a daemon is up, and stand still while it is killed and started."""

import threading


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

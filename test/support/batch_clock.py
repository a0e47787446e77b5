# SPDX-License-Identifier: MIT
"""A job of Azure Batch under a daemon whose clocks the test sets."""

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

from .batch import BatchGround
from .waiting import wait_for


class Clocked:
    """`job` is the test's to make."""

    def __init__(self, d, clock):
        self.d, self.clock, self.job = d, clock, None
        self.ground = BatchGround(d)
        self.plane = self.ground.plane

    def call(self, method, path, body=None, expect=200):
        """By a new connection, and dated by the daemon's clock."""
        self.d.session().close()
        now = datetime.now(timezone.utc) + timedelta(microseconds=self.clock.wall // 1000)
        headers = {"ocp-date": format_datetime(now, usegmt=True)}
        return self.plane.call(method, path, body, headers=headers, expect=expect)

    def get(self, path):
        return self.call("GET", path).json

    def state(self):
        return self.get(self.job.url)["state"]

    def looks(self):
        self.d.session().close()
        token = self.d.token_reply().json["access_token"]
        counters = self.d.call("GET", "/batchaid/counters", api_version=None, token=token, expect=200).json
        return counters["wakes"]["woken"]["batch job"]

    def looked(self):
        """The job's state after another look at it."""
        before = self.looks()
        wait_for(lambda: self.looks() > before, what="another look at the job")
        return self.state()

    def remove(self):
        self.clock.set(-self.clock.wall / 1e9)
        self.d.session().close()
        self.ground.remove()

# SPDX-License-Identifier: MIT
"""The time that a job of Azure Batch may take is time that goes by: the clock is set meanwhile, the daemon restarts."""

import pytest
from support.batch_clock import Clocked
from support.batch_jobs import Jobs, add_pool
from support.daemon import Daemon
from support.waiting import wait_for

HOUR = 3600
REASON = "MaxWallClockTimeExpiry"


class Limited(Clocked):
    """A job that may take an hour, without a task."""

    def __init__(self, d, clock):
        super().__init__(d, clock)
        add_pool(self.plane, "pool")
        self.job = Jobs(self.plane, "pool")(constraints={"maxWallClockTime": "PT1H"})

    def look(self):
        """The job's state after a look at it, as it was changed."""
        before = self.looks()
        self.call("PATCH", self.job.url, {"priority": 1})
        wait_for(lambda: self.looks() > before, what="a look at the job")
        return self.state()

    def ends(self):
        wait_for(lambda: self.state() == "completed", what="a completed job")
        return self.get(self.job.url)["executionInfo"]["terminateReason"]


@pytest.fixture
def limited(clock):
    with Daemon(environment=clock.environment) as d:
        job = Limited(d, clock)
        yield job
        job.remove()


@pytest.mark.parametrize("by", [2 * HOUR, -2 * HOUR], ids=["forward", "back"])
def test_a_clock_that_is_set_changes_no_limit(limited, by):
    limited.clock.set(by)
    assert limited.look() == "active"
    limited.clock.go_on(HOUR / 2)
    assert limited.look() == "active"
    limited.clock.go_on(HOUR / 2)
    assert limited.ends() == REASON


def test_a_restart_keeps_it(limited):
    limited.clock.go_on(HOUR / 2)
    limited.d.restart()
    assert limited.look() == "active"
    limited.clock.go_on(HOUR / 2)
    assert limited.ends() == REASON

# SPDX-License-Identifier: MIT
"""The clock is set while a job of Azure Batch waits for a node that is to run its release task."""

import pytest
from support.batch_clock import Clocked
from support.batch_jobs import Jobs, add_pool
from support.daemon import Daemon
from support.waiting import wait_for

RELEASE = "jobReleaseTaskExecutionInfo"
HOUR = 3600


class Waiting(Clocked):
    """A job that was prepared on a node that is restarting, and is to be released there."""

    def __init__(self, d, clock, go):
        super().__init__(d, clock)
        self.go = go
        start = {
            "commandLine": f"/bin/sh -c 'while [ ! -e {go} ]; do sleep 0.05; done'",
            "userIdentity": {"autoUser": {"elevationLevel": "admin"}},  # who sees the file
            "waitForSuccess": True,
        }
        go.touch()
        add_pool(self.plane, "pool", targetDedicatedNodes=1, startTask=start)
        self.job = Jobs(self.plane, "pool")(
            jobPreparationTask={"commandLine": "/bin/true"}, jobReleaseTask={"commandLine": "/bin/true"}
        )
        self.job.wait(self.job.add("/bin/true"))
        go.unlink()
        self.plane.call("POST", f"/pools/pool/nodes/{self.node()['id']}/reboot", expect=202)
        wait_for(lambda: self.node()["state"] == "waitingforstarttask", what="a node that waits for its start task")
        self.plane.call("POST", f"{self.job.url}/terminate", expect=202)
        self.looked()

    def node(self):
        return self.get("/pools/pool/nodes")["value"][0]

    def released(self):
        """How, once the job is completed."""
        wait_for(lambda: self.state() == "completed", what="a completed job")
        (row,) = self.get(f"{self.job.url}/jobpreparationandreleasetaskstatus")["value"]
        return row.get(RELEASE, {}).get("result")

    def remove(self):
        self.go.touch()
        self.clock.set(-self.clock.wall / 1e9)
        wait_for(lambda: self.node()["state"] == "idle", what="an idle node")
        super().remove()


@pytest.fixture
def waiting(clock, tmp_path):
    tmp_path.chmod(0o755)
    with Daemon(environment=clock.environment) as d:
        w = Waiting(d, clock, tmp_path / "go")
        yield w
        w.remove()


@pytest.mark.parametrize("by", [HOUR, -HOUR], ids=["forward", "back"])
def test_a_clock_that_is_set_does_not_end_the_wait(waiting, by):
    waiting.clock.set(by)
    assert waiting.looked() == "terminating" and waiting.looked() == "terminating"
    waiting.go.touch()
    assert waiting.released() == "success"


def test_time_gone_by_ends_it(waiting):
    waiting.clock.go_on(14 * 60)
    assert waiting.looked() == "terminating"
    waiting.clock.set(-HOUR)
    waiting.clock.go_on(2 * 60)
    assert waiting.released() is None and waiting.node()["state"] == "waitingforstarttask"

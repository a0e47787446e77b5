# SPDX-License-Identifier: MIT
"""The clock is set while a job of Azure Batch waits for a node that is to run its release task."""

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.daemon import Daemon
from support.failing import clock  # noqa: F401 (a fixture)
from support.waiting import wait_for

RELEASE = "jobReleaseTaskExecutionInfo"
HOUR = 3600


class Waiting:
    """A job that was prepared on a node that is restarting, and is to be released there."""

    def __init__(self, d, clock, go):  # noqa: F811
        self.d, self.clock, self.go = d, clock, go
        self.ground = BatchGround(d)
        self.plane = self.ground.plane
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

    def get(self, path):
        """By a new connection, and dated by the daemon's clock."""
        self.d.session().close()
        now = datetime.now(timezone.utc) + timedelta(microseconds=self.clock.wall // 1000)
        return self.plane.call("GET", path, headers={"ocp-date": format_datetime(now, usegmt=True)}, expect=200).json

    def node(self):
        return self.get("/pools/pool/nodes")["value"][0]

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

    def released(self):
        """How, once the job is completed."""
        wait_for(lambda: self.state() == "completed", what="a completed job")
        (row,) = self.get(f"{self.job.url}/jobpreparationandreleasetaskstatus")["value"]
        return row.get(RELEASE, {}).get("result")

    def remove(self):
        self.go.touch()
        self.clock.set(-self.clock.wall / 1e9)
        self.d.session().close()
        wait_for(lambda: self.node()["state"] == "idle", what="an idle node")
        self.ground.remove()


@pytest.fixture
def waiting(clock, tmp_path):  # noqa: F811
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

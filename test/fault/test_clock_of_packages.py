# SPDX-License-Identifier: MIT
"""Archives of packages on nodes go when nothing has run there for a while, and no sooner; those of the pool stay."""

import pytest
from support.batch import Plane
from support.batch_jobs import Jobs, add_pool
from support.batch_packages import package, packaged
from support.daemon import Daemon
from support.waiting import wait_for

MINUTE = 60
SAYS = "/bin/sh -c '$AZ_BATCH_APP_PACKAGE_{}_1/bin/say.sh'"


def refs(*names):
    return [{"applicationId": name, "version": "1"} for name in names]


class Node:
    """Of a pool that has the package `ours`; tasks may have `theirs`."""

    def __init__(self, d, accounts):
        self.d, self.plane = d, Plane(d, accounts.name, accounts.keys(accounts.name)[0])
        for name in ("ours", "theirs"):
            package(accounts, name, "1", name)
        add_pool(self.plane, "pool", targetDedicatedNodes=1, applicationPackageReferences=refs("ours"))
        self.jobs = Jobs(self.plane, "pool")
        self.job = self.jobs()

    def pass_time(self, clock, seconds):
        """On the daemon's clock alone: requests are dated. It closes connections that are silent for so long."""
        clock.go_on(seconds)
        clock.set(-seconds)
        self.d.session().close()

    def said(self, name, **more):
        task = self.job.add(SAYS.format(name), **more)
        self.job.wait(task)
        return self.plane.call("GET", f"{self.job.url}/tasks/{task}/files/stdout.txt", expect=200).content

    def root(self):
        (packages,) = self.d.state_dir.rglob("tvm-*/packages")
        return packages.parent

    def archives(self):
        return len(list((self.root() / "packages").iterdir()))

    def links(self):
        return [p.name.split("_")[0] for p in (self.root() / "batch/applications").iterdir() if p.is_symlink()]


@pytest.fixture
def node(clock):
    with Daemon(environment=clock.environment) as d:
        accounts = packaged(d)
        n = Node(d, accounts)
        yield n
        clock.set(-clock.wall / 1e9)
        d.session().close()
        n.jobs.remove()
        n.plane.call("DELETE", "/pools/pool", expect=202)
        accounts.remove()


def test_archives_go_when_nothing_has_run_for_a_while(node, clock):
    assert node.said("theirs", applicationPackageReferences=refs("theirs")) == b"theirs\n"
    assert node.archives() == 2 and node.links() == ["theirs"]
    node.pass_time(clock, 9 * MINUTE)
    assert node.said("ours") == b"ours\n" and node.archives() == 2
    node.pass_time(clock, 9 * MINUTE)
    node.plane.get("/pools/pool")
    assert node.archives() == 2
    node.pass_time(clock, 2 * MINUTE)
    gone = lambda: node.plane.get("/pools/pool") and node.archives() == 1  # the request lets it look at its clock
    wait_for(gone, what="the archive that nothing uses goes")
    assert node.links() == []
    assert node.said("ours") == b"ours\n"
    assert node.said("theirs", applicationPackageReferences=refs("theirs")) == b"theirs\n"


def test_one_that_a_task_uses_stays(node, clock, tmp_path):
    tmp_path.chmod(0o777)
    go = tmp_path / "go"
    waits = f"/bin/sh -c 'until [ -e {go} ]; do sleep 0.05; done; $AZ_BATCH_APP_PACKAGE_theirs_1/bin/say.sh'"
    task = node.job.add(waits, applicationPackageReferences=refs("theirs"))
    wait_for(lambda: node.job.task(task)["state"] == "running" and node.archives() == 2, what="it runs")
    node.pass_time(clock, 60 * MINUTE)
    node.d.restart()
    node.pass_time(clock, 60 * MINUTE)
    assert node.job.task(task)["state"] == "running" and node.archives() == 2
    go.touch()
    (done,) = node.job.wait(task)
    assert done["executionInfo"]["exitCode"] == 0

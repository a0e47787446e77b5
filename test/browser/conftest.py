# SPDX-License-Identifier: MIT
"""One daemon and one Chromium for a file of tests: a cluster of four GPUs, and jobs in each state."""

import pytest
from support.chromium import CHROMIUM, DRIVER, Browser, own_network
from support.daemon import Daemon
from support.people import Person
from support.world import Place, fresh

# The machine of the inventory has a size that no cluster asks for, so nobody reaches for it.
GPUS = {"local": {"nodes": 3, "fake_gpus": 4}, "inventory": [{"hosts": "spare.rack", "user": "nobody", "vm_sizes": ["SPARE"]}]}


def pytest_configure():
    own_network()


def pytest_collection_modifyitems(items):
    if not CHROMIUM or not DRIVER:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="chromium and chromedriver are not installed"))


class Shown:
    """What the page has to show: `jobs` by what they do."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.place = Place(daemon, "lab", "work").make()
        self.cluster = self.place.cluster(nodes=2, name="rack")
        self.jobs = {name: self.place.job(self.cluster, command, name=name)
                     for name, command in (("well", "echo trained; echo lines of stderr >&2"), ("badly", "echo before the end; exit 7"),
                                           ("long", "echo begun; sleep 1000"))}
        self.jobs["well"].wait("succeeded")
        self.jobs["badly"].wait("failed")
        self.jobs["long"].wait("running")

    def job(self, command, name=None, **more):
        return self.place.job(self.cluster, command, name=name or fresh("job"), **more)


@pytest.fixture(scope="module")
def served():
    d = Daemon(config=GPUS)
    d.tool("keygen")
    with d:
        yield d


@pytest.fixture(scope="module")
def shown(served):
    shown = Shown(served)
    try:
        yield shown
    finally:
        shown.place.remove()


@pytest.fixture(scope="module")
def chromium(served):
    browser = Browser(served)
    try:
        yield browser
    finally:
        browser.close()


@pytest.fixture
def browser(chromium, temporary):
    """A browser that was never here; afterwards nothing may have gone wrong in the page, whose users are removed later."""
    chromium.forget()
    chromium.complaints()
    chromium.resize(1200, 800)
    yield chromium
    chromium.resize(1200, 800)
    complaints = chromium.complaints()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def page(browser, shown):
    """The page of the daemon's own principal."""
    return browser.log_in()


@pytest.fixture
def person(served, temporary):
    """person("Reader") -> somebody with a role."""
    return lambda role=None, **more: temporary(Person(served, role, **more))


@pytest.fixture(scope="module")
def batch(served):
    """A pool of Azure Batch with a job that has a task."""
    from support.batch import BatchGround
    from support.batch_jobs import Job, add_pool

    ground = BatchGround(served)
    add_pool(ground.plane, "pool1", targetDedicatedNodes=1)
    job = Job(ground.plane, "pool1", id="job1")
    job.done("/bin/true", id="task1")
    ground.job = job
    yield ground
    ground.remove()

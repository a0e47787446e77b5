# SPDX-License-Identifier: MIT
"""Fixtures of all tests that talk to a daemon. `daemon` is shared by everything that does not
disturb it; `own_daemon(...)` starts one for a single test."""

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.daemon import BATCHAID, JUDGE, Daemon
from support.rack import NoRack, Rack
from support.racked import Site, group, leavings, repair
from support.waiting import wait_for
from support.world import Place, fresh

pytest_plugins = ["support.batch_fixtures", "support.cloud_fixtures", "support.testing_fixtures"]

# The user's own cloud, certificates and proxies have no part in this.
for name in list(os.environ):
    if name.startswith(("AZURE_", "ARM_", "BATCHAID_STATE")) or name.lower().endswith("_proxy"):
        del os.environ[name]
for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"):
    os.environ.pop(name, None)


def pytest_sessionstart(session):
    # Being asked to stop ends the daemons too, as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not BATCHAID.exists():
        raise pytest.UsageError(f"{BATCHAID} is not built (run make, or set BUILD_DIR)")


def pytest_sessionfinish(session):
    # Folders whose files run in processes of their own still answer for the whole spec together.
    if "BATCHAID_JUDGES" in os.environ:
        JUDGE.save(Path(os.environ["BATCHAID_JUDGES"]) / f"{os.getpid()}.json")


def close(daemons):
    """Empties and ends them, whatever goes wrong, and fails on everything that was wrong with them."""
    complaints = []
    for d in daemons:
        try:
            remove_everything(d)
        except Exception as e:  # told with the rest, once every daemon has been ended
            complaints.append(f"its resource groups cannot be deleted: {e!r}")
        complaints += d.close()
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)


def remove_everything(d):
    """Deletes every resource group and with it all jobs, so that no process may be left."""
    if not d.running:
        return
    groups = d.call("GET", f"/subscriptions/{d.subscription}/resourcegroups", expect=200).json["value"]
    # The shares go last: jobs may still write to them.
    for name in sorted((g["name"] for g in groups), key=lambda name: name == "batchaid-implicit"):
        Place(d, name, "-").remove()


@pytest.fixture(scope="session")
def daemon():
    """The shared daemon. Its log and its leavings are judged once everybody is done with it."""
    d = Daemon()
    try:
        yield d.start()
    finally:
        close([d])


@pytest.fixture
def own_daemon():
    """own_daemon(config=..., ...) -> a running daemon that this test may stop, kill or starve."""
    made = []

    def make(start=True, **more):
        d = Daemon(**more)
        made.append(d)
        return d.start() if start else d

    try:
        yield make
    finally:
        close(made)


def removing():
    """What it yields takes something, which is removed in the end, the last one first."""
    with ExitStack() as ends:

        def until_then(made):
            ends.callback(made.remove)
            return made

        yield until_then


@pytest.fixture
def temporary():
    """temporary(made) -> made, which is removed at the end of the test."""
    yield from removing()


@pytest.fixture(scope="module")
def temporary_in_file(daemon):
    """The same at the end of the file, of what the daemon has; it ends later, also where it is the file's own."""
    yield from removing()


@pytest.fixture(scope="session")
def _place(daemon):
    return Place(daemon, fresh("shared"), fresh("ws")).make()


@pytest.fixture
def place(_place):
    """A workspace on the shared daemon that others use too."""
    return _place


@pytest.fixture
def own_place(daemon, temporary):
    """A resource group and workspace of this test alone."""
    return temporary(Place(daemon).make())


@pytest.fixture(scope="session")
def shared_cluster(_place):
    """Two idle nodes with the share `out` mounted."""
    return _place.cluster(nodes=2, name="shared")


@pytest.fixture(scope="session")
def _sdk(daemon):
    from support.sdk import client

    return client(daemon)


@pytest.fixture
def sdk(_sdk):
    return _sdk[0]


@pytest.fixture
def exchanges(_sdk):
    """What the SDK exchanges from now on."""
    _sdk[1].exchanges.clear()
    return _sdk[1].exchanges


@pytest.fixture(scope="session")
def _rack(tmp_path_factory):
    try:
        rack = Rack(4, tmp_path_factory.mktemp("rack"))
    except NoRack as e:
        pytest.skip(f"no rack of machines can be made here: {e}")
    with rack:
        yield rack


@pytest.fixture
def rack(_rack):
    """Four machines, as new; the test may do with them what it likes."""
    _rack.renew()
    return _rack


@pytest.fixture
def racked(rack):
    """racked(inventory, ssh={...}, ...) -> a Site: a workspace on a daemon whose nodes are the machines
    of a rack, all of them or those of the inventory; with names=True the daemon knows them by name.
    Afterwards the machines must be as they were."""
    sites, accounts = [], {machine: machine.accounts() for machine in rack}

    def make(inventory=None, names=False, arguments=(), **sections):
        for machine in rack:
            if machine.on and not sites:  # what the test itself has made may stay
                accounts[machine] = machine.accounts()
        sites.append(Site(rack, inventory or [group(rack, rack)], **sections))
        sites[-1].daemon.arguments = list(arguments)
        if names:
            sites[-1].know_names()
        return sites[-1].begin()

    try:
        yield make
    finally:
        rack.each(repair)
        close([site.daemon for site in sites])

    def left():
        return [what for machine in accounts for what in leavings(machine, accounts[machine])]

    wait_for(lambda: not left(), 5, lambda: "machines given back with:\n" + "\n".join(left()))


@pytest.fixture
def site(racked):
    return racked()


@pytest.fixture
def tmp_path(tmp_path):
    """Accounts of jobs pass through it: otherwise each daemon of root's that has its state there would need an open
    place elsewhere, which nobody removes."""
    if os.geteuid() == 0:
        for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
            folder.chmod(0o711)
    return tmp_path

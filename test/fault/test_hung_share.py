# SPDX-License-Identifier: MIT
"""A file share stops answering: whoever needs it waits or is told to try again; nobody else notices."""

import tempfile
import threading
import time

import paramiko
import pytest
from support.daemon import Daemon
from support.hanging import hanging_folder
from support.waiting import PATIENCE, wait_for
from support.world import MOUNT, Place, file_share

SLOW = "$AZ_BATCHAI_MOUNT_ROOT/slow"
PASSWORD = "demoPassword1"
# How many requests its workers take before others are told to come back.
WORKERS = 2
# What has nothing to do with the share is done in this time.
SOON = 5
BIG = 20_000_000


class Download(threading.Thread):
    """A download in a thread of its own; `reply` is there once it has ended."""

    def __init__(self, daemon, url):
        super().__init__(daemon=True)
        self.target, self.url, self.reply = daemon, url, None
        self.start()

    def run(self):
        self.reply = self.target.fetch(self.url)

    def wait(self):
        self.join(60 * PATIENCE)
        assert self.reply is not None, "the download has not ended"
        return self.reply


class Site:
    """A job that has written on two shares, one of which can hang."""

    def __init__(self, daemon):
        self.daemon = daemon
        daemon.expect_log(r"share\.")
        self.place = Place(daemon).make()
        self.place.share(), self.place.share("slow")
        volumes = {"azureFileShares": [file_share(), file_share("slow", "slow")]}
        user = {"adminUserName": "demoUser", "adminUserPassword": PASSWORD}
        self.cluster = self.place.cluster(nodeSetup={"mountVolumes": volumes}, userAccountSettings=user)
        self.job = self.place.job(
            self.cluster,
            "echo slow > $AZ_BATCHAI_OUTPUT_SLOW/text; echo good > $AZ_BATCHAI_OUTPUT_GOOD/text",
            outputDirectories=[{"id": "GOOD", "pathPrefix": MOUNT}, {"id": "SLOW", "pathPrefix": SLOW}],
        )
        self.job.succeed()
        self.good, self.slow = self.job.link("text", "GOOD"), self.job.link("text", "SLOW")
        self.output = self.place.share("slow") / self.job.properties["jobOutputDirectoryPathSegment"]
        self.share = hanging_folder(self.place.share("slow"))

    def hang(self, more=1):
        """Stops the share while it is asked for more than it has workers; returns the downloads that
        hold them and the replies of the others."""
        assert self.daemon.fetch(self.slow).text == "slow\n"
        self.share.stop()
        begun = [Download(self.daemon, self.slow) for _ in range(WORKERS + more)]
        wait_for(lambda: len([d for d in begun if d.reply]) == more, what="the share to count as hung")
        return [d for d in begun if not d.reply], [d.reply for d in begun if d.reply]


@pytest.fixture
def site(own_daemon):
    s = Site(own_daemon())
    try:
        yield s
    finally:
        s.share.close()


def log_in(cluster):
    login = cluster.call("POST", "/listRemoteLoginInformation", expect=200).json["value"][0]
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
    client.connect(
        login["ipAddress"],
        login["port"],
        "demoUser",
        password=PASSWORD,
        look_for_keys=False,
        allow_agent=False,
        timeout=SOON * PATIENCE,
    )
    said = client.exec_command("echo in")[1].read().decode()
    client.close()
    return said


def test_a_third_request_is_told_to_try_again_and_all_goes_on_later(site):
    held, (reply,) = site.hang()
    assert reply.status == 503 and int(reply.headers["Retry-After"]) >= 1, reply
    assert reply.headers["x-ms-error-code"] and "does not answer" in reply.text
    begun = time.monotonic()
    assert site.daemon.fetch(site.slow).status == 503
    assert time.monotonic() - begun < 1 * PATIENCE, "it is known by then that the share hangs"
    listing = site.job.call("POST", "/listOutputFiles", params={"outputdirectoryid": "SLOW"})
    assert listing.status == 503 and int(listing.headers["Retry-After"]) >= 1
    assert "does not answer" in listing.error["message"]
    assert all(d.is_alive() for d in held)
    site.share.go_on()
    assert [d.wait().text for d in held] == ["slow\n"] * WORKERS
    assert site.daemon.fetch(site.slow).text == "slow\n"
    assert [f["name"] for f in site.job.files("SLOW")] == ["text"]
    seen = [line for line in site.daemon.log() if "share.hung" in line or "share.recovered" in line]
    assert "share.hung" in seen[0] and "share.recovered" in seen[-1], seen


def test_nobody_else_waits_for_a_share_that_hangs(site):
    site.daemon.fetch(site.slow)
    site.share.stop()
    held = [Download(site.daemon, site.slow) for _ in range(10)]
    begun = time.monotonic()
    for _ in range(20):
        site.place.experiment()
        assert site.daemon.fetch(site.good, timeout=SOON).text == "good\n"
        assert [f["name"] for f in site.job.files("GOOD")] == ["text"]
    assert log_in(site.cluster) == "in\n"
    job = site.place.job(site.cluster, "echo more", nodeCount=1)
    assert time.monotonic() - begun < SOON * PATIENCE
    job.succeed()
    site.share.go_on()
    statuses = [d.wait().status for d in held]
    assert set(statuses) <= {200, 503} and statuses.count(200) >= WORKERS


def test_a_download_that_has_begun_waits_for_its_share(site):
    (site.share.behind / site.output.relative_to(site.share.folder) / "outputs" / "big").write_bytes(b"x" * BIG)
    url = site.job.link("big", "SLOW")
    session = site.daemon.session()
    with session.get(url, stream=True, timeout=60 * PATIENCE) as response:
        pieces = response.iter_content(100_000)
        got = len(next(pieces))
        site.share.stop()
        done = threading.Event()
        rest = []

        def read_on():
            for piece in pieces:
                rest.append(len(piece))
            done.set()

        threading.Thread(target=read_on, daemon=True).start()
        unchanged, n = 0, -1
        while unchanged < 20:  # requests of others that are served, and no piece has come: a worker waits for the next
            assert site.daemon.fetch(site.good).text == "good\n"
            unchanged, n = (unchanged + 1 if len(rest) == n else 0), len(rest)
        others = [Download(site.daemon, site.slow) for _ in range(WORKERS)]
        wait_for(lambda: any(d.reply for d in others), what="the share to count as hung")
        assert not done.is_set()
        site.share.go_on()
        assert done.wait(60 * PATIENCE)
        assert got + sum(rest) == BIG
    assert sorted(d.wait().status for d in others) == [200, 503]


def test_the_daemon_stops_while_a_share_hangs(site):
    site.hang()
    begun = time.monotonic()
    assert site.daemon.stop() == 0
    assert time.monotonic() - begun < 15 * PATIENCE
    assert [line for line in site.daemon.log() if "share.workers_abandoned" in line and "workers=2" in line]
    site.share.go_on()
    site.daemon.start()
    assert site.daemon.fetch(site.job.link("text", "SLOW")).text == "slow\n"


@pytest.fixture
def in_memory():
    """A site on a daemon whose state is in memory, where files are looked at on the loop."""
    state = tempfile.mkdtemp(prefix="batchaid-test-", dir="/dev/shm")
    d = Daemon(state_dir=state, arguments=["--ephemeral"])
    made = []
    try:
        made.append(Site(d.start()))
        yield made[0]
    finally:
        for s in made:
            s.share.close()
        complaints = d.close()
    assert complaints == []


def test_nor_does_an_ephemeral_daemon_wait_for_what_was_mounted_over_a_share_in_use(in_memory):
    test_nobody_else_waits_for_a_share_that_hangs(in_memory)


def test_an_ephemeral_daemon_goes_while_a_share_hangs_and_leaves_nothing(in_memory):
    in_memory.hang()
    begun = time.monotonic()
    assert in_memory.daemon.stop() == 0
    assert time.monotonic() - begun < 15 * PATIENCE
    assert not in_memory.daemon.state_dir.exists()

# SPDX-License-Identifier: MIT
"""Where a measurement happens: a daemon of its own beside the build, a place in it, many jobs."""

import json
import os
import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from support import packages
from support.daemon import BUILD, Daemon
from support.world import Place, job_body

from .load import versioned, wrk

NEXT_LINK = re.compile(rb'"nextLink":"https://[^/]+([^"]+)"}$')


def directory():
    """Where states lie: on the disk of the build (a /tmp may be memory), or where BENCH_DIR says."""
    path = Path(os.environ.get("BENCH_DIR", BUILD / "bench"))
    path.mkdir(parents=True, exist_ok=True)
    return path


def new_daemon(config=None, kind=Daemon):
    """Not started yet."""
    return kind(config, tempfile.mkdtemp(prefix="run-", dir=directory()))


def close(daemon):
    for complaint in daemon.close():
        print(f"bench: {complaint}", file=sys.stderr)


@contextmanager
def running_daemon(config=None, kind=Daemon):
    daemon = new_daemon(config, kind)
    try:
        yield daemon.start()
    finally:
        close(daemon)


class Stage:
    """A cluster with some nodes, an experiment, and jobs that are put there."""

    def __init__(self, daemon, nodes, place=None, experiment="exp"):
        self.daemon = daemon
        self.place = (place or Place(daemon)).make()
        self.share = self.place.share()
        self.cluster = self.place.cluster(nodes)
        self.experiment = self.place.experiment(experiment)

    def job_path(self, name):
        return versioned(f"{self.experiment.path}/jobs/{name}")

    @property
    def list_path(self):
        return versioned(f"{self.experiment.path}/jobs") + "&maxresults=1000"

    def body(self, command="true"):
        return job_body(self.cluster.path, command)

    def wrk(self, method, name, **more):
        """wrk at one job, or with %d in the name at a new job each time."""
        body = self.body() if method == "PUT" else None
        path, daemon = self.job_path(name), self.daemon
        return wrk(
            f"https://127.0.0.1:{daemon.port}", method, path, daemon.token(), body,
            pid=daemon.process.pid, **more
        )  # fmt: skip

    def fill(self, count, prefix="job", connections=16):
        """Puts so many jobs."""
        return self.wrk("PUT", f"{prefix}-%d", count=count, connections=connections)

    def pages(self, client):
        """The bodies of the list of all jobs, page after page."""
        path = self.list_path
        while path:
            page = client.call("GET", path)
            yield page
            link = NEXT_LINK.search(page[-2000:])
            path = link and link[1].decode()

    def jobs(self, client):
        return [job for page in self.pages(client) for job in json.loads(page)["value"]]


def is_here(peer, home):
    """Whether its package is installed, or can be."""
    try:
        home()
    except packages.Unavailable as e:
        print(f"bench: without {peer}: {e}", file=sys.stderr)
        return False
    return True

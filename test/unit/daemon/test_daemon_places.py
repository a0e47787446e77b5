# SPDX-License-Identifier: MIT
"""`batchaid submit`: on which machines a job may run, and so in which cluster."""
import json
import sqlite3
from contextlib import closing

import pytest
from fake_agent import node
from support.people import Person
from support.world import fresh

from test_daemon_login import Laptop
from test_daemon_submit import Desk


@pytest.fixture
def place(own_daemon, tmp_path):
    """place((VM size or None, what it said of itself or None, setting=...), ...) -> a desk; nothing listens on the machines."""

    def make(*machines):
        groups = [{"hosts": f"127.0.0.{i}:1", "user": "nobody", "agent_socket": "/nowhere", **more} for i, (_, more) in enumerate(machines, 1)]
        d = own_daemon(config={"inventory": groups}, start=False)
        d.expect_log("node|machine|link|cluster|ssh|login")
        d.start()
        assert d.stop() == 0
        with closing(sqlite3.connect(d.state_dir / "batchaid.db")) as db, db:
            for i, (said, _) in enumerate(machines, 1):
                facts = json.dumps({**node(), **said}) if said else None
                db.execute("UPDATE machine SET facts = ?, contact_us = ? WHERE name = ?", (facts, 1 if said else 0, f"127.0.0.{i}:1"))
        d.start()
        return Desk(d, tmp_path / "project")

    return make


def test_who_may_change_no_cluster_uses_it_as_it_is(place, tmp_path):
    desk = place((None, {}), (None, {}))
    ada = Person(desk.daemon, name=fresh("ada") + "@batchaid")
    laptop = Laptop(desk.daemon, tmp_path / "home")
    desk.run("nodes", "drain", "127.0.0.2:1")
    desk.run("submit", "--no-copy", "--", "true")
    desk.run("nodes", "undrain", "127.0.0.2:1")
    laptop.login(ada)
    assert laptop.run("submit", "--name", "hers", "--no-copy", "--", "true").stdout == "hers\n"
    refused = laptop.run("submit", "--nodes", "2", "--no-copy", "--", "true", check=False)
    assert refused.returncode == 1 and refused.stderr.startswith(
        "batchaid: the cluster default of jobs/jobs can have at most 1 node, and you may not change that; "
        "somebody with the role Contributor can, by one submit with --nodes 2: "), refused.stderr
    desk.run("submit", "--nodes", "2", "--no-copy", "--", "true")
    assert laptop.run("submit", "--nodes", "2", "--name", "wide", "--no-copy", "--", "true").stdout == "wide\n"

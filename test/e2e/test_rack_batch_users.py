# SPDX-License-Identifier: MIT
"""People who log in on machines of pools of Azure Batch: their accounts come and go with the rows."""

import subprocess
from datetime import datetime, timedelta, timezone

import pytest
from support.batch import BatchGround
from support.batch_jobs import add_pool
from support.racked import VM_SIZE
from support.waiting import wait_for


class People:
    """A pool of one machine, and the users of its node."""

    def __init__(self, site, rack, **more):
        self.daemon, self.ground = site.daemon, BatchGround(site.daemon)
        self.plane = self.ground.plane
        add_pool(self.plane, "machines", vmSize=VM_SIZE.lower(), targetDedicatedNodes=1, **more)
        url = "/pools/machines/nodes"
        wait_for(lambda: [n["state"] for n in self.plane.all(url)] == ["idle"], 60, "the node is idle")
        (node,) = self.plane.all(url)
        self.url, self.machine = f"{url}/{node['id']}/users", rack.at(node["ipAddress"])

    def add(self, name, expect=201, **more):
        return self.plane.call("POST", self.url, {"name": name, **more}, expect=expect)

    def change(self, name, **more):
        self.plane.call("PUT", f"{self.url}/{name}", more, expect=200)

    def delete(self, name):
        self.plane.call("DELETE", f"{self.url}/{name}", expect=200)

    def id_by(self, key, name="ada"):
        """The number of the account of who gets in with the key; None: nobody does."""
        done = self.machine.ssh("id -u", name, key)
        return done.stdout.strip() if done.returncode == 0 else None

    def gone(self, name="ada"):
        wait_for(lambda: name not in self.machine.accounts(), 60, f"the account {name} is gone")

    def away(self):
        """Cuts the link of the machine; the daemon has noticed it."""
        self.machine.cut_link()
        wait_for(lambda: any("node.link_lost" in line for line in self.daemon.log()), 60, "the daemon notices")

    def end(self):
        self.plane.remove_pool("machines")
        self.ground.remove()


@pytest.fixture
def keys(tmp_path):
    """Two private keys."""
    for name in ("one", "two"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    return tmp_path / "one", tmp_path / "two"


def public(key):
    return {"sshPublicKey": key.with_suffix(".pub").read_text().strip()}


def test_a_user_who_is_deleted_while_the_machine_is_away_is_gone_when_it_is_back(racked, rack, keys):
    people = People(racked(machines={"unusable_after_s": 60}), rack)
    people.add("ada", **public(keys[0]))
    wait_for(lambda: people.id_by(keys[0]), 60, "ada gets in")
    people.away()
    people.delete("ada")
    people.machine.restore_link()
    people.gone()
    people.end()


def test_a_user_who_is_added_while_the_machine_is_away_gets_in_when_it_is_back(racked, rack, keys):
    people = People(racked(machines={"unusable_after_s": 60}), rack)
    people.away()
    people.add("ada", **public(keys[0]))
    people.machine.restore_link()
    wait_for(lambda: people.id_by(keys[0]), 60, "ada gets in")
    people.end()


def test_a_user_who_is_deleted_goes_though_the_daemon_is_killed(racked, rack, keys):
    people = People(racked(machines={"unusable_after_s": 60}), rack)
    people.add("ada", **public(keys[0]))
    wait_for(lambda: people.id_by(keys[0]), 60, "ada gets in")
    people.away()
    people.delete("ada")
    people.daemon.kill9()
    people.machine.restore_link()
    people.daemon.start()
    people.gone()
    people.end()


def test_a_user_has_an_account_until_the_expiry_time(racked, rack, keys):
    """As long as the account is there, somebody who is in stays in; then the session ends, too."""
    people = People(racked(), rack)
    until = datetime.now(timezone.utc) + timedelta(seconds=15)
    people.add("ada", expiryTime=until.isoformat().replace("+00:00", "Z"), **public(keys[0]))
    people.add("bob", **public(keys[1]))
    wait_for(lambda: people.id_by(keys[0]), 60, "ada gets in")
    assert datetime.now(timezone.utc) < until
    assert people.machine.ssh("sleep 50", "ada", keys[0]).returncode != 0
    assert datetime.now(timezone.utc) >= until
    people.gone()
    wait_for(lambda: people.id_by(keys[1], "bob"), 60, "bob gets in")
    people.plane.refused(404, "NodeUserNotFound", "PUT", f"{people.url}/ada", public(keys[1]))
    people.end()


def test_a_user_who_is_deleted_and_added_at_once_has_a_new_account(racked, rack, keys):
    people = People(racked(), rack)
    people.add("ada", **public(keys[0]))
    wait_for(lambda: people.id_by(keys[0]), 60, "ada gets in")
    people.machine.run("touch ~ada/of_the_first; truncate -s 1G ~ada/large")
    people.delete("ada")
    people.add("ada", **public(keys[1]))
    wait_for(lambda: people.id_by(keys[1]), 60, "ada gets in with the other key")
    assert people.id_by(keys[0]) is None
    assert people.machine.run("ls -A ~ada").stdout.split().count("of_the_first") == 0
    people.end()


def test_the_last_of_several_changes_of_a_user_holds(racked, rack, keys):
    people = People(racked(), rack)
    people.add("ada", **public(keys[0]))
    for _ in range(4):
        people.change("ada", **public(keys[1]))
        people.change("ada", **public(keys[0]))
    people.change("ada", **public(keys[1]))
    wait_for(lambda: people.id_by(keys[1]) and not people.id_by(keys[0]), 60, "ada gets in with the last key alone")
    people.end()


def test_a_user_account_of_the_pool_is_no_name_for_a_user_of_a_node(racked, rack, keys):
    """Its tasks run as it; a deletion of such a user would end them."""
    people = People(racked(), rack, userAccounts=[{"name": "worker", "password": "pa55word-1"}])
    for name in ("worker", "Worker"):
        people.plane.refused(409, "NodeUserExists", "POST", people.url, {"name": name, **public(keys[0])})
    assert people.id_by(keys[0], "worker") is None
    people.end()

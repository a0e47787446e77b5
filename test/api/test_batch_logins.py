# SPDX-License-Identifier: MIT
"""Users of local nodes of Azure Batch log in by ssh, until their time is over."""

import shutil
from datetime import datetime, timedelta, timezone

import paramiko
import pytest
from support.batch_jobs import add_pool
from support.waiting import wait_for

pytestmark = pytest.mark.skipif(not shutil.which("/usr/sbin/sshd"), reason="sshd is not installed")


@pytest.fixture(scope="module")
def key():
    return paramiko.RSAKey.generate(2048)


class Node:
    """The node of a pool of one."""

    def __init__(self, plane, pool):
        self.plane, self.pool = plane, pool
        add_pool(plane, pool, targetDedicatedNodes=1)
        url = f"/pools/{pool}/nodes"
        wait_for(lambda: [n["state"] for n in plane.all(url)] == ["idle"], 30, "the node is idle")
        self.url = f"{url}/{plane.all(url)[0]['id']}"

    def add_user(self, name, key, until=None):
        body = {"name": name, "sshPublicKey": f"ssh-rsa {key.get_base64()}"}
        if until:
            body["expiryTime"] = until.isoformat().replace("+00:00", "Z")
        self.plane.call("POST", f"{self.url}/users", body, expect=201)

    def login(self):
        at = self.plane.get(f"{self.url}/remoteloginsettings")
        return at["remoteLoginIPAddress"], at["remoteLoginPort"]

    def remove(self):
        self.plane.remove_pool(self.pool)


@pytest.fixture
def node(ground, temporary):
    return temporary(Node(ground.plane, "logins"))


def connect(login, name, key):
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
    client.connect(*login, name, pkey=key, look_for_keys=False, allow_agent=False)
    return client


def is_let_in(login, name, key):
    try:
        connect(login, name, key).close()
        return True
    except (paramiko.SSHException, OSError):
        return False


def soon():
    return datetime.now(timezone.utc) + timedelta(seconds=4)


def test_a_user_is_let_in_until_the_expiry_time(node, key):
    """A session that is open then ends."""
    until = soon()
    node.add_user("ada", key, until)
    login = node.login()
    with connect(login, "ada", key) as client:
        wait_for(lambda: not client.get_transport().is_active(), 30, "the session to end")
    assert datetime.now(timezone.utc) >= until
    assert not is_let_in(login, "ada", key) and not is_let_in(node.login(), "ada", key)
    node.plane.refused(404, "NodeUserNotFound", "DELETE", f"{node.url}/users/ada")


def test_the_expiry_time_of_a_user_ends_no_session_of_another(node, key):
    node.add_user("ada", key, soon())
    node.add_user("bob", key)
    with connect(node.login(), "bob", key) as client:
        wrong = {"expiryTime": "never"}
        change = lambda: node.plane.call("PUT", f"{node.url}/users/ada", wrong, validate=False).status
        assert change() == 400
        wait_for(lambda: change() == 404, 30, "ada is gone")
        assert client.exec_command("echo still here")[1].read() == b"still here\n"

# SPDX-License-Identifier: MIT
"""People log in on local nodes: `az batchai cluster node exec` and `job node exec`, and ssh itself."""

import os
import shutil
import socket
import subprocess

import paramiko
import pytest
from support.daemon import Daemon
from support.waiting import wait_for
from support.world import Place, wait_flag

PASSWORD = "demoPassword1"

pytestmark = pytest.mark.skipif(not shutil.which("/usr/sbin/sshd"), reason="sshd is not installed")


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-m", "PEM", "-N", "", "-f", path], check=True)
    return path


@pytest.fixture(scope="module")
def place(daemon, temporary_in_file):
    return temporary_in_file(Place(daemon).make())


@pytest.fixture(scope="module")
def cluster(place, key):
    public = key.with_suffix(".pub").read_text().strip()
    user = {"adminUserName": "demoUser", "adminUserPassword": PASSWORD, "adminUserSshPublicKey": public}
    return place.cluster(nodes=2, userAccountSettings=user)


def logins(resource):
    return resource.call("POST", "/listRemoteLoginInformation", expect=200).json["value"]


def connect(login, user="demoUser", **credentials):
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
    alone = {"look_for_keys": False, "allow_agent": False}
    client.connect(login["ipAddress"], login["port"], user, **alone, **credentials)
    return client


def say(client, command):
    return client.exec_command(command)[1].read().decode()


def test_az_runs_a_command_on_a_node_by_password(az, place, cluster):
    node = logins(cluster)[1]["nodeId"]
    where = f"-g {place.group} -w {place.workspace} -c {cluster.name}"
    done = az.run(f"batchai cluster node exec {where} -n {node} -p {PASSWORD} --exec 'echo I am $LOGNAME'")
    assert done.stdout.strip() == "I am demoUser"


def test_az_runs_a_command_on_a_jobs_node_by_key(az, place, cluster, key):
    ready, flag = place.flag("login-seen")
    job = place.job(cluster, wait_flag(flag)).running()
    where = f"-g {place.group} -w {place.workspace} -e exp -j {job.name}"
    done = az.run(f"batchai job node exec {where} -k {key} --exec 'touch {ready}; echo done'")
    assert done.stdout.strip() == "done"
    job.succeed()


def test_a_wrong_password_and_another_name_are_refused(cluster):
    login = logins(cluster)[0]
    with pytest.raises(paramiko.AuthenticationException):
        connect(login, password="wrong")
    with pytest.raises(paramiko.AuthenticationException):
        connect(login, user="somebody", password=PASSWORD)


def test_ports_are_forwarded_and_files_copied(cluster, tmp_path):
    client = connect(logins(cluster)[0], password=PASSWORD)
    with socket.create_server(("127.0.0.1", 0)) as server:
        channel = client.get_transport().open_channel("direct-tcpip", server.getsockname(), ("127.0.0.1", 1))
        peer, _ = server.accept()
        channel.sendall(b"through the node")
        assert peer.recv(100) == b"through the node"
        peer.close()
    here = tmp_path / "file"
    here.write_text("copied")
    client.open_sftp().put(str(here), "file")
    assert say(client, "cat file") == "copied"
    client.close()


def test_a_node_keeps_its_port_and_host_key(cluster):
    first, again = logins(cluster), logins(cluster)
    assert first == again
    keys = [connect(n, password=PASSWORD).get_transport().get_remote_server_key() for n in first + again]
    assert keys[:2] == keys[2:] and keys[0] != keys[1]


def test_a_node_that_leaves_ends_its_sessions(place):
    user = {"adminUserName": "demoUser", "adminUserPassword": PASSWORD}
    cluster = place.cluster(nodes=1, userAccountSettings=user)
    (login,) = logins(cluster)
    client = connect(login, password=PASSWORD)
    assert say(client, "echo $HOME").strip().endswith(f"{login['nodeId']}/login/home")
    cluster.resized(0)
    wait_for(lambda: not client.get_transport().is_active(), 10, "the session to end")
    with pytest.raises(OSError):
        connect(login, password=PASSWORD)


@pytest.mark.skipif(os.geteuid() != 0, reason="only a root's sshd wants its folder, and only root can hide it")
def test_logins_need_no_service_of_sshd_to_have_run():
    with Daemon(prefix=["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run && exec "$0" "$@"']) as daemon:
        place = Place(daemon).make()
        user = {"adminUserName": "demoUser", "adminUserPassword": PASSWORD}
        (login,) = logins(place.cluster(nodes=1, userAccountSettings=user))
        client = connect(login, password=PASSWORD)
        assert say(client, "echo $LOGNAME").strip() == "demoUser"
        client.close()
        place.remove()

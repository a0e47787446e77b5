# SPDX-License-Identifier: MIT
"""`batchaid nodes clean`: what a daemon that is gone left on a machine is listed and taken away."""

import os
import pwd
import subprocess

import pytest
import yaml
from support.ports import mute_port
from support.sshd import Sshd
from support.world import Place, wait_flag

from test_daemon_nodes_check import on_terminal


@pytest.fixture
def machine(tmp_path):
    with Sshd(tmp_path / "machine") as m:
        yield m


@pytest.fixture
def clean(run, machine, tmp_path):
    config = tmp_path / "batchaid.yaml"
    config.write_text(yaml.safe_dump({"inventory": [machine.group()], "ssh": {"connect_timeout_s": 5}}))

    def call(*args, name=machine.name):
        return run("nodes", "clean", "--config", config, "--state-dir", "state", *args, name)

    return call


def leave_behind(root):
    """Directories, a half-done file of the agent's own, a link out of the root."""
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    for folder in ("jobs/a-1", "setup", "mounts"):
        (root / folder).mkdir(parents=True)
    (root / "mounts/share").symlink_to(outside)
    (root / "jobs/a-1/stdout.txt").write_text("x")
    return outside / "precious"


def test_what_is_left_is_listed_and_then_taken_away(clean, machine):
    precious = leave_behind(machine.node_root)
    listed = clean("--dry-run")
    assert listed.returncode == 0, listed.stderr
    for folder in ("jobs", "setup", "mounts"):
        assert f"{machine.name}: found: directory {machine.node_root}/{folder}" in listed.stdout
    assert (machine.node_root / "jobs/a-1/stdout.txt").exists()
    done = clean()
    assert done.returncode == 0, done.stderr
    assert f"removed: directory {machine.node_root}/jobs" in done.stdout
    assert f"removed: node root {machine.node_root}" in done.stdout
    assert not machine.node_root.exists()
    assert precious.read_text() == "mine"
    again = clean("--dry-run")
    assert again.returncode == 0 and "nothing is left" in again.stdout


def test_a_terminal_sees_which_machine_takes_long(machine, tmp_path, clean_env):
    with mute_port() as port:
        name = f"127.0.0.1:{port}"
        (tmp_path / "c.yaml").write_text(
            yaml.safe_dump({"inventory": [machine.group(hosts=name)], "ssh": {"connect_timeout_s": 3}})
        )
        arguments = ["nodes", "clean", "--dry-run", "--config", "c.yaml", "--state-dir", "state", name]
        code, seen = on_terminal(arguments, tmp_path, {**clean_env, "TERM": "xterm"})
    assert code == 1, seen
    line, _, rest = seen.rpartition("\r\x1b[K")
    assert f"{name}: looking for what is left, 1 s" in line and f"{name}: " in rest, seen


@pytest.mark.skipif(os.geteuid() != 0, reason="makes an account and a mount, which needs root")
def test_accounts_and_mounts_go_too(clean, machine):
    name = f"bclean{os.getpid()}"
    leave_behind(machine.node_root)
    (machine.node_root / "users").mkdir()
    (machine.node_root / "users" / name).touch()
    mount = machine.node_root / "mounts/data"
    mount.mkdir()
    subprocess.run(["useradd", "-m", "-c", "batchaid", name], check=True)
    try:
        subprocess.run(["mount", "-t", "tmpfs", "left", mount], check=True)
        sleeper = subprocess.Popen(["sleep", "1000"], user=name)
        done = clean()
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"removed: account {name}" in done.stdout and f"removed: mount {mount} (tmpfs)" in done.stdout
        assert not machine.node_root.exists()
        assert sleeper.wait(timeout=20) != 0
        with pytest.raises(KeyError):
            pwd.getpwnam(name)
    finally:
        subprocess.run(["umount", "-l", mount], capture_output=True)
        subprocess.run(["userdel", "-r", name], capture_output=True)


def test_no_machine_is_touched_when_one_is_unknown(clean, machine):
    leave_behind(machine.node_root)
    done = clean(machine.name, name="elsewhere")
    assert done.returncode == 1 and "there is no machine 'elsewhere'" in done.stderr
    assert (machine.node_root / "jobs").exists()


def test_beside_a_running_daemon_it_is_refused(own_daemon, machine, run, tmp_path):
    d = own_daemon()
    config = tmp_path / "batchaid.yaml"
    config.write_text(yaml.safe_dump({"inventory": [machine.group()]}))
    done = run("nodes", "clean", "--config", config, "--state-dir", d.state_dir, machine.name)
    assert done.returncode == 1 and "a daemon runs in" in done.stderr


def test_a_daemon_with_another_state_directory_keeps_its_jobs(machine, own_daemon, run, tmp_path):
    """It shares the file of host keys, by which an agent knows whose it is."""
    group = machine.group(vm_sizes=["STANDARD_NC6"])
    config = {"inventory": [group], "ssh": {"known_hosts": str(tmp_path / "known_hosts")}}
    d = own_daemon(config=config)
    place = Place(d).make()
    user = {"adminUserName": f"clean{os.getpid()}", "adminUserPassword": "pw-never-shown"}
    cluster = place.cluster(1, vmSize="STANDARD_NC6", nodeSetup=None, userAccountSettings=user)
    go = tmp_path / "go"
    job = place.job(cluster, wait_flag(go), stdOutErrPathPrefix="$AZ_BATCHAI_JOB_TEMP")
    job.wait("running")
    same = tmp_path / "same.yaml"
    same.write_text(yaml.safe_dump(config))
    done = run("nodes", "clean", "--config", same, "--state-dir", tmp_path / "other", machine.name)
    assert done.returncode == 1 and "another agent serves the node root" in done.stderr
    go.touch()
    assert job.succeed()["executionInfo"]["exitCode"] == 0


def test_it_asks_for_the_inventory(run):
    done = run("nodes", "clean", "m1")
    assert done.returncode == 2 and "--config" in done.stderr

# SPDX-License-Identifier: MIT
"""The rack that other tests put their machines in: each is a machine of its own, and every fault that
can be made there is one."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.daemon import ROOT, processes_of
from support.rack import NODE_DISK, USER
from support.rack.commands import make_key
from support.waiting import PATIENCE, wait_for

HELD = f"""
import sys
sys.path.insert(0, {str(ROOT / "test")!r})
from support.rack import Rack
rack = Rack(2, sys.argv[1])
print(rack.uplink, rack.pid, *[m.pid for m in rack], flush=True)
input()
"""


def greeting(machine, timeout=1.0):
    """What its sshd says first."""
    with socket.create_connection((machine.address, 22), timeout) as connection:
        return connection.recv(100)


def test_each_machine_has_its_name_address_and_boot_id_and_root_by_sudo(rack):
    asked = "hostname; sudo -n id -u; cat /proc/sys/kernel/random/boot_id; echo $USER"
    told = [m.ssh(asked).stdout.split() for m in rack]
    assert told == [[m.name, "0", m.boot_id, USER] for m in rack]
    assert len({m.boot_id for m in rack} | {m.address for m in rack}) == 2 * len(rack)


def test_machines_reach_each_other_by_name_and_are_reached_over_ipv6(rack):
    assert rack[0].run("exec 3<>/dev/tcp/m2/22; head -c 4 <&3").stdout == "SSH-"
    with socket.create_connection((rack[0].address6, 22), 2) as connection:
        assert connection.recv(4) == b"SSH-"


def test_what_a_machine_does_to_its_disk_is_its_own(rack):
    one, other = rack[0], rack[1]
    one.run(f"useradd -m visitor && touch /tmp/x /var/x {NODE_DISK}/x")
    assert "visitor" in one.accounts() and "visitor" not in other.accounts()
    assert "visitor" not in Path("/etc/passwd").read_text() and not Path("/var/x").exists()
    assert other.run(f"ls {NODE_DISK}").stdout == ""
    rack.renew()
    assert "visitor" not in one.accounts()


def test_machines_see_nothing_of_the_checkout_but_share_a_folder(rack):
    assert rack[0].run(f"ls {ROOT}").stdout == ""
    rack[0].ssh("echo hello >/common/note")
    assert (rack.common / "note").read_text() == rack[1].ssh("cat /common/note").stdout == "hello\n"


def test_orphans_are_reaped(rack):
    machine = rack[0]
    machine.run("(sh -c 'sleep 0.01 & exec sleep 0' &)")
    wait_for(lambda: "Z" not in machine.run("ps -eo stat").stdout, what="no zombies")


@pytest.mark.parametrize("ordered", [False, True], ids=["power lost", "it restarts itself"])
def test_a_reboot_ends_all_processes_and_gives_a_new_boot_id_but_keeps_the_disks(rack, ordered):
    machine = rack[0]
    boot_id = machine.boot_id
    machine.run(f"setsid sleep 12345 </dev/null >/dev/null 2>&1 & echo kept | tee {NODE_DISK}/note /var/note")
    # A program that is about to begin has no command line for a moment.
    (pid,) = wait_for(lambda: machine.processes("^sleep 12345"), what="it runs")
    if ordered:
        machine.restart_itself()
        machine.wait_reboot(boot_id)
    else:
        machine.reboot()
    assert not Path(f"/proc/{pid}").exists() and not machine.processes("sleep 12345")
    assert machine.ssh("cat /proc/sys/kernel/random/boot_id").stdout.strip() == machine.boot_id != boot_id
    assert machine.run(f"cat {NODE_DISK}/note /var/note").stdout == "kept\nkept\n"


def test_a_cut_link_swallows_packets_without_a_word(rack):
    machine = rack[0]
    with socket.create_connection((machine.address, 22), 2) as connection:
        connection.recv(100)
        machine.cut_link()
        connection.sendall(b"SSH-2.0-x\r\n")
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(100)
        with pytest.raises(TimeoutError):
            greeting(machine, 0.3)
        machine.restore_link()
        connection.settimeout(10 * PATIENCE)
        assert connection.recv(100), "the connection goes on"
    assert greeting(machine)


def test_a_link_can_be_cut_in_the_middle_of_an_upload(rack):
    machine = rack[0]
    machine.cut_link_after(500_000)
    with pytest.raises(subprocess.TimeoutExpired):
        machine.ssh("cat >/var/tmp/upload", input="x" * 2_000_000, limit=1)
    assert 100_000 < machine.path("/var/tmp/upload").stat().st_size < 500_000
    machine.restore_link()
    assert machine.ssh("true").returncode == 0


def test_of_a_machine_without_power_nothing_is_heard_and_afterwards_connections_are_forgotten(rack):
    machine = rack[0]
    with socket.create_connection((machine.address, 22), 2) as connection:
        connection.recv(100)
        machine.power_off()
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(100)
        machine.start()
        connection.settimeout(10 * PATIENCE)
        with pytest.raises(ConnectionResetError):
            connection.sendall(b"SSH-2.0-x\r\n")
            connection.recv(100)


def test_sshd_can_be_killed_with_its_sessions_and_started_again(rack):
    machine = rack[0]
    with socket.create_connection((machine.address, 22), 2) as connection:
        connection.recv(100)
        machine.kill_sshd()
        assert connection.recv(100) == b""
    with pytest.raises(ConnectionRefusedError):
        greeting(machine)
    machine.start_sshd()
    assert greeting(machine)


def test_sshd_can_fall_silent(rack):
    machine = rack[0]
    machine.mute_sshd()
    with pytest.raises(TimeoutError):
        greeting(machine, 0.3)
    machine.unmute_sshd()
    assert greeting(machine)


def test_a_full_disk_has_no_room_until_it_is_freed(rack):
    machine = rack[0]
    machine.fill_disk()
    assert "No space left" in machine.run(f"echo x >{NODE_DISK}/x", check=False).stderr
    assert machine.run("echo x >/var/x").returncode == 0, "the other disk is another one"
    machine.free_disk()
    machine.run(f"echo x >{NODE_DISK}/x")


def test_a_changed_host_key_is_noticed(rack, tmp_path):
    machine = rack[0]
    known = (f"UserKnownHostsFile={tmp_path / 'known_hosts'}",)
    assert machine.ssh("true", options=(*known, "StrictHostKeyChecking=accept-new")).returncode == 0
    before = machine.fingerprint()
    machine.change_host_key()
    assert machine.fingerprint() != before
    refused = machine.ssh("true", options=(*known, "StrictHostKeyChecking=yes"))
    assert refused.returncode == 255 and "Host key verification failed" in refused.stderr


def test_a_wrong_key_a_wrong_user_and_no_sudo_are_refused(rack, tmp_path):
    machine = rack[0]
    make_key(tmp_path / "other", keep=True)
    assert "Permission denied" in machine.ssh("true", identity=tmp_path / "other").stderr
    assert "Permission denied" in machine.ssh("true", user="nobody").stderr
    machine.allow_sudo(False)
    assert machine.ssh("sudo -n true").returncode == 1
    machine.allow_sudo(True)
    assert machine.ssh("sudo -n true").returncode == 0
    machine.authorize((tmp_path / "other.pub").read_text())
    assert machine.ssh("true", identity=tmp_path / "other").returncode == 0


def test_an_account_with_a_password_can_log_in(rack):
    for machine in rack[0], rack[1]:
        machine.run("useradd -m visitor && echo visitor:S3cret | chpasswd")
        answer = machine.ssh_with_password("visitor", "S3cret", "id -un")
        assert answer.stdout == "visitor\n", answer.stderr


def test_nothing_is_left_of_a_rack_whose_owner_was_killed(tmp_path):
    owner = subprocess.Popen(
        [sys.executable, "-c", HELD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    uplink, *pids = owner.stdout.readline().split()
    made = [Path(f"/sys/class/net/{uplink}"), *[Path(f"/proc/{pid}") for pid in pids]]
    assert len(made) == 4 and all(path.exists() for path in made)
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    wait_for(lambda: not any(path.exists() for path in made), what="all of it to go")
    assert processes_of(tmp_path) == {}

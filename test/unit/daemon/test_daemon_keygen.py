# SPDX-License-Identifier: MIT
"""`batchaid keygen`, judged by ssh-keygen, and what stays as it was when it fails."""
import socket
import subprocess

import pytest


def public_of(path):
    """The public half as OpenSSH derives it from the private one; fails on anything but a key."""
    done = subprocess.run(["ssh-keygen", "-y", "-f", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[:2]


def test_a_key_in_the_state_directory(run, tmp_path):
    done = run("keygen", "--state-dir", "state")
    key, public = tmp_path / "state/id_ed25519", tmp_path / "state/id_ed25519.pub"
    assert done.returncode == 0, done.stderr
    assert done.stdout == public.read_text()
    assert done.stdout.split() == [*public_of(key), f"batchaid@{socket.gethostname()}"]
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.parent.stat().st_mode & 0o777 == 0o700


def test_it_says_how_to_go_on(run, tmp_path):
    done = run("keygen", "rack1")
    assert f"ssh-copy-id -f -i {tmp_path}/rack1.pub USER@MACHINE" in done.stderr
    assert f"identity: {tmp_path}/rack1\n" in done.stderr
    assert "PRIVATE KEY" not in done.stdout + done.stderr


def test_a_comment(run, tmp_path):
    done = run("keygen", "rack1", "--comment", "rack one")
    assert done.stdout.split(" ", 2)[2] == "rack one\n"
    listed = subprocess.run(["ssh-keygen", "-l", "-f", tmp_path / "rack1"], capture_output=True, text=True)
    assert "rack one (ED25519)" in listed.stdout


def test_two_keys_differ(run):
    assert run("keygen", "a").stdout.split()[1] != run("keygen", "b").stdout.split()[1]


@pytest.mark.parametrize("there", ["key", "key.pub"])
def test_nothing_is_ever_replaced(run, tmp_path, there):
    (tmp_path / there).write_text("precious")
    done = run("keygen", "key")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{there} exists; move it away to make a new key" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "precious"


@pytest.mark.parametrize("arguments, says", [
    (["nowhere/key"], "cannot make nowhere/key: No such file or directory"),
    (["key", "--comment", "two\nlines"], "a key's comment is one line"),
])
def test_what_cannot_be_done(run, tmp_path, arguments, says):
    done = run("keygen", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"batchaid: {says}\n")
    assert list(tmp_path.iterdir()) == []


def test_check_config_takes_the_key(run, tmp_path):
    run("keygen", "key")
    (tmp_path / "c.yaml").write_text(f"inventory: [{{hosts: a, identity: {tmp_path}/key}}]\n")
    assert run("check-config", "c.yaml").returncode == 0

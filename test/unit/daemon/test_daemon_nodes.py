# SPDX-License-Identifier: MIT
"""`batchaid nodes` as a command: its usage, and what it says without a daemon. With one:
test/api/test_nodes.py; `nodes check`: test_daemon_nodes_check.py."""
import subprocess

import pytest
from support.daemon import BATCHAID


@pytest.mark.parametrize("arguments, words", [
    (["drain"], ["nodes drain: name the machines", "batchaid nodes drain HOST..."]),
    (["undrain"], ["nodes undrain: name the machines"]),
    (["reboot"], ["nodes reboot: name the machines"]),
    (["--reason", "x"], ["nodes list: it does not take --reason"]),
    (["--config", "x"], ["nodes list: it does not take --config"]),
    (["reboot", "m", "--reason", "x"], ["nodes reboot: it does not take --reason"]),
    (["undrain", "m", "--dry-run"], ["nodes undrain: it does not take --dry-run"]),
    (["drain", "m", "--reason", ""], ["nodes: --reason needs a value"]),
    (["drain", "m", "--reason"], ["nodes: no value after '--reason'"]),
    (["drain", "gpu[01-"], ["nodes drain: ", "gpu[01-", "without its ]"]),
    (["check", "a,,b"], ["nodes check: "]),
    (["drain", "m", "--reason", b"\xff"], ["the reason is not UTF-8"]),
])
def test_wrong_command_lines(run, tmp_path, arguments, words):
    done = run("nodes", *arguments) if b"\xff" not in arguments else run_bytes(tmp_path, arguments)
    assert (done.returncode, done.stdout) == (2, "")
    for word in words:
        assert word in done.stderr
    assert list(tmp_path.iterdir()) == []


def run_bytes(tmp_path, arguments):
    return subprocess.run([BATCHAID, "nodes", "--state-dir", "s", *arguments], cwd=tmp_path, text=True,
                          capture_output=True)


@pytest.mark.parametrize("arguments", [[], ["list"], ["--json"], ["drain", "m"], ["undrain", "m"],
                                       ["reboot", "m"]])
def test_without_a_daemon(run, tmp_path, arguments):
    for directory in ("not there", "there"):
        (tmp_path / "there").mkdir(exist_ok=True)
        done = run("nodes", *arguments, "--state-dir", directory)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"no batchaid daemon is serving {tmp_path}/{directory}" in done.stderr
        assert f"batchaid serve --state-dir {tmp_path}/{directory}" in done.stderr
        assert ("which does not exist; set --state-dir" in done.stderr) == (directory == "not there")
    assert list((tmp_path / "there").iterdir()) == []


def test_options_may_stand_before_the_verb(run):
    assert "name the machines" in run("nodes", "--state-dir", "s", "drain").stderr


def test_help_names_each_verb(run):
    described = run("help", "nodes").stdout
    for verb in ("[list]", "check", "drain", "undrain", "reboot"):
        assert f"\n{verb} " in described

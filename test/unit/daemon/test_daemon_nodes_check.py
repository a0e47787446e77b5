# SPDX-License-Identifier: MIT
"""`batchaid nodes check` against real sshds, and ports and names that are none."""

import json
import os
import pty
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml
from support.daemon import BATCHAID
from support.ports import free_port, mute_port
from support.sshd import Sshd, make_key

COLUMNS = "NAME DNS TCP HOSTKEY LOGIN BECOME SHELL AGENT DISK CLOCK GPU CONTAINERS MPI SHARES".split()
FAKE_AGENT = (Path(__file__).parent / "fake_agent.py").read_text()


@pytest.fixture
def machine(tmp_path):
    with Sshd(tmp_path / "machine") as m:
        yield m


@pytest.fixture
def check(run, tmp_path):
    """check(GROUP..., args=, **sections) -> the finished check, its rows by name, its problems."""

    def call(*groups, args=(), env=None, **sections):
        sections.setdefault("ssh", {"connect_timeout_s": 2})
        config = tmp_path / "batchaid.yaml"
        config.write_text(yaml.safe_dump({"shares": {"port": 0}, "inventory": list(groups), **sections}))
        done = run("nodes", "check", "--config", config, "--state-dir", "state", *args, env=env)
        if "--json" not in args and done.stdout:
            table, _, problems = done.stdout.partition("\n\n")
            lines = [line.split() for line in table.splitlines()]
            assert lines[0] == COLUMNS
            done.rows = {line[0]: dict(zip(COLUMNS, line)) for line in lines[1:]}
            done.problems = problems.splitlines()
        return done

    return call


def remember(machine, known_hosts):
    """As a daemon that has been there writes it down."""
    key = (machine.dir / "host_key.pub").read_text().split()
    known_hosts.write_text(f"[{machine.host}]:{machine.port} {key[0]} {key[1]}\n")


def tree(directory):
    return sorted(str(p) for p in directory.rglob("*"))


def test_a_good_machine(check, machine, tmp_path):
    done = check(machine.group())
    assert done.returncode == 0, done.stdout + done.stderr
    row = done.rows[machine.name]
    for column in ("DNS", "TCP", "LOGIN", "SHELL", "AGENT", "CLOCK"):
        assert row[column] == "ok"
    assert row["HOSTKEY"] == "new" and row["BECOME"] == "-"
    assert row["DISK"][-1] in "MGTPE"
    assert done.problems == [] and done.stderr == ""
    assert not machine.node_root.exists(), "a check makes nothing"
    assert not (tmp_path / "state").exists()


def test_a_machine_that_was_seen_before(check, machine, tmp_path):
    known = tmp_path / "known_hosts"
    remember(machine, known)
    before = known.read_text()
    done = check(machine.group(), ssh={"known_hosts": str(known), "strict_host_keys": True})
    assert done.returncode == 0, done.stdout
    assert done.rows[machine.name]["HOSTKEY"] == "ok"
    assert known.read_text() == before


def failing(row):
    """(columns that are ok, the column that is not)"""
    bad = [c for c in COLUMNS[1:] if row[c] not in ("ok", "new", "-")]
    assert len(bad) == 1, row
    return [c for c in COLUMNS[1:] if row[c] in ("ok", "new")], bad[0]


def test_each_kind_of_trouble_has_its_row_and_its_remedy(check, machine, tmp_path):
    make_key(tmp_path / "wrong")
    changed = Sshd(tmp_path / "changed")
    with changed, mute_port() as port:
        remember(changed, tmp_path / "known_hosts")
        changed.change_host_key()
        closed = free_port()
        wrong = Sshd(tmp_path / "other", options="")
        with wrong:
            done = check(
                machine.group(),
                machine.group(hosts=f"127.0.0.1:{closed},127.0.0.1:{port},no-such-machine.invalid"),
                wrong.group(identity=str(tmp_path / "wrong")),
                changed.group(),
                ssh={"connect_timeout_s": 2, "known_hosts": str(tmp_path / "known_hosts")},
            )
    assert done.returncode == 1
    assert done.rows[machine.name]["MPI"] in ("ok", "-") and len(done.rows) == 6
    expected = {
        "no-such-machine.invalid": ([], "DNS", "no", ["looking up the name", "check the name"]),
        f"127.0.0.1:{closed}": (["DNS"], "TCP", "no", ["refused", "check that sshd runs there"]),
        f"127.0.0.1:{port}": (["DNS", "TCP"], "HOSTKEY", "no", ["no answer in 4 s", "SSH server"]),
        changed.name: (["DNS", "TCP"], "HOSTKEY", "changed", ["the key has changed", "remove its recorded key from"]),
        wrong.name: (["DNS", "TCP", "HOSTKEY"], "LOGIN", "no", ["refused for user", "authorized_keys"]),
    }
    for name, (good, bad, word, words) in expected.items():
        assert failing(done.rows[name]) == (good, bad)
        assert done.rows[name][bad] == word
        (problem,) = [p for p in done.problems if name.split(":")[0] in p and p.find(name) >= 0]
        assert all(w in problem for w in words), problem
    assert len(done.problems) == len(expected), "a line each, none for the good one"
    assert str(tmp_path / "known_hosts") in "".join(done.problems), "the file, by its real name"


def test_a_host_key_that_is_not_recorded_where_that_is_strict(check, machine):
    done = check(machine.group(), ssh={"strict_host_keys": True})
    assert done.returncode == 1
    assert done.rows[machine.name]["HOSTKEY"] == "unknown"
    assert "add its key: ssh-keyscan -p" in done.problems[0]


def test_become_that_fails(check, machine):
    done = check(machine.group(become="/bin/false"))
    assert done.returncode == 1
    row = done.rows[machine.name]
    assert (row["BECOME"], row["SHELL"], row["DISK"]) == ("no", "ok", "-")
    assert "'/bin/false' did not run it" in done.problems[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up root on the machine")
def test_become_that_does_not_make_root(check):
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    try:
        with Sshd(directory / "machine") as machine:
            someone = "setpriv --reuid=65534 --regid=65534 --clear-groups"
            done = check(machine.group(become=someone, node_root="/tmp/none/such"))
        assert done.returncode == 1
        assert done.rows[machine.name]["BECOME"] == "no"
        assert "runs as 'nobody', not as root" in done.problems[0]
    finally:
        shutil.rmtree(directory)


def test_a_node_root_that_cannot_be_used(check, machine, tmp_path):
    (tmp_path / "file").write_text("")
    whom = "root" if machine.user == "root" else f"{machine.user}, reach root with become"
    done = check(machine.group(node_root=str(tmp_path / "file/root")))
    assert done.returncode == 1
    assert done.rows[machine.name]["DISK"] == "no"
    assert done.problems == [
        f"{machine.name}: {tmp_path}/file is not a directory; the node root is to be "
        f"{tmp_path}/file/root; make it usable for {whom}, or give another node_root"
    ]


def test_a_disk_that_is_nearly_full(check, machine):
    done = check(machine.group(), machines={"min_free_disk_mb": 1000000000})
    assert done.returncode == 1
    row = done.rows[machine.name]
    assert f"has {row['DISK']} free, less than the 954T wanted" in done.problems[0]


# --- machines that are not at hand here ----------------------------------------------------------


@pytest.fixture
def fake(check, machine, tmp_path):
    """fake(what the agent says, ...) -> a check of a machine with such an agent."""

    def call(says, **more):
        agent = tmp_path / "fake-agent"
        agent.write_text(f"{FAKE_AGENT}\n\nSAYS = {says!r}\nmain()\n")
        agent.chmod(0o755)
        return check(machine.group(), env={"BATCHAI_NODE": str(agent)}, **more)

    return call


@pytest.mark.parametrize("seconds, word, side", [(90, "+", "ahead"), (-90, "-", "behind")])
def test_a_clock_that_is_wrong(fake, machine, seconds, word, side):
    done = fake({"ahead_s": seconds})
    assert done.returncode == 1
    shown = done.rows[machine.name]["CLOCK"]
    assert shown[0] == word and 88 <= abs(int(shown[:-1])) <= 91
    assert f"s {side} of this machine's; let NTP set both" in done.problems[0]


def test_gpus_runtimes_and_mpi(fake, machine):
    gpu = {"bus": "0", "model": "Tesla V100", "uuid": "u", "driver": "535.1"}
    done = fake({"node": {"gpus": [gpu] * 4, "runtimes": "docker podman", "mpi": "/usr/bin/mpirun"}})
    assert done.returncode == 0
    row = done.rows[machine.name]
    assert (row["GPU"], row["CONTAINERS"], row["MPI"]) == ("4", "docker,podman", "ok")


def test_a_gpu_that_complains(fake, machine):
    done = fake({"health": {"gpu_errors": "NVRM: Xid 79, GPU has fallen off the bus"}})
    assert done.returncode == 1
    assert done.rows[machine.name]["GPU"] == "errors"
    assert "fallen off the bus" in done.problems[0]


def test_an_agent_that_never_says_how_it_is(fake, machine):
    done = fake({"silent": True})
    assert done.returncode == 1
    assert done.rows[machine.name]["AGENT"] == "no"
    assert "does not answer within 2 s" in done.problems[0]


def test_what_a_machine_says_cannot_steer_the_terminal(fake, machine):
    done = fake({"node": {"runtimes": "\x1b[31mred\x07"}, "health": {"gpu_errors": "\x1b]0;owned\x07"}})
    assert "\x1b" not in done.stdout and "\x07" not in done.stdout


# --- which machines, and how they are shown ------------------------------------------------------


def test_some_of_them_and_one_at_a_time(check, machine):
    ports = f"127.0.0.[2-4]:{free_port()}"
    limit = {"connect_timeout_s": 2, "connect_limit": 1}
    group = machine.group(hosts=f"{machine.name},{ports}")
    assert len(check(group, ssh=limit).rows) == 4
    port = ports.split(":")[1]
    done = check(group, args=[f"127.0.0.[3-4]:{port}", machine.name], ssh=limit)
    assert list(done.rows) == [f"127.0.0.3:{port}", f"127.0.0.4:{port}", machine.name]
    assert done.returncode == 1
    assert check(group, args=[machine.name]).returncode == 0


def test_a_machine_that_is_not_in_the_inventory(check, machine):
    done = check(machine.group(), args=["gpu7"])
    assert (done.returncode, done.stdout) == (1, "")
    assert f"there is no machine 'gpu7'; there is {machine.name}" in done.stderr


def test_json(check, machine):
    done = check(machine.group(hosts=f"{machine.name},no-such-machine.invalid"), args=["--json"])
    assert done.returncode == 1
    good, bad = json.loads(done.stdout)["value"]
    assert good["name"] == machine.name and good["usable"] is True and good["problems"] == []
    assert good["checks"]["hostKey"] == "new" and good["checks"]["become"] is None
    assert good["diskFreeBytes"] > 0 and abs(good["clockSkewMilliseconds"]) < 1000
    assert bad["usable"] is False and len(bad["problems"]) == 1 and "diskFreeBytes" not in bad
    assert bad["checks"]["dns"] == "no" and bad["checks"]["tcp"] is None
    assert sorted(good["checks"]) == sorted(bad["checks"]) and len(good["checks"]) == 13


def test_the_running_daemon_says_which_configuration(serve, run, machine, tmp_path):
    config = tmp_path / "site.yaml"
    config.write_text(yaml.safe_dump({"inventory": [machine.group()]}))
    serve("--config", "site.yaml", "--state-dir", "state")
    done = run("nodes", "check", "--state-dir", "state")
    assert done.returncode == 0 and machine.name in done.stdout, done.stderr


def test_nothing_says_which_configuration(serve, run):
    done = run("nodes", "check", "--state-dir", "state")
    assert (done.returncode, done.stdout) == (1, "")
    assert "batchaid nodes check --config FILE" in done.stderr
    serve("--state-dir", "state")
    done = run("nodes", "check", "--state-dir", "state")
    assert done.returncode == 1
    assert "was started without --config" in done.stderr


def test_no_inventory_in_the_configuration(run, tmp_path):
    (tmp_path / "c.yaml").write_text("quota: {clusters: 5}\n")
    done = run("nodes", "check", "--config", "c.yaml", "--state-dir", "state")
    assert (done.returncode, done.stdout) == (1, "")
    assert "c.yaml has no inventory" in done.stderr and "hosts: gpu[01-16].rack1" in done.stderr


def on_terminal(arguments, cwd, env):
    """What appears on a terminal of 60 columns."""
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", "60"], stdin=theirs, check=True)
    p = subprocess.Popen([BATCHAID, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs,
                         cwd=cwd, env=env)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return p.wait(), seen.decode()


def test_colours_and_progress_are_for_terminals(machine, tmp_path, clean_env):
    with mute_port() as port:
        hosts = f"{machine.name},127.0.0.1:{port}"
        (tmp_path / "c.yaml").write_text(
            yaml.safe_dump({"inventory": [machine.group(hosts=hosts)], "ssh": {"connect_timeout_s": 3}})
        )
        arguments = ["nodes", "check", "--config", "c.yaml", "--state-dir", "state"]
        code, seen = on_terminal(arguments, tmp_path, {**clean_env, "TERM": "xterm"})
        assert code == 1
        assert "\x1b[32mok\x1b[0m" in seen and "\x1b[31mno\x1b[0m" in seen
        assert "1 of 2 machines checked" in seen
        plain = on_terminal(arguments, tmp_path, {**clean_env, "TERM": "xterm", "NO_COLOR": "1"})[1]
        assert "\x1b[32m" not in plain

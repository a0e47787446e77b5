# SPDX-License-Identifier: MIT
"""`batchaid demo`: what it prints, that its lines work, and that it leaves nothing."""
import json
import os
import pty
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from support.daemon import BATCHAID, BUILD, SANITIZER
from support.waiting import wait_for


def children(pid):
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture
def demo(tmp_path, clean_env):
    """demo(...) -> a running demo, once it has said what is there; .said is that."""
    started = []
    (tmp_path / "tmp").mkdir()

    def start(*arguments, ignored=(), **env):
        def ignore():
            for signo in ignored:
                signal.signal(signo, signal.SIG_IGN)

        with open(tmp_path / "stderr", "w") as stderr:
            p = subprocess.Popen([BATCHAID, "demo", *arguments], cwd=tmp_path, text=True, stdin=subprocess.DEVNULL,
                                 env={**clean_env, "TMPDIR": str(tmp_path / "tmp"), **env}, stdout=subprocess.PIPE, stderr=stderr, preexec_fn=ignore)
        started.append(p)
        p.said = ""
        end = "}\n" if "--json" in arguments else "Ctrl-C ends it and removes everything.\n"
        for line in p.stdout:
            p.said += line
            if line == end:
                return p
        raise AssertionError((p.wait(60), p.said, (tmp_path / "stderr").read_text()))

    yield start
    for p in started:
        p.terminate()
        p.communicate(timeout=60)
        said = (tmp_path / "stderr").read_text()
        assert not SANITIZER.search(said), said


def test_the_lines_work_and_nothing_is_left(demo, tmp_path):
    p = demo("--json")
    said = json.loads(p.said)
    seen = {(r["kind"], r["name"]): r["state"] for r in said["resources"]}
    assert seen["storage account", "demostore"] == seen["Batch account", "demobatch"] == ""
    assert seen["blob", "models/night-2/model.txt"] == "14 bytes" and seen["pool", "workers"] == "2 fake nodes"
    assert (seen["task", "nightly/prepare"], seen["task", "nightly/train"]) == ("completed, exit code 0", "completed, exit code 1")
    assert (seen["job", "nightly"], seen["task", "nightly/report"]) == ("active", "running")
    (daemon,) = children(p.pid)

    lines = [c["command"] for c in said["commands"]]
    shell = {"capture_output": True, "text": True, "check": True, "env": {"PATH": f"{BUILD}:{os.environ['PATH']}"}}
    read, fault, explain, clock, dump = (subprocess.run(["bash", "-c", line], **shell).stdout for line in lines)
    assert read == "accuracy 0.93\n"
    assert json.loads(fault)["match"] == {"operation": "Blob_Download"}
    assert "503" in subprocess.run(["bash", "-c", lines[0] + " -o /dev/null -w '%{http_code}'"], **shell).stdout
    assert "task train" in explain and "failed, exit code 1" in explain
    assert json.loads(clock)["real"] is False
    assert json.loads(dump)["groups"]["demo"]["batchAccounts"]["demobatch"]["pools"]["workers"]

    assert Path(said["stateDirectory"]).parent == tmp_path / "tmp"
    p.send_signal(signal.SIGINT)
    assert p.wait(60) == 0
    assert not os.path.exists(f"/proc/{daemon}") and os.listdir(tmp_path / "tmp") == []


def test_a_terminal_sees_that_the_daemon_takes_long(tmp_path, clean_env):
    ours, theirs = pty.openpty()
    arguments = [BATCHAID, "demo", "--state-dir", tmp_path / "state"]
    p = subprocess.Popen(arguments, cwd=tmp_path, env={**clean_env, "TERM": "xterm"}, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    (daemon,) = wait_for(lambda: children(p.pid))
    os.kill(daemon, signal.SIGSTOP)  # it has not begun to serve, or to take the requests
    seen = ""
    for text in (re.compile(r"starting a daemon for tests, \d s|waiting for the daemon, \d s: filling the demo"),
                 re.compile(r"\r\x1b\[KA cloud for tests is at (?s:.*)Ctrl-C ends it and removes everything\.\r\n$")):
        while not text.search(seen):
            seen += os.read(ours, 65536).decode()
        os.kill(daemon, signal.SIGCONT)
    p.send_signal(signal.SIGINT)
    assert p.wait(60) == 0 and not SANITIZER.search(seen), seen
    os.close(ours)


def test_a_demo_ends_before_its_daemon_is_ready(tmp_path, clean_env):
    p = subprocess.Popen([BATCHAID, "demo", "--state-dir", tmp_path / "state"], cwd=tmp_path, env=clean_env, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    (daemon,) = wait_for(lambda: children(p.pid))
    os.kill(daemon, signal.SIGSTOP)
    p.send_signal(signal.SIGINT)

    def pending():
        status = Path(f"/proc/{daemon}/status").read_text()
        return int(re.search(r"ShdPnd:\s*(\w+)", status).group(1), 16) >> (signal.SIGTERM - 1) & 1

    wait_for(pending, what="the demo to end its daemon, which is stopped")
    os.kill(daemon, signal.SIGCONT)
    out, err = p.communicate(timeout=60)
    assert "A cloud for tests" not in out and not SANITIZER.search(err), (out, err)
    wait_for(lambda: not (tmp_path / "state").exists())


def test_signals_that_are_ignored_end_no_demo(demo, tmp_path):
    p = demo(ignored=(signal.SIGHUP, signal.SIGINT))
    p.send_signal(signal.SIGHUP)
    p.send_signal(signal.SIGINT)
    (daemon,) = children(p.pid)
    os.kill(daemon, signal.SIGTERM)
    assert p.wait(60) == 1
    assert "daemon has ended by itself" in (tmp_path / "stderr").read_text()


def test_people_see_a_table_and_five_lines(demo):
    said = demo().said
    assert "\ntask             nightly/train             completed, exit code 1\n" in said
    assert len([line for line in said.splitlines() if line.startswith(("  curl ", "  batchaid "))]) == 5


def test_a_demo_that_is_killed_takes_its_daemon_along(demo, tmp_path):
    p = demo("--state-dir", str(tmp_path / "state"))
    p.kill()
    p.wait(60)
    wait_for(lambda: not (tmp_path / "state").exists())


def test_a_daemon_that_ends_ends_the_demo(demo, tmp_path):
    p = demo()
    (daemon,) = children(p.pid)
    os.kill(daemon, signal.SIGTERM)
    assert p.wait(60) == 1
    assert "daemon has ended by itself" in (tmp_path / "stderr").read_text()


def test_it_needs_no_home(demo):
    assert "A cloud for tests is at https://localhost:" in demo(HOME="").said


def test_what_is_in_the_way_is_said(run, tmp_path):
    (tmp_path / "tmp").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("demo", "--listen", f"127.0.0.1:{port}", env={"TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode == 1 and os.listdir(tmp_path / "tmp") == []
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in done.stderr
    assert "port 0 picks a free port" in done.stderr and "did not start, for the reason above" in done.stderr
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    done = run("demo", "--state-dir", tmp_path / "full")
    assert done.returncode == 1 and "needs a directory that does not exist yet, or is empty" in done.stderr
    assert (tmp_path / "full/file").exists()


def test_a_second_demo_at_one_place_leaves_the_first_alone(demo, run, tmp_path):
    p = demo("--json", "--state-dir", str(tmp_path / "state"))
    done = run("demo", "--state-dir", tmp_path / "state")
    assert done.returncode == 1 and "needs a directory that does not exist yet, or is empty" in done.stderr
    assert p.poll() is None and (tmp_path / "state/batchaid.db").exists()
    assert run("wait", "--state-dir", tmp_path / "state", "--timeout", "5").returncode == 0


def test_a_place_that_cannot_be_used_is_passed_over(demo, tmp_path):
    where = json.loads(demo("--json", TMPDIR=str(tmp_path / "missing")).said)["stateDirectory"]
    assert Path(where).parent == Path("/tmp")


def test_without_tmpdir_it_is_in_memory_if_there_is_room(demo):
    memory = os.statvfs("/dev/shm")
    room = memory.f_bavail * memory.f_frsize >= 1 << 30 and not memory.f_flag & os.ST_NOEXEC
    assert Path(json.loads(demo("--json", TMPDIR="").said)["stateDirectory"]).parent == Path("/dev/shm" if room else "/tmp")

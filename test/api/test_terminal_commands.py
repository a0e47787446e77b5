# SPDX-License-Identifier: MIT
"""`batchaid exec`, `ssh` and `forward`."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import tarfile
import termios
import urllib.request

import pytest
from support.daemon import BATCHAID
from support.waiting import PATIENCE, wait_for
from support.world import Place, fresh, wait_flag, wishes

SERVER = (
    "import http.server as h, os, sys\\n"
    "class H(h.SimpleHTTPRequestHandler):\\n"
    "  def do_GET(self):\\n"
    "    self.send_response(200); self.end_headers(); self.wfile.write(b\"from the job\")\\n"
    "s = h.ThreadingHTTPServer((\"127.0.0.1\", 0), H)\\n"
    "open(\"port.new\", \"w\").write(str(s.server_port)); os.rename(\"port.new\", \"port\"); s.serve_forever()\\n"
)  # fmt: skip


@pytest.fixture(scope="module")
def job(daemon, temporary_in_file):
    ground = temporary_in_file(Place(daemon).make())
    cluster = ground.cluster(nodes=2)
    flag, path = ground.flag(fresh("go"))
    begun, there = ground.flag(fresh("begun"))
    made = ground.job(cluster, f">{there}\n{wait_flag(path)}", nodes=2)
    wait_for(begun.exists, what="the job's command")
    made.flag = flag
    return made


def start(job, *arguments, **more):
    argv = [str(BATCHAID), arguments[0], "--state-dir", str(job.daemon.state_dir), *arguments[1:]]
    return subprocess.Popen(argv, **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})


def ran(job, *arguments, given=b""):
    """(exit code, output, errors)"""
    process = start(job, *arguments)
    out, err = process.communicate(given, timeout=30 * PATIENCE)
    return process.returncode, out, err


def test_a_command_with_its_output_and_exit_code(job):
    assert ran(job, "exec", job.name, "--", "echo $((1 + 1)); echo err >&2; exit 9") == (9, b"2\n", b"err\n")
    assert ran(job, "exec", job.name, "--", "printf", "%s|", "a b", "$HOME") == (0, b"a b|$HOME|", b"")
    assert ran(job, "exec", job.name, "--", "kill -9 $$") == (128 + 9, b"", b"")
    code, out, err = ran(job, "exec", job.name, "--", "no-such-program-here")
    assert code == 127 and out == b"" and b"no-such-program-here" in err


def test_a_command_on_each_node(job):
    where = [ran(job, "exec", job.name, "--node", n, "--", "echo $AZ_BATCHAI_TASK_INDEX")[1] for n in "01"]
    assert where == [b"0\n", b"1\n"]
    code, out, err = ran(job, "exec", job.name, "--node", "2", "--", "true")
    assert code == 255 and b"'2' is not a node of this job; its nodes: " in err


@pytest.fixture(scope="module")
def array(job):
    """Its index 5 runs, its index 4 has ended, and its index 6 waits for a node."""
    ground = Place(job.daemon).make()
    flag, path = ground.flag(fresh("go"))
    begun, there = ground.flag(fresh("begun"))
    line = f"[ $BATCHAID_ARRAY_INDEX = 4 ] && exit\n>{there}\n{wait_flag(path)}"
    made = ground.job(ground.cluster(), line, environmentVariables=wishes(ARRAY="4-6"))
    wait_for(begun.exists, what="the second index")
    return made


def test_an_index_of_an_array(array):
    assert ran(array, "exec", f"{array.name}[5]", "--", "echo $BATCHAID_ARRAY_INDEX") == (0, b"5\n", b"")
    assert ran(array, "ssh", f"{array.name}[5]", given=b"echo $BATCHAID_ARRAY_INDEX; exit 3\n") == (3, b"5\n", b"")
    for name, says in [
        (array.name, f"The job {array.name} is an array of 3 indexes; name one that runs, as in {array.name}[4]."),
        (f"{array.name}[4]", f"Index 4 of the job {array.name} is not running now; a terminal needs a running index."),
        (f"{array.name}[6]", f"Index 6 of the job {array.name} is not running now"),
        (f"{array.name}[7]", f"7 is not an index of the job {array.name}; its first index is 4, and it has 3."),
        (f"{array.name}[99999999999999999999]", "index"),
    ]:
        code, out, err = ran(array, "exec", name, "--", "true")
        assert (code, out) == (255, b"") and says in err.decode(), err


def test_an_array_of_one_index(job):
    ground = Place(job.daemon).make()
    begun, there = ground.flag(fresh("begun"))
    _, path = ground.flag(fresh("go"))
    made = ground.job(ground.cluster(), f">{there}\n{wait_flag(path)}", environmentVariables=wishes(ARRAY="7"))
    wait_for(begun.exists, what="the index")
    code, out, err = ran(made, "exec", f"{made.name}[3]", "--", "true")
    assert (code, out) == (255, b"")
    assert f"3 is not an index of the job {made.name}; its first index is 7, and it has 1." in err.decode()


def test_a_port_of_an_index(array):
    forward = start(array, "forward", f"{array.name}[5]", "0:1")
    local = re.match(rb"http://127.0.0.1:(\d+)", forward.stdout.readline())[1].decode()
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{local}/", timeout=20 * PATIENCE)
    forward.send_signal(signal.SIGTERM)
    assert b"nothing listens at port 1 of a loopback address" in forward.communicate(timeout=20 * PATIENCE)[1]


def test_an_index_of_a_job_that_is_no_array(job):
    code, _, err = ran(job, "exec", f"{job.name}[1]", "--", "true")
    assert code == 255 and f"The job {job.name} is not an array; leave the index out." in err.decode()


def test_a_folder_is_copied_through_a_pipe(job, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "data").write_bytes(os.urandom(1_000_000))
    with tarfile.open(tmp_path / "tar", "w") as tar:
        tar.add(tmp_path / "in", "copied")
    assert ran(job, "exec", job.name, "--", "tar", "x", given=(tmp_path / "tar").read_bytes()) == (0, b"", b"")
    code, out, _ = ran(job, "exec", job.name, "--", "cat copied/data")
    assert code == 0 and out == (tmp_path / "in" / "data").read_bytes()


def test_a_shell_reads_commands(job):
    assert ran(job, "ssh", job.name, given=b"echo hello; exit 5\n") == (5, b"hello\n", b"")


def test_no_such_job(job):
    code, out, err = ran(job, "exec", "no-such-job", "--", "true")
    assert code == 255 and b"no-such-job" in err


def test_a_reader_that_leaves_ends_the_command(job):
    process = start(job, "exec", job.name, "--", "yes")
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(timeout=20 * PATIENCE) == 128 + signal.SIGPIPE


class Screen:
    """A terminal with `batchaid` in it."""

    def __init__(self, job, *arguments):
        self.main, side = pty.openpty()
        termios.tcsetwinsize(side, (40, 120))
        self.before = termios.tcgetattr(side)
        self.side = side
        self.process = start(job, *arguments, stdin=side, stdout=side, stderr=side, start_new_session=True)
        self.seen = b""

    def type(self, data):
        os.write(self.main, data)

    def until(self, text):
        def there():
            if select.select([self.main], [], [], 0.1)[0]:
                self.seen += os.read(self.main, 65536)
            return text in self.seen

        wait_for(there, what=f"{text} on the screen, which has {self.seen}")
        return self

    def end(self):
        code = self.process.wait(timeout=20 * PATIENCE)
        assert termios.tcgetattr(self.side) == self.before, "the terminal's settings were not restored"
        os.close(self.main)
        os.close(self.side)
        return code


def test_a_shell_in_a_terminal(job):
    s = Screen(job, "ssh", job.name)
    s.type(b"stty size; echo is-$((6 * 7))\n")
    s.until(b"40 120").until(b"is-42")
    s.type(b"exit 3\n")
    assert s.end() == 3


def shell_job(ground_job):
    """The newest job whose name begins with shell-."""
    done = subprocess.run([BATCHAID, "jobs", "--json", "--state-dir", ground_job.daemon.state_dir], capture_output=True, check=True)
    return next((j for j in json.loads(done.stdout)["value"] if j["name"].startswith("shell-")), None)


def test_a_shell_in_a_job_of_its_own_ends_with_it(job):
    s = Screen(job, "shell", "--time", "10m")
    s.type(b"echo is-$((6 * 7)) $AZ_BATCHAI_JOB_NAME\n")
    made = wait_for(lambda: shell_job(job))
    s.until(b"is-42")
    assert shell_job(job)["state"] == "running"
    s.type(b"exit 4\n")
    assert s.end() == 4
    wait_for(lambda: (now := shell_job(job))["name"] == made["name"] and now["state"] == "succeeded", what="the end of its job")


def test_the_job_of_a_shell_ends_when_its_client_is_killed(job):
    s = Screen(job, "shell")
    s.type(b"echo is-$((6 * 7))\n")
    s.until(b"is-42")
    s.process.kill()
    s.process.wait()
    wait_for(lambda: shell_job(job)["state"] not in ("queued", "running"), 40, "the end of its job")


def test_a_shell_needs_a_terminal(job):
    code, out, err = ran(job, "shell")
    assert (code, out) == (255, b"") and b"a shell needs a terminal; run a command without one by: batchaid run" in err


def test_the_size_follows(job):
    s = Screen(job, "exec", job.name, "--", "trap 'stty size; exit 6' WINCH; echo on; while :; do sleep 0.05; done")
    s.until(b"on")
    termios.tcsetwinsize(s.side, (50, 99))
    s.process.send_signal(signal.SIGWINCH)
    s.until(b"50 99")
    assert s.end() == 6


def test_leaving_by_an_escape_and_by_signals(job):
    s = Screen(job, "exec", job.name, "--", "echo on; cat")
    s.until(b"on")
    s.type(b"x~.\r~~.\r")
    s.until(b"~.")
    s.type(b"~.")
    s.until(b"left")
    assert s.end() == 0
    for signo in (signal.SIGTERM, signal.SIGHUP):
        s = Screen(job, "exec", job.name, "--", "echo on; cat")
        s.until(b"on")
        s.process.send_signal(signo)
        assert s.end() == 128 + signo


def test_an_interrupt_reaches_the_command(job):
    process = start(job, "exec", job.name, "--", "trap 'echo caught; exit 2' INT; echo on; while :; do sleep 0.05; done")
    assert process.stdout.readline() == b"on\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20 * PATIENCE)[0] == b"caught\n" and process.returncode == 2


def test_a_port_is_forwarded(job):
    server = start(job, "exec", job.name, "--", f"printf '{SERVER}' >server.py; exec python3 server.py")
    try:
        port = int(wait_for(lambda: ran(job, "exec", job.name, "--", "cat port")[1], what="the server's port"))
        forward = start(job, "forward", job.name, f"0:{port}")
        line = forward.stdout.readline().decode()
        local = re.match(rf"http://127.0.0.1:(\d+) leads to port {port} of {job.name}", line)[1]
        for _ in range(3):
            with urllib.request.urlopen(f"http://127.0.0.1:{local}/", timeout=20 * PATIENCE) as reply:
                assert reply.read() == b"from the job"
        forward.send_signal(signal.SIGINT)
        assert forward.wait(timeout=20 * PATIENCE) == 0
    finally:
        server.kill()
        server.communicate()


def test_a_port_of_nobody_or_of_somebody_else(job):
    """The daemon's own port is another account's, where jobs have accounts."""
    forward = start(job, "forward", job.name, "0:1")
    local = re.match(rb"http://127.0.0.1:(\d+)", forward.stdout.readline())[1].decode()
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{local}/", timeout=20 * PATIENCE)
    forward.send_signal(signal.SIGTERM)
    _, err = forward.communicate(timeout=20 * PATIENCE)
    assert b"nothing listens at port 1 of a loopback address" in err
    if os.geteuid() == 0:
        forward = start(job, "forward", job.name, f"0:{job.daemon.port}")
        local = re.match(rb"http://127.0.0.1:(\d+)", forward.stdout.readline())[1].decode()
        with pytest.raises(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{local}/", timeout=20 * PATIENCE)
        forward.send_signal(signal.SIGTERM)
        _, err = forward.communicate(timeout=20 * PATIENCE)
        assert b"a process of another account listens at port" in err


@pytest.mark.parametrize("ports", ["0", "70000", "x", "1:0", "1:2:3", ":5", "-1"])
def test_what_is_no_port(job, ports):
    code, _, err = ran(job, "forward", job.name, ports)
    assert code in (1, 2) and (b"is not a valid port" in err or b"unknown option" in err)

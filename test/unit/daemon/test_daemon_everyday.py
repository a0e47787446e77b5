# SPDX-License-Identifier: MIT
"""The commands of a day: run, ps, top, logs, wait, cancel, rerun, get."""
import json
import os
import pty
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.daemon import BATCHAID, Daemon
from support.failing import clock  # noqa: F401 (fixture)
from support.testing import Strict, Testing, testing_daemon
from support.waiting import PATIENCE, wait_for
from support.world import Cluster, file_share, job_body, wait_flag

from conftest import environment
from test_daemon_submit import Desk


@pytest.fixture(scope="module")
def shared():
    with Daemon() as d:
        yield d


@pytest.fixture
def desk(shared, tmp_path):
    return Desk(shared, tmp_path / "project")


class Started:
    """A command that goes on, and what it has printed so far."""

    def __init__(self, desk, *arguments, terminal=False, below=(), **more):
        self.ours, theirs = pty.openpty() if terminal else os.pipe()
        env = environment(desk.folder.parent, BATCHAID_STATE_DIR=str(desk.daemon.state_dir), **more)
        self.process = subprocess.Popen([*below, str(BATCHAID), *arguments], cwd=desk.folder, env=env, stdin=theirs if terminal else subprocess.DEVNULL,
                                        stdout=theirs, stderr=subprocess.STDOUT,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # ignored below a shell's &
        os.close(theirs)
        self.said = ""

    def until(self, text):
        while text not in self.said:
            self.said += os.read(self.ours, 65536).decode(errors="replace") or pytest.fail(f"no {text!r} in {self.said!r}")
        return self

    def end(self):
        try:
            while piece := os.read(self.ours, 65536).decode(errors="replace"):
                self.said += piece
        except OSError:  # the other end of a terminal is gone
            pass
        os.close(self.ours)
        return self.process.wait(30 * PATIENCE)


def slow(desk, name):
    """A job that runs until it is cancelled."""
    _, job = desk.submit("--name", name, "--no-copy", "--", "echo begun; sleep 1000")
    job.running()
    return job


# --- run --------------------------------------------------------------------------------------------


def test_run_is_the_command(desk):
    desk.write("ask.sh", "cat; echo told >&2; exit 7\n")
    done = desk.run("run", "--", "echo out; sh ask.sh", check=False)
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert "told\n" in done.stderr and "batchaid: the job failed; why: batchaid explain echo-" in done.stderr
    assert desk.run("run", "--no-copy", "true").returncode == 0


def test_run_without_a_daemon_has_a_code_that_no_job_has(run):
    done = run("run", "--state-dir", "nowhere", "--no-copy", "true")
    assert done.returncode == 125 and "no batchaid daemon is serving" in done.stderr


def test_ctrl_c_detaches(desk):
    p = Started(desk, "run", "--name", "detached", "--no-copy", "--", "echo begun; sleep 1000").until("begun")
    p.process.send_signal(signal.SIGINT)
    assert p.end() == 130
    assert "the job detached continues" in p.said
    assert "batchaid logs -f detached" in p.said and "batchaid cancel detached" in p.said
    assert json.loads(desk.run("explain", "--json", "detached").stdout)["job"]["state"] == "running"
    desk.run("cancel", "detached")


def test_ctrl_c_that_is_ignored_detaches_from_nothing(desk, tmp_path):
    """As in a script whose shell ignores it, or with & in a script."""
    below = ("sh", "-c", "trap '' INT; exec \"$@\"", "sh")
    p = Started(desk, "run", "--no-copy", "--", f"echo begun; {wait_flag(tmp_path / 'end')}", below=below).until("begun")
    p.process.send_signal(signal.SIGINT)
    (tmp_path / "end").touch()
    assert p.end() == 0 and "continues" not in p.said


def interrupted(desk, operation, *arguments, **more):
    """What a command says that gets Ctrl-C while the daemon holds its request."""
    t = Strict(desk.daemon)
    t.fault({"operation": operation}, hold=True)
    p = Started(desk, *arguments, **more)
    status = f"/proc/{p.process.pid}/status"
    catches = lambda: [int(line.split()[1], 16) & 1 << signal.SIGINT - 1 for line in open(status) if line.startswith("SigCgt")] != [0]
    wait_for(lambda: [f["held"] for f in t.get("/faults")["value"]] == [1], 30, "the request to be held")
    p.process.send_signal(signal.SIGINT)
    wait_for(lambda: p.process.poll() is not None or not catches(), 30, "the signal to arrive")
    t.forget()
    return p.end(), p.said


@pytest.fixture(scope="module")
def tested():
    with testing_daemon() as d:
        yield d
        Testing(d).reset()
        wait_for(lambda: d.get("/batchaid/nodes")["value"] == [], what="nodes to go")


@pytest.fixture
def tested_desk(tested, tmp_path):
    desk = Desk(tested, tmp_path / "project")
    desk.write("file")
    return desk


def named(desk):
    return [row["name"] for row in desk.daemon.get("/batchaid/jobs", api_version=None)["value"]]


def test_ctrl_c_while_the_job_is_created_names_the_job(tested_desk):
    code, said = interrupted(tested_desk, "Jobs_Create", "run", "--name", "made", "--", "true")
    assert code == 130 and "the job made continues" in said, said
    code, said = interrupted(tested_desk, "Jobs_Create", "submit", "--name", "sent", "--", "true")
    assert code == -signal.SIGINT and said.splitlines()[-1] == "sent", said
    assert {"made", "sent"} <= set(named(tested_desk))


def test_ctrl_c_while_the_job_of_a_shell_is_created_cancels_the_job(tested_desk):
    code, said = interrupted(tested_desk, "Jobs_Create", "shell", "--name", "entered", terminal=True)
    assert code == 255 and "entered is cancelled" in said, said
    assert "entered" in named(tested_desk)


def test_ctrl_c_while_the_folder_is_copied_leaves_nothing(tested_desk):
    t, before = Strict(tested_desk.daemon), Strict(tested_desk.daemon).last()
    code, said = interrupted(tested_desk, "File_Create", "submit", "--name", "never", "--", "true")
    assert code == -signal.SIGINT and said == "" and "never" not in named(tested_desk)
    assert [len(t.requests(after=before, operation=o)) for o in ("Jobs_Create", "File_Delete")] == [0, 1]


# --- logs -------------------------------------------------------------------------------------------


def test_logs_while_it_runs_and_after(desk):
    flag = desk.folder.parent / "go"
    desk.folder.parent.chmod(0o755)
    desk.submit("--name", "talks", "--no-copy", "--", f'echo one; while [ ! -e "{flag}" ]; do sleep 0.02; done; echo two; exit 4')
    p = Started(desk, "logs", "-f", "talks").until("one")
    assert wait_for(lambda: desk.run("logs", "talks").stdout == "one\n", 10, "the first line")
    flag.touch()
    assert p.end() == 0 and p.said == "one\ntwo\n"
    assert desk.run("logs", "talks").stdout == "one\ntwo\n" and desk.run("logs", "--tail", "1", "talks").stdout == "two\n"
    assert desk.run("logs", "--tail", "0", "talks").stdout == ""


def test_logs_of_several_processes(desk):
    desk.submit("--name", "many", "--array", "4-5", "--no-copy", "--", "echo $BATCHAID_ARRAY_INDEX; printf last")[1].succeed()
    assert sorted(desk.run("logs", "many").stdout.splitlines()) == ["4| 4", "4| last", "5| 5", "5| last"]
    assert desk.run("logs", "--node", "5", "many").stdout == "5\nlast"
    assert desk.run("logs", "many[5]").stdout == "5\nlast"
    assert "'many[5]' is an index of an array, and no job; its output: batchaid logs 'many[5]'; the array: many" in desk.run(
        "explain", "many[5]", check=False).stderr
    done = desk.run("logs", "--node", "399", "many", check=False)
    assert done.returncode == 1 and "many has no output of '399'; --node takes the number of a node, or an index" in done.stderr


def test_logs_among_many_files(desk):
    desk.submit("--name", "crowd", "--no-copy", "--", 'seq -f "$AZ_BATCHAI_STDOUTERR_DIR/a%g" 1 1100 | xargs touch; echo found')[1].succeed()
    assert desk.run("logs", "crowd").stdout == "found\n"


def test_logs_of_a_job_that_waits(desk):
    slow(desk, "first")
    desk.submit("--name", "second", "--after", "first", "--no-copy", "--", "true")
    done = desk.run("logs", "second", check=False)
    assert done.returncode == 1 and "the job waits; `batchaid explain second` shows for what" in done.stderr
    desk.run("cancel", "first", "second")
    desk.run("wait", "second", check=False)
    done = desk.run("logs", "second", check=False)
    assert done.returncode == 1 and "second has no output; `batchaid explain second` shows why" in done.stderr


def test_the_end_of_a_large_log(desk):
    desk.submit("--name", "large", "--no-copy", "--", "seq 1 300000")[1].succeed()
    assert desk.run("logs", "--tail", "20000", "large").stdout.split() == [str(i) for i in range(280001, 300001)]
    assert len(desk.run("logs", "large").stdout) == len("".join(f"{i}\n" for i in range(1, 300001)))


def test_a_log_cannot_move_the_terminal(desk):
    desk.submit("--name", "rude", "--no-copy", "--",
                r"printf '\033[2J\033]0;title\007\033[31mred\033[0m \200 \302\2332J \303\251 \302\251\302\n\342\200\256turned \360\237\230\200 \342\200\n'; "
                r"head -c 1000000 /dev/zero | tr '\0' x")[1].succeed()
    p = Started(desk, "logs", "rude", terminal=True)
    assert p.end() == 0 and "?[2J?]0;title?\x1b[31mred\x1b[0m ? ?2J \u00e9 \u00a9?\r\n?turned \U0001f600 ?\r\n" in p.said
    assert p.said.endswith("x" * 1000000 + "\r\n")
    done = subprocess.run([str(BATCHAID), "logs", "--state-dir", str(desk.daemon.state_dir), "rude"], capture_output=True, check=True)
    assert done.stdout == (b"\x1b[2J\x1b]0;title\x07\x1b[31mred\x1b[0m \x80 \xc2\x9b2J \xc3\xa9 \xc2\xa9\xc2\n"
                           b"\xe2\x80\xaeturned \xf0\x9f\x98\x80 \xe2\x80\n" + b"x" * 1000000)


# --- ps, top, wait, cancel --------------------------------------------------------------------------


def test_a_running_job_is_shown_waited_for_and_cancelled(desk):
    job = slow(desk, "slow")
    assert [j["name"] for j in json.loads(desk.run("ps", "--json").stdout)["value"]] == ["slow"]
    shown = json.loads(desk.run("top", "--json").stdout)
    assert [j["name"] for j in shown["jobs"]] == ["slow"] and len(shown["nodes"]) >= 1
    assert "slow (batchaid)" in desk.run("top").stdout
    done = desk.run("wait", "--timeout", "0", "slow", check=False)
    assert done.returncode == 124 and "slow has not ended in time; it is running" in done.stderr
    (row,) = json.loads(desk.run("cancel", "--json", "slow").stdout)["value"]
    assert (row["name"], row["cancelled"]) == ("slow", True)
    assert desk.run("wait", "slow", check=False).returncode == job.fail()["executionInfo"]["exitCode"] != 0
    assert desk.run("cancel", "slow").stdout == "slow has ended already (failed)\n"
    (row,) = json.loads(desk.run("cancel", "--json", "slow").stdout)["value"]
    assert (row["state"], row["cancelled"]) == ("failed", False)
    assert json.loads(desk.run("ps", "--json").stdout)["value"] == []
    assert "no job of yours runs or waits" in desk.run("ps").stderr


def test_a_queue_that_is_cut_says_so(desk):
    slow(desk, "ahead")
    desk.submit("--name", "crowd-waits", "--after", "ahead", "--array", "1-201", "--no-copy", "--", "true")
    done = desk.run("ps")
    assert "crowd-waits[1-200]" in done.stdout and done.stderr == "batchaid: not shown: in cluster default more jobs wait; --json lists all\n"
    whole = json.loads(desk.run("ps", "--json").stdout)
    assert len(whole["value"]) == 202 and whole["leftOut"] == []
    assert "more than 200 jobs wait" in desk.run("top").stdout
    assert json.loads(desk.run("top", "--json").stdout)["leftOut"] == [{"cluster": "default", "running": 0, "waiting": True}]
    desk.run("cancel", "crowd-waits", "ahead")
    desk.run("wait", "crowd-waits", "ahead", check=False)


def test_a_queue_names_the_indexes_that_an_array_has(desk):
    slow(desk, "leads")
    desk.submit("--name", "some", "--after", "leads", "--array", "1-3,5,7-8", "--no-copy", "--", "true")
    desk.submit("--name", "every-second", "--after", "leads", "--array", ",".join(str(n) for n in range(1, 19, 2)), "--no-copy", "--", "true")
    said = desk.run("queue").stdout
    assert "some[1-3,5,7-8] " in said and "every-second[1,3,5,7,9,11,13,15,... 9 shown] " in said
    desk.run("cancel", "some", "every-second", "leads")
    desk.run("wait", "some", "every-second", "leads", check=False)


def test_wait_has_the_code_of_the_first_that_failed(desk):
    for name, line in (("good", "true"), ("bad", "exit 9"), ("worse", "exit 8")):
        desk.submit("--name", name, "--no-copy", "--", line)
    done = desk.run("wait", "good", "bad", "worse", check=False)
    assert done.returncode == 9 and "batchaid: bad failed; why: batchaid explain bad" in done.stderr
    assert desk.run("wait", "good").returncode == 0
    done = desk.run("wait", "--json", "good", "bad", check=False)
    assert done.returncode == 9
    assert [(j["name"], j["state"], j["exitCode"]) for j in json.loads(done.stdout)["value"]] == [("good", "succeeded", 0), ("bad", "failed", 9)]
    desk.submit("--name", "like-ctrl-c", "--no-copy", "--", "exit 130")
    done = desk.run("wait", "like-ctrl-c", "bad", check=False)
    assert done.returncode == 130 and "like-ctrl-c failed; why" in done.stderr and "bad failed; why" in done.stderr
    assert desk.run("wait", "good", "nothing-like-it", check=False).returncode == 125


def test_wait_without_jobs_waits_for_the_daemon(desk):
    assert desk.run("wait").returncode == 0
    assert json.loads(desk.run("wait", "--json").stdout) == {"ready": True}
    done = desk.run("wait", "--json", "--timeout", "0", "--state-dir", "none", check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["ready"] is False and "no batchaid daemon" in json.loads(done.stdout)["reason"]


def test_cancel_all_of_mine(desk):
    slow(desk, "mine-runs")
    desk.submit("--name", "mine-waits", "--after", "mine-runs", "--no-copy", "--", "true")
    assert desk.run("cancel", "--queued").stdout == "mine-waits is cancelled\n"
    assert desk.run("cancel", "--mine").stdout == "mine-runs is cancelled\n"
    desk.run("wait", "mine-runs", "mine-waits", check=False)
    assert desk.run("cancel", "--mine").stdout == "you have no running or waiting jobs\n"


@pytest.mark.parametrize("arguments", [[], ["--mine", "a"]])
def test_cancel_says_which(desk, arguments):
    done = desk.run("cancel", *arguments, check=False)
    assert done.returncode == 2 and "name the jobs, or use --mine" in done.stderr


# --- rerun, get -------------------------------------------------------------------------------------


def test_rerun_has_the_same_folder(desk):
    desk.write("in", "content\n")
    desk.submit("--name", "again", "--", "cat in; echo x >>in")[1].succeed()
    desk.write("in", "edited\n")
    assert desk.run("rerun", "again").stdout == "again-2\n"
    assert desk.run("rerun", "again-2").stdout == "again-3\n"
    assert desk.run("wait", "again-2", "again-3").returncode == 0
    assert desk.run("logs", "again-3").stdout == "content\n"


def test_rerun_of_a_long_name(desk):
    desk.submit("--name", "a" * 64, "--no-copy", "--", "true")[1].succeed()
    assert desk.run("rerun", "a" * 64).stdout == "a" * 62 + "-2\n"
    assert desk.run("rerun", "a" * 62 + "-2").stdout == "a" * 62 + "-3\n"
    desk.submit("--name", "b" * 61 + "-cc", "--no-copy", "--", "true")[1].succeed()
    assert desk.run("rerun", "b" * 61 + "-cc").stdout == "b" * 61 + "-2\n"
    desk.run("wait", "a" * 62 + "-2", "a" * 62 + "-3", "b" * 61 + "-2")


def test_reruns_at_once_have_names_of_their_own(desk):
    desk.submit("--name", "at-once", "--no-copy", "--", "true")[1].succeed()
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda _: desk.run("rerun", "at-once").stdout, range(8)))
    assert sorted(names) == [f"at-once-{i}\n" for i in range(2, 10)]


def with_settings(desk, name, **settings):
    """A job of that name, which has the settings from the start."""
    _, first = desk.submit("--no-copy", "--", "true")
    place, body = first.path.rsplit("/", 1)[0], first.properties
    desk.daemon.do("PUT", f"{place}/{name}", job_body(body["cluster"]["id"], **settings))
    return place


def test_rerun_keeps_references_to_vaults(desk):
    vault = f"/subscriptions/{desk.daemon.subscription}/resourceGroups/jobs/providers/Microsoft.KeyVault/vaults/safe"
    credentials = {"accountKeySecretReference": {"sourceVault": {"id": vault}, "secretUrl": "https://safe.vault.azure.net/secrets/key"}}
    volumes = {"azureFileShares": [file_share(), file_share("two", "two", credentials=credentials)]}
    place = with_settings(desk, "vaulted", mountVolumes=volumes)
    assert desk.run("rerun", "vaulted").stdout == "vaulted-2\n"
    shares = desk.daemon.get(f"{place}/vaulted-2")["properties"]["mountVolumes"]["azureFileShares"]
    assert "accountKeySecretReference" not in shares[0]["credentials"] and shares[1]["credentials"] == credentials


def test_rerun_without_the_password_of_a_registry(desk):
    registry = {"image": "x", "serverUrl": "registry.example", "credentials": {"username": "ada", "password": "x"}}
    with_settings(desk, "private", containerSettings={"imageSourceRegistry": registry})
    done = desk.run("rerun", "private", check=False)
    assert done.returncode == 1 and "logs in to a registry as ada with a password" in done.stderr and done.stdout == ""


def test_rerun_of_failed_indexes(desk):
    line = "echo $BATCHAID_ARRAY_INDEX; [ $BATCHAID_ARRAY_INDEX = 1 ]"
    desk.submit("--name", "sweep", "--array", "1-3", "--no-copy", "--", line)[1].fail()
    assert desk.run("rerun", "--failed", "sweep").stdout == "sweep-2\n"
    assert desk.run("wait", "sweep-2", check=False).returncode == 1
    assert sorted(desk.run("logs", "sweep-2").stdout.split("\n")) == ["", "2| 2", "3| 3"]
    desk.submit("--name", "plain", "--no-copy", "--", "false")[1].fail()
    done = desk.run("rerun", "--failed", "plain", check=False)
    assert done.returncode == 1 and "plain is not an array with failed indexes" in done.stderr


def test_an_array_of_one_index_that_failed(desk):
    desk.submit("--name", "one", "--array", "7", "--no-copy", "--", "exit $BATCHAID_ARRAY_INDEX")[1].fail()
    assert desk.run("rerun", "--failed", "one").stdout == "one-2\n"
    assert desk.run("wait", "one-2", check=False).returncode == 7


def test_the_time_of_a_wait_is_not_of_the_wall_clock(desk, tmp_path, clock):
    names = ["job0", "job1", "job2"]
    for name in names:
        desk.submit("--name", name, "--no-copy", "--", f"{wait_flag(tmp_path / name)}; exit 3")
    p = Started(desk, "wait", *names, "--timeout", "1000", **clock.environment)
    for name in names:
        (tmp_path / name).touch()
        p.until(f"{name} failed")
        clock.set(2000)
    assert p.end() == 3 and "in time" not in p.said


def test_get_fetches_what_the_job_wrote(desk):
    desk.write("old", "old")
    os.utime(desk.folder / "old", (1, 1))
    time.sleep(0)
    desk.submit("--name", "writes", "--", "mkdir -p r/s; echo 1 >r/a; echo 2 >r/s/b; echo 3 >c")[1].succeed()
    done = desk.run("get", "writes")
    assert sorted(done.stdout.split()) == ["writes/c", "writes/r/a", "writes/r/s/b"] and "3 files, 6B" in done.stderr
    assert (desk.folder / "writes/r/s/b").read_text() == "2\n" and (desk.folder / "old").read_text() == "old"
    assert sorted(desk.run("get", "writes", "--to", "x", "r/s", "old").stdout.split()) == ["x/old", "x/r/s/b"]
    assert "not fetched: 1 file from before its creation" in done.stderr and "batchaid get writes '*'" in done.stderr
    got = json.loads(desk.run("get", "--json", "writes", "--to", "x", "c").stdout)
    assert got == {"value": [{"path": "x/c", "bytes": 2}], "older": 0, "gone": 0, "leftOut": 0, "missing": []}
    done = desk.run("get", "--json", "writes", "--to", "x", "c", "*.nothing", check=False)
    assert done.returncode == 1 and json.loads(done.stdout)["missing"] == ["*.nothing"]
    done = desk.run("get", "--json", "writes", "--to", b"x\xff", "c", check=False)
    assert done.returncode == 1 and "not UTF-8" in done.stderr and sorted(f.name for f in desk.folder.iterdir() if f.is_dir()) == ["writes", "x"]
    done = desk.run("get", "writes", "--to", "y", "c", "*.nothing", "r/s/", check=False)
    assert done.returncode == 1 and sorted(done.stdout.split()) == ["y/c", "y/r/s/b"]
    assert [line for line in done.stderr.splitlines() if "no file" in line] == ["batchaid: no file of writes has such a name: *.nothing"]


def test_get_takes_each_name_that_it_prints(desk):
    names = ["a[1].txt", "b\\c.txt", "d", "run[2]/e"]
    desk.submit("--name", "brackets", "--no-copy", "--", "mkdir 'run[2]'; touch 'a[1].txt' 'b\\c.txt' d 'run[2]/e'")[1].succeed()
    assert sorted(desk.run("get", "brackets").stdout.splitlines()) == [f"brackets/{name}" for name in names]
    for name in names:
        assert desk.run("get", "brackets", name).stdout == f"brackets/{name}\n"
        assert desk.run("get", "brackets", f"./{name}").stdout == f"brackets/{name}\n"
    assert desk.run("get", "brackets", "b\\*").stdout == "brackets/b\\c.txt\n"
    assert desk.run("get", "brackets", "./run[2]/").stdout == "brackets/run[2]/e\n"


def test_get_fetches_what_an_earlier_attempt_wrote(tmp_path):
    """Also while the job waits for a node for its next attempt."""
    first = "echo 1 >model; while [ $(date +%s) = $(stat -c %Y model) ]; do sleep 0.02; done; echo written; sleep 1000"
    with Daemon() as d:
        desk = Desk(d, tmp_path / "project")
        line = f"[ -e model ] || {{ {first}; }}; echo again; {wait_flag(tmp_path / 'end')}"
        said, job = desk.submit("--name", "resumes", "--no-copy", "--", line)
        cluster = Cluster(d, f"{job.path.split('/experiments/')[0]}/clusters/{said['cluster']}")
        wait_for(lambda: "written" in desk.run("logs", "resumes", check=False).stdout, 30 * PATIENCE, "the file")
        cluster.resize(0, "requeue")
        job.wait("queued")
        assert desk.run("get", "resumes").stdout == "resumes/model\n"
        cluster.resize(1)
        wait_for(lambda: "again" in desk.run("logs", "resumes", check=False).stdout, 30 * PATIENCE, "the next attempt")
        assert desk.run("get", "resumes").stdout == "resumes/model\n"
        (tmp_path / "end").touch()
        job.succeed()


def test_get_of_a_job_that_has_not_begun(desk):
    desk.write("copied")
    os.utime(desk.folder / "copied", (1, 1))
    _, before = desk.submit("--name", "before", "--no-copy", "--", f"{wait_flag(desk.folder.parent / 'end')}")
    for name, copy in (("later", ()), ("bare", ("--no-copy",))):
        desk.submit("--name", name, "--after", "before", *copy, "--", "true")
        done = desk.run("get", name, check=False)
        assert (done.returncode, done.stdout) == (1, "") and f"{name} has not begun, so it has no files" in done.stderr
    (desk.folder.parent / "end").touch()
    before.succeed()


def test_what_takes_long_is_told_on_a_terminal(tmp_path):
    """Here the daemon stands still; the line is gone in the end."""
    with Daemon() as d:
        desk = Desk(d, tmp_path / "project")
        for command in ("report", "jobs"):
            d.process.send_signal(signal.SIGSTOP)
            try:
                p = Started(desk, command, terminal=True).until("waiting for the daemon, 1 s")
            finally:
                d.process.send_signal(signal.SIGCONT)
            assert p.end() == 0
            shown, _, rest = p.said.rpartition("\r\x1b[K")
            assert "waiting for" in shown and "waiting for" not in rest


def test_a_line_of_a_job_without_an_end_stays_while_the_daemon_stands_still(tmp_path):
    with Daemon() as d:
        desk = Desk(d, tmp_path / "project")
        _, job = desk.submit("--name", "half", "--no-copy", "--", f"printf 'epoch 1'; {wait_flag(tmp_path / 'go')}; echo ' done'")
        job.running()
        p = Started(desk, "logs", "-f", "half", terminal=True).until("epoch 1")
        d.process.send_signal(signal.SIGSTOP)
        try:
            other = Started(desk, "jobs", terminal=True).until("waiting for the daemon, 2 s")
        finally:
            d.process.send_signal(signal.SIGCONT)
        (tmp_path / "go").touch()
        assert other.end() == 0 and p.end() == 0 and p.said == "epoch 1 done\r\n"


def test_get_of_names_that_are_hard_to_show(desk):
    desk.submit("--name", "odd", "--no-copy", "--",
                r"""touch "$(printf 'a\033[2J')" "$(printf 'caf\351')" "$(printf 'evil\342\200\256gpj.exe')" """)[1].succeed()
    done = desk.run("get", "odd")
    assert sorted(done.stdout.split("\n")) == ["", "odd/a\x1b[2J", "odd/evil\u202egpj.exe"]
    assert "1 name cannot be fetched (not UTF-8, " in done.stderr
    p = Started(desk, "get", "odd", terminal=True)
    assert p.end() == 0 and "odd/a?[2J" in p.said and "odd/evil?gpj.exe" in p.said


def test_get_names_in_its_errors_what_is_hard_to_show(desk):
    desk.submit("--name", "odder", "--no-copy", "--", r"""touch "$(printf 'a\033[2J\342\200\256')" """)[1].succeed()
    (desk.folder / "odder" / "a\x1b[2J\u202e").mkdir(parents=True)
    p = Started(desk, "get", "odder", terminal=True)
    assert p.end() == 1 and "batchaid: odder/a?[2J? cannot be written: " in p.said


def test_get_writes_through_no_link(desk):
    desk.submit("--name", "linked", "--no-copy", "--", "echo 1 >a")[1].succeed()
    target = desk.write("target", "kept")
    (desk.folder / "linked").mkdir()
    (desk.folder / "linked" / "a").symlink_to(target)
    done = desk.run("get", "linked", check=False)
    assert done.returncode == 1 and "linked/a cannot be written" in done.stderr and target.read_text() == "kept"


def test_get_writes_through_no_linked_folder(desk):
    desk.submit("--name", "inside", "--no-copy", "--", "mkdir d; echo 1 >d/a")[1].succeed()
    target = desk.write("outside/a", "kept")
    (desk.folder / "inside").mkdir()
    (desk.folder / "inside" / "d").symlink_to(target.parent)
    done = desk.run("get", "inside", check=False)
    assert done.returncode == 1 and "inside/d/a cannot be written" in done.stderr and target.read_text() == "kept"


def test_get_says_why_it_leaves_names_out(desk):
    desk.write("make.sh", "mkdir real; echo 1 >real/a; ln -s $PWD/real absolute; ln -s /etc/passwd out; ln -s nothing dangling; mkfifo pipe\n")
    _, job = desk.submit("--name", "links", "--", "sh make.sh")
    job.succeed()
    done = desk.run("get", "links")
    words = "4 names cannot be fetched (not UTF-8, a special file, or a link to a directory, to nothing or to another place)"
    assert words in done.stderr and (desk.folder / "links" / "real" / "a").read_text() == "1\n"


def test_forward_ends_with_the_job(desk):
    slow(desk, "serves")
    p = Started(desk, "forward", "serves", "0:80").until("leads to port 80 of serves")
    desk.run("cancel", "serves")
    assert p.end() == 0 and p.said.endswith("batchaid: serves has ended\n")


def test_forward_fails_when_the_daemon_refuses_to_show_its_job(tested_desk):
    slow(tested_desk, "barred")
    p = Started(tested_desk, "forward", "barred", "0:80").until("leads to port 80 of barred")
    t = Strict(tested_desk.daemon)
    t.fault({"path": "/batchaid/jobs/*"}, times=0, reply={"status": 403, "message": "not yours any more"})
    assert p.end() == 1 and p.said.endswith("batchaid: not yours any more\n"), p.said
    t.forget()


def test_completion_has_live_names(desk):
    desk.submit("--name", "completed-a", "--no-copy", "--", "true")[1].succeed()
    desk.submit("--name", "completed-b", "--no-copy", "--", "true")[1].succeed()
    assert desk.run("--complete", "logs", "completed-").stdout == "completed-b\tsucceeded\ncompleted-a\tsucceeded\n"
    assert "default\n" in desk.run("--complete", "submit", "--cluster", "").stdout

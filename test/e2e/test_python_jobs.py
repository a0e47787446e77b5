# SPDX-License-Identifier: MIT
"""The Python package with jobs: submit, wait, logs, files, as somebody uses them; and what can go wrong meanwhile."""

import datetime
import inspect
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from support.daemon import BATCHAID, ROOT, Daemon
from support.people import READER, Person
from support.waiting import PATIENCE, wait_for
from support.world import fresh

sys.path.insert(0, str(ROOT / "etc" / "wheel"))
import batchaid  # noqa: E402
from batchaid import client as clients  # noqa: E402
from batchaid import pauses, waiting  # noqa: E402

PAGE = (ROOT / "docs" / "python.md").read_text()
HOSTILE = "<script>alert(1)</script>"
LOST = r"node\.|link\.|run\.|agent|daemon\.(crashed|ended)|loop\.slow|work\.crashed"


@pytest.fixture(scope="module")
def shared():
    with Daemon(config={"local": {"nodes": 2}}) as d:
        d.expect_log("login.failed")
        yield d


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder without any login, in which the program under test is used."""
    for name in list(os.environ):
        if name.startswith(("BATCHAID_", "AZURE_", "XDG_")) and not name.startswith("BATCHAID_TEST"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BATCHAID", str(BATCHAID))
    monkeypatch.setattr(clients, "_default", None)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def lab(shared, home, monkeypatch):
    """The shared daemon, as `batchaid env` names it."""
    for name, value in shared.env.items():
        monkeypatch.setenv(name, value)
    return shared


@contextmanager
def person(daemon, **more):
    one = Person(daemon, name=fresh("ada") + "@batchaid", **more)
    try:
        yield one
    finally:
        one.remove()


def client_of(daemon, one):
    return clients.make_client(daemon.endpoint, one.name, one.password, None, daemon.ca)


@contextmanager
def meanwhile(work):
    """Runs something in a thread; what it returns or raises is in the list."""
    ended = []

    def run():
        try:
            ended.append(work())
        except Exception as e:
            ended.append(e)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield ended
    thread.join(60 * PATIENCE)
    assert not thread.is_alive()


def gate(home, before=":", after="true"):
    """A command line that waits for a file between two others, and the file."""
    home.chmod(0o755)
    flag = home / "go"
    return f'{before}; while [ ! -e "{flag}" ]; do sleep 0.02; done; {after}', flag


# --- a day ----------------------------------------------------------------------------------------


def test_from_the_folder_to_the_results(lab, home, capsys):
    for name, text in {"train.py": "open('made.txt', 'w').write('1')\nprint('epoch 1')\n", "big.log": "x", ".gitignore": "*.log\n"}.items():
        (home / "project" / name).write_text(text)
    os.utime("train.py", (10**9, 10**9))  # shown times have whole seconds, so a file of the start's second counts as written, too
    os.utime(".gitignore", (10**9, 10**9))
    job = batchaid.submit(["python3", "train.py"], time="1h", env={"EPOCHS": 1})
    assert job.wait() is job and (job.state, job.exit_code) == ("succeeded", 0)
    assert f"batchaid: {job.name}: succeeded, after 0:0" in capsys.readouterr().err
    assert list(job.logs()) == ["epoch 1"] and str(job.logs()) == "epoch 1"
    files = job.files()
    assert [(f.name, f.size, f.read()) for f in files] == [("made.txt", 1, b"1")] and files["made.txt"].text() == "1"
    assert sorted(f.name for f in job.files("*")) == [".gitignore", "made.txt", "train.py"]
    assert files.download("results") == [(home / "project" / "results" / "made.txt").relative_to(home / "project")]
    assert job.files("*.txt")[0].download("one.txt").read_text() == "1"
    wait_for(lambda: job.use.runs == 1, 20, "the record of its use")  # comes after its node was cleaned
    assert "for advice" in job.use.advice and "runs" in str(job.use)
    assert "queued in cluster default" in str(job.explain()) and job.elapsed < datetime.timedelta(minutes=5)
    assert batchaid.job() == batchaid.job(job.name) == batchaid.job(job.path) == batchaid.job(job.name[:-1])
    assert job in batchaid.jobs(mine=True, state="succeeded", since=datetime.timedelta(hours=1), limit=None)
    for shown in (job, batchaid.jobs(), batchaid.nodes(), batchaid.queue(), job.explain(), job.use, files, files[0]):
        assert shown._repr_html_().startswith("<table>") and str(shown)
    assert "<pre" in job.logs()._repr_html_() and job.cancel().state == "succeeded"


def test_files_that_a_job_removes_after_they_were_listed(lab, home):
    line, flag = gate(home, "mkdir d; touch d/a b c; echo written", "rm -r d b")
    job = batchaid.submit(line, folder=None)
    assert next(iter(job.logs(follow=True))) == "written"
    files = job.files()
    flag.touch()
    job.wait(progress=False)
    with pytest.raises(batchaid.NotFound, match="2 of 3 files are gone since they were listed, the others are in results: b, d/a"):
        files.download("results")
    assert [f.name for f in (home / "project" / "results").rglob("*") if f.is_file()] == ["c"]
    assert list(job.listed_files("FILES", "folder/d")) == []


def test_a_line_for_the_shell_fails_with_reason_and_stderr(lab, capsys):
    job = batchaid.submit("echo out; echo 'Traceback: oops' >&2; exit 3", folder=None)
    with pytest.raises(batchaid.JobFailed, match=r"failed with exit code 3: JobFailed: Job failed with non-zero exit code\nThe end of"):
        job.wait(progress=True)
    assert job.wait(check=False).exit_code == 3 and "failed, exit code 3" in capsys.readouterr().err
    with pytest.raises(batchaid.JobFailed) as e:
        job.wait(progress=False)
    assert (e.value.stderr, e.value.exit_code, e.value.job) == ("Traceback: oops", 3, job) and capsys.readouterr().err == ""
    assert [(str(line), line.stream) for line in job.logs()] == [("out", "stdout"), ("Traceback: oops", "stderr")]
    assert list(job.logs(stream="stderr")) == ["Traceback: oops"]


def test_an_array_and_a_job_after_it(lab, home):
    line, flag = gate(home, "echo $BATCHAID_ARRAY_INDEX", "[ $BATCHAID_ARRAY_INDEX != 3 ] || { echo three >&2; exit 4; }")
    array = batchaid.submit(line, array=range(1, 5), folder=None)
    then = batchaid.submit("true", after=f"{array.path}:end", folder=None)
    wait_for(lambda: array.state == "running", 20, "the array to run")
    assert "running, 0 of 4 indexes have ended, for 0:" in waiting.Look(array).ask().words()
    assert "waits for " in waiting.Look(then).ask().words()
    flag.touch()
    with pytest.raises(batchaid.JobFailed, match=r"exit code 4.*\n.*\nthree$"):
        array.wait()
    assert array.failed_indexes() == [3] and sorted(str(array.logs()).splitlines()) == ["1| 1", "2| 2", "3| 3", "3| three", "4| 4"]
    assert list(array.logs(process=2)) == ["2"] and then.wait().exit_code == 0



def test_a_dry_run_makes_nothing(lab):
    before = len(batchaid.jobs(limit=None))
    plan = batchaid.submit(["true"], gpus=0, name="never", workspace="other", dry_run=True)
    assert (plan.name, plan.group, plan.workspace, plan.files) == ("never", "jobs", "other", 0)
    assert "customToolkitSettings" in plan.document["properties"] and "never" in plan._repr_html_() and "never" in str(plan)
    assert len(batchaid.jobs(limit=None)) == before


def test_values_arrive_as_they_are(lab):
    odd = "a\tb\u2028c\x7fd 'e\" $HOME \U0001f600 - # : {"
    job = batchaid.submit(["sh", "-c", 'printf "%s|%s" "$ODD" "$1"', "sh", odd], env={"ODD": odd}, folder=None).wait()
    assert str(next(iter(job.logs()))) == f"{odd}|{odd}"


def test_the_lines_of_the_page(lab, home, capsys):
    (home / "project" / "train.py").write_text("import sys\nprint('trained', *sys.argv[1:])\nopen('model.bin', 'w').write('12')\n")
    os.utime("train.py", (10**9, 10**9))
    exec(re.search(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)[1], {})
    said = capsys.readouterr().out
    assert said.startswith("trained\nmodel.bin 2\n") and (home / "project" / "results" / "model.bin").read_text() == "12"
    assert sorted(re.findall(r"^(\d) trained --seed (\d)$", said, re.M)) == [(n, n) for n in "1234"]
    assert "JOB" in said and "node hours" in said


def test_the_page_lists_the_functions():
    named = {word for row in re.findall(r"^\| `(.*?) \|", PAGE, re.M) for word in re.findall(r"(?:job\.)?(\w+)\(", f"`{row}")}
    assert {"connect", "submit", "job", "jobs", "queue", "nodes", "wait", "logs", "files", "explain", "cancel", "refresh"} <= named
    submit = inspect.signature(batchaid.submit)
    assert [p for p in submit.parameters if f"{p}=" not in PAGE and p != "command"] == []
    kinds = {name for name in batchaid.__all__ if isinstance(getattr(batchaid, name), type) and issubclass(getattr(batchaid, name), Exception)}
    assert [kind for kind in kinds if f"`{kind}`" not in PAGE] == []


def test_jobs_of_another_subscription(own_daemon, home, monkeypatch):
    """They are listed beside those of the client's own, also with the same path."""
    d = own_daemon(config={"local": {"nodes": 2}})
    monkeypatch.setenv("BATCHAID_STATE_DIR", str(d.state_dir))
    other = d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    there = clients.Client(batchaid.connect().connection, other.upper())
    own = batchaid.submit("echo own", folder=None, name="twice").wait()
    with pytest.raises(batchaid.Conflict, match="there is a job twice in jobs/jobs/.*, and nothing was started; choose another name"):
        batchaid.submit("echo own", folder=None, name="twice")
    line, flag = gate(home, "echo other")
    array = there.submit(line, folder=None, name="twice", array="1-2")
    found = {job.subscription: job for job in batchaid.jobs(limit=None) if job.path == own.path}
    assert found == {d.subscription: own, other: array} and own != array and len({own, array, *found.values()}) == 2
    assert batchaid.job(own.path) == own and there.job(own.path) == array
    wait_for(lambda: "running, 0 of 2 indexes have ended" in waiting.Look(found[other]).ask().words(), 20, "the array to run")
    with pytest.raises(batchaid.InvalidArgument, match=f"of subscription {other}; a job can wait only for jobs of its own"):
        batchaid.submit("true", folder=None, after=[array])
    flag.touch()
    assert found[other].wait(60 * PATIENCE, progress=False).state == "succeeded" and found[d.subscription].wait().state == "succeeded"
    assert list(found[other].logs(process=1)) == ["other"] and list(found[d.subscription].logs()) == ["own"]
    wait_for(lambda: found[other].use.runs == 2, 20, "the record of its use")
    assert {"stdout-1.txt", "stdout-2.txt"} <= {f.name for f in found[other].files(directory="stdouterr")}
    only = there.submit("sleep 1000", folder=None, name="only-there")
    assert batchaid.job("only-there") == only and batchaid.job("only-there").cancel().wait(check=False).state == "failed"


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wish, said", [
    ({"gpus": -1}, "gpus is '-1'; it must be a whole number from 0 to 1024"),
    ({"gpus": 1.5}, "gpus is 1.5; it must be a whole number or a text"),
    ({"time": "4 parsecs"}, "time is '4 parsecs'; it must be a time such as 30m, 4h or 1d12h"),
    ({"time": 4}, 'time is 4; it must be a text such as "30m", "4h" or "1d12h", or a timedelta'),
    ({"name": "-x"}, "name is '-x'; it must be 1 to 64 letters"),
    ({"env": {"1a": "x"}}, "env is '1a=x'; it must be NAME=VALUE"),
    ({"env": ["A=1"]}, r"env is \['A=1'\]; it must be a mapping such as"),
    ({"secrets": {"T": "x"}}, "secret is 'T=x'; it must be NAME=VAULT/SECRET"),
    ({"array": []}, r"array is \[\]; it must be a text such as"),
    ({"after": 3}, "after is 3; it must be a job, a text such as"),
    ({"folder": 3}, "folder is 3; it must be the path of a folder"),
    ({"folder": "/etc/passwd"}, "folder is '/etc/passwd', a file; it must be the path of a folder"),
    ({"memory": 32}, 'memory is 32; it must be a text, such as "32G"'),
    ({"env": {"A": None}}, r"env\['A'\] is None; it must be a text or a number"),
    ({"command": []}, r"the command is \[\]; it must be a list such as"),
    ({"command": ["a\0b"]}, r"a text has the character \\u0000"),
    ({"command": ["\ud800"]}, "is not UTF-8"),
    ({"env": {"A": "x" * 2_000_000}}, "the command and all values are 2,000,0.. bytes; they may be 1,000,000"),
])  # fmt: skip
def test_a_wrong_argument_says_what_would_be_right(lab, wish, said):
    with pytest.raises(batchaid.InvalidArgument, match=said) as e:
        batchaid.submit(**{"command": ["true"], "folder": None, **wish})
    assert isinstance(e.value, ValueError) and "--" not in str(e.value) and "/dev/stdin" not in str(e.value)


@pytest.mark.parametrize("wish, said", [
    ({"gpus": 99}, "ask for 99 GPUs of each node, but no node of cluster default can have as much: the most is"),
    ({"cluster": "nowhere"}, "there is no cluster 'nowhere' in jobs/jobs; without cluster"),
    ({"after": "nothing-like-it"}, "after: there is no job or task 'nothing-like-it'"),
    ({"secrets": {"T": "x/y"}}, 'secrets={"T": "x/y"}: there is no vault'),
    ({"folder": "/nowhere"}, "the folder /nowhere cannot be copied: No such file"),
])  # fmt: skip
def test_what_cannot_be_had_is_said(lab, wish, said):
    batchaid.submit(["true"], folder=None).wait()
    with pytest.raises(batchaid.BatchaidError) as e:
        batchaid.submit(**{"command": ["true"], "folder": None, **wish})
    assert said in str(e.value)


def test_jobs_that_cannot_be_found(lab):
    for name in ("same-1", "same-2"):
        batchaid.submit("true", name=name, folder=None).wait()
    for call, kind, said in (
        (lambda: batchaid.job("nothing-like-it"), batchaid.NotFound, "there is no job 'nothing-like-it'"),
        (lambda: batchaid.job("same-"), batchaid.InvalidArgument, "there are several of 'same-'; name one of them: jobs/jobs/"),
        (lambda: batchaid.job("a/b/c/d/e"), batchaid.InvalidArgument, "too many slashes"),
        (lambda: batchaid.jobs(state="faild"), batchaid.InvalidArgument, "state is 'faild'; it must be queued, running, "),
        (lambda: batchaid.jobs(user="\ud800"), batchaid.InvalidArgument, "is not UTF-8"),
        (lambda: batchaid.jobs(limit=0), batchaid.InvalidArgument, "limit is 0; it must be a whole number from 1 on"),
        (lambda: batchaid.job("same-1").logs(tail=-1), batchaid.InvalidArgument, "tail is -1; it must be a number of lines"),
        (lambda: batchaid.job("same-1").logs(stream="out"), batchaid.InvalidArgument, 'it must be "stdout" or "stderr"'),
        (lambda: batchaid.job("same-1").wait(timeout="x"), batchaid.InvalidArgument, "timeout is 'x'; it must be a number of seconds"),
        (lambda: batchaid.job("same-1").files("*")["x"], batchaid.NotFound, "there is no file 'x'; there are: none"),
    ):
        with pytest.raises(kind) as e:
            call()
        assert said in str(e.value) and not str(e.value).startswith("404 :")


# --- output ---------------------------------------------------------------------------------------


def test_many_lines_come_whole_and_the_last_alone(lab):
    job = batchaid.submit("seq 1 100000; seq 1 3 >&2", folder=None)
    followed = list(job.logs(follow=True))
    assert [str(x) for x in followed if x.stream == "stdout"] == [str(i) for i in range(1, 100001)]
    assert [str(x) for x in job.logs(stream="stdout")] == [str(i) for i in range(1, 100001)]
    assert list(job.logs(tail=20000, stream="stdout")) == [str(i) for i in range(80001, 100001)]
    assert list(job.logs(tail=2)) == ["99999", "100000", "2", "3"] and list(job.logs(tail=0)) == []
    twice = list(zip(job.logs(stream="stdout"), job.logs(stream="stdout")))  # their downloads take turns
    assert len(twice) == 100000 and all(a == b for a, b in twice)
    file = job.files(directory="stdouterr")["stdout.txt"]
    assert (file.read(2, 5), file.read(file.size), file.read(file.size - 7), len(file.read())) == (b"2\n3", b"", b"100000\n", file.size)
    shown = job.logs()._repr_html_()
    assert "last 1,000 lines" in shown and "99001" in shown and "\n99000\n" not in shown


def test_a_hostile_log_is_only_text(lab, home):
    (home / "project" / "rude.py").write_text(
        "import sys\nout = sys.stdout.buffer\n"
        f"out.write(b'{HOSTILE}\\x1b[2J\\x1b]0;title\\x07\\x1b[31mred\\x1b[0m\\x00\\xff\\n' + '\\u202eback\\n'.encode())\n"
        "out.write(b'x' * 2_500_000 + b'\\n' + b'a\\x0bb\\x0cc\\xe2\\x80\\xa8d\\r\\n')\nout.write(b'\\r10%\\r20%\\nend')\n"
        f"open('{HOSTILE.replace('/', '')}', 'w')\n")  # fmt: skip
    job = batchaid.submit(["python3", "rude.py"]).wait()
    for lines in (list(job.logs()), list(job.logs(follow=True))):
        assert lines[0] == f"{HOSTILE}\x1b[2J\x1b]0;title\x07\x1b[31mred\x1b[0m\0\ufffd" and lines[1] == "\u202eback"
        assert [len(x) for x in lines[2:5]] == [1_000_000, 1_000_000, 500_000] and [x.end for x in lines[2:5]] == ["", "", "\n"]
        assert lines[5:] == ["a\x0bb\x0cc\u2028d", "20%", "end"] and lines[-1].end == ""
    assert next(iter(job.logs(errors="surrogateescape"))).endswith("\udcff")
    text = str(job.logs())
    assert text.startswith(f"{HOSTILE}\x1b[31mred\x1b[0m\\x00\ufffd\n\\u202eback\n") and len(text.split("\n")) == 6
    shown = job.logs()._repr_html_() + job.files()._repr_html_() + job._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;" in shown and "\u202e" not in shown and "\x1b" not in shown
    assert "more characters" in shown and len(shown) < 20_000


def test_of_a_line_without_end_people_see_the_end(lab):
    job = batchaid.submit("head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1", folder=None)
    with pytest.raises(batchaid.JobFailed) as e:
        job.wait(progress=False)
    assert e.value.stderr == "x" * 500 and len(job.logs()._repr_html_()) < 5000
    assert sum(len(line) for line in job.logs(tail=1)) == 3_000_000


def test_a_progress_bar_is_followed_in_its_states(lab, home):
    line, flag = gate(home, r"printf '\r10%%'; printf '\r20%%'", r"printf '\r99%%\n'")
    lines = batchaid.submit(line, folder=None).logs(follow=True)
    first = next(lines)
    flag.touch()
    assert (first, first.end) == ("20%", "\r") and list(lines)[-1] == "99%"


# --- waiting --------------------------------------------------------------------------------------


def test_a_full_cluster_has_a_place_and_a_timeout(lab, home, capsys):
    line, flag = gate(home)
    batchaid.submit("true", folder=None).wait(progress=False)  # the cluster has its node now
    slots = sum(node.raw["capacity"]["slots"] for node in batchaid.nodes() if node.cluster == "default")
    running = [batchaid.submit(line, folder=None) for _ in range(slots)]
    wait_for(lambda: all(j.state == "running" for j in running), 60, "all slots to be taken")
    late = batchaid.submit("true", folder=None)
    with pytest.raises(batchaid.WaitTimeout, match=r"has not ended in 0.5 s; it is queued, place 1 in default, waits for ") as e:
        late.wait(0.5)
    assert isinstance(e.value, TimeoutError) and "queued, place 1 in default" in capsys.readouterr().err
    (entry,) = [q for q in batchaid.queue(mine=True) if q.path == late.path]
    assert entry.place == 1 and entry.waits_for and late.elapsed is None and list(late.logs()) == [] and late.files() == []
    assert late.logs(follow=False)._repr_html_().endswith("has written nothing yet.</div>")
    flag.touch()
    for job in [*running, late]:
        job.wait(progress=False)


def test_ctrl_c_leaves_the_job_running(lab, home, capsys, monkeypatch):
    line, flag = gate(home)
    job = batchaid.submit(line, folder=None)

    def interrupt(self, seconds):
        raise KeyboardInterrupt

    with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
        m.setattr(pauses.Pauses, "_sleep", interrupt)
        job.wait()
    assert f"the job {job.name} continues: job.wait() waits again, job.cancel() ends it" in capsys.readouterr().err
    assert job.refresh().ended is None and job.cancel().wait(check=False).state == "failed"
    flag.touch()


def test_a_job_that_is_deleted_while_it_is_waited_for(lab, home):
    line, flag = gate(home, "echo begun")
    job = batchaid.submit(line, folder=None, name="deleted")
    follower = batchaid.job("deleted").logs(follow=True)
    assert next(follower) == "begun"
    with meanwhile(lambda: job.wait(progress=False)) as ended, meanwhile(lambda: list(follower)) as followed:
        lab.do("DELETE", job._resource_path().split("?")[0])
    assert isinstance(ended[0], batchaid.JobGone) and "is gone: " in str(ended[0])
    assert isinstance(followed[0], batchaid.JobGone)
    flag.touch()
    batchaid.submit("true", folder=None, name="deleted").wait()
    with pytest.raises(batchaid.JobGone, match="was deleted, and another job has its name now"):
        job.refresh()


def test_a_daemon_that_restarts_ends_no_wait(own_daemon, home, monkeypatch, capsys):
    d = own_daemon()
    d.expect_log(LOST)
    monkeypatch.setenv("BATCHAID_STATE_DIR", str(d.state_dir))
    client = batchaid.connect()
    line, flag = gate(home, "echo one; seq 1 500000 >large", "echo two")
    job = client.submit(line, folder=None)
    follower = job.logs(follow=True)
    assert next(follower) == "one"
    with meanwhile(lambda: job.wait().exit_code) as ended, meanwhile(lambda: [str(x) for x in follower]) as followed:
        wait_for(lambda: "running" in capsys.readouterr().err, 20, "the wait to begin")
        d.stop()
        wait_for(lambda: "no news: the daemon at" in capsys.readouterr().err, 20, "the wait to notice")
        d.start()
        d.crash()
        flag.touch()
    assert ended == [0] and followed == [["two"]]
    pieces = job.files("large")[0].pieces()
    first = next(pieces)
    d.crash()
    assert 0 < len(first) < 1 << 20 and (first + b"".join(pieces)).split() == [b"%d" % i for i in range(1, 500001)]


def test_a_file_that_changes_while_the_daemon_is_away_is_never_mixed(own_daemon, home, monkeypatch):
    d = own_daemon()
    d.expect_log(LOST)
    monkeypatch.setenv("BATCHAID_STATE_DIR", str(d.state_dir))
    line, flag = gate(home, "head -c 100M /dev/zero >large; echo whole", "echo new >large")
    job = batchaid.connect().submit(line, folder=None)
    assert next(job.logs(follow=True)) == "whole"
    pieces = job.files("large")[0].pieces()
    next(pieces)
    d.crash()
    flag.touch()
    job.wait()
    with pytest.raises(batchaid.Conflict, match="has changed while it was read"):
        b"".join(pieces)
    assert job.files("large")[0].read() == b"new\n"


def test_a_daemon_that_hangs_delays_no_timeout(own_daemon, home, monkeypatch):
    d = own_daemon()
    d.expect_log(LOST)
    monkeypatch.setenv("BATCHAID_STATE_DIR", str(d.state_dir))
    line, flag = gate(home)
    job = batchaid.submit(line, folder=None)
    os.kill(d.process.pid, signal.SIGSTOP)
    begun = time.monotonic()
    try:
        with pytest.raises(batchaid.WaitTimeout, match="it is not known: the daemon does not answer"):
            job.wait(0.5, progress=False)
        assert time.monotonic() - begun < 10 * PATIENCE
    finally:
        os.kill(d.process.pid, signal.SIGCONT)
    flag.touch()
    assert job.wait().exit_code == 0


# --- logins ---------------------------------------------------------------------------------------


def test_a_person_logs_in_by_password_and_by_token(lab, home, monkeypatch):
    batchaid.submit("true", folder=None).wait()
    monkeypatch.delenv("BATCHAID_ENDPOINT")
    with person(lab) as ada:
        client = batchaid.connect(lab.endpoint, ada.name.removesuffix("@batchaid"), ada.password, cafile=lab.ca)
        (home / "project" / "in").write_text("hello")
        job = batchaid.submit("cat in").wait()
        assert str(job.logs()) == "hello" and job.user == ada.name and job.experiment == ada.name.split("@")[0] and job.client is client
        token = batchaid.connect(lab.endpoint, token=ada.token(), cafile=lab.ca)
        assert token.user == ada.name and token.job(job.name) == token.job("-") and token.submit("true", folder=None).wait().exit_code == 0
        with pytest.raises(batchaid.LoginNeeded, match="a bearer token alone is not valid at storage accounts.*folder=None"):
            token.submit("true")
        client.connection.login._tokens = {None: ("expired", float("inf"))}
        assert client.job().name == batchaid.job().name  # the daemon has refused the token, so there is a new one
        lab.call("POST", f"/batchaid/users/{ada.name}/reset", {}, expect=200)
        client.connection.login._tokens.clear()
        with pytest.raises(batchaid.LoginNeeded, match=r"Log in again: batchaid login https://"):
            client.jobs()
        token.connection.login._grant["token"] = "expired"
        token.connection.login._tokens.clear()
        with pytest.raises(batchaid.LoginNeeded, match="A token ends after a while"):
            token.jobs()
        with pytest.raises(batchaid.LoginNeeded, match="wrong"):
            batchaid.connect(lab.endpoint, ada.name, "wrong", cafile=lab.ca)
    assert batchaid.jobs.__self__.connection is token.connection  # a connect() that failed changes nothing


def test_the_login_of_the_command_line_is_found(shared, home):
    with person(shared) as ada:
        url = shared.endpoint.replace("127.0.0.1", "localhost")
        with pytest.raises(batchaid.LoginNeeded, match=r"there is no login, and no daemon on this computer: batchaid login https://HOST"):
            batchaid.jobs()
        log_in(shared, ada, url)
        assert batchaid.connect().user == ada.name and batchaid.jobs(mine=True) == []
        kept = home / ".config" / "batchaid" / "login.json"
        kept.chmod(0o644)
        with pytest.raises(batchaid.LoginNeeded, match="others may read your login in .*; run: chmod 600"):
            batchaid.connect()
        kept.write_text("{")
        kept.chmod(0o600)
        with pytest.raises(batchaid.LoginNeeded, match="cannot be read .*; log in again: batchaid login URL"):
            batchaid.connect()
        assert batchaid.connect(url, ada.name, ada.password, cafile=shared.ca).user == ada.name


def reset(daemon, one, login):
    """Ends all logins of somebody, who has a new password; the login's tokens are as if they had expired."""
    one.password = daemon.call("POST", f"/batchaid/users/{one.name}/reset", {}, expect=200).json["password"]
    login._tokens.clear()


def log_in(daemon, one, url):
    """In a terminal."""
    fingerprint = daemon.tool("fingerprint").stdout.strip()
    subprocess.run([BATCHAID, "login", url, "--user", one.name, "--fingerprint", fingerprint], input=one.password + "\n", text=True,
                   check=True, capture_output=True, timeout=60 * PATIENCE)  # fmt: skip


def test_a_new_login_is_used_by_jobs_that_are_known(lab, shared, home, monkeypatch):
    batchaid.submit("true", folder=None).wait()  # makes the cluster, which a user may not
    monkeypatch.delenv("BATCHAID_ENDPOINT")
    monkeypatch.setattr(clients, "_default", None)
    url = shared.endpoint.replace("127.0.0.1", "localhost")
    with person(shared) as ada, person(shared) as bob:
        log_in(shared, ada, url)
        job = batchaid.submit("echo out", folder=None).wait()
        reset(shared, ada, job.client.connection.login)
        with pytest.raises(batchaid.LoginNeeded, match=f"Log in again: batchaid login {url} --user {ada.name} in a terminal"):
            job.refresh()
        log_in(shared, bob, url)
        with pytest.raises(batchaid.LoginNeeded, match="Log in again"):
            job.refresh()  # somebody else's login is not taken
        log_in(shared, ada, url)
        assert job.refresh().state == "succeeded" and batchaid.job() == job
        assert batchaid.submit("true", folder=None).wait().user == ada.name
        batchaid.connect(url, ada.name, ada.password)
        reset(shared, ada, job.client.connection.login)
        with pytest.raises(batchaid.LoginNeeded, match="Log in again"):
            job.refresh()
        with pytest.raises(batchaid.LoginNeeded, match="is wrong"):
            batchaid.connect(url, ada.name, "wrong", cafile=shared.ca)
        batchaid.connect(url, ada.name, ada.password)
        assert str(job.logs()) == "out"


@pytest.mark.parametrize("more, kind, said", [
    ({"endpoint": "head.lab"}, batchaid.InvalidArgument, "'head.lab' is not a valid endpoint; write how you reach the daemon, as in https"),
    ({"endpoint": "http://head.lab"}, batchaid.InvalidArgument, "is not a valid endpoint"),
    ({"endpoint": "https://localhost:1"}, batchaid.LoginNeeded, "there is no login for https://localhost:1 (yours is for https://"),
    ({"endpoint": "https://localhost:1", "token": "x"}, batchaid.Unreachable, "the daemon at https://localhost:1 does not answer: "),
    ({"endpoint": "https://nowhere.invalid", "token": "x"}, batchaid.Unreachable, "the host of https://nowhere.invalid has no address here"),
    ({"password": "x"}, batchaid.InvalidArgument, "password= is given without user="),
    ({"user": "a", "token": "x"}, batchaid.InvalidArgument, "both token= and user= are given"),
    ({"user": "a"}, batchaid.LoginNeeded, "the password of a@batchaid is missing, and nobody can be asked for it here"),
    ({"token": "a\nb"}, batchaid.InvalidArgument, "token is not a bearer token"),
    ({"cafile": "/nowhere"}, batchaid.InvalidArgument, "the file of the daemon's authority, /nowhere, cannot be read: No such file"),
    ({"cafile": "/etc/ssl/certs/ca-certificates.crt"}, batchaid.Unreachable, "a terminal makes it known, or name its file in cafile="),
])  # fmt: skip
def test_a_wrong_login_says_what_would_be_right(lab, monkeypatch, more, kind, said):
    monkeypatch.setattr(sys, "stdin", open(os.devnull))
    with pytest.raises(kind) as e:
        batchaid.connect(**more)
    assert said in str(e.value)


def test_a_name_that_the_certificate_has_not(lab):
    number = lab.endpoint.replace("127.0.0.1", "2130706433")  # the same address
    with pytest.raises(batchaid.Unreachable, match="is not for this name .*; the administrator adds names in the setting tls.names"):
        batchaid.connect(number, token="x", cafile=lab.ca)


def test_who_may_only_read(lab, home):
    line, flag = gate(home, "echo out")
    job = batchaid.submit(line, folder=None)
    with person(lab, role=READER) as ada:
        reader = client_of(lab, ada)
        seen = reader.job(job.path)
        wait_for(lambda: seen.state == "running", 20, "it to run")
        assert seen.path in [j.path for j in reader.jobs()] and reader.queue() and reader.nodes() and reader.jobs(mine=True) == []
        with pytest.raises(batchaid.NotAllowed, match="does not have authorization"):
            seen.cancel()
        with pytest.raises(batchaid.NotAllowed, match="does not have authorization"):
            reader.submit("true", folder=None)
        flag.touch()
        assert seen.wait(progress=False).exit_code == 0 and seen.use.node_hours >= 0 and str(seen.logs()) == "out"
    with person(lab, role="none") as nobody, pytest.raises(batchaid.NotAllowed, match="has no role at https://"):
        client_of(lab, nobody).check()


def test_threads_and_forks_have_connections_of_their_own(lab):
    batchaid.submit("true", folder=None, name="forked").wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if batchaid.job("forked").exit_code == 0 else 1)
    names = [batchaid.job("forked").name for _ in range(3)]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and names == ["forked"] * 3
    with meanwhile(lambda: batchaid.job("forked").name) as a, meanwhile(lambda: batchaid.job("forked").name) as b:
        pass
    assert list(itertools.chain(a, b)) == ["forked"] * 2

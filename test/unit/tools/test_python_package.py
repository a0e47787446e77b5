# SPDX-License-Identifier: MIT
"""The Python package without a daemon: its types, and what is computed from texts."""
import ast
import datetime
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "etc" / "wheel" / "batchaid"
sys.path.insert(0, str(PACKAGE.parent))
import batchaid  # noqa: E402
from batchaid import client, connection, errors, output, output_files, pauses, remote_job, shown, submission, waiting  # noqa: E402


PROGRAM = """
import batchaid
job: batchaid.Job = batchaid.submit(["a", "b"], gpus=1, array=range(3), env={"A": 1}).wait(timeout=5, check=False)
plan: batchaid.Plan = batchaid.Client.submit(job.client, "a", after=[job, "x:end"], dry_run=True)
words: list[str] = [line.stream + line.process for line in job.logs(follow=True)] + [str(job.logs(tail=3))]
sizes: list[int] = [file.size + len(file.read()) for file in job.files()]
states: list[str] = [one.state for one in batchaid.jobs(mine=True)] + [q.waits_for for q in batchaid.queue()]
gpus: list[int | None] = [node.gpus for node in batchaid.nodes()]
"""


def test_types_are_strict(tmp_path):
    """Those of the package, and as a program sees them: each line of the mistakes is an error."""
    mypy = shutil.which("mypy", path="/usr/bin") or pytest.skip("mypy is not installed")
    (tmp_path / "program.py").write_text("from __future__ import annotations" + PROGRAM)
    (tmp_path / "mistakes.py").write_text("import batchaid\nbatchaid.submit(3)\nbatchaid.submit('a', gpu=1)\nx: int = batchaid.job().state\n")
    argv = [mypy, "--strict", "--python-version", "3.9", "--cache-dir", tmp_path / "cache", "--python-executable", "/usr/bin/python3"]
    env = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run([*argv, "-p", "batchaid", "-m", "program", "-m", "mistakes"], cwd=tmp_path, env=env, capture_output=True, text=True,
                          timeout=600, check=False)  # fmt: skip
    assert set(re.findall(r"^(\S+:\d+): error", done.stdout, re.M)) == {f"mistakes.py:{n}" for n in (2, 3, 4)}, done.stdout


@pytest.mark.parametrize("file", sorted(PACKAGE.glob("*.py")), ids=lambda f: f.name)
def test_python_3_9_reads_it(file):
    """Also its annotations, which typing.get_type_hints() evaluates: X | None is of 3.10."""
    tree = ast.parse(file.read_text(), feature_version=(3, 9))
    defined = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    notes = [a.annotation for f in defined for a in ast.walk(f.args) if isinstance(a, ast.arg)] + [f.returns for f in defined]
    unions = [n for note in notes if note for n in ast.walk(note) if isinstance(n, ast.BinOp)]
    assert not unions, [f"line {n.lineno}" for n in unions]


# --- errors ---------------------------------------------------------------------------------------

A_JOB = remote_job.Job(None, {"resourceGroup": "g", "workspace": "w", "experiment": "e", "name": "train", "state": "failed"})
ERRORS = [
    errors.BatchaidError(400, "Wrong", "so"), errors.InvalidArgument("a"), errors.LoginNeeded(401, "B", "c"), errors.NotAllowed(403, "B", "c"),
    errors.NotFound(404, "B", "c"), errors.JobGone(404, "B", "c"), errors.Conflict(409, "B", "c"), errors.Unreachable("silent", temporary=False),
    errors.FileChanged("again"), errors.WaitTimeout("late"), errors.JobFailed(A_JOB, 3, "why", "Traceback"),
]  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_an_error_is_the_same_in_another_process(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.args == error.args
    members = [{name: value.path if name == "job" else value for name, value in vars(e).items()} for e in (error, again)]
    assert members[0] == members[1]


def test_all_errors_are_tried():
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.BatchaidError)}
    assert kinds == {type(error) for error in ERRORS}


def test_a_job_takes_no_login_to_another_process():
    job = remote_job.Job(SimpleNamespace(secret=open), {"resourceGroup": "g", "workspace": "w", "experiment": "e", "name": "train"})
    assert pickle.loads(pickle.dumps(job)).path == job.path and b"open" not in pickle.dumps(job)


# --- a daemon for tests ---------------------------------------------------------------------------


def test_a_cloud_replaces_a_token_that_has_ended():
    cloud, sent = batchaid.Cloud.__new__(batchaid.Cloud), []

    def answer(method, url, headers, data, lines=False):
        sent.append((method, url, headers.get("Authorization")))
        if url.endswith("/adfs/oauth2/token"):
            return {"access_token": f"t{len(sent)}"}
        if headers["Authorization"] == "Bearer old" or url.endswith("/never"):
            raise errors.LoginNeeded(401, "ExpiredAuthenticationToken", "over")
        return {"ok": True}

    cloud.endpoint, cloud.environment, cloud._token, cloud._open = "https://x", {"AZURE_CLIENT_ID": "a", "AZURE_CLIENT_SECRET": "b"}, "old", answer
    assert cloud.call("PUT", "/a", {}) == {"ok": True} and [one[2] for one in sent] == ["Bearer old", None, "Bearer t2"]
    with pytest.raises(errors.BatchaidError):
        cloud.call("GET", "/never")
    assert len(sent) == 6


@pytest.mark.parametrize("name, words", [("sweep[3]", "job('sweep').logs(process=3)"), ("sweep", "batchaid.jobs() lists jobs"), ("a[b", "lists jobs")])
def test_a_hint_for_the_index_of_an_array(name, words):
    assert words in client.hint(name)


def test_a_queue_that_is_cut_says_so():
    row = {"resourceGroup": "g", "workspace": "w", "experiment": "e", "name": "n", "state": "queued"}
    left = [{"cluster": "big", "running": 0, "waiting": True}, {"cluster": "c", "running": 0, "waiting": False}]
    asked = client.Client(SimpleNamespace(call=lambda *_: {"value": [row], "leftOut": left}))
    assert str(asked.queue()).endswith("More jobs wait in big.")
    left[1]["running"] = 3
    full = client.Client(SimpleNamespace(call=lambda *_: {"value": [row], "leftOut": left, "cut": True}))
    assert full.queue().note == "More jobs wait in big. 3 more run in c. The answer is full: it leaves out more jobs, also of further clusters."
    cut = client.Client(SimpleNamespace(call=lambda *_: {"value": [row], "leftOut": [], "cut": True}))
    assert cut.queue().note.startswith("The answer is full")


# --- lines ----------------------------------------------------------------------------------------


def lines_of(*pieces, errors="replace"):
    reader = output.Reader("stdout", "", errors)
    return [line for piece in pieces for line in reader.add(piece)] + list(reader.finish())


@pytest.mark.parametrize("pieces, lines", [
    ((b"a\nb",), ["a", "b"]),
    ((b"a\r", b"\nb\n\n"), ["a", "b", ""]),
    ((b"\xc3", b"\xa9\n"), ["\u00e9"]),
    ((b"\xff\n\xc3",), ["\ufffd", "\ufffd"]),
    ((b"10%\r20%\r\n",), ["20%"]),
    ((b"a\x85b\x0bc\x1cd\xe2\x80\xa8e\n",), ["a\ufffdb\x0bc\x1cd\u2028e"]),
    ((b"",), []),
])
def test_bytes_become_lines(pieces, lines):
    assert lines_of(*pieces) == lines


def test_a_long_line_comes_in_pieces_and_is_joined():
    lines = lines_of(*[b"x" * 70_000] * 40, b"\nend\n")
    assert [len(line) for line in lines] == [1_000_000, 1_000_000, 800_000, 3] and [line.end for line in lines] == ["", "", "\n", "\n"]
    assert [len(line) for line in output.whole(lines)] == [2_800_000, 3]


@pytest.mark.parametrize("pieces", [1, 40])
@pytest.mark.parametrize("end, lines", [(b"done\n", ["done"]), (b"\r\n", ["99%" + " " * 997]), (b"", ["99%" + " " * 997])])
def test_a_long_progress_bar_is_its_latest_state(pieces, end, lines):
    """It has more characters than a line has without being cut."""
    states = b"".join(b"\r%2d%%" % (n % 100) + b" " * 997 for n in range(1900)) + (b"\r" if end == b"done\n" else b"") + end
    size = len(states) // pieces + 1
    said = lines_of(*[states[at : at + size] for at in range(0, len(states), size)])
    assert said == lines and output.whole(said) == lines


def test_a_bar_is_told_once_in_each_state():
    reader, said = output.Reader("stdout", "", "replace"), []
    for piece in (b"\r1", b"0%", b"", b"\r20%\r", b"", b"\ndone"):
        said += [*reader.add(piece), *reader.unfinished()]
    assert [(str(x), x.end) for x in said] == [("1", "\r"), ("10%", "\r"), ("20%", "\r"), ("20%", "\n")]
    assert list(reader.finish()) == ["done"]


class Written:
    """A job that has written these files of its output, and is over; the connection to it, too."""

    def __init__(self, **files):
        self._files = {f"{name}.txt": content for name, content in files.items()}
        self.name, self.ended, self.client, self.connection = "job", shown.now(), self, self

    def refresh(self):
        return self

    def listed_files(self, directory):
        return [{"name": name, "path": name, "isDirectory": False, "size": len(content)} for name, content in self._files.items()]

    def content_path(self, directory, path):
        return path

    def pieces(self, path, begin=0, end=None):
        for at in range(begin, len(self._files[path]) if end is None else end, 1 << 18):
            yield self._files[path][at : min(at + (1 << 18), end)]


def test_a_last_line_without_end_stays_in_its_file():
    job = Written(stdout=b"a\nlast", stderr=b"err1\nerr2\n")
    logs = output.Logs(job, None, None, None, "replace")
    assert list(logs) == list(output.follow(job, None, None, None, "replace")) == ["a", "last", "err1", "err2"]
    long = output.Logs(Written(stdout=b"x" * 2_500_000, stderr=b"err\n"), None, None, None, "replace")
    assert [len(line) for line in str(long).split("\n")] == [2_500_000, 3]


def wanted_files(pattern, **files):
    """Their names: of a job that was created at second 10 and whose last attempt began at second 30."""
    row = {"resourceGroup": "g", "workspace": "w", "experiment": "e", "name": "n", "state": "succeeded",
           "createdTime": "2026-01-01T00:00:10.500Z", "startTime": "2026-01-01T00:00:30Z"}  # fmt: skip
    job = remote_job.Job(None, row)
    listed = [SimpleNamespace(name=name, modified=shown.time_of(f"2026-01-01T00:00:{second}Z")) for name, second in files.items()]
    return [f.name for f in job._wanted(listed, pattern, False)]


def test_files_since_the_creation_of_a_job_are_its_files_also_those_of_an_earlier_attempt():
    assert wanted_files(None, copied="09", same_second="10", first_attempt="20", last_attempt="31") == [
        "same_second", "first_attempt", "last_attempt"]  # fmt: skip


@pytest.mark.parametrize("name", ["a[1].txt", "b\\c.txt", "run[2]/e"])
def test_a_file_is_found_by_each_name_that_the_list_shows(name):
    assert wanted_files(name, **{name: "20", "other": "20"}) == wanted_files(f"./{name}", **{name: "20"}) == [name]


@pytest.mark.parametrize("content, tail, first, note", [
    (b"%d\n" * 1000 % tuple(range(1000)), None, "0", ""),
    (b"%d\n" * 1001 % tuple(range(1001)), None, "1", "At most the last 1,000 lines of each file; print"),
    (b"%d\n" * 2000 % tuple(range(2000)), 1000, "1000", ""),
    (b"%05d\n" % 0 + b"".join(b"%05d" % n + b"x" * 2995 + b"\n" for n in range(500)), None, "00151", "At most the last 1,000 lines and 1 MiB of"),
    (b"a" * 3_000_000 + b"\n", None, "a", "At most the last 1,000 lines and 1 MiB of"),
    (b"a" * 3_000_000 + b"\nend", 2, "a", "At most the last 1,000 lines and 1 MiB of"),
    (b"", None, None, ""),
])  # fmt: skip
def test_a_notebook_says_when_it_shows_only_the_end(content, tail, first, note):
    html = output.Logs(Written(stdout=content), tail, None, None, "replace")._repr_html_()
    assert (f"<small>{note}" in html) if note else ("<small>" not in html)
    assert f">{first}" in html if first else "has written nothing yet" in html


# --- text for people ------------------------------------------------------------------------------


@pytest.mark.parametrize("text, plain, coloured", [
    ("\x1b[31mred\x1b[0m", "red", "\x1b[31mred\x1b[0m"),
    ("\x1b[2J\x1b]0;t\x07a\x1b]8;;http://x\x1b\\b", "ab", "ab"),
    ("\x9b2J\x00\x7f", "\\x9b2J\\x00\\x7f", "\\x9b2J\\x00\\x7f"),
    ("\u202etxt.exe\u2066", "\\u202etxt.exe\\u2066", "\\u202etxt.exe\\u2066"),
    ("\x1b", "\\x1b", "\\x1b"),
    ("\udcff", "\\udcff", "\\udcff"),
])
def test_a_log_can_only_colour_itself(text, plain, coloured):
    assert (shown.plain(text), shown.coloured(text)) == (plain, coloured)


def test_cells_are_escaped():
    html = shown.table_html([shown.Column("A"), shown.Column("B", True), shown.Column("C")], [("<i>&\"'", 1, None), ("x\ny", 2, "")], "<note>")
    assert "&lt;i&gt;&amp;&quot;&#x27;" in html and "x\\ny" in html and "&lt;note&gt;" in html and "<th style=\"text-align: left\">C" not in html
    assert shown.table_text([shown.Column("A"), shown.Column("N", True)], [("a", 1), ("bb", 22)]) == "A    N\na    1\nbb  22"
    many = shown.table_html([shown.Column("A")], [(n,) for n in range(700)])
    assert many.count("<tr>") == 501 and "200 more rows are not shown here." in many


@pytest.mark.parametrize("text, micro", [("2026-11-29T10:13:55Z", 0), ("2026-11-29T10:13:55.94Z", 940000), ("2026-11-29T10:13:55.1234567Z", 123456)])
def test_times_are_read(text, micro):
    assert shown.time_of(text) == datetime.datetime(2026, 11, 29, 10, 13, 55, micro, datetime.timezone.utc)


def test_spans_and_sizes():
    span = datetime.timedelta
    assert [shown.elapsed(s) for s in (None, span(seconds=-1), span(seconds=187), span(hours=1, seconds=62), span(days=2, seconds=1))] == [
        "", "0:00", "3:07", "1:01:02", "2d 0:00:01"]  # fmt: skip
    assert [shown.bytes_text(n) for n in (0, 999, 1500, 250_000_000, 3 * 10**12)] == ["0 B", "999 B", "1.5 kB", "250 MB", "3.0 TB"]
    assert [waiting.span_of(t) for t in ("PT4H", "P1DT2H3M4S", "soon")] == [span(hours=4), span(days=1, seconds=7384), None]
    assert [waiting.indexes(t) for t in ("", "7", "0-9:3", "1,5,7", "1-20", "x")] == [0, 1, 4, 3, 20, 0]


def test_lines_of_progress_are_few(capsys, monkeypatch):
    now, lines = [0.0], waiting.Lines()
    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    for second, state, place, done in ((0, "queued", 3, None), (1, "queued", 2, None), (11, "queued", 1, None), (12, "running", None, 0),
                                       (13, "running", None, 1), (30, "running", None, 7), (31, "running", None, 7)):  # fmt: skip
        now[0] = 100.0 + second
        lines.show(waiting.Progress("j\n", state, "c", place=place, done=done, total=9))
    assert capsys.readouterr().err.splitlines() == [
        "batchaid: j\\n: queued, place 3 in c", "batchaid: j\\n: queued, place 1 in c",
        "batchaid: j\\n: running, 0 of 9 indexes have ended", "batchaid: j\\n: running, 7 of 9 indexes have ended"]  # fmt: skip


class Asked:
    """A job in a cluster whose queue takes `took` seconds to answer; it notes when it was asked for that."""

    def __init__(self, now, array, took=0.0):
        self.now, self.took, self.asked, self.client, self.name = now, took, [], self, "j"
        self._row = {"name": "j", "experiment": "e", "state": "queued", "cluster": "c", "createdBy": "ada", "createdTime": "2026-11-29T10:13:55Z"}
        self.resource = {"environmentVariables": [{"name": "BATCHAID_JOB_ARRAY", "value": array}]}

    def refresh(self):
        return self

    def queue_rows(self, **query):
        self.asked.append(self.now[0])
        self.now[0] += self.took
        assert (query["cluster"], query["user"]) == ("c", "ada")
        return [{**self._row, "index": n, "subscription": s} for n in range(3) for s in (None, "other")]


@pytest.mark.parametrize("array, took, asked", [("0-9", 0.0, [0, 20, 30, 50]), ("0-9", 4.0, [0, 30]), ("", 0.0, [0, 6, 12, 18, 24])])
def test_a_queue_is_seldom_asked_for(monkeypatch, array, took, asked):
    """For half a minute the job waits, then it runs."""
    now = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    job, done = Asked(now, array, took), set()
    look = waiting.Look(job)
    for second in range(0, 60, 2):
        now[0] = max(now[0], second)
        job._row["state"] = "queued" if now[0] < 30 else "running"
        done.add(look.ask().done)
    assert job.asked == asked and done == ({7} if array else {None})
    job._row.update(state="succeeded", exitCode=0, endTime="2026-11-29T10:14:55Z")
    last = look.ask()
    assert (last.state, last.exit_code, last.ended) == ("succeeded", 0, shown.time_of("2026-11-29T10:14:55Z")) and job.asked == asked


def card(**more):
    begun = shown.now() - datetime.timedelta(seconds=100)
    return waiting.Card(waiting.Progress(**{"name": "<b>\u202e", "state": "running", "cluster": "c", "started": begun, **more}))._repr_html_()


@pytest.mark.parametrize("more, bar", [
    ({"state": "queued", "place": 3, "waits_for": "<i>", "started": None}, '<progress max="1" style="width: 20em"></progress> queued'),
    ({}, '<progress max="1" style="width: 20em"></progress> running'),
    ({"limit": datetime.timedelta(seconds=200)}, 'value="0.5'),
    ({"limit": datetime.timedelta(seconds=200)}, "</progress> 1:40 of at most 3:20"),
    ({"limit": datetime.timedelta(seconds=50)}, 'value="1.0000"'),
    ({"done": 3, "total": 12}, 'value="0.2500" style="width: 20em"></progress> 3 of 12'),
    ({"state": "failed", "exit_code": 3}, 'value="1.0000" style="width: 20em"></progress> 100%'),
    ({"trouble": "<u>"}, "No news: &lt;u&gt;"),
])
def test_a_card_of_progress(more, bar):
    html = card(**more)
    assert bar in html and "&lt;b&gt;\\u202e" in html and not re.search(r"<[biu]>", html)


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("wish, members", [
    ({"command": "a | b", "gpus": 2, "time": datetime.timedelta(hours=1)}, {"command": "a | b", "gpus": "2", "time": "3600s"}),
    ({"command": ["my prog"]}, {"command": "'my prog'"}),
    ({"command": [Path("a"), "b c"], "env": {}}, {"command": ["a", "b c"]}),
    ({"command": "a", "array": range(0, 10, 3), "workspace": "w"}, {"command": "a", "array": "0-9:3", "group": "jobs/w"}),
    ({"command": "a", "array": [5, 7], "group": "g", "workspace": "w"}, {"command": "a", "array": "5,7", "group": "g/w"}),
    ({"command": "a", "after": ["x", "y:end"], "secrets": {"T": "v/s"}}, {"command": "a", "after": "x,y:end", "secret": {"T": "v/s"}}),
    ({"command": "a", "env": {"N": 1, "F": 0.5}}, {"command": "a", "env": {"N": "1", "F": "0.5"}}),
])
def test_arguments_become_a_job_file(wish, members):
    assert submission.job_file(wish) == members


def test_a_workspace_is_given_once():
    with pytest.raises(errors.InvalidArgument, match="group is 'a/b' and workspace is 'c'; give the workspace once"):
        submission.job_file({"command": "a", "group": "a/b", "workspace": "c"})


@pytest.mark.parametrize("said, words", [
    ("batchaid: /dev/stdin:1:12: --gpus is '-1'; it must be", "gpus is '-1'; it must be"),
    ("batchaid: use --gpus 4, or more --nodes", "use gpus=4, or more nodes"),
    ("more than 1 GB is copied only with --yes; or copy nothing with --no-copy", "more than 1 GB is copied only with yes=True; or copy nothing with folder=None"),
    ("and --cluster NAME chooses; without --cluster the command", 'and cluster="NAME" chooses; without cluster the command'),
    ("use --group a/b", 'use group="a/b"'),
    ('properties.environmentVariables[0].value is "32 G"; BATCHAID_JOB_MEMORY must be a number', 'memory is "32 G"; it must be a number'),
    ("properties.environmentVariables ask for 99 GPUs of each node", "gpus, cores and memory ask for 99 GPUs of each node"),
    ("--secret T=x/y: there is no vault", 'secrets={"T": "x/y"}: there is no vault'),
])
def test_messages_have_the_names_of_arguments(said, words):
    assert submission.in_words_of_python(said) == words


# --- tokens, pauses, downloads ---------------------------------------------------------------------


class Endpoint:
    """Gives tokens, and notes for what it was asked."""

    def __init__(self):
        self.asked = []

    def exchange(self, method, url, body, headers):
        self.asked.append(body.decode())
        text = f'{{"access_token": "t{len(self.asked)}", "expires_in": 3600, "refresh_token": "again"}}'
        return connection.Reply(200, {}, text.encode())


def test_a_token_is_renewed_before_it_expires(monkeypatch):
    now, endpoint = [1000.0], Endpoint()
    monkeypatch.setattr(connection, "clock", lambda: now[0])
    login = connection.Login({"grant_type": "password", "client_id": "c", "username": "u", "password": "secret"}, "u")
    assert [login.token(endpoint), login.token(endpoint)] == ["t1", "t1"]
    now[0] += 3290
    assert login.token(endpoint) == "t1"
    now[0] += 20
    assert login.token(endpoint) == "t2" and login.token(endpoint, "https://x/.default") == "t3"
    assert "password=secret" in endpoint.asked[0] and endpoint.asked[1] == "grant_type=refresh_token&client_id=c&refresh_token=again"
    assert endpoint.asked[2].endswith("scope=https%3A%2F%2Fx%2F.default") and "secret" not in str(vars(login))


def test_a_submission_gets_new_tokens(monkeypatch):
    """The program cannot renew them: a copy may take longer than the rest of the life of older ones."""
    monkeypatch.setattr(Endpoint, "authorities", lambda self: "ca.pem", raising=False)
    endpoint = Endpoint()
    endpoint.endpoint, endpoint.login = "https://x", connection.Login({"grant_type": "client_credentials"})
    client = SimpleNamespace(connection=endpoint, subscription="s", user=None)
    said = [submission.environment_of(client, with_folder=folder) for folder in (True, True, False)]
    assert [(env["BATCHAID_TOKEN"], env.get("BATCHAID_STORAGE_TOKEN")) for env in said] == [("t1", "t2"), ("t3", "t4"), ("t5", None)]
    assert endpoint.login.token(endpoint) == "t5"
    endpoint.login = connection.Login({"token": "given"})
    assert submission.environment_of(client, with_folder=False)["BATCHAID_TOKEN"] == "given"


def test_pauses_grow_to_two_seconds_and_a_silent_daemon_is_given_up(monkeypatch):
    now, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(pauses.time, "sleep", sleep)
    monkeypatch.setattr(pauses.time, "monotonic", lambda: now[0])
    p = pauses.Pauses()
    for _ in range(20):
        p.after_look(False)
    assert slept[0] == 0.1 and slept[-1] == 2.0 and sum(slept[:8]) < 6
    p.after_look(True)
    assert slept[-1] == 0.1
    begun = now[0]
    with pytest.raises(errors.Unreachable):
        for _ in range(1000):
            p.after_trouble(errors.Unreachable("silent"))
    assert 600 <= now[0] - begun < 605
    for lasting in (errors.Unreachable("certificate", temporary=False), errors.NotAllowed(403, "A", "b"), errors.JobGone(404, "A", "b")):
        with pytest.raises(type(lasting)):
            pauses.Pauses().after_trouble(lasting)


class Remote(output_files.File):
    """A file of this name."""

    def __init__(self, name):
        super().__init__(None, "FILES", name, name, {"size": 7})

    def pieces(self, begin=0, end=None):
        yield b"content"


def test_a_download_stays_in_its_folder(tmp_path):
    assert Remote("a/b").download(tmp_path) == tmp_path / "a" / "b" and (tmp_path / "a" / "b").read_text() == "content"
    assert Remote("../../x").download(tmp_path / "own").read_text() == "content"
    for name in ("../x", "a/../../x", "/etc/x", "a//b", "a/\0"):
        with pytest.raises(errors.BatchaidError, match="leads out of the folder"):
            Remote(name).download(tmp_path)
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "file").symlink_to(tmp_path / "elsewhere")
    for name in ("link/x", "file"):
        with pytest.raises(errors.BatchaidError, match="is a link, which is not followed"):
            Remote(name).download(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_download_that_breaks_leaves_no_part_of_the_file(tmp_path):
    class Broken(Remote):
        def pieces(self, begin=0, end=None):
            yield b"con"
            raise errors.Unreachable("the daemon is away")

    (tmp_path / "old").write_text("before")
    (tmp_path / "old").chmod(0o640)
    for name in ("old", "new"):
        with pytest.raises(errors.Unreachable):
            Broken(name).download(tmp_path)
    assert [f.name for f in tmp_path.iterdir()] == ["old"] and (tmp_path / "old").read_text() == "before"
    assert Remote("old").download(tmp_path).read_text() == "content" and (tmp_path / "old").stat().st_mode & 0o777 == 0o640
    os.mkfifo(tmp_path / "pipe")
    with open(os.open(tmp_path / "pipe", os.O_RDWR), "rb", 0) as pipe:
        Remote("x").download(tmp_path / "pipe")
        assert pipe.read(7) == b"content"


@pytest.mark.parametrize("code", ["FileNotFound", "JobNotFound"])
def test_files_that_are_gone_are_named_after_the_others(tmp_path, code):
    class Gone(Remote):
        def pieces(self, begin=0, end=None):
            raise errors.refused(404, code, "It is gone.")

    files = output_files.Files([Remote("a"), Gone("r/b"), Remote("c")])
    with pytest.raises(errors.NotFound) as e:
        files.download(tmp_path)
    if code == "FileNotFound":
        assert str(e.value) == f"1 of 3 files are gone since they were listed, the others are in {tmp_path}: r/b"
    else:
        assert e.value.code == code
    assert (tmp_path / "a").exists() and (tmp_path / "c").exists() == (code == "FileNotFound")


def test_a_download_goes_on_when_the_daemon_has_time_again(monkeypatch):
    troubles = iter([errors.BatchaidError(503, "ServiceUnavailable", "busy"), errors.BatchaidError(429, "TooManyRequests", "busy"), None])

    class Busy(Written):
        def pieces(self, path, begin=0, end=None, version=None):
            yield self._files[path][begin : begin + 2]
            if trouble := next(troubles):
                raise trouble
            yield self._files[path][begin + 2 :]

    monkeypatch.setattr(pauses.time, "sleep", lambda seconds: None)
    assert output_files.File(Busy(a=b"0123456789"), "x", "a.txt", "a", {}).read() == b"0123456789"


def test_a_file_that_changes_is_read_again(tmp_path):
    """A pipe keeps what it got, so that the error is the caller's."""
    class Changing(Remote):
        def pieces(self, begin=0, end=None):
            yield b"an old beginning, "
            if not changed:
                changed.append(True)
                raise errors.FileChanged("the file has changed")
            yield b"and an end"

    changed = []
    assert Changing("x").read() == b"an old beginning, and an end"
    changed = []
    assert Changing("x").download(tmp_path).read_text() == "an old beginning, and an end"
    changed = []
    os.mkfifo(tmp_path / "pipe")
    with open(os.open(tmp_path / "pipe", os.O_RDWR), "rb", 0), pytest.raises(errors.Conflict):
        Changing("x").download(tmp_path / "pipe")


def test_the_file_of_authorities_is_there(tmp_path, monkeypatch):
    """Debian's Python knows a folder of them, and names a file that does not exist."""
    here = connection.Connection("https://lab:7443", None)
    none = SimpleNamespace(cafile=None, openssl_cafile=str(tmp_path / "cert.pem"))
    monkeypatch.setattr(connection.ssl, "get_default_verify_paths", lambda: none)
    monkeypatch.setattr(connection, "AUTHORITIES", (str(tmp_path / "first"), str(tmp_path / "second")))
    with pytest.raises(errors.InvalidArgument, match=r'first, .*second cannot be read here; name one: connect\("https://lab:7443", cafile='):
        here.authorities()
    (tmp_path / "second").touch()
    assert here.authorities() == str(tmp_path / "second")
    (tmp_path / "cert.pem").touch()
    assert here.authorities() == str(tmp_path / "cert.pem")

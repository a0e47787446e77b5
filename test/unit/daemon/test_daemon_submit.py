# SPDX-License-Identifier: MIT
"""`batchaid submit`: what it copies, makes and asks for, and what it says of mistakes."""
import json
import os
import re
import socket
import subprocess

import pytest
from support.daemon import BATCHAID
from support.vaults import ALL, Safe, Vaults, policy
from support.world import In, Job, Place

from conftest import environment


class Desk:
    """A folder of somebody's, in which commands are typed."""

    def __init__(self, daemon, folder):
        self.daemon, self.folder = daemon, folder
        folder.mkdir()

    def run(self, *arguments, check=True, **more):
        env = environment(self.folder.parent, **{"BATCHAID_STATE_DIR": str(self.daemon.state_dir), **more})
        done = subprocess.run([str(BATCHAID), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120, env=env,
                              stdin=subprocess.DEVNULL)
        assert not check or done.returncode == 0, done.stderr
        return done

    def write(self, name, text="", mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *arguments], cwd=self.folder, check=True, capture_output=True)

    def job(self, said):
        """The job of what `submit --json` printed."""
        return Job(self.daemon, f"/subscriptions/{self.daemon.subscription}/resourceGroups/{said['resourceGroup']}/providers"
                                f"/Microsoft.BatchAI/workspaces/{said['workspace']}/experiments/{said['experiment']}/jobs/{said['name']}")

    def submit(self, *arguments):
        said = json.loads(self.run("submit", "--json", *arguments).stdout)
        return said, self.job(said)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    from support.daemon import Daemon

    with Daemon() as d:
        yield d


@pytest.fixture
def desk(shared, tmp_path):
    return Desk(shared, tmp_path / "project")


def test_from_nothing_to_done(desk):
    desk.write("say.sh", '#!/bin/sh\necho "$1|$2"; cat part/data; echo more >made.txt\n', 0o755)
    desk.write("part/data", "content\n")
    done = desk.run("submit", "./say.sh", "a b", "$HOME")
    assert re.fullmatch(r"say-[a-z2-9]{4}\n", done.stdout)
    assert "batchaid: copied 2 files, " in done.stderr and "left out" not in done.stderr
    job = [j for j in desk.daemon.get("/batchaid/jobs", api_version=None)["value"] if j["name"] == done.stdout.strip()][0]
    job = desk.job(job).succeeded()
    assert job.read("stdout.txt") == "a b|$HOME\ncontent\n"
    assert job.read("made.txt", "FILES", directory="folder") == "more\n"


def test_one_argument_is_a_line_for_the_shell(desk):
    said, job = desk.submit("--env", "A=x y", "--name", "line", "--no-copy", "--", 'echo "$A" | tr x z; exit 3')
    assert job.fail()["executionInfo"]["exitCode"] == 3
    assert job.read("stdout.txt") == "z y\n" and said["name"] == "line" and "folder" not in said


def test_edits_after_the_copy_change_nothing(desk):
    flag = desk.folder.parent / "go"
    desk.folder.parent.chmod(0o755)
    desk.write("file", "old")
    said, job = desk.submit("--", f'while [ ! -e "{flag}" ]; do sleep 0.02; done; cat file')
    desk.write("file", "new")
    flag.touch()
    assert job.succeeded().read("stdout.txt") == "old"


def test_several_nodes_and_an_array(desk):
    _, job = desk.submit("--nodes", "2", "--time", "1h", "--", 'echo "$RANK/$WORLD_SIZE"')
    p = job.succeed()
    assert p["nodeCount"] == 2 and p["constraints"]["maxWallClockTime"] == "PT3600S"
    assert sorted(job.read(f"stdout-{i}.txt") for i in (0, 1)) == ["0/2\n", "1/2\n"]
    desk.write("in.txt", "x")
    _, job = desk.submit("--array", "3-4", "--", "cat in.txt; echo $BATCHAID_ARRAY_INDEX")
    job.succeed()
    assert [job.read(f"stdout-{i}.txt") for i in (3, 4)] == ["x3\n", "x4\n"]


def test_after_another_job(desk):
    first, _ = desk.submit("--name", "first-of-two", "--no-copy", "--", "false")
    _, job = desk.submit("--after", "first-of:end", "--no-copy", "--", "true")
    job.succeed()
    assert desk.run("submit", "--after", "nothing-like-it", "--", "true", check=False).stderr.startswith("batchaid: --after: there is no job")
    assert "--after is ','; it must be jobs separated by commas" in desk.run("submit", "--after", ",", "--", "true", check=False).stderr


def test_after_a_job_of_another_subscription(desk):
    """Its path alone is as in the client's own."""
    said, job = desk.submit("--no-copy", "--", "true")
    job.succeed()
    d = desk.daemon
    there = In(d, d.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"])
    other = Place(there, said["resourceGroup"], said["workspace"]).make()
    other.job(other.cluster(), name="elsewhere").succeeded()
    refused = desk.run("submit", "--after", "elsewhere", "--no-copy", "--", "true", check=False)
    assert refused.returncode == 1 and f"'elsewhere' is in the subscription {there.subscription}" in refused.stderr
    other.remove()


@pytest.mark.parametrize("mistake, code", [
    ([], 2),
    (["--file", "none.yaml", "--", "true"], 2),
    (["--state-dir", "nowhere", "--", "true"], 1),
    (["--folder", "none", "--", "true"], 1),
])
def test_each_error_is_json_for_programs(desk, mistake, code):
    done = desk.run("submit", "--json", *mistake, check=False)
    error = json.loads(done.stdout)["error"]
    assert done.returncode == code and error["code"] == "" and done.stderr == f"batchaid: {error['message']}\n"


def test_a_name_that_a_job_has(desk):
    """Although the job is the same: nothing would run."""
    _, job = desk.submit("--name", "taken", "--no-copy", "--", "true")
    job.succeed()
    for more in (["submit", "--no-copy"], ["run", "--no-copy"], ["submit"], ["submit", "--dry-run"]):
        done = desk.run(*more, "--name", "taken", "--", "true", check=False)
        assert done.returncode == (125 if more[0] == "run" else 1) and done.stdout == "", done.stderr
        assert "there is a job taken in jobs/jobs/" in done.stderr and "nothing was started; choose another --name" in done.stderr
        assert "batchaid rerun taken" in done.stderr and "copied" not in done.stderr
    assert json.loads(desk.run("submit", "--json", "--name", "taken", "--", "true", check=False).stdout)["error"]["code"] == "Conflict"


# --- secrets, GPUs ----------------------------------------------------------------------------------


@pytest.fixture
def safe(shared):
    vaults = Vaults(shared).make()
    yield Safe(shared, vaults.vault(policy(shared.env["AZURE_CLIENT_ID"], **ALL)))
    vaults.remove()


def test_secrets_arrive_in_the_job_and_are_printed_nowhere(desk, safe):
    value = "two  words 'and' $HOME"
    safe.set("token", value)
    safe.set("other", "the other value")
    more = ["--secret", f"TOKEN={safe.name.upper()}/token", "--secret", f"OTHER={safe.name}/other", "--no-copy"]
    dry = desk.run("submit", "--dry-run", *more, "--", "true")
    done = desk.run("submit", "--json", *more, "--", 'echo "$TOKEN|$OTHER"')
    job = desk.job(json.loads(done.stdout)).succeeded()
    assert job.read("stdout.txt") == f"{value}|the other value\n"
    (wanted, _) = json.loads(dry.stdout)["properties"]["secrets"]
    assert wanted["name"] == "TOKEN" and wanted["valueSecretReference"]["secretUrl"].endswith("/secrets/token")
    for text in (dry.stdout, dry.stderr, done.stdout, done.stderr, json.dumps(job.get())):
        assert "words" not in text and "other value" not in text


def test_secrets_in_a_job_file(desk, safe):
    safe.set("a", "1")
    safe.set("b", "2")
    desk.write("job.yaml", f"no-copy: true\nsecret: {{A: {safe.name}/a, B: {safe.name}/a}}\ncommand: echo $A $B\n")
    _, job = desk.submit("--file", "job.yaml", "--secret", f"B={safe.name}/b")
    assert job.succeeded().read("stdout.txt") == "1 2\n"


def test_a_secret_that_is_not_in_its_vault(desk, safe):
    _, job = desk.submit("--secret", f"A={safe.name}/nothing", "--no-copy", "--", "true")
    (error,) = job.fail()["executionInfo"]["errors"]
    assert error["code"] == "KeyVaultSecretNotRead" and "nothing" in str(error)


def test_gpus_are_those_of_each_node(own_daemon, tmp_path):
    desk = Desk(own_daemon(config={"local": {"fake_gpus": 4}}), tmp_path / "project")
    command = 'echo "$RANK: $CUDA_VISIBLE_DEVICES of $AZ_BATCHAI_NUM_GPUS"'
    _, job = desk.submit("--gpus", "2", "--nodes", "2", "--no-copy", "--", command)
    assert job.succeed()["nodeCount"] == 2
    assert [job.read(f"stdout-{i}.txt") for i in (0, 1)] == ["0: 0,1 of 2\n", "1: 0,1 of 2\n"]
    _, job = desk.submit("--gpus", "0", "--no-copy", "--", 'echo "$AZ_BATCHAI_NUM_GPUS"')
    assert job.succeeded().read("stdout.txt") == "0\n"


# --- what is copied ---------------------------------------------------------------------------------


def copied(desk, *arguments):
    """(the names that are in the copy, what was said of the rest)"""
    said, job = desk.submit(*arguments, "--", "find . -mindepth 1 | sort")
    return job.succeeded().read("stdout.txt").split(), {n["path"]: n["why"] for n in said["folder"]["leftOut"]}


def test_ignored_files_stay_here(desk):
    for name in ("a.py", "data/big", "kept/b", "kept/c.log", "runs/1", "empty.log"):
        desk.write(name, "x")
    desk.write(".gitignore", "data/\n*.log\n")
    desk.write(".batchaidignore", "runs\n")
    names, left = copied(desk)
    assert names == sorted(["./.batchaidignore", "./.gitignore", "./a.py", "./kept", "./kept/b"])
    assert left == {"data/": "is ignored", "runs/": "is ignored", "kept/c.log": "is ignored", "empty.log": "is ignored"}


def test_a_checkout(desk):
    desk.git("init", "-q")
    for name in ("tracked.log", "tracked.bin", "sub/.gitignore", "sub/x.tmp", "sub/y"):
        desk.write(name, "*.tmp\n" if name.endswith("ignore") else "x")
    desk.git("add", "-f", ".")
    desk.git("rm", "-q", "--cached", "sub/x.tmp")
    desk.git("commit", "-qm", "x")
    desk.write(".gitignore", "*.log\n")
    desk.write(".batchaidignore", "*.bin\n")
    desk.write("new.py")
    names, left = copied(desk)
    assert names == sorted(["./.batchaidignore", "./.gitignore", "./new.py", "./sub", "./sub/.gitignore", "./sub/y", "./tracked.log"])
    assert left == {".git": "is git's own", "tracked.bin": "is ignored", "sub/x.tmp": "is ignored"}
    names, _ = copied(desk, "--folder", "sub")
    assert names == ["./.gitignore", "./y"]
    for name in ("sub/.batchaidignore", "sub/deep/.batchaidignore", "sub/deep/z", "sub/deep/kept", "sub/runs/1", "sub/a.bin"):
        desk.write(name, {"sub/.batchaidignore": "/y\n/runs/\n", "sub/deep/.batchaidignore": "z\n"}.get(name, "x"))
    names, left = copied(desk, "--folder", "sub")
    assert names == ["./.batchaidignore", "./.gitignore", "./deep", "./deep/.batchaidignore", "./deep/kept"]
    assert left == {"y": "is ignored", "x.tmp": "is ignored", "runs/": "is ignored", "a.bin": "is ignored", "deep/z": "is ignored"}


def test_what_is_no_file_is_named(desk):
    desk.write("a")
    desk.write("x" * 120 + "/" + "y" * 120, "long")
    os.mkfifo(desk.folder / "pipe")
    (desk.folder / "out").symlink_to("/etc/hostname")
    (desk.folder / "in").symlink_to("a")
    (desk.folder / "empty").mkdir()
    os.symlink(b"/caf\xe9", bytes(desk.folder / "bytes"))
    s = socket.socket(socket.AF_UNIX)
    old = os.getcwd()
    os.chdir(desk.folder)
    s.bind("socket")
    os.chdir(old)
    done = desk.run("submit", "--json", "--", "find . -mindepth 1 | sort; readlink out")
    said = json.loads(done.stdout)
    s.close()
    assert {n["path"]: n["why"] for n in said["folder"]["leftOut"]} == {"pipe": "is a FIFO", "socket": "is a socket"}
    assert "warning: out is a link out of the folder, to /etc/hostname" in done.stderr and "pipe is a FIFO" in done.stderr
    assert {n["path"]: n["why"].split(", ")[1] for n in said["folder"]["warnings"]} == {"out": "to /etc/hostname", "bytes": "to /caf\ufffd"}
    text = desk.job(said).succeeded().read("stdout.txt")
    assert text.split() == ["./a", "./bytes", "./empty", "./in", "./out", "./" + "x" * 120, "./" + "x" * 120 + "/" + "y" * 120, "/etc/hostname"]


def test_the_keys_of_a_daemon_stay_here(desk):
    for name in ("a.py", "state/batchaid.db", "state/token.key", "old/batchaid.db"):
        desk.write(name, "x")
    names, left = copied(desk)
    assert names == ["./a.py", "./old", "./old/batchaid.db"]
    assert left == {"state/": "is the state directory of a batchaid, which contains its keys"}
    done = desk.run("submit", "--folder", "state", "--", "true", check=False)
    assert done.returncode == 1 and "its keys must not be copied to a job" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable_files_are_named(desk):
    desk.write("closed", mode=0)
    assert copied(desk)[1] == {"closed": "Permission denied"}


def test_a_large_folder_needs_yes(desk):
    with open(desk.folder / "large", "wb") as f:
        f.truncate(1_000_000_001)
    done = desk.run("submit", "--", "true", check=False)
    assert done.returncode == 1 and "more than 1 GB is copied only with --yes" in done.stderr and ".batchaidignore" in done.stderr
    assert desk.run("submit", "--dry-run", "--", "true").returncode == 0


def test_dry_run_makes_nothing(own_daemon, tmp_path):
    d = Desk(own_daemon(), tmp_path / "p")
    d.write("a", "x")
    done = d.run("submit", "--dry-run", "--gpus", "2", "--", "true")
    assert "would copy 1 file, 1B" in done.stderr and re.search(r"would create the job true-\w{4} in jobs/jobs/\w+, on the cluster default", done.stderr)
    wished = {v["name"]: v["value"] for v in json.loads(done.stdout)["properties"]["environmentVariables"]}
    assert wished == {"BATCHAID_JOB_GPUS": "2"}
    assert d.daemon.get(f"/subscriptions/{d.daemon.subscription}/resourcegroups")["value"] == []


# --- the job file -----------------------------------------------------------------------------------


def test_a_job_file(desk):
    desk.write("job.yaml", "name: filed\ntime: 2h\nno-copy: true\nenv: {A: '1', B: two words}\ncommand:\n- sh\n- -c\n- 'echo \"$A $B $C\"'\n")
    said, job = desk.submit("--file", "job.yaml", "--env", "A=9", "--env", "C=c", "--time", "3h")
    assert said["name"] == "filed" and job.succeed()["constraints"]["maxWallClockTime"] == "PT10800S"
    assert job.read("stdout.txt") == "9 two words c\n"


def test_the_command_line_says_whether_a_folder_is_copied(desk):
    desk.write("src/a", "x")
    desk.write("none.yaml", "no-copy: true\ncommand: 'true'\n")
    desk.write("src.yaml", "folder: src\ncommand: 'true'\n")
    assert "would copy 1 file" in desk.run("submit", "--dry-run", "--file", "none.yaml", "--folder", "src").stderr
    assert "would copy" not in desk.run("submit", "--dry-run", "--file", "src.yaml", "--no-copy").stderr
    assert "would copy" not in desk.run("submit", "--dry-run", "--file", "none.yaml").stderr


@pytest.mark.parametrize("text, words", [
    ("no-copy: true\nfolder: a\ncommand: x\n", ["--folder and --no-copy exclude each other"]),
    ("gpus: two\ncommand: x\n", ["job.yaml:1:1: --gpus is 'two'; it must be a whole number from 0 to 1024"]),
    ("name: a\ngpsu: 2\n", ["job.yaml:2:1: 'gpsu' is not a member of a job file (did you mean gpus?); use command, name, nodes"]),
    ("env:\n  A: 1\n  9: 2\n", ["job.yaml:3:3: --env is '9=2'; it must be NAME=VALUE"]),
    ("env: {A: [1]}\n", ["job.yaml:1:7: env: 'A' needs a text"]),
    ("no-copy: maybe\n", ["job.yaml:1:1: no-copy is 'maybe'; it must be true or false"]),
    ("time: [1h]\n", ["job.yaml:1:1: time must be a text"]),
    ("command: {a: b}\n", ["job.yaml:1:1: command must be a line for the shell, or a list"]),
    ("a: [\n", ["job.yaml:2:1: "]),
    ("- a\n", ["job.yaml: it has no members"]),
    ("gpus: 2\n", ["there is no command; write it after --"]),
])  # fmt: skip
def test_mistakes_in_a_job_file(desk, text, words):
    desk.write("job.yaml", text)
    done = desk.run("submit", "--file", "job.yaml", check=False)
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize("arguments, words", [
    ([], "there is no command; write it after --, as in: batchaid submit --gpus 1 -- python train.py"),
    (["--no-copy", ""], "the command is empty"),
    (["--no-copy", "--", " \t"], "the command is empty"),
    (["--group", "jobs/", "true"], "--group is 'jobs/'; it must be GROUP or GROUP/WORKSPACE"),
    (["--group", "/x", "true"], "--group is '/x'"),
    (["--group", "/", "true"], "--group is '/'"),
    (["--group", "a/b/c", "true"], "--group is 'a/b/c'"),
    (["--no-copy", "--folder", ".", "true"], "--folder and --no-copy exclude each other; leave one of them out"),
    (["--nodes", "0", "true"], "--nodes is '0'; it must be a whole number from 1 to 10000"),
    (["--gpus", "1.5", "true"], "--gpus is '1.5'"),
    (["--memory", "32X", "true"], "--memory is '32X'; it must be a number with a unit, such as 512M"),
    (["--array", "5-1", "true"], "--array is '5-1'; it must be indexes from 0 to 1000000 in rising order"),
    (["--env", "BATCHAID_JOB_RETRIES=99", "true"], "--env is \"99\"; BATCHAID_JOB_RETRIES must be a whole number from 0 to 10"),
    (["--time", "4", "true"], "--time is '4'; it must be a time such as 30m, 4h or 1d12h"),
    (["--time", "1h2d", "true"], "--time is '1h2d'"),
    (["--name", "a b", "true"], "--name is 'a b'; it must be 1 to 64 letters"),
    (["--env", "A", "true"], "--env is 'A'; it must be NAME=VALUE"),
    (["--secret", "A=b", "true"], "--secret is 'A=b'; it must be NAME=VAULT/SECRET"),
    (["--gpu", "1", "--cpus", "2", "true"], "unknown option '--cpus'"),
])  # fmt: skip
def test_wrong_command_lines(desk, arguments, words):
    done = desk.run("submit", *arguments, check=False)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments, words", [
    (["--cluster", "c9", "--no-copy", "--", "true"], "there is no cluster 'c9' in jobs/jobs"),
    (["--folder", "nope", "--", "true"], "the folder nope cannot be copied: No such file"),
    (["--folder", "file", "--", "true"], "'file' is not a folder"),
    (["--secret", "A=v9/s", "--no-copy", "--", "true"], "there is no vault 'v9' that you may see"),
    (["--gpus", "7", "--no-copy", "--", "true"], "GPU"),
])  # fmt: skip
def test_what_cannot_be(desk, arguments, words):
    desk.write("file")
    desk.submit("--no-copy", "--", "true")[1].succeed()
    done = desk.run("submit", *arguments, check=False)
    assert done.returncode == 1 and words in done.stderr and done.stdout == ""


@pytest.mark.parametrize("arguments", [
    [b"--env", b"DATA=caf\xe9", b"--", b"true"],
    [b"--image", b"caf\xe9", b"--", b"true"],
    [b"--experiment", b"caf\xe9", b"--dry-run", b"--", b"true"],
    [b"--secret", b"A=v/caf\xe9", b"--", b"true"],
    [b"--", b"cat", b"caf\xe9"],
])  # fmt: skip
def test_values_that_are_not_utf8(desk, arguments):
    """Replies and documents are UTF-8, so the job could not have them."""
    done = desk.run("submit", "--name", "latin", *arguments, check=False)
    assert done.returncode == 1 and "is not UTF-8" in done.stderr and done.stdout == ""
    assert "copied" not in done.stderr and "no job" in desk.run("logs", "latin", check=False).stderr

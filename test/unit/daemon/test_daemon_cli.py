# SPDX-License-Identifier: MIT
"""Commands, options and their complaints, without a daemon."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.daemon import BATCHAID, ROOT

COMMANDS = ["serve", "env", "hosts", "az-login", "az", "share-path", "storage", "keygen", "check-config",
            "reload", "nodes", "submit", "run", "ps", "top", "logs", "cancel", "rerun", "get", "exec", "ssh", "shell", "forward", "queue", "jobs", "explain", "job", "report", "refused", "user", "subscription", "login", "logout", "open", "fingerprint", "wait", "demo", "seed", "dump", "backup", "restore", "completion", "version", "help"]


def test_help_lists_every_command(run):
    done = run("help")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^  ([a-z-]+) +\S", done.stdout, re.MULTILINE) == COMMANDS


def test_help_names_docs_that_are_there(run, tmp_path):
    """Beside the build, where `make install` puts them, or not at all."""
    folder = Path(run("help").stdout.rsplit("The docs are in ")[1].strip().rstrip("."))
    assert (folder / "testing.md").exists()
    here = tmp_path / "bin" / "batchaid"
    here.parent.mkdir()
    shutil.copy(BATCHAID, here)
    assert "The docs" not in subprocess.run([here, "help"], capture_output=True, text=True, check=True).stdout
    installed = tmp_path / "share" / "doc" / "batchaid"
    installed.mkdir(parents=True)
    (installed / "operations.md").touch()
    assert subprocess.run([here, "help"], capture_output=True, text=True, check=True).stdout.endswith(f"in {installed}.\n")


def test_help_flag_is_help(run):
    assert run("--help").stdout == run("-h").stdout == run("help").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(run, command):
    done = run("help", command)
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: batchaid {command}")
    if command != "az":  # az's own options come after the first argument
        assert run(command, "--help").stdout == done.stdout


def test_no_command_is_a_usage_error(run):
    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: batchaid COMMAND")


def test_version(run):
    done = run("version")
    assert done.returncode == 0
    (version,) = re.findall(r"^VERSION := (\d+\.\d+\.\d+)$", (ROOT / "Makefile").read_text(), re.M)
    assert done.stdout == f"batchaid {version}\n"
    assert run("--version").stdout == done.stdout
    assert run("version", "--json").stdout == f'{{\n  "version": "{version}"\n}}\n'


@pytest.mark.parametrize("arguments, words", [
    (["srve"], ["unknown command 'srve' (did you mean serve?)", "serve, env, hosts, az-login"]),
    (["help", "srve"], ["unknown command 'srve'"]),
    (["help", "config", "xml"], ["unknown format 'xml'", "text, yaml, man or markdown"]),
    (["serve", "--sate-dir", "x"], ["serve: unknown option '--sate-dir' (did you mean --state-dir?)", "--state-dir DIR"]),
    (["env", "--listen", "x"], ["env: unknown option '--listen'", "--state-dir DIR"]),
    (["completion", "--all"], ["completion: unknown option '--all'", "no options"]),
    (["serve", "-x"], ["serve: unknown option '-x'"]),
    (["logs", "-nf", "train"], ["logs: unknown option '-n'"]),
    (["logs", "-fé", "train"], ["logs: unknown option '-fé'"]),
    (["logs", "--help=x", "train"], ["logs: unknown option '--help=x'"]),
    (["logs", "--follow=x", "train"], ["logs: unknown option '--follow=x'"]),
    (["exec", "train", "ls", "-l"], ["exec: unknown option '-l' (options of the program come after --: JOB -- PROGRAM"]),
    (["shell", "--folder", "x"], ["shell: unknown option '--folder'"]),
    (["shell", "--no-copy"], ["shell: unknown option '--no-copy'"]),
    (["shell", "--array", "1-2"], ["shell: unknown option '--array'"]),
    (["serve", "--listen"], ["serve: no value after '--listen'", "--listen ADDR:PORT"]),
    (["serve", "--state-dir", ""], ["--state-dir needs a value"]),
    (["serve", "--listen", "7443"], ["'7443'", "no port", "127.0.0.1:7443"]),
    (["serve", "--listen", "::1:7443"], ["'::1:7443'", "needs brackets"]),
    (["serve", "--listen", "127.0.0.1:65536"], ["'127.0.0.1:65536'", "0 to 65535"]),
    (["serve", "--listen", "127.0.0.1:-1"], ["'127.0.0.1:-1'", "0 to 65535"]),
    (["serve", "--listen", "127.0.0.1:"], ["'127.0.0.1:'", "0 to 65535"]),
    (["serve", "--listen", "example.org:80"], ["'example.org:80'", "no IP address"]),
    (["serve", "--listen", "[127.0.0.1]:80"], ["'[127.0.0.1]:80'", "no IP address"]),
    (["serve", "--log-level", "loud"], ["'loud'", "debug, info, warn or error"]),
    (["serve", "--log-format", "xml"], ["'xml'", "text or json"]),
    (["serve", "now"], ["serve: unexpected argument 'now'"]),
    (["check-config"], ["check-config: it takes 1 argument, not 0", "check-config [OPTIONS] FILE"]),
    (["check-config", "a", "b"], ["unexpected argument 'b'"]),
    (["check-config", "--yaml", "a"], ["unknown option '--yaml'", "--state-dir DIR, --json\n"]),
    (["keygen", "a", "b"], ["keygen: unexpected argument 'b'"]),
    (["keygen", "--comment", ""], ["--comment needs a value"]),
    (["keygen", "--comment"], ["keygen: no value after '--comment'", "--comment TEXT"]),
    (["share-path", "acct"], ["share-path: it takes 2 arguments, not 1"]),
    (["share-path", "a.b", "share"], ["'a.b'", "1 to 64 letters, digits, - and _"]),
    (["share-path", "", "share"], ["''"]),
    (["share-path", "a" * 65, "share"], ["a" * 65]),
    (["share-path", "a$", "share"], ["'a$'"]),
    (["share-path", "../../x", "share"], ["'../../x'"]),
    (["share-path", "acct", "my/share"], ["'my/share'", "1 to 63 letters, digits, -, _ and $"]),
    (["share-path", "acct", ".."], ["'..'"]),
    (["share-path", "acct", ""], ["''"]),
    (["share-path", "acct", "s" * 64], ["s" * 64]),
    (["share-path", "--container", "acct", ".."], ["'..'"]),
    (["share-path", "--container", "acct"], ["share-path: it takes 2 arguments, not 1"]),
    (["share-path", "--share", "a", "b"], ["unknown option '--share'", "--state-dir DIR, --json, --container\n"]),
    (["storage"], ["storage: it takes 1"]),
    (["storage", "empty"], ["unknown command 'empty'", "deleted, restore"]),
    (["storage", "deleted", "1"], ["storage deleted: unexpected argument '1'"]),
    (["storage", "restore"], ["storage restore: name the numbers"]),
    (["storage", "--json", "restore", "1"], ["storage restore: it does not take --json"]),
    (["env", "--container"], ["env: unknown option '--container'"]),
    (["wait", "--timeout", "-1"], ["wait: --timeout is '-1'", "0 to 86400 seconds"]),
    (["wait", "--subscription", "s", "--timeout", "0"], ["wait: --subscription says where a job is", "name the job"]),
    (["wait", "--timeout", "soon"], ["wait: --timeout is 'soon'"]),
    (["seed"], ["seed: it takes 1 argument, not 0"]),
    (["dump", "a", "b"], ["dump: unexpected argument 'b'"]),
    (["logs"], ["logs: it takes 1 argument, not 0", "logs [OPTIONS] JOB"]),
    (["logs", "--tail", "few", "-"], ["logs: --tail is 'few'; it must be a number of lines"]),
    (["run"], ["there is no command; write it after --"]),
    (["subscription", "remove"], ["no command 'subscription remove'", "list|add|delete"]),
    (["subscription", "delete"], ["subscription delete SUBSCRIPTION"]),
    (["subscription", "add", "a", "b"], ["subscription add [NAME]"]),
    (["subscription", "--json", "delete", "a"], ["subscription delete: it does not take --json"]),
])
def test_wrong_command_lines(run, tmp_path, arguments, words):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("batchaid: ") and done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
    assert list(tmp_path.iterdir()) == []  # nothing was made


@pytest.mark.parametrize("command", ["env", "az-login", "az"])
def test_without_a_daemon(run, tmp_path, command):
    done = run(command, "--state-dir", "state dir")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no batchaid daemon is serving" in done.stderr
    assert f"batchaid serve --state-dir {tmp_path}/state dir" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments, env, where", [
    (["--state-dir", "given"], {"BATCHAID_STATE_DIR": "/nowhere"}, "given"),
    (["--state-dir", "./given///"], {}, "given"),
    ([], {"BATCHAID_STATE_DIR": "one", "STATE_DIRECTORY": "two"}, "one"),
    ([], {"STATE_DIRECTORY": "two", "XDG_STATE_HOME": "three"}, "two"),
    ([], {"XDG_STATE_HOME": "three"}, "three/batchaid"),
    ([], {"BATCHAID_STATE_DIR": ""}, ".local/state/batchaid"),
])
def test_where_the_state_is(run, tmp_path, arguments, env, where):
    done = run("share-path", *arguments, "acct", "share", env=env)
    assert done.returncode == 0, done.stderr
    path = done.stdout.strip()
    assert path.startswith("/")
    assert (tmp_path / where / "storage/acct/files/share").samefile(path)
    assert (tmp_path / where).stat().st_mode & 0o777 == 0o700


def test_nothing_says_where_the_state_is(run):
    done = run("share-path", "acct", "share", env={"HOME": ""})
    assert done.returncode == 1
    assert "--state-dir DIR" in done.stderr


def test_share_path_twice_is_the_same(run):
    first = run("share-path", "acct", "share-1")
    assert run("share-path", "acct", "share-1").stdout == first.stdout


@pytest.mark.parametrize("arguments, where", [
    (["Upper", "Share"], "upper/files/share"),
    (["ab", "x"], "ab/files/x"),
    (["a-b_c", "$root"], "a-b_c/files/$root"),
    (["a" * 64, "s" * 63], "a" * 64 + "/files/" + "s" * 63),
    (["--", "-", "-x"], "-/files/-x"),
    (["--container", "Acct", "Data"], "acct/blobs/data"),
    (["acct", "data", "--container"], "acct/blobs/data"),
])
def test_share_path_knows_every_name_that_can_be_mounted(run, tmp_path, arguments, where):
    done = run("share-path", "--state-dir", "state", *arguments)
    assert done.stdout == f"{tmp_path}/state/storage/{where}\n", done.stderr
    assert (tmp_path / "state/storage" / where).is_dir()


def completed(run, *words, env=None):
    done = run("--complete", *words, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def test_completion_knows_commands_and_options(run):
    assert completed(run, "") == COMMANDS and completed(run, "exp") == ["explain"]
    assert completed(run, "help", "") == COMMANDS
    for command in COMMANDS:
        described = run("help", command).stdout
        assert completed(run, command, "--") == re.findall(r"^  (--\S+)", described, re.M)


@pytest.mark.parametrize("words, offered", [
    (["nodes", ""], ["list", "check", "drain", "undrain", "reboot", "clean"]),
    (["user", "re"], ["remove", "reset"]),
    (["jobs", "--state", "r"], ["running"]),
    (["nodes", "--state", "r"], ["running"]),
    (["nodes", "--sort", "-n"], ["-name"]),
    (["serve", "--log-format", ""], ["text", "json"]),
    (["serve", "--config", "x"], [":files"]),
    (["serve", "--state-dir", ""], [":folders"]),
    (["submit", "--gpus", "2", "--", "python", ""], [":files"]),
    (["submit", "python", "--"], [":files"]),
    (["get", "job", ""], [":files"]),
    (["exec", "job", "--", ""], [":files"]),
    (["completion", "z"], ["zsh"]),
    (["jobs", "--since", ""], []),
    (["nothing", ""], []),
])
def test_completion_of_values(run, words, offered):
    assert completed(run, *words) == offered


def test_completion_of_other_shells(run):
    assert run("completion", "zsh").stdout.startswith("#compdef batchaid\n") and "complete -c batchaid" in run("completion", "fish").stdout
    for shell in ("zsh", "fish"):
        if shutil.which(shell):
            done = subprocess.run([shell, "-n"], input=run("completion", shell).stdout, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
    done = run("completion", "tcsh")
    assert done.returncode == 2 and "there is none for 'tcsh'; use bash, zsh or fish" in done.stderr

# SPDX-License-Identifier: MIT
"""`batchaid login`: the same commands from another machine, as somebody with a password there."""
import json
import os
import pty
import signal
import socket
import subprocess
import termios

import pytest
from support.daemon import BATCHAID, Daemon
from support.people import Person
from support.world import fresh

from conftest import environment
from test_daemon_submit import Desk


@pytest.fixture(scope="module")
def head():
    with Daemon() as d:
        d.expect_log("login.failed")
        yield d


class Laptop:
    """A home without a daemon."""

    def __init__(self, daemon, folder):
        self.url = daemon.endpoint.replace("127.0.0.1", "localhost")
        self.home, self.folder = folder, folder / "project"
        self.folder.mkdir(parents=True)
        self.fingerprint = daemon.tool("fingerprint").stdout.strip()
        self.kept = folder / ".config" / "batchaid"

    def run(self, *arguments, check=True, said=None, **more):
        env = environment(self.home, **more)
        stdin = dict(input=said) if said is not None else dict(stdin=subprocess.DEVNULL)
        done = subprocess.run([str(BATCHAID), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120, env=env, **stdin)
        assert not check or done.returncode == 0, done.stderr
        return done

    def login(self, person, *more, check=True, password=None):
        return self.run("login", self.url, "--user", person.name, *(more or ("--fingerprint", self.fingerprint)),
                        said=(password or person.password) + "\n", check=check)


@pytest.fixture
def laptop(head, tmp_path):
    return Laptop(head, tmp_path / "home")


def test_two_names_with_one_account(head, laptop, tmp_path):
    """Accounts are named by letters and digits alone, so both would have the same."""
    word = fresh("j")
    both = [Person(head, name=f"{name}@batchaid") for name in (word, f"{word[0]}.{word[1:]}")]
    Desk(head, tmp_path / "admin").submit("--no-copy", "--", "true")[1].succeed()
    (laptop.folder / "in").write_text("hello\n")
    for person in (*both, both[0]):
        laptop.login(person)
        assert laptop.run("run", "--", "cat in").stdout == "hello\n"
        laptop.run("logout")
    for person in both:
        person.remove()


@pytest.fixture
def ada(head):
    person = Person(head, name=fresh("ada") + "@batchaid")
    yield person
    person.remove()


def test_a_submitters_day(head, laptop, ada, tmp_path):
    admin = Desk(head, tmp_path / "admin")
    admin.submit("--no-copy", "--", "true")[1].succeed()
    assert laptop.login(ada).stdout == f"logged in at {laptop.url} as {ada.name}\n"
    assert laptop.kept.stat().st_mode & 0o777 == 0o700
    assert {f.name: f.stat().st_mode & 0o777 for f in laptop.kept.iterdir()} == {"ca.pem": 0o600, "login.json": 0o600}
    (laptop.folder / "in").write_text("hello\n")
    os.utime(laptop.folder / "in", (0, 0))  # shown times have whole seconds, so a file of the start's second is fetched, too
    done = laptop.run("run", "--name", "hers", "--", "cat in; echo 1 >out; exit 5", check=False)
    assert (done.returncode, done.stdout) == (5, "hello\n"), done.stderr
    assert laptop.run("get", "-").stdout == "hers/out\n" and laptop.run("logs", "hers").stdout == "hello\n"
    (job,) = [j for j in json.loads(laptop.run("jobs", "--json").stdout)["value"] if j["name"] == "hers"]
    assert job["createdBy"] == ada.name and job["experiment"] == ada.name.split("@")[0]
    theirs, _ = admin.submit("--name", "theirs", "--no-copy", "--", "sleep 100")
    done = laptop.run("cancel", "theirs", check=False)
    assert done.returncode == 1 and "theirs cannot be cancelled: " in done.stderr
    assert laptop.run("cancel", "--mine").stdout == "you have no running or waiting jobs\n"
    admin.run("cancel", "theirs")
    assert laptop.run("logout").stdout == "logged out\n" and list(laptop.kept.iterdir()) == []
    assert "no batchaid daemon is serving" in laptop.run("ps", check=False).stderr
    assert laptop.run("logout").stdout == "you were not logged in\n"


def test_who_may_make_no_cluster_is_told_who_may(head, laptop, ada):
    laptop.login(ada)
    done = laptop.run("submit", "--group", "nowhere", "--no-copy", "--", "true", check=False)
    assert done.returncode == 1 and "somebody with the role Contributor can make it" in done.stderr


def test_nodes_are_those_of_the_login(head, laptop, ada, tmp_path):
    Desk(head, tmp_path / "admin").submit("--no-copy", "--", "true")[1].succeed()
    laptop.login(ada)
    nodes = json.loads(laptop.run("nodes", "--json").stdout)["value"]
    assert nodes and [n["name"] for n in nodes] == [n["name"] for n in head.get("/batchaid/nodes")["value"]]
    done = laptop.run("nodes", "drain", nodes[0]["name"], check=False)
    assert done.returncode == 1 and f"The client '{ada.name}'" in done.stderr and "authorization" in done.stderr


def test_a_named_state_directory_comes_first(head, laptop, ada):
    laptop.login(ada)
    assert "no batchaid daemon is serving" in laptop.run("ps", "--state-dir", "nowhere", check=False).stderr
    assert laptop.run("ps", BATCHAID_STATE_DIR=str(head.state_dir)).returncode == 0


def test_a_reload_is_of_the_daemon_here(head, laptop, ada):
    laptop.login(ada)
    assert "no batchaid daemon is serving" in laptop.run("reload", check=False).stderr
    (laptop.home / "states").mkdir()
    (laptop.home / "states" / "batchaid").symlink_to(head.state_dir)
    assert laptop.run("reload", XDG_STATE_HOME=str(laptop.home / "states")).stdout == "nothing has changed\n"


@pytest.mark.parametrize("more, words", [
    (["--fingerprint", "AB:CD"], "not the one that you gave; either another daemon answers there"),
    ([], "nobody has confirmed the authority at https://localhost:"),
    (["--ca", "missing"], "missing"),
])
def test_an_authority_that_nobody_confirms(laptop, ada, more, words):
    done = laptop.run("login", laptop.url, "--user", ada.name, *more, said=ada.password + "\n", check=False)
    assert done.returncode == 1 and words in done.stderr and ada.password not in done.stderr
    assert not laptop.kept.exists() or list(laptop.kept.iterdir()) == []


def test_the_authority_may_be_a_file(head, laptop, ada):
    assert "logged in" in laptop.login(ada, "--ca", head.ca).stdout
    other = laptop.folder / "other.pem"
    other.write_text("no certificate")
    done = laptop.login(ada, "--ca", str(other), check=False)
    assert done.returncode == 1 and "other.pem is not a certificate" in done.stderr
    assert laptop.run("ps").returncode == 0, "the login before is kept"


def test_a_wrong_password_keeps_the_old_login(laptop, ada):
    laptop.login(ada)
    done = laptop.login(ada, password="wrong", check=False)
    assert done.returncode == 1 and "The user name or the password is wrong" in done.stderr
    assert laptop.run("ps").returncode == 0 and sorted(f.name for f in laptop.kept.iterdir()) == ["ca.pem", "login.json"]


def test_a_login_that_is_no_longer_valid(head, laptop, ada):
    laptop.login(ada)
    head.call("POST", f"/batchaid/users/{ada.name}/reset", expect=200)
    done = laptop.run("ps", check=False)
    assert done.returncode == 1 and f"is no longer valid; log in again: batchaid login {laptop.url}" in done.stderr


def test_a_login_that_others_may_read_is_not_used(laptop, ada):
    laptop.login(ada)
    (laptop.kept / "login.json").chmod(0o644)
    done = laptop.run("ps", check=False)
    assert done.returncode == 1 and "others may read your login" in done.stderr and "chmod 600" in done.stderr
    (laptop.kept / "login.json").chmod(0o600)
    (laptop.kept / "login.json").write_text("{}")
    assert "has no `endpoint`; log in again" in laptop.run("ps", check=False).stderr


def test_completion_waits_for_no_login(laptop, ada):
    """Where the daemon is silent, TAB is over before any other command gives up."""
    laptop.login(ada)
    file = laptop.kept / "login.json"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        file.write_text(json.dumps({**json.loads(file.read_text()), "endpoint": f"https://localhost:{silent.getsockname()[1]}"}))
        other = subprocess.Popen([str(BATCHAID), "ps"], env=environment(laptop.home), stderr=subprocess.DEVNULL)
        begun, _ = silent.accept()
        assert laptop.run("--complete", "logs", "").stdout == "-\tthe last one\n"
        assert other.poll() is None
        begun.close()
        other.kill()
        other.wait()


def test_it_asks_on_a_terminal_and_shows_no_password(laptop, ada):
    ours, theirs = pty.openpty()
    p = subprocess.Popen([str(BATCHAID), "login", laptop.url], cwd=laptop.folder, env=environment(laptop.home), stdin=theirs, stdout=theirs,
                         stderr=theirs)
    os.close(theirs)
    shown = ""
    for question, answer in (("[y/N] ", "y"), ("User: ", ada.name.split("@")[0]), ("Password: ", ada.password)):
        while question not in shown:
            shown += os.read(ours, 4096).decode()
        os.write(ours, answer.encode() + b"\n")
    while "logged in" not in shown:
        shown += os.read(ours, 4096).decode()
    os.close(ours)
    assert p.wait(60) == 0 and laptop.fingerprint in shown and ada.password not in shown


def test_an_interrupted_question_leaves_nothing(laptop, ada):
    ours, theirs = pty.openpty()
    argv = [str(BATCHAID), "login", laptop.url, "--user", ada.name, "--fingerprint", laptop.fingerprint]
    p = subprocess.Popen(argv, cwd=laptop.folder, env=environment(laptop.home), stdin=theirs, stdout=theirs, stderr=theirs)
    shown = ""
    while "Password: " not in shown:
        shown += os.read(ours, 4096).decode()
    assert not termios.tcgetattr(theirs)[3] & termios.ECHO
    p.send_signal(signal.SIGINT)
    assert p.wait(60) == 1 and termios.tcgetattr(theirs)[3] & termios.ECHO
    shown += os.read(ours, 4096).decode()
    os.close(theirs)
    os.close(ours)
    assert "login: interrupted; nothing was changed" in shown and list(laptop.kept.iterdir()) == []


@pytest.mark.parametrize("url, words", [
    ("http://x", "is not a valid endpoint; write how clients reach the daemon"),
    ("gpu-head", "is not a valid endpoint"),
])
def test_wrong_urls(run, url, words):
    done = run("login", url)
    assert done.returncode == 2 and words in done.stderr


def test_nobody_answers(run):
    done = run("login", "https://localhost:1", "--user", "x")
    assert done.returncode == 1 and "the daemon at https://localhost:1 does not answer" in done.stderr


# --- tokens that another program lends --------------------------------------------------------------


def lent(head, person, **more):
    """The variables of somebody who has only tokens."""
    storage = person.login(scope="https://storage.azure.com/.default").json["access_token"]
    return {"BATCHAID_ENDPOINT": head.endpoint + "/", "SSL_CERT_FILE": head.ca, "AZURE_SUBSCRIPTION_ID": head.subscription,
            "AZURE_USERNAME": person.name, "BATCHAID_TOKEN": person.token(), "BATCHAID_STORAGE_TOKEN": storage, **more}


def test_tokens_of_the_environment_are_a_login(head, laptop, ada, tmp_path):
    Desk(head, tmp_path / "admin").submit("--no-copy", "--", "true")[1].succeed()
    (laptop.folder / "in").write_text("hello\n")
    done = laptop.run("run", "--name", "lent", "--", "cat in", **lent(head, ada))
    assert done.stdout == "hello\n" and not laptop.kept.exists()
    (job,) = json.loads(laptop.run("jobs", "--json", "--user", ada.name, **lent(head, ada)).stdout)["value"]
    assert (job["createdBy"], job["experiment"]) == (ada.name, ada.name.split("@")[0])


@pytest.mark.parametrize("more, words", [
    ({"BATCHAID_STORAGE_TOKEN": ""}, "set BATCHAID_STORAGE_TOKEN to a token for https://storage.azure.com/.default, or copy nothing with"),
    ({"SSL_CERT_FILE": ""}, "BATCHAID_TOKEN is set, and SSL_CERT_FILE is not; set it as `batchaid env` prints it"),
    ({"BATCHAID_ENDPOINT": "head.lab"}, "BATCHAID_ENDPOINT: 'head.lab' is not a valid endpoint"),
    ({"BATCHAID_TOKEN": "forged"}, "token"),
])
def test_a_lent_login_with_a_mistake(head, laptop, ada, more, words, tmp_path):
    Desk(head, tmp_path / "admin").submit("--no-copy", "--", "true")[1].succeed()
    done = laptop.run("submit", "--json", "--", "true", check=False, **lent(head, ada, **more))
    assert done.returncode == 1 and words in done.stderr and ada.token() not in done.stderr


def test_a_refusal_has_its_code_for_programs(head, laptop, ada):
    done = laptop.run("submit", "--json", "--group", "nowhere", "--no-copy", "--", "true", check=False, **lent(head, ada))
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "AuthorizationFailed" and done.stderr == f"batchaid: {error['message']}\n"

# SPDX-License-Identifier: MIT
"""What --json prints of commands that do not print the daemon's reply: whole objects, and all that the text says."""
import json
import re
import shlex
import sqlite3

import pytest
import yaml
from support.accounts import Accounts
from support.daemon import Daemon
from support.people import Person
from support.sshd import Sshd

from test_daemon_keygen import public_of
from test_daemon_login import Laptop


@pytest.fixture(scope="module")
def head():
    with Daemon() as d:
        yield d


def said(done):
    """The only object on standard output; nothing is said beside it."""
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout)


def test_env_has_the_variables_of_the_text(head):
    text = head.tool("env").stdout
    assert said(head.tool("env", "--json")) == dict(shlex.split(line)[1].split("=", 1) for line in text.splitlines())
    done = head.tool("env", "--json", "--user", "ada", check=False)
    assert (done.returncode, done.stdout) == (2, "") and "--json cannot be combined with --endpoint and --user" in done.stderr


def test_hosts_has_the_lines_of_the_text(head):
    accounts = Accounts(head).make()
    accounts.account()
    for arguments in ((), ("10.0.0.5", "gpu-head.lab")):
        lines = [line.split() for line in head.tool("hosts", *arguments).stdout.splitlines()]
        assert lines and said(head.tool("hosts", "--json", *arguments)) == {"value": [{"address": at, "names": names} for at, *names in lines]}
    accounts.remove()


def test_share_path_and_fingerprint(head):
    assert said(head.tool("share-path", "--json", "acct", "data")) == {"path": head.tool("share-path", "acct", "data").stdout.strip()}
    assert said(head.tool("fingerprint", "--json")) == {"fingerprint": head.tool("fingerprint").stdout.strip()}


def test_keygen_names_the_files_that_it_made(run, tmp_path):
    made = said(run("keygen", "--json", "rack1"))
    assert made["identity"] == f"{tmp_path}/rack1" and made["publicKeyFile"] == f"{tmp_path}/rack1.pub"
    assert made["publicKey"] + "\n" == (tmp_path / "rack1.pub").read_text() and made["publicKey"].split()[:2] == public_of(made["identity"])


def test_a_copy_and_its_way_back(own_daemon, tmp_path):
    d = own_daemon()
    copy = tmp_path / "copy.db"
    assert said(d.tool("backup", "--json", str(copy))) == {"file": str(copy), "secretKey": f"{d.state_dir}/secret.key"}
    d.stop()
    back = said(d.tool("restore", "--json", str(copy)))
    assert back == {"database": f"{d.state_dir}/batchaid.db", "before": f"{d.state_dir}/batchaid.db.before"}
    for file in back.values():
        assert sqlite3.connect(file).execute("PRAGMA quick_check").fetchall() == [("ok",)]


def test_a_login(head, tmp_path):
    ada, laptop = Person(head), Laptop(head, tmp_path / "home")
    done = laptop.login(ada, "--fingerprint", laptop.fingerprint, "--json")
    assert said(done) == {"endpoint": laptop.url, "user": ada.name}
    assert json.loads(laptop.run("ps", "--json").stdout)["value"] == []
    ada.remove()


def test_a_link_to_the_page(head, tmp_path):
    """Without a screen the link is printed; with one it is opened, and nobody else sees it."""
    shown = said(head.tool("open", "--json", "--print"))
    assert shown["opened"] is False and shown["url"].startswith(said(head.tool("env", "--json"))["BATCHAID_ENDPOINT"] + "/#code=")
    seen = tmp_path / "xdg-open"
    seen.write_text("#!/bin/sh\n")
    seen.chmod(0o755)
    done = head.tool("open", "--json", env={"PATH": str(tmp_path), "DISPLAY": ":0", "HOME": str(tmp_path)})
    assert said(done) == {"opened": True, "endpoint": said(head.tool("env", "--json"))["BATCHAID_ENDPOINT"]}


def test_what_a_former_daemon_left_on_a_machine(run, tmp_path):
    with Sshd(tmp_path / "machine") as machine:
        (machine.node_root / "jobs/a-1").mkdir(parents=True)
        (tmp_path / "c.yaml").write_text(yaml.safe_dump({"inventory": [machine.group()]}))
        arguments = ("nodes", "clean", "--json", "--config", "c.yaml", "--state-dir", "state")
        (row,) = said(run(*arguments, "--dry-run", machine.name))["value"]
        known = {"name": machine.name, "nodeRoot": str(machine.node_root), "agentUser": row["agentUser"]}
        left = [f"directory {machine.node_root}/jobs"]
        assert row == {**known, "dryRun": True, "leftovers": left, "rootRemoved": False} and (machine.node_root / "jobs").exists()
        (row,) = said(run(*arguments, machine.name))["value"]
        assert row == {**known, "dryRun": False, "leftovers": left, "rootRemoved": True} and not machine.node_root.exists()
    done = run(*arguments, machine.name)
    (row,) = json.loads(done.stdout)["value"]
    assert done.returncode == 1 and done.stderr == f"{machine.name}: {row['error']}\n" and "agentUser" not in row


@pytest.mark.parametrize("arguments", [["keygen", "{}"], ["share-path", "acct", "data", "--state-dir", "{}"], ["backup", "{}", "--state-dir", "s"],
                                       ["restore", "{}", "--state-dir", "s"]])
def test_a_name_that_json_cannot_say_is_refused_before_the_work(run, tmp_path, arguments):
    name = b"x\xff".decode(errors="surrogateescape")
    done = run(*(a.format(name) for a in arguments), "--json")
    assert (done.returncode, done.stdout) == (1, "") and re.search(r"--json cannot print the .* not UTF-8", done.stderr), done.stderr
    assert list(tmp_path.iterdir()) == []

# SPDX-License-Identifier: MIT
"""`batchaid reload` and SIGHUP: what changes while the daemon runs, what needs a restart, and files that are wrong."""
import json
import os
import signal
import subprocess
import threading

import pytest

from support.waiting import wait_for


class Lab:
    """A daemon with a configuration file that the test rewrites."""

    def __init__(self, folder, serve, run):
        self.file = folder / "c.yaml"
        self.folder, self.run = folder, run
        self.key = folder / "key"
        run("keygen", self.key)
        self.start = lambda *more: serve("--config", self.file, *more)

    def write(self, text):
        self.file.write_text(text)

    def inventory(self, *hosts, more="", rest=""):
        """Nothing listens at these machines."""
        listed = ", ".join(f'"{h}:1"' for h in hosts)
        self.write(f"inventory:\n- hosts: [{listed}]\n  user: nobody\n  identity: {self.key}\n{more}{rest}")

    def reload(self, *options):
        return self.run("reload", "--state-dir", "state", *options)

    def changes(self):
        done = self.reload("--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def machines(self):
        done = self.run("nodes", "--state-dir", "state", "--json")
        assert done.returncode == 0, done.stderr
        return [n["name"] for n in json.loads(done.stdout)["value"]]


@pytest.fixture
def lab(tmp_path, serve, run):
    return Lab(tmp_path, serve, run)


NOTHING = {"machines": {"added": [], "removed": [], "changed": []}, "settings": [], "afterRestart": []}


def test_machines_come_go_and_change(lab):
    lab.inventory("127.0.0.1", "127.0.0.2", rest="")
    lab.start()
    assert lab.changes() == NOTHING
    lab.inventory("127.0.0.3", "127.0.0.2")
    assert lab.changes() == NOTHING | {
        "machines": {"added": ["127.0.0.3:1"], "removed": ["127.0.0.1:1"], "changed": []}, "settings": ["inventory"]}
    assert lab.machines() == ["127.0.0.3:1", "127.0.0.2:1"]
    lab.inventory("127.0.0.2", "127.0.0.3", more="  slots: 4\n")
    assert lab.changes()["machines"]["changed"] == ["127.0.0.2:1", "127.0.0.3:1"]
    lab.write("{}\n")
    assert lab.changes()["machines"]["removed"] == ["127.0.0.2:1", "127.0.0.3:1"]
    assert lab.machines() == []


def test_a_new_password_in_the_same_file_is_taken_into_use(lab):
    secret = lab.folder / "password"
    secret.touch(mode=0o600)
    secret.write_text("old\n")
    lab.write(f"inventory:\n- hosts: ['127.0.0.1:1']\n  user: nobody\n  password_file: {secret}\n"
              f"- hosts: ['127.0.0.2:1']\n  user: nobody\n  identity: {lab.key}\n")
    lab.start()
    assert lab.changes() == NOTHING
    secret.write_text("new\n")
    assert lab.changes() == NOTHING | {"machines": {"added": [], "removed": [], "changed": ["127.0.0.1:1"]}}
    assert lab.changes() == NOTHING, "it is in use, so a further reload finds no change"
    secret.write_text("newer\n")
    assert lab.reload().stdout == "changed: 127.0.0.1:1 (connections that are open stay as they are)\n"


def test_a_first_inventory(lab):
    lab.write("{}\n")
    lab.start()
    lab.inventory("127.0.0.1")
    done = lab.reload()
    assert done.stdout == "added: 127.0.0.1:1\nin use now: inventory\n"
    assert lab.machines() == ["127.0.0.1:1"]


def test_settings_that_change_and_those_that_need_a_restart(lab):
    lab.write("log: {level: info}\n")
    d = lab.start()
    lab.write("log: {level: debug}\nlocal: {nodes: 3}\njobs: {cpus: 2}\n")
    assert lab.changes() == NOTHING | {"settings": ["log.level", "jobs.cpus"], "afterRestart": ["local.nodes"]}
    # The first is in use; the last waits on.
    assert lab.changes() == NOTHING | {"afterRestart": ["local.nodes"]}
    assert lab.reload().stdout == "in use after a restart of the daemon only: local.nodes\n"
    lab.write("{}\n")
    assert lab.changes() == NOTHING | {"settings": ["log.level", "jobs.cpus"]}
    assert lab.reload().stdout == "nothing has changed\n"
    assert "daemon.reloaded changed=log.level,\\ jobs.cpus" in d.log or 'changed="log.level, jobs.cpus"' in d.log, d.log


def test_an_empty_list_is_a_value_where_the_page_gives_it_a_meaning(lab):
    lab.write("listen: []\njobs: {backfill: []}\n")
    lab.start()
    lab.write("jobs: {backfill: ['*']}\n")
    assert lab.changes() == NOTHING | {"settings": ["jobs.backfill"]}
    lab.write("{}\n")
    assert lab.changes() == NOTHING
    lab.write("jobs: {backfill: []}\n")
    assert lab.reload().stdout == "in use now: jobs.backfill\n"


def test_the_command_line_still_overrides_the_file(lab):
    lab.write("{}\n")
    lab.start("--log-level", "warn")
    lab.write("log: {level: debug}\nlisten: ['localhost:0']\n")
    assert lab.changes() == NOTHING


def test_the_level_of_the_log(lab):
    lab.write("{}\n")
    d = lab.start()
    lab.write("log: {level: error}\n")
    lab.changes()
    length = len(d.log)
    lab.write("log: {level: info}\n")
    lab.changes()
    assert "daemon.reloaded" in d.log[length:]


WRONG = [
    ("log: {level: loud}\n", "c.yaml:1: log.level: 'loud' is not a valid log level"),
    ("lok: {}\n", "c.yaml:1: Unexpected key: lok"),
    ("inventory: [{hosts: gpu01, identity: /nowhere}]\n", "there is no key /nowhere"),
    ("inventory: [{hosts: 'gpu[01-0', agent_socket: /a}]\n", "gpu[01-0"),
    ("inventory:\n- hosts: [gpu01\n", "c.yaml:"),
    ("\0", "c.yaml"),
]


@pytest.mark.parametrize("text, words", WRONG)
def test_a_wrong_file_changes_nothing(lab, text, words):
    lab.inventory("127.0.0.1")
    d = lab.start()
    lab.write("jobs: {cpus: 2}\n" + text)
    words = words.replace("c.yaml:1", "c.yaml:2")
    done = lab.reload()
    assert done.returncode == 1 and "Nothing has changed" in done.stderr and words in done.stderr, done.stderr
    assert lab.machines() == ["127.0.0.1:1"]
    d.process.send_signal(signal.SIGHUP)
    wait_for(lambda: d.log.count("daemon.not_reloaded") == 2)
    lab.inventory("127.0.0.1", "127.0.0.2")
    assert lab.changes()["machines"]["added"] == ["127.0.0.2:1"]


def test_a_file_that_is_gone(lab):
    lab.write("{}\n")
    lab.start()
    lab.file.unlink()
    done = lab.reload()
    assert done.returncode == 1 and "c.yaml" in done.stderr, done.stderr


def test_sighup_does_the_same(lab):
    lab.inventory("127.0.0.1")
    d = lab.start()
    lab.inventory("127.0.0.1", "127.0.0.2")
    d.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "daemon.reloaded" in d.log)
    assert lab.machines() == ["127.0.0.1:1", "127.0.0.2:1"]


def test_many_at_once_all_get_an_answer(lab):
    lab.inventory("127.0.0.1")
    lab.start()
    lab.inventory("127.0.0.1", "127.0.0.2")
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(lab.changes())) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(answers) == 8 and sum(a["machines"]["added"] == ["127.0.0.2:1"] for a in answers) >= 1, answers


def test_a_file_that_cannot_be_read_now_holds_up_nobody(lab):
    """A FIFO keeps the reading thread; the daemon serves and stops all the same."""
    lab.write("{}\n")
    d = lab.start()
    lab.file.unlink()
    os.mkfifo(lab.file)
    waiting = threading.Thread(target=lab.reload)
    waiting.start()
    assert lab.machines() == []
    with open(lab.file, "w") as fifo:
        fifo.write("jobs: {cpus: 2}\n")
    waiting.join()
    assert "jobs.cpus" in d.log


def test_no_daemon(lab):
    done = lab.reload()
    assert done.returncode == 1 and "batchaid serve" in done.stderr, done.stderr


def test_restarted_with_what_was_reloaded(lab, serve):
    lab.inventory("127.0.0.1", "127.0.0.2")
    d = lab.start()
    lab.inventory("127.0.0.2", "127.0.0.3")
    lab.changes()
    d.stop()
    lab.start()
    assert lab.machines() == ["127.0.0.2:1", "127.0.0.3:1"]
    assert lab.changes() == NOTHING


def test_help_marks_what_a_reload_changes(run):
    text = run("help", "config").stdout
    assert "\nlog.level (text; default info; reload)\n" in text
    assert "\nlisten (list; default [\"localhost:7443\"])\n" in text
    assert subprocess.run(["grep", "-c", "; reload"], input=text, text=True, capture_output=True).stdout == "49\n"

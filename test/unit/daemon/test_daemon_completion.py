# SPDX-License-Identifier: MIT
"""The completion script in an interactive bash: a line is typed, a tabulator, and Enter."""

import os
import pty
import re
import select
import shlex
import subprocess

import pytest
from support.daemon import BATCHAID, ROOT
from support.waiting import wait_for

# A command line is not run, but shown: each word in brackets.
RC = f"""
PS1='$ '
batchaid() {{
    if [[ $1 == --complete ]]; then {shlex.quote(str(BATCHAID))} "$@"; else printf '[%s]' "$@"; echo " shown"; fi
}}
eval "$(command {shlex.quote(str(BATCHAID))} completion bash)"
"""
BACK = "\x02"  # moves the cursor to the left


@pytest.fixture
def typed(tmp_path):
    """typed("submit --mem") -> the words of the line after `batchaid` when a tabulator has completed it."""
    (tmp_path / "rc").write_text(RC)
    ours, theirs = pty.openpty()
    words = ["setsid", "--ctty", "bash", "--noprofile", "--rcfile", tmp_path / "rc", "-i"]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb", "INPUTRC": "/dev/null", "LC_ALL": "C.UTF-8"}
    bash = subprocess.Popen(words, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    said = b""

    def shown():
        nonlocal said
        if select.select([ours], [], [], 0.1)[0]:
            said += os.read(ours, 4096)
        return re.search(rb"^\[(.*)\] shown\r$", said, re.M)

    def type_line(line):
        os.write(ours, f"batchaid {line}\t\n".encode())
        return wait_for(shown, 30, lambda: f"the words of the line: {said}")[1].decode().split("][")

    yield type_line
    bash.kill()
    bash.wait()
    os.close(ours)


def test_the_script_is_the_installed_file(run):
    assert run("completion", "bash").stdout == (ROOT / "etc" / "batchaid.bash-completion").read_text()


@pytest.mark.parametrize("line, words", [
    ("exp", ["explain"]),
    (f"expx{BACK}", ["explainx"]),
    ("jobs --state ru", ["jobs", "--state", "running"]),
    ("jobs --state=ru", ["jobs", "--state=running"]),
    ("submit --env A=B --mem", ["submit", "--env", "A=B", "--memory"]),
    ("submit --env A= --mem", ["submit", "--env", "A=", "--memory"]),
    ("submit --env 'A=b c' --mem", ["submit", "--env", "A=b c", "--memory"]),
    ("submit --after x:end --mem", ["submit", "--after", "x:end", "--memory"]),
    ("submit --image host:5000/x:tag --mem", ["submit", "--image", "host:5000/x:tag", "--memory"]),
    ("seed fi", ["seed", "file"]),
    ("serve --config fi", ["serve", "--config", "file"]),
    ("serve --config=fi", ["serve", "--config=file"]),
    ("seed a=b:", ["seed", "a=b:c"]),
])
def test_bash_completes_the_word_before_the_cursor(typed, tmp_path, line, words):
    (tmp_path / "file").touch()
    (tmp_path / "a=b:c").touch()
    assert typed(line) == words

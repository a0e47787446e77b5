# SPDX-License-Identifier: MIT
"""docs/ten-lines.md: each line by itself, in a shell and by the package for pytest."""

import json
import re
import subprocess
import sys

import pytest
from support.daemon import BATCHAID, BUILD, ROOT, Daemon

sys.path.insert(0, str(ROOT / "etc" / "wheel"))
from batchaid.cloud import Cloud  # noqa: E402

PAGE = (ROOT / "docs" / "ten-lines.md").read_text()
SHELL, PYTHON = (re.findall(rf"^```{language}\n(.*)\n```$", PAGE, re.M) for language in ("sh", "python"))


def run(script):
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def variables():
    with Daemon(arguments=["--ephemeral", "--testing"]) as d:
        yield d.tool("env").stdout


def test_there_are_ten():
    assert len(SHELL) == 10 and len(PYTHON) == 9
    assert re.findall(r"^\*\*(\d+)\.\*\* ", PAGE, re.M) == [str(n) for n in range(1, 11)]


def test_the_first_line_starts_a_cloud(tmp_path):
    head = f"PATH={BUILD}:$PATH DIR={tmp_path / 'state'}\n"
    assert "ready https://" in run(f'{head}{SHELL[0]}\necho "at $BATCHAID_ENDPOINT"; kill $!; wait')
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("line", SHELL[1:], ids=range(2, 11))
def test_a_line_for_a_shell(variables, line):
    assert "error" not in json.loads(run(f"{variables}\n{line}"))


@pytest.mark.parametrize("line", PYTHON, ids=range(2, 11))
def test_a_line_for_pytest(variables, line, monkeypatch):
    monkeypatch.setenv("BATCHAID", str(BATCHAID))
    with Cloud.running(dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", variables, re.M))).subscription() as batchaid:
        exec(line, {"batchaid": batchaid})

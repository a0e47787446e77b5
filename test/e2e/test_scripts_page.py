# SPDX-License-Identifier: MIT
"""docs/scripts.md, and the lines of README.md, with Debian's az."""

import re
import subprocess

import yaml
from support.clients import needs, needs_names
from support.daemon import BUILD, ROOT, Daemon
from support.shell_page import ShellPage


def test_the_page_runs(tmp_path):
    needs("az")
    needs_names()
    ShellPage("scripts.md").walk(tmp_path)


def test_the_lines_of_the_readme():
    needs("az")
    lines = re.findall(r"^    (build/.*?)(?:  +#.*)?$", (ROOT / "README.md").read_text(), re.M)
    assert lines[0] == "build/batchaid serve &" and len(lines) == 3
    with Daemon() as d:
        for line in lines[1:]:
            command = line.replace("build/batchaid az", f"{BUILD}/batchaid az --state-dir {d.state_dir}")
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0 and yaml.safe_load(done.stdout)["name"] in ("demo", "ws"), done.stderr

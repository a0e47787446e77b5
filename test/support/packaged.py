# SPDX-License-Identifier: MIT
"""The packages that `make` makes of the portable program, and the first tests of docs/ten-lines.md, which need nothing else."""

import fcntl
import os
import re
import subprocess
from pathlib import Path

from .daemon import BUILD, ROOT
from .packages import caller_environment
from .waiting import PATIENCE

PAGE = (ROOT / "docs" / "ten-lines.md").read_text()
FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.S | re.M)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.S | re.M)


def made(target):
    """The folder of the packages after `make TARGET`; BATCHAID_DIST names one in which they are made already."""
    if os.environ.get("BATCHAID_DIST"):
        return Path(os.environ["BATCHAID_DIST"])
    with (BUILD / ".packaged.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # files of tests run side by side
        make = ["make", "-s", "-o", "all", target, f"BUILD={BUILD}"]
        done = subprocess.run(make, cwd=ROOT, env=caller_environment(), capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILD / "dist"


def section(name):
    """What the page says of the first test with `name`: its files and its commands."""
    text = re.search(rf"^### {re.escape(name)}\n(.*?)(?=^##|\Z)", PAGE, re.S | re.M)[1]
    return dict(FILE.findall(text)), "".join(COMMANDS.findall(text))


def first_test(name, folder, env, before=""):
    """Does what the page says in a new folder, with this environment alone; what it prints."""
    files, commands = section(name)
    folder.mkdir(parents=True)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    script = ["bash", "-euo", "pipefail", "-c", before + commands]
    done = subprocess.run(script, cwd=folder, env=env, capture_output=True, text=True, timeout=300 * PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

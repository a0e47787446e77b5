# SPDX-License-Identifier: MIT
"""The program of docs/batch-python.md, with stand-ins for the programs that would install and fetch."""

import os

import pytest
from support.clients import needs, needs_names
from support.packages import Unavailable
from support.shell_page import ShellPage


@pytest.fixture
def stand_ins(tmp_path):
    """A folder of programs that note how they were called, and where they note it. An image prints what it was run with."""
    folder, calls = tmp_path / "stand-ins", tmp_path / "calls"
    tmp_path.chmod(0o755)
    folder.mkdir()
    calls.touch()
    calls.chmod(0o666)
    for name, does in (("apt-get", ""), ("docker", '[ "$1" != run ] || echo "trained $4 $5"'), ("sudo", 'exec "$@"')):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>{calls}\n{does}\n')
        program.chmod(0o755)
    return folder, calls


def test_the_program_of_2018(tmp_path, stand_ins):
    needs("az")
    needs_names()
    folder, calls = stand_ins
    try:
        ShellPage("batch-python.md").walk(tmp_path, environment={"PATH": f"{folder}:{os.environ['PATH']}"})
    except Unavailable as e:
        pytest.skip(str(e))
    image = "registry.example/ml/example:0.0.1"
    seen = [line for line in calls.read_text().splitlines() if not line.startswith("sudo ")]
    assert seen == [
        "apt-get update",
        "apt-get -y install docker.io",
        "docker login registry.example -u ada -p secret",
        f"docker pull {image}",
        f"docker run -t {image} run1 model7",
    ]
    assert (tmp_path / "walk" / "log.txt").read_text() == "trained run1 model7\n"

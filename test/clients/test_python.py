# SPDX-License-Identifier: MIT
"""The published Python packages: those of PyPI each in an environment of its own, the newest as Debian
ships it."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support import operations
from support.clients import PROGRAMS, live, python_home, python_with
from support.flat import HOME, FlatPlace
from support.spec import API_VERSION
from support.world import Place

LIFE = Path(__file__).with_name("flat_life.py")
PACKAGES = {"0.2.0": "2017-09-01-preview", "1.0.1": "2018-03-01"}
# 2017 does not list the service's own log.
FILES = {"0.2.0": ["stderr.txt", "stdout.txt"], "1.0.1": ["execution.log", "stderr.txt", "stdout.txt"]}


@pytest.mark.parametrize("version", PACKAGES)
def test_the_packages_without_workspaces(daemon, version):
    python = python_with(version)
    place = FlatPlace(daemon, PACKAGES[version]).make()
    env = {"PATH": os.environ["PATH"], **daemon.env}
    before = len(daemon.log())
    done = subprocess.run([python, LIFE, place.group], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert all(port > 0 for port in said["login"])
    assert said == {
        "api_version": PACKAGES[version],
        "cluster": ["nodes", "Microsoft.BatchAI/Clusters", "northeurope", {"kind": "test"}],
        "job": ["hello", "Microsoft.BatchAI/Jobs", 7, "custom"],
        "exit_code": 0,
        "files": FILES[version],
        "stdout": "hello from a job\n",
        "listed": ["hello"],
        "login": said["login"][:1],
        "tags": {"a": "b"},
        "nodes": 0,
        "missing": [404, said["missing"][1]],
        "left": [],
    }
    assert "nowhere" in said["missing"][1]
    print(f"ok python-{version} {said['api_version']}")
    operations.judge(f"python-{version}", PACKAGES[version], daemon.log()[before:])
    assert place.through(API_VERSION).daemon.get(place.through(API_VERSION).path)["name"] == HOME
    Place(daemon, place.group, HOME).remove()


def test_the_package_of_2018_05_01(daemon, group):
    said = live(daemon, [python_with("2.0.0"), PROGRAMS / "python" / "life.py", "2.0.0"], group)
    assert said == "ok python-2.0.0 2018-05-01"


def test_the_last_package_of_2018_05_01(daemon, group):
    """It imports msrest, which it does not name."""
    home = python_home("azure-mgmt-batchai==7.0.0", "msrest==0.7.1", "azure-identity==1.27.0", "requests==2.32.3")
    said = live(daemon, [home / "bin" / "python", PROGRAMS / "python" / "life.py", "7.0.0"], group)
    assert said == "ok python-7.0.0 2018-05-01"


def test_the_package_of_debian(daemon, group):
    said = live(daemon, ["/usr/bin/python3", PROGRAMS / "python" / "life.py", "7.0.0b1"], group)
    assert said == "ok python-7.0.0b1 2018-05-01"

# SPDX-License-Identifier: MIT
"""The published Python packages of the old api-versions, each in an environment of its own below the
build folder. Skipped by name where the registry cannot be reached."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.daemon import BUILD
from support.flat import HOME, FlatPlace
from support.spec import API_VERSION
from support.world import Place

LIFE = Path(__file__).with_name("flat_life.py")
PACKAGES = {"0.2.0": "2017-09-01-preview", "1.0.1": "2018-03-01"}


def python_with(version):
    """The Python of an environment that has azure-mgmt-batchai of this version."""
    home = BUILD / "clients" / f"azure-mgmt-batchai-{version}"
    ready = home / "ready"
    if not ready.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", home], check=True)
        install = [home / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1"]
        done = subprocess.run(install + [f"azure-mgmt-batchai=={version}"], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"azure-mgmt-batchai {version} cannot be installed: {done.stderr.strip()[-300:]}")
        ready.touch()
    return home / "bin" / "python"


@pytest.mark.parametrize("version", PACKAGES)
def test_the_life_of_a_cluster_and_a_job(daemon, version):
    python = python_with(version)
    place = FlatPlace(daemon, PACKAGES[version]).make()
    env = {"PATH": os.environ["PATH"], **daemon.env}
    done = subprocess.run([python, LIFE, place.group], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said == {
        "api_version": PACKAGES[version],
        "cluster": ["nodes", "Microsoft.BatchAI/Clusters", "northeurope", {"kind": "test"}],
        "job": ["hello", "Microsoft.BatchAI/Jobs", 7, "custom"],
        "exit_code": 0,
        "files": ["execution.log", "stderr.txt", "stdout.txt"],
        "stdout": "hello from a job\n",
        "listed": ["hello"],
        "login": [50000],
        "tags": {"a": "b"},
        "missing": [404, said["missing"][1]],
        "left": [],
    }
    assert "nowhere" in said["missing"][1]
    assert place.through(API_VERSION).daemon.get(place.through(API_VERSION).path)["name"] == HOME
    Place(daemon, place.group, HOME).remove()

# SPDX-License-Identifier: MIT
"""Published client packages, each installed into a directory of its own (packages.py), and
the programs of test/clients that use them. A package whose registry cannot be reached is skipped by
name."""

import os
import shutil
import socket
import subprocess

import pytest

from . import operations, packages
from .daemon import BUILD, ROOT
from .waiting import PATIENCE

PROGRAMS = ROOT / "test" / "clients"


def needs(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def needs_names():
    """Of the accounts' hosts."""
    try:
        socket.getaddrinfo("a.file.core.localhost", 443)
    except OSError:
        pytest.skip("names below localhost are not known here (libnss-myhostname)")


def install(name, *commands, **more):
    """As packages.install(), which has the arguments."""
    try:
        return packages.install(name, *commands, **more)
    except packages.Unavailable as e:
        pytest.skip(str(e))


def python_home(*packages, constraints=None, limit=600):
    """An environment that has these, each with its version: "azure-cli==2.91.0". `constraints`: a file with the versions
    of what they need. `limit`: as install() has it."""
    pip = ["bin/pip", "install", "-q", "--disable-pip-version-check", "--retries", "1"]
    name = "+".join(p.replace("==", "-") for p in packages)
    if not constraints:
        return install(name, ["/usr/bin/python3", "-m", "venv", "--clear", "."], [*pip, *packages], limit=limit)
    venv = ["/usr/bin/python3", "-m", "venv", "."]  # --clear would remove the file
    return install(name, venv, [*pip, "-c", constraints.name, *packages], files=[constraints], limit=limit)


def python_with(version):
    """The Python of an environment that has azure-mgmt-batchai of this version."""
    return python_home(f"azure-mgmt-batchai=={version}") / "bin" / "python"


def az_of_pypi(version):
    """The az of an environment that has azure-cli of this version; it takes a minute to install."""
    return python_home(f"azure-cli=={version}") / "bin" / "az"


def environment(daemon, **more):
    """What a user has after `eval "$(batchaid env)"`."""
    base = {"PATH": f"{BUILD}:{os.environ['PATH']}", "BATCHAID_STATE_DIR": str(daemon.state_dir)}
    return {**base, **daemon.env, **{k: str(v) for k, v in more.items()}}


def live(daemon, program, *arguments, judged_by=operations.BATCH_AI, **env):
    """Runs a client's program to its end and returns its last line."""
    argv = [str(a) for a in [*program, *arguments]]
    before = len(daemon.log())
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        env=environment(daemon, **env),
        timeout=120 * PATIENCE,
    )
    assert done.returncode == 0, f"{argv} -> {done.returncode}\n{done.stdout}\n{done.stderr}"
    said = done.stdout.splitlines()[-1]
    print(said)
    _, client, version = said.split()
    operations.judge(client, version, daemon.log()[before:], judged_by)
    return said

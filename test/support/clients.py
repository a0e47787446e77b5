# SPDX-License-Identifier: MIT
"""Published client packages, each installed into a directory of its own below the build folder, and
the programs of test/clients that use them. A package whose registry cannot be reached is skipped by
name."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from . import operations
from .daemon import BUILD, ROOT
from .waiting import PATIENCE

PROGRAMS = ROOT / "test" / "clients"


def caller_environment():
    """What the tests were started with: registries are reached as the user reaches them, whatever
    conftest.py took away."""
    entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    pairs = (os.fsdecode(e).split("=", 1) for e in entries if b"=" in e)
    return dict(pairs)


def needs(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def install(name, *commands, home=None, files=(), env=None):
    """The directory of a package, installed by these commands unless it has been before."""
    home = home or BUILD / "clients" / name
    home.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copy(file, home)
    recipe = repr(commands) + "".join(Path(f).read_text() for f in files)
    ready = home / "ready"
    if not ready.exists() or ready.read_text() != recipe:
        for command in commands:
            run_or_skip(name, command, home, env)
        ready.write_text(recipe)
    return home


def run_or_skip(name, command, home, env):
    try:
        done = subprocess.run(
            command,
            cwd=home,
            env={**caller_environment(), **(env or {})},
            capture_output=True,
            text=True,
            timeout=600,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{name} cannot be installed: no end after 600 s")
    if done.returncode != 0:
        not_installed(name, done)


def not_installed(name, done):
    """Skips with the line that says why, of all that an installer says."""
    lines = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
    errors = [line for line in lines if "error" in line.lower() and not line.startswith("WARNING")]
    pytest.skip(f"{name} cannot be installed: {(errors or lines[-1:])[0].strip()[:300]}")


def python_with(version):
    """The Python of an environment that has azure-mgmt-batchai of this version."""
    name = f"azure-mgmt-batchai-{version}"
    pip = ["bin/pip", "install", "-q", "--disable-pip-version-check", "--retries", "1"]
    venv = ["/usr/bin/python3", "-m", "venv", "--clear", "."]
    home = install(name, venv, [*pip, f"azure-mgmt-batchai=={version}"])
    return home / "bin" / "python"


def az_of_pypi(version):
    """The az of an environment that has azure-cli of this version; it takes a minute to install."""
    pip = ["bin/pip", "install", "-q", "--disable-pip-version-check", "--retries", "1"]
    venv = ["/usr/bin/python3", "-m", "venv", "--clear", "."]
    home = install(f"azure-cli-{version}", venv, [*pip, f"azure-cli=={version}"])
    return home / "bin" / "az"


def environment(daemon, **more):
    """What a user has after `eval "$(batchaid env)"`."""
    base = {"PATH": f"{BUILD}:{os.environ['PATH']}", "BATCHAID_STATE_DIR": str(daemon.state_dir)}
    return {**base, **daemon.env, **{k: str(v) for k, v in more.items()}}


def live(daemon, program, *arguments, **env):
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
    operations.judge(client, version, daemon.log()[before:])
    return said

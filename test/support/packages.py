# SPDX-License-Identifier: MIT
"""Published packages, each installed into a directory of its own, named after what is installed and how: in the user's
cache, so that another checkout has it too, or below the build folder where there is no home."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from .daemon import BUILD

NAME_MAX, DIGITS = 200, 12  # of a folder: no file system takes more than 255


class Unavailable(Exception):
    """Why a package is not here."""


def caller_environment():
    """What this process was started with: registries are reached as the user reaches them, whatever
    conftest.py took away."""
    entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    pairs = (os.fsdecode(e).split("=", 1) for e in entries if b"=" in e)
    return dict(pairs)


def cache():
    env = caller_environment()
    if "XDG_CACHE_HOME" in env:
        return Path(env["XDG_CACHE_HOME"]) / "batchaid" / "clients"
    return Path(env["HOME"]) / ".cache" / "batchaid" / "clients" if "HOME" in env else BUILD / "clients"


def install(name, *commands, home=None, files=(), env=None, limit=600):
    """The directory of a package, installed by these commands unless it has been before. One at a time:
    test files that run side by side share what is installed. `files` are copied into it before. With `home` it is there,
    whatever is installed. `limit` is in seconds, for each command."""
    recipe = repr(commands) + "".join(Path(f).read_text() for f in files)
    digest = hashlib.sha256(recipe.encode()).hexdigest()[:DIGITS]
    home = home or cache() / f"{re.sub(r'[^A-Za-z0-9.+-]', '-', name).strip('-')[:NAME_MAX]}-{digest}"
    home.mkdir(parents=True, exist_ok=True)
    ready = home / "ready"
    with (home.parent / f".{home.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists() or ready.read_text() != recipe:
            ready.unlink(missing_ok=True)
            for file in files:
                shutil.copy(file, home)
            for command in commands:
                run(name, command, home, env, limit)
            ready.write_text(recipe)
    return home


def run(name, command, home, env, limit):
    try:
        done = subprocess.run(
            command,
            cwd=home,
            env={**caller_environment(), **(env or {})},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except FileNotFoundError:
        raise Unavailable(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{name} cannot be installed: no end after {limit} s") from None
    if done.returncode != 0:
        raise Unavailable(f"{name} cannot be installed: {reason(done)}")


def reason(done):
    """The line that says why, of all that an installer says."""
    said = (re.sub(r"\x1b\[[\d;]*m", "", text).strip() for text in (done.stderr, done.stdout))  # Maven colours even no text
    lines = next(filter(None, said), f"exit code {done.returncode}").splitlines()
    errors = [line for line in lines if "error" in line.lower() and not line.startswith("WARNING")]
    return (errors or lines[-1:])[0].strip()[:300]

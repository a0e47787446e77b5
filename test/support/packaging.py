# SPDX-License-Identifier: MIT
"""The Debian package and the container image as `make` makes them of the build under test. Debian's part of them,
which is fetched from its mirror, is kept beside the build."""

import fcntl
import functools
import os
import shutil
import subprocess

import pytest

from .daemon import BUILD, ROOT

DEB_DIR, IMAGE_DIR = BUILD / "deb-tested", BUILD / "image"
FETCH_SECONDS = 500


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    if os.geteuid() != 0:
        pytest.skip("a bare tree needs root")
    if "asan" in BUILD.name:
        pytest.skip("what is packaged has no sanitizers")


def make(target, *settings, environment=None):
    """One at a time: test files that run side by side share what is made."""
    argv = ["make", "-s", "-o", "all", target, f"BUILD={BUILD}", f"DEB_DIR={DEB_DIR}", f"IMAGE_DIR={IMAGE_DIR}", *settings]
    with (BUILD / "packaging.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        env = {**os.environ, **(environment or {})}
        return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)


@functools.cache
def deb():
    done = make("deb")
    assert done.returncode == 0, done.stderr
    return DEB_DIR / done.stdout.split("/")[-1].strip()


def image(engine, name):
    """Makes it in the engine's store; skips where Debian's mirror cannot be reached."""
    done = make("image", f"IMAGE={name}", environment=engine.environment)
    if done.returncode != 0 and ("mmdebstrap" in done.stderr or "E: " in done.stderr):
        pytest.skip(f"no bare Debian can be made here: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr


def bare_tree():
    """Debian's essential packages and what the package depends on, as a tar; made with the image's."""
    found = sorted(IMAGE_DIR.glob("base-*.tar"))
    return found[0] if found else None

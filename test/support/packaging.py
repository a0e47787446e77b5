# SPDX-License-Identifier: MIT
"""What is given to others, as `make` makes it of the build under test: Debian package, wheel, tree and image; and bare
trees of Debian's suites in which it is tried. What is fetched from Debian's mirror is kept beside the build."""

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess

import pytest

from .daemon import BUILD, ROOT

DEB_DIR, DIST_DIR, IMAGE_DIR = BUILD / "deb-tested", BUILD / "dist-tested", BUILD / "image"
FETCH_SECONDS = 500
# The time of what is made here; the default is that of the last commit, which may change while tests run.
TIME = {"SOURCE_DATE_EPOCH": "1700000000"}
# An archive that is not updated any more has a list that has expired.
OLD_LISTS = 'Acquire::Check-Valid-Until "false"'


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    if os.geteuid() != 0:
        pytest.skip("a bare tree needs root")
    if "asan" in BUILD.name:
        pytest.skip("what is packaged has no sanitizers")


@contextlib.contextmanager
def alone():
    """One at a time: test files that run side by side share what is made."""
    with (BUILD / "packaging.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(target, *settings, environment=None, seconds=FETCH_SECONDS, **more):
    folders = (f"BUILD={BUILD}", f"DEB_DIR={DEB_DIR}", f"DIST_DIR={DIST_DIR}", f"IMAGE_DIR={IMAGE_DIR}")
    argv = ["make", "-s", "-o", "all", target, *folders, *settings]
    with alone():
        env = {**os.environ, **TIME, **(environment or {})}
        return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=seconds, check=False, **more)


def made_elsewhere(target, *settings, environment=None):
    """As somebody in another part of the world makes it, who keeps new files from others."""
    done = make(target, *settings, environment={**(environment or {}), "TZ": "Asia/Tokyo", "LC_ALL": "C"}, umask=0o077)
    assert done.returncode == 0, done.stderr


def pack(folder, **environment):
    """Makes the tarballs of the trees in a folder; the sums of all files that are given to others."""
    version = next(folder.glob("batchaid-*-linux-*")).name.split("-")[1]
    env = {**os.environ, **TIME, **environment}
    subprocess.run([ROOT / "etc/dist/pack.sh", folder, version], env=env, stdout=subprocess.DEVNULL, check=True)
    return (folder / "SHA256SUMS").read_text().splitlines()


def names_its_build(program):
    """Whether it has something that depends on the folder in which it was built."""
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    return "build-id" in sections or str(ROOT).encode() in program.read_bytes()


@functools.cache
def deb():
    done = make("deb")
    assert done.returncode == 0, done.stderr
    return DEB_DIR / done.stdout.split("/")[-1].strip()


@functools.cache
def wheel(arch=os.uname().machine):
    """(wheel, tree) of the portable program."""
    done = make("wheel" if arch == os.uname().machine else f"wheel-{arch}", seconds=1800)
    assert done.returncode == 0, done.stderr
    (made,) = DIST_DIR.glob(f"batchaid-*_{arch}.whl")
    (tree,) = DIST_DIR.glob(f"batchaid-*-linux-{arch}")
    return made, tree


def image(engine, name, archive=""):
    """Makes it in the engine's store, and as a file; skips where Debian's mirror cannot be reached."""
    done = make("image", f"IMAGE={name}", f"IMAGE_ARCHIVE={archive}", environment=engine.environment)
    if done.returncode != 0 and ("mmdebstrap" in done.stderr or "E: " in done.stderr):
        pytest.skip(f"no image can be made here: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr


def mirror():
    ask = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian"]
    said = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.split()
    return said[0] if said else pytest.skip("apt-get knows no mirror of Debian: apt-get update")


def bare_tree(suite, *packages):
    """Debian's essential packages and these, as a tar."""
    wanted = ",".join(packages)
    tar = IMAGE_DIR / f"bare-{suite}-{hashlib.md5(wanted.encode()).hexdigest()[:12]}.tar"
    argv = ["mmdebstrap", "--quiet", "--format=tar", "--variant=essential", f"--include={wanted}", f"--aptopt={OLD_LISTS}"]
    argv += [f"--dpkgopt=path-exclude=/usr/share/{left_out}/*" for left_out in ("man", "locale")]
    with alone():
        IMAGE_DIR.mkdir(exist_ok=True)
        if not tar.exists():
            new = f"{tar}.new"
            done = subprocess.run([*argv, suite, new, f"deb {mirror()} {suite} main"], capture_output=True, text=True,
                                  timeout=FETCH_SECONDS, check=False)  # fmt: skip
            if done.returncode != 0:
                pytest.skip(f"no bare {suite} can be made here: {done.stderr[-300:]}")
            os.rename(new, tar)
    return tar


class Tree:
    """A bare tree, unpacked in `path`, with /proc and of /dev with /dev/null alone."""

    def __init__(self, path):
        self.path = path

    def __truediv__(self, inner):
        return self.path / inner

    def run(self, command, user=None):
        """Of a shell in it: (exit code, output). `user`: a number without an account, which has no home."""
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        home = [] if user else ["HOME=/root"]
        argv = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *home, "chroot", self.path, *as_user, "sh", "-c", command]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180, check=False)
        return done.returncode, done.stdout

    def inside(self, command, user=None):
        code, said = self.run(command, user)
        assert code == 0, said
        return said


@contextlib.contextmanager
def unpacked(tar, path):
    subprocess.run(["tar", "-xf", tar, "-C", path, "--exclude=./dev/*"], check=True)
    for left_out in (path / "etc/dpkg/dpkg.cfg.d").glob("*mmdebstrap*"):
        left_out.unlink()  # a Debian has manual pages
    (path / "dev/null").touch()
    (path / "etc/hosts").write_text("127.0.0.1 localhost\n")  # an installation's, not a package's
    mounted = []
    try:
        for what in ("dev/null", "proc"):
            subprocess.run(["mount", "--bind", f"/{what}", path / what], check=True)
            mounted.append(path / what)
        yield Tree(path)
    finally:
        for what in mounted:
            subprocess.run(["umount", "-l", what], check=True)

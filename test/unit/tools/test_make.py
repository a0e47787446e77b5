# SPDX-License-Identifier: MIT
"""What `make` does first on a fresh clone."""

import os
import subprocess

from support.daemon import ROOT


def make(build, *arguments):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "BUILD")}
    return subprocess.run(
        ["make", "-C", str(ROOT), f"BUILD={build}", *arguments], env=env, capture_output=True, text=True, check=False
    )


def test_without_a_goal_it_builds_the_programs(tmp_path):
    done = make(tmp_path / "build", "-n")
    assert done.returncode == 0, done.stderr
    for program in ("batchaid", "batchai-node", "batchai-cmd"):
        assert f"-o {tmp_path}/build/{program} " in done.stdout


def test_a_compiler_that_is_missing_is_named_before_anything_is_compiled(tmp_path):
    done = make(tmp_path / "build", "CC=no-such-compiler")
    assert done.returncode != 0
    assert "no-such-compiler" in done.stdout + done.stderr
    assert "make deps" in done.stdout + done.stderr
    assert list((tmp_path / "build").rglob("*.o")) == []


def test_a_library_that_is_missing_is_named_before_anything_is_compiled(tmp_path):
    done = make(tmp_path / "build", "PKGS=no-such-library")
    assert done.returncode != 0
    assert "no-such-library" in done.stdout + done.stderr
    assert "make deps" in done.stdout + done.stderr
    assert list((tmp_path / "build").rglob("*.o")) == []


def test_a_raised_version_makes_again_what_contains_it(tmp_path):
    contains, other = (f"{tmp_path}/build/obj/{name}.o" for name in ("nodeagent-proto/windows/main", "lib/hash"))

    def made(version):
        done = make(tmp_path / "build", contains, other, f"VERSION={version}")
        assert done.returncode == 0, done.stderr
        return [line.split()[1] for line in done.stdout.splitlines() if line.split()[:1] == ["CC"]]

    assert sorted(made("7.7.6")) == ["lib/hash.c", "nodeagent-proto/windows/main.c"]
    assert made("7.7.6") == []
    assert made("7.7.7") == ["nodeagent-proto/windows/main.c"]

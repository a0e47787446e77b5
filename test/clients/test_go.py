# SPDX-License-Identifier: MIT
"""The three packages of github.com/Azure/azure-sdk-for-go."""

import subprocess

import pytest
from support.clients import PROGRAMS, install, live, needs
from support.daemon import BUILD
from support.packages import caller_environment

HOME = BUILD / "clients" / "go"
# The module cache is writable so that `make clean` can remove it; no other toolchain is fetched.
GO = {"GOMODCACHE": str(HOME / "mod"), "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local"}
VERSIONS = ("2017-09-01-preview", "2018-03-01", "2018-05-01")


@pytest.fixture(scope="module")
def programs():
    """The folder of the compiled programs. go.sum says what the published modules hold."""
    needs("go")
    source = PROGRAMS / "go"
    modules = [source / "go.mod", source / "go.sum"]
    install("azure-sdk-for-go", ["go", "mod", "download"], home=HOME, files=modules, env=GO)
    build = ["go", "build", "-o", f"{HOME}/bin/", "./..."]
    (HOME / "bin").mkdir(exist_ok=True)
    env = {**caller_environment(), **GO, "GOPROXY": "off", "GOCACHE": str(HOME / "cache")}
    done = subprocess.run(build, cwd=source, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return HOME / "bin"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_life_of_a_cluster_and_a_job(daemon, group, programs, version):
    said = live(daemon, [programs / f"v{version.replace('-', '_')}"], group)
    assert said == f"ok go {version}"

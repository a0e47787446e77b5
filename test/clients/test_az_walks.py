# SPDX-License-Identifier: MIT
"""Published walkthroughs from first to last, with Debian's az and with the newest one that has `az batchai`."""

import os
import re
import subprocess

import pytest
from support.accounts import account_name
from support.clients import PROGRAMS, az_of_pypi, environment, needs, needs_names
from support.daemon import BUILD
from support.waiting import PATIENCE
from support.world import Place, fresh


@pytest.fixture(params=["2.45", "2.91"], scope="module")
def az(request):
    """The folder of an az, and its version."""
    needs("az", "curl", "openssl")
    needs_names()
    return ("/usr/bin" if request.param == "2.45" else az_of_pypi("2.91.0").parent), request.param


@pytest.fixture
def groups(daemon):
    """A name for a resource group; it and those whose names begin with it are removed."""
    name = fresh("walk")
    yield name
    for group in (name, f"{name}-secrets"):
        Place(daemon, group, "-").remove()


@pytest.mark.parametrize("walk, more", [("workshop", ()), ("recipe", ()), ("guide", ("vault",))])
def test_a_walk(daemon, az, groups, tmp_path, walk, more):
    folder, version = az
    names = [groups, account_name(), *map(fresh, more)]
    env = environment(daemon, HOME=tmp_path, AZURE_CORE_COLLECT_TELEMETRY="no")
    env["PATH"] = f"{BUILD}:{folder}:{os.environ['PATH']}"
    program = [str(PROGRAMS / "az" / f"{walk}.sh"), *names]
    done = subprocess.run(program, capture_output=True, text=True, env=env, timeout=400 * PATIENCE)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert re.fullmatch(rf"ok az-{re.escape(version)}\.\d+ {walk}", done.stdout.splitlines()[-1])

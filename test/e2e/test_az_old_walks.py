# SPDX-License-Identifier: MIT
"""Guides of 2017 and 2018 from their first line to their last, in a shell where `batchaid az` has the place of az:
test/clients/az has what they type."""

import os
import subprocess

import pytest
from support.accounts import account_name
from support.clients import PROGRAMS, environment, needs, needs_names
from support.daemon import BUILD
from support.waiting import PATIENCE
from support.world import Place, fresh


@pytest.fixture
def group(daemon):
    """A name for a resource group; it and that of its secrets are removed."""
    name = fresh("walk")
    yield name
    for left in (name, f"{name}-secrets"):
        Place(daemon, left, "-").remove()


@pytest.mark.parametrize("walk, more", [("old_workshop", ()), ("old_guide", ("vault",))])
def test_a_walk(daemon, group, tmp_path, walk, more):
    needs("az", "ssh-keygen")
    needs_names()
    env = environment(daemon, HOME=tmp_path, AZURE_CORE_COLLECT_TELEMETRY="no")
    env["PATH"] = f"{BUILD}:/usr/bin:{os.environ['PATH']}"
    env |= {name: os.environ[name] for name in ("BATCHAID_TEST_AZ", "PYTHONPATH") if name in os.environ}
    program = [str(PROGRAMS / "az" / f"{walk}.sh"), group, account_name(), *map(fresh, more)]
    done = subprocess.run(program, capture_output=True, text=True, env=env, timeout=500 * PATIENCE)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.splitlines()[-1].endswith(walk), done.stdout

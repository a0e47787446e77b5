# SPDX-License-Identifier: MIT
"""Batch accounts through the published azure-mgmt-batch: Debian's, and the newest of PyPI."""

import subprocess

import pytest
from support.accounts import Accounts
from support.batch_rm import account_name
from support.clients import PROGRAMS, environment, needs_names, python_home
from support.waiting import PATIENCE

NEWEST = ("azure-mgmt-batch==18.0.0", "azure-identity==1.19.0", "requests==2.32.3")


@pytest.mark.parametrize("version", ["17.0.0", "18.0.0"])
def test_the_life_of_an_account(daemon, version):
    needs_names()
    python = "/usr/bin/python3" if version == "17.0.0" else python_home(*NEWEST) / "bin" / "python"
    accounts = Accounts(daemon).make()
    program = [str(a) for a in (python, PROGRAMS / "python" / "batch_management.py")]
    arguments = [accounts.group, f"{accounts.path}/{accounts.account()}", account_name()]
    done = subprocess.run(program + arguments, capture_output=True, text=True, env=environment(daemon), timeout=120 * PATIENCE)
    accounts.remove()
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.splitlines()[-1] == f"ok azure-mgmt-batch-{version}"

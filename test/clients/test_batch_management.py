# SPDX-License-Identifier: MIT
"""Batch accounts through the published azure-mgmt-batch: Debian's, and the newest of PyPI."""

import pytest
from support import operations
from support.accounts import Accounts
from support.batch_rm import account_name
from support.clients import PROGRAMS, live, needs_names, python_home

NEWEST = ("azure-mgmt-batch==18.0.0", "azure-identity==1.19.0", "requests==2.32.3")


@pytest.mark.parametrize("version, speaks", [("17.0.0", "2022-10-01"), ("18.0.0", "2024-07-01")])
def test_the_life_of_an_account(daemon, version, speaks):
    needs_names()
    python = "/usr/bin/python3" if version == "17.0.0" else python_home(*NEWEST) / "bin" / "python"
    accounts = Accounts(daemon).make()
    program = [python, PROGRAMS / "python" / "batch_management.py"]
    arguments = [accounts.group, f"{accounts.path}/{accounts.account()}", account_name()]
    said = live(daemon, program, *arguments, judged_by=operations.BATCH_ACCOUNTS)
    accounts.remove()
    assert said == f"ok python-mgmt-batch-{version} {speaks}"

# SPDX-License-Identifier: MIT
"""Batch accounts through the published azure-mgmt-batch: Debian's, the newest of PyPI, and one of 2018."""

import pytest
from support import operations
from support.accounts import Accounts
from support.batch_rm import account_name
from support.clients import PROGRAMS, live, needs_names, python_home

OF_2018 = "azure-mgmt-batch==5.0.1"
OF_2024 = ("azure-mgmt-batch==18.0.0", "azure-identity==1.19.0", "requests==2.32.3")
NEWEST = ("azure-mgmt-batch==19.0.0", "azure-identity==1.27.0", "requests==2.32.3")


PROGRAM = PROGRAMS / "python" / "batch_management.py"
CLIENTS = {
    "17.0.0": ("2022-10-01", lambda: ["/usr/bin/python3", PROGRAM]),
    "18.0.0": ("2024-07-01", lambda: [python_home(*OF_2024) / "bin" / "python", PROGRAM]),
    "19.0.0": ("2025-06-01", lambda: [python_home(*NEWEST) / "bin" / "python", PROGRAM]),
    "5.0.1": ("2017-09-01", lambda: [python_home(OF_2018) / "bin" / "python", PROGRAM.with_name("batch_management_5_0.py")]),
}


@pytest.mark.parametrize("version", CLIENTS)
def test_the_life_of_an_account(daemon, version):
    needs_names()
    speaks, program = CLIENTS[version]
    accounts = Accounts(daemon).make()
    arguments = [accounts.group, f"{accounts.path}/{accounts.account()}", account_name()]
    said = live(daemon, program(), *arguments, judged_by=operations.BATCH_ACCOUNTS)
    accounts.remove()
    assert said == f"ok python-mgmt-batch-{version} {speaks}"

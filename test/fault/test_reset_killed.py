# SPDX-License-Identifier: MIT
"""kill -9 of the daemon while it is reset: afterwards everything is there, or nothing; of what is gone no folder stays,
and its names are free."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.seeds import account, policy, vault_body
from support.testing import Testing
from support.waiting import wait_for

ACCOUNTS, BLOBS = 12, 20
SCOPES = ["all", "subscription", "group"]


def stored(d):
    """Accounts with blobs, whose folders are renamed one after the other; a vault; an account of Batch with a job."""
    blobs = {f"d/f{i}": f"blob {i}" for i in range(BLOBS)}
    body = vault_body(policy(d.env["AZURE_CLIENT_ID"], secrets=["all"]))
    return {
        "groups": {
            "lab": {
                "location": "eastus",
                "storageAccounts": {f"acct{i}": account(containers={"box": {"blobs": blobs}}) for i in range(ACCOUNTS)},
                "vaults": {"resetvault": {**body, "secrets": {f"s{i}": {"value": "v"} for i in range(20)}}},
                "batchAccounts": {"resetbatch": {"location": "eastus"}},
                "workspaces": {"ws": {"location": "eastus", "experiments": {f"e{i}": {} for i in range(20)}}},
            }
        }
    }


def scope_of(d, scope):
    return {"all": {}, "subscription": {"subscription": d.subscription}, "group": {"subscription": d.subscription, "resourceGroup": "lab"}}[scope]


def folders(d):
    return {p.name for p in (d.state_dir / "storage").iterdir()} - {".deleted"}


def left(d):
    """Files of accounts, wherever their folders are by now."""
    return [f"{at}/{name}" for at, _, names in os.walk(d.state_dir / "storage") for name in names]


def dumped(d):
    return Testing(d).dump()["subscriptions"][d.subscription].get("groups", {})


def nothing_is_left(d):
    wait_for(lambda: not left(d), what="the files to go")
    wait_for(lambda: not folders(d), what="the folders to go")


def account_id(d, name):
    return d.rows("SELECT id FROM storage_account WHERE name = ?", name)[0][0]


@pytest.fixture
def d(own_daemon):
    d = own_daemon(arguments=["--testing"])
    d.expect_log("testing.folder_not_renamed")
    return d


@pytest.mark.parametrize("scope", SCOPES)
def test_it_is_killed_once_the_first_folder_is_renamed(d, scope):
    t = Testing(d)
    t.seed(stored(d))
    before = dumped(d)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(lambda: t.call("POST", "/reset", scope_of(d, scope)))
        while not any("#" in f for f in folders(d)) and not asked.done():
            pass
        d.kill9()
        answered = asked.exception() is None
    d.start()
    found = dumped(d)
    assert found in ({}, before) and not (answered and found), sorted(found)
    assert not [f for f in folders(d) if "#" in f] or not found
    Testing(d).reset()
    nothing_is_left(d)
    Testing(d).seed({"groups": before})
    assert dumped(d) == before


@pytest.mark.parametrize("scope", SCOPES)
def test_it_is_killed_once_it_has_answered(d, scope):
    t = Testing(d)
    t.seed(stored(d))
    before = dumped(d)
    assert t.reset(**scope_of(d, scope)) == 1
    d.crash()
    assert dumped(d) == {}
    nothing_is_left(d)
    Testing(d).seed({"groups": before})
    assert dumped(d) == before


def test_the_rename_of_a_folder_that_was_not_committed_is_taken_back(d):
    """The moment that a kill seldom hits: some folders have their new names, and the rows do not say so."""
    Testing(d).seed(stored(d))
    before = dumped(d)
    d.kill9()
    place = d.state_dir / "storage"
    for n, folder in enumerate(sorted(folders(d))):
        if n % 2:
            (place / folder).rename(place / f"{folder}#{account_id(d, folder)}")
    d.start()
    assert dumped(d) == before
    assert not [f for f in folders(d) if "#" in f]

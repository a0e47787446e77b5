# SPDX-License-Identifier: MIT
"""A seed makes what its own resources would let nobody make, and what it does not know is not passed over."""

import pytest
from support.batch_jobs import POOL
from support.seeds import account, t  # noqa: F401 (a fixture among them)
from support.vaults import policy, vault_body

SOMEBODY = "11111111-2222-4333-8444-555555555555"
BATCH = {"location": "eastus"}
VAULT = vault_body()


def lab(**has):
    return {"groups": {"lab": {"location": "eastus", **has}}}


@pytest.mark.parametrize(
    "vault",
    [vault_body(), vault_body(policy(SOMEBODY, secrets=["get"])), vault_body(enableRbacAuthorization=True)],
    ids=["nobody may", "somebody may read", "roles say who may"],
)
def test_a_vault_has_its_secrets_whoever_may_set_them(tested, t, vault):
    t.seed(lab(vaults={"seedclosed": {**vault, "secrets": {"pw": {"value": "hush"}}}}))
    first = t.dump(subscription=tested.subscription)
    assert first["groups"]["lab"]["vaults"]["seedclosed"]["secrets"]["pw"]["value"] == "hush"
    t.seed_again(first, subscription=tested.subscription)


@pytest.mark.parametrize("mode", ["SharedKey", "AAD"])
def test_a_batch_account_has_its_pools_however_its_users_log_in(tested, t, mode):
    pools = {"p": {**POOL, "targetDedicatedNodes": 0}}
    jobs = {"j": {"poolInfo": {"poolId": "p"}, "tasks": {"t": {"commandLine": "true"}}}}
    of_mode = {**BATCH, "properties": {"allowedAuthenticationModes": [mode]}}
    t.seed(lab(batchAccounts={"seedclosed": {**of_mode, "pools": pools, "jobs": jobs}}))
    first = t.dump(subscription=tested.subscription)
    assert list(first["groups"]["lab"]["batchAccounts"]["seedclosed"]["jobs"]["j"]["tasks"]) == ["t"]
    t.seed_again(first, subscription=tested.subscription)


@pytest.mark.parametrize(
    "has, place, takes",
    [
        ({"colour": "red"}, "groups.lab.colour", "workspaces"),
        ({"workspaces": {"ws": {"location": "eastus", "clustrs": {}}}}, "groups.lab.workspaces.ws.clustrs", "clusters"),
        (
            {"storageAccounts": {"seedwrong": account(containers={"box": {"blob": {}}})}},
            "groups.lab.storageAccounts.seedwrong.containers.box.blob",
            "blobs",
        ),
        (
            {"batchAccounts": {"seedwrong": {**BATCH, "applications": {"a": {"package": {}}}}}},
            "groups.lab.batchAccounts.seedwrong.applications.a.package",
            "packages",
        ),
    ],
)
def test_what_is_not_known_is_refused_with_what_would_be(tested, t, has, place, takes):
    said = t.seed(lab(**has), expect=400)["error"]["message"]
    assert f"({place}): '{place.rpartition('.')[2]}' is not known here; it takes location, " in said
    assert takes in said.partition("it takes")[2]
    assert t.dump(subscription=tested.subscription) == {}


def test_what_azure_batch_says_is_told_in_one_line(tested, t):
    wrong = {**BATCH, "pools": {"p": {**POOL, "colour": "red"}}}
    said = t.seed(lab(batchAccounts={"seedwrong": wrong}), expect=400)["error"]["message"]
    assert "The property 'colour' does not exist on type 'CloudPool'" in said
    assert "\n" not in said and "RequestId" not in said

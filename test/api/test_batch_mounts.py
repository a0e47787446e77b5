# SPDX-License-Identifier: MIT
"""Pools of Azure Batch that mount shares and containers of storage accounts: who may, and by what."""

from datetime import datetime, timedelta

import pytest
from azure.storage.blob import generate_container_sas
from support.accounts import Accounts, account_name
from support.batch import BatchGround
from support.batch_jobs import POOL
from support.delegated import delegated
from support.people import Person
from support.waiting import wait_for
from support.world import fresh

CONTENT = {"Content-Type": "application/json; odata=minimalmetadata"}


@pytest.fixture(scope="module")
def ground(daemon, temporary_in_file):
    return temporary_in_file(BatchGround(daemon))


@pytest.fixture(scope="module")
def victim(daemon, temporary_in_file):
    """A storage account of somebody else, with a share and a container."""
    accounts = temporary_in_file(Accounts(daemon, fresh("victims")).make())
    accounts.name = account_name()
    accounts.account(accounts.name)
    accounts.share(accounts.name, "data")
    accounts.share(accounts.name, "box", kind="blobs")
    return accounts


@pytest.fixture
def bob(daemon, ground, temporary):
    """He may do anything in his Batch account, and nothing in storage."""
    return temporary(Person(daemon, "Azure Batch Account Contributor", scope=ground.accounts.base))


def files_of(account, key="eA==", share="data"):
    return [{"azureFileShareConfiguration": {"accountName": account, "azureFileUrl": f"https://{account}.file.core.windows.net/{share}",
                                             "accountKey": key, "relativeMountPath": "x"}}]  # fmt: skip


def blobs_of(account, **secret):
    return [{"azureBlobFileSystemConfiguration": {"accountName": account, "containerName": "box", "relativeMountPath": "x", **secret}}]


def pool(mounts):
    return {**POOL, "id": fresh("pool"), "mountConfiguration": mounts}


def as_person(ground, person, method, path, body):
    head = {"Authorization": f"Bearer {person.token()}", **CONTENT}
    return ground.plane.at("2024-07-01.20.0").call(method, path, body, headers=head, validate=False)


def auto(mounts):
    return {"autoPoolSpecification": {"poolLifetimeOption": "job", "pool": {**POOL, "mountConfiguration": mounts}}}


WAYS = {
    "POST of a pool": lambda mounts: ("POST", "/pools", pool(mounts)),
    "PATCH": lambda mounts: ("PATCH", "/pools/there", {"mountConfiguration": mounts}),
    "a job's pool": lambda mounts: ("POST", "/jobs", {"id": fresh("job"), "poolInfo": auto(mounts)}),
    "a schedule's pool": lambda mounts: ("POST", "/jobschedules", {"id": fresh("each"), "schedule": {"recurrenceInterval": "P1D"},
                                                                   "jobSpecification": {"poolInfo": auto(mounts)}}),
}  # fmt: skip


@pytest.fixture(scope="module")
def there(ground):
    ground.plane.call("POST", "/pools", {**POOL, "id": "there"}, expect=201)


@pytest.mark.parametrize("way", WAYS)
def test_another_mounts_what_is_not_his_only_with_a_key(ground, victim, bob, there, way):
    def asked(mounts):
        return as_person(ground, bob, *WAYS[way](mounts))

    for wrong in (files_of(victim.name), blobs_of(victim.name, accountKey="eA=="), blobs_of(victim.name),
                  files_of(victim.name.upper()), files_of(victim.name, share="later")):  # fmt: skip
        reply = asked(wrong)
        assert (reply.status, reply.json["code"]) == (400, "InvalidPropertyValue"), reply.content
        assert "is not a key of the storage account" in reply.text and "mountConfiguration[0].azure" in reply.text
    right = victim.keys(victim.name)[1]
    assert asked(files_of(victim.name, right)).status in (200, 201)
    assert asked(blobs_of(victim.name, accountKey=right)).status in (200, 201)


def test_a_container_may_be_named_by_its_url(ground, victim, bob):
    mount = blobs_of(victim.name, accountKey=victim.keys(victim.name)[0])
    mount[0]["azureBlobFileSystemConfiguration"]["containerName"] = f"https://{victim.name}.blob.core.windows.net:443/box"
    assert as_person(ground, bob, "POST", "/pools", pool(mount)).status == 201
    mount[0]["azureBlobFileSystemConfiguration"]["containerName"] += "/deeper"
    refused = as_person(ground, bob, "POST", "/pools", pool(mount))
    assert refused.status == 400 and "3 to 63 lower-case letters" in refused.text


@pytest.mark.parametrize("version", ["2022-10-01", "2024-07-01"])
def test_so_it_is_in_the_resource_manager(ground, victim, bob, version):
    def put(mounts, method="PUT", name="managed"):
        body = {"properties": {"vmSize": POOL["vmSize"], "mountConfiguration": mounts,
                               "deploymentConfiguration": {"virtualMachineConfiguration": {
                                   "imageReference": POOL["virtualMachineConfiguration"]["imageReference"],
                                   "nodeAgentSkuId": "batch.node.ubuntu 22.04"}}}}  # fmt: skip
        if method == "PATCH":
            body["properties"] = {"mountConfiguration": mounts}
        return bob.call(method, f"{ground.accounts.path}/{ground.name}/pools/{name}-{version}", body, api_version=version, validate=False)

    right = victim.keys(victim.name)[0]
    assert put(files_of(victim.name)).status == 400
    assert put(files_of(victim.name, right)).status == 200
    if version == "2024-07-01":
        refused = put(blobs_of(victim.name, accountKey="eA=="), "PATCH")
        assert refused.status == 400 and "is not a key of the storage account" in refused.text
        assert put(blobs_of(victim.name, accountKey=right), "PATCH").status == 200


@pytest.mark.parametrize("permission, status", [("rwdl", 201), ("racwdl", 201), ("rl", 400), ("rwl", 400)])
def test_a_container_may_be_mounted_with_a_signature_for_all_that_a_mount_does(ground, victim, bob, permission, status):
    until = datetime.utcnow() + timedelta(hours=1)
    sas = generate_container_sas(victim.name, "box", account_key=victim.keys(victim.name)[0], permission=permission, expiry=until)
    for given in (sas, f"?{sas}"):
        reply = as_person(ground, bob, "POST", "/pools", pool(blobs_of(victim.name, sasKey=given)))
        assert reply.status == status, reply.content
        assert status == 201 or "sasKey: the container cannot be mounted with it" in reply.text
        assert victim.keys(victim.name)[0] not in reply.text and sas not in reply.text
    forged = as_person(ground, bob, "POST", "/pools", pool(blobs_of(victim.name, sasKey=sas[:-6] + "AAAA%3D")))
    assert (forged.status, forged.json["code"]) == (400, "InvalidPropertyValue")


@pytest.mark.parametrize("role, status", [("Storage Blob Data Reader", 400), ("Storage Blob Data Contributor", 201)])
def test_a_signature_of_a_login_mounts_only_what_its_signer_may_change(daemon, ground, victim, temporary, role, status):
    signer = temporary(Person(daemon, "Azure Batch Account Contributor", scope=ground.accounts.base))
    signer.give(role, victim.base)
    sas = delegated(signer, victim.name, "box", read=True, write=True, delete=True, list=True)
    reply = as_person(ground, signer, "POST", "/pools", pool(blobs_of(victim.name, sasKey=sas)))
    assert reply.status == status, reply.content
    assert status == 201 or f"{signer.name} signed its URL but has no role to read, write and delete it" in reply.text


def test_a_key_of_the_account_counts_as_the_first_principal_until_another_may_list_it(ground, victim, temporary, daemon):
    ground.plane.call("POST", "/pools", pool(blobs_of(victim.name)), expect=201)
    keeper = temporary(Person(daemon, "Azure Batch Account Contributor", scope=ground.accounts.base))
    assert ground.plane.call("POST", "/pools", pool(blobs_of(victim.name)), validate=False).status == 400
    keeper.remove()
    ground.plane.call("POST", "/pools", pool(blobs_of(victim.name)), expect=201)


def test_what_is_missing_is_made_and_is_its_makers(daemon, ground, bob, temporary):
    name = account_name()
    implicit = Accounts(daemon, "batchaid-implicit")
    assert as_person(ground, bob, "POST", "/pools", pool(files_of(name))).status == 201
    wait_for(lambda: [s["name"] for s in implicit.shares(name)["value"]] == ["data"], 10, "the share")
    assert as_person(ground, bob, "POST", "/pools", pool(files_of(name, share="more"))).status == 201
    eve = temporary(Person(daemon, "Azure Batch Account Contributor", scope=ground.accounts.base))
    assert as_person(ground, eve, "POST", "/pools", pool(files_of(name))).status == 400

# SPDX-License-Identifier: MIT
"""Seeds and dumps have the properties of all versions of Azure Batch, whichever version has them."""

import pytest
from support.batch import V, Plane
from support.batch_jobs import POOL
from support.certificates import Made
from support.seeds import t  # noqa: F401 (a fixture)

NEWEST, BEFORE = V["2025-06-01"], V["20.0"]
OLDER = V["19.0"]  # the last with licenses of applications
DISK = {"lun": 0, "caching": "none", "diskSizeGB": 8}
MODE = {"targetNodeCommunicationMode": "simplified", "resourceTags": {"a": "b"}, "applicationLicenses": ["maya"]}
CLOUD = {"vmSize": "small", "cloudServiceConfiguration": {"osFamily": "5", "osVersion": "*"}}


def machine(**more):
    return {**POOL["virtualMachineConfiguration"], **more}


@pytest.fixture
def reference(tmp_path):
    made = Made(tmp_path)
    return made, {"thumbprint": made.thumbprint, "thumbprintAlgorithm": "sha1"}


def pools(reference):
    order = {"jobDefaultOrder": "creationtime", "nodeFillType": "Spread"}
    protected = machine(
        dataDisks=[{**DISK, "managedDisk": {"storageAccountType": "premium_lrs"}}],
        securityProfile={"proxyAgentSettings": {"enabled": True}},
    )
    return {
        "ordered": {**POOL, "taskSchedulingPolicy": order},
        "old": {**POOL, **MODE, "certificateReferences": [reference]},
        "both": {**POOL, **MODE, "taskSchedulingPolicy": order},
        "disks": {**POOL, "virtualMachineConfiguration": protected},
        "old disks": {
            **POOL, "virtualMachineConfiguration": machine(dataDisks=[{**DISK, "storageAccountType": "standardssd_lrs"}])
        },
        "cloud": CLOUD,
    }


def lab(reference, made):
    specification = {**POOL, "taskSchedulingPolicy": {"jobDefaultOrder": "creationtime", "nodeFillType": "Pack"}}
    automatic = {"poolLifetimeOption": "job", "pool": {**specification, "resourceTags": {"c": "d"}}}
    account = {
        "location": "eastus",
        "certificates": {made.thumbprint: {k: v for k, v in made.body().items() if k != "thumbprint"}},
        "pools": {name.replace(" ", "-"): {**body, "targetDedicatedNodes": 0} for name, body in pools(reference).items()},
        "jobSchedules": {
            "off": {
                "schedule": {"doNotRunUntil": "2036-11-01T09:00:00Z"}, "state": {"state": "disabled"},
                "jobSpecification": {"poolInfo": {"autoPoolSpecification": automatic}},
            }
        },
    }
    return {"groups": {"lab": {"location": "eastus", "batchAccounts": {"seedversions": account}}}}


def test_a_seed_has_properties_of_all_versions(tested, t, reference):
    made, reference = reference
    t.seed(lab(reference, made))
    plane = Plane(tested, "seedversions", by="token")
    new, before, older = ({p["id"]: p for p in plane.at(v).all("/pools")} for v in (NEWEST, BEFORE, OLDER))
    for name in ("ordered", "both"):
        assert new[name]["taskSchedulingPolicy"] == {"jobDefaultOrder": "creationtime", "nodeFillType": "Spread"}
    # Jobs in it go in the order of older versions, not in that of a new pool without the property.
    assert "jobDefaultOrder" not in new["old"]["taskSchedulingPolicy"]
    for name in ("old", "both"):
        assert {k: older[name][k] for k in MODE} == MODE
    assert before["old"]["certificateReferences"] == [reference]
    assert older["cloud"]["cloudServiceConfiguration"] == CLOUD["cloudServiceConfiguration"]
    assert new["disks"]["virtualMachineConfiguration"]["securityProfile"]["proxyAgentSettings"] == {"enabled": True}
    for name, kind in (("disks", "premium_lrs"), ("old-disks", "standardssd_lrs")):
        (disk,) = new[name]["virtualMachineConfiguration"]["dataDisks"]
        assert disk["managedDisk"] == {"storageAccountType": kind}
    (schedule,) = plane.at(NEWEST).all("/jobschedules")
    made_pool = schedule["jobSpecification"]["poolInfo"]["autoPoolSpecification"]["pool"]
    assert made_pool["taskSchedulingPolicy"] == {"jobDefaultOrder": "creationtime", "nodeFillType": "Pack"}


def test_a_dump_has_properties_of_all_versions(tested, t, reference):
    made, reference = reference
    t.seed(lab(reference, made))
    first = t.dump()
    account = first["subscriptions"][tested.subscription]["groups"]["lab"]["batchAccounts"]["seedversions"]
    assert account["pools"]["ordered"]["taskSchedulingPolicy"]["jobDefaultOrder"] == "creationtime"
    assert {k: account["pools"]["both"][k] for k in MODE} == MODE
    for name, kind in (("disks", "premium_lrs"), ("old-disks", "standardssd_lrs")):
        assert account["pools"][name]["virtualMachineConfiguration"]["dataDisks"] == [
            {**DISK, "managedDisk": {"storageAccountType": kind}}
        ]
    assert account["jobSchedules"]["off"]["jobSpecification"]["poolInfo"]["autoPoolSpecification"]["pool"]["resourceTags"] == {"c": "d"}
    t.seed_again(first)


def test_a_property_that_no_version_has_is_refused_by_name(tested, t):
    account = {"location": "eastus", "pools": {"p": {**POOL, "jobDefaultOrder": "creationtime"}}}
    reply = t.seed({"groups": {"lab": {"location": "eastus", "batchAccounts": {"seedwrong": account}}}}, expect=400)
    assert "jobDefaultOrder" in reply["error"]["message"]

# SPDX-License-Identifier: MIT
"""States that tests seed, and what they look at of them."""

import base64

from .batch_jobs import POOL
from .testing_fixtures import emptied as t  # noqa: F401 (a fixture)
from .vaults import policy, vault_body
from .world import cluster_body, file_server_body, job_body

CLUSTER = "/subscriptions/{subscription}/resourceGroups/lab/providers/Microsoft.BatchAI/workspaces/ws/clusters/c"
GUID = "4b1ad5f4-6a16-4c3e-8d3d-3f7a1f5b1c11"


def mounted(body, account):
    body["properties"]["nodeSetup"]["mountVolumes"]["azureFileShares"][0].update(
        accountName=account, azureFileUrl=f"https://{account}.file.core.windows.net/out"
    )
    return body


def full(tested, account="seeded"):
    """Something of everything."""
    error = {"code": "TaskFailed", "message": "It broke.", "details": [{"name": "Node", "value": "tvm-1"}]}
    batch_error = {"category": "usererror", "code": "FailureExitCode", "message": "The task exited with 3."}
    jobs = {
        "queued": job_body(CLUSTER),
        "running": {**job_body(CLUSTER), "state": {"executionState": "running", "startTime": "2026-11-01T09:00:00Z"}},
        "ending": {**job_body(CLUSTER), "state": {"executionState": "terminating"}},
        "good": {
            **job_body(CLUSTER, environmentVariables=[{"name": "A", "value": "b"}]),
            "state": {
                "executionState": "succeeded", "startTime": "2026-11-01T09:00:00Z", "endTime": "2026-11-01T09:05:00Z",
                "exitCode": 0, "guid": GUID,
            },
        },
        "bad": {
            **job_body(CLUSTER, secrets=[{"name": "S", "value": "hidden"}]),
            "state": {"executionState": "failed", "exitCode": 3, "errors": [error]},
        },
    }
    out = f"{tested.subscription}/lab/workspaces/ws/experiments/e/jobs/good/{GUID}/stdouterr"
    return {
        "groups": {
            "data": {
                "location": "westus2",
                "tags": {"who": "ada"},
                "storageAccounts": {
                    account: {
                        "location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"},
                        "containers": {
                            "box": {"blobs": {"a/b.txt": "text\n", "raw": {"base64": base64.b64encode(b"\0\xff").decode()}}},
                            "none": {"properties": {"metadata": {"k": "v"}}},
                        },
                        "shares": {"out": {"files": {f"{out}/stdout.txt": "all is well\n"}}},
                    }
                },
                "vaults": {
                    f"v{account}": {
                        **vault_body(policy(tested.env["AZURE_CLIENT_ID"], secrets=["all"])),
                        "secrets": {"pw": {"value": "hush", "contentType": "text/plain"}},
                    }
                },
                "batchAccounts": {
                    f"b{account}": {
                        "location": "westus2",
                        "pools": {"p": {**POOL, "targetDedicatedNodes": 0}},
                        "jobs": {
                            "open": {
                                "poolInfo": {"poolId": "p"},
                                "tasks": {
                                    "waits": {"commandLine": "true"},
                                    "runs": {"commandLine": "true", "state": {"state": "running"}},
                                    "did": {
                                        "commandLine": "true",
                                        "state": {"state": "completed", "exitCode": 0, "endTime": "2027-11-01T09:05:00Z"},
                                    },
                                    "broke": {
                                        "commandLine": "exit 3",
                                        "state": {"state": "completed", "exitCode": 3, "failureInfo": batch_error},
                                    },
                                },
                            },
                            "over": {
                                "poolInfo": {"poolId": "p"},
                                "tasks": {"t": {"commandLine": "true", "state": {"state": "completed", "exitCode": 0}}},
                                "state": {"state": "completed", "terminateReason": "enough"},
                            },
                            "off": {"poolInfo": {"poolId": "p"}, "state": {"state": "disabled"}},
                        },
                    }
                },
            },
            "lab": {
                "location": "eastus",
                "workspaces": {
                    "ws": {
                        "location": "eastus",
                        "fileServers": {"nfs": file_server_body()},
                        "clusters": {"c": mounted(cluster_body(0), account)},
                        "experiments": {"e": {"jobs": jobs}},
                    }
                },
            },
        }
    }


ROLE_GUID = "1f3a3c5d-53e0-4d9d-9d55-3c6f1b0a7a01"
OWNER_ROLE = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
BATCH_AI = "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"


def role(guid="acdd72a7-3385-48ef-bd42-f606fba81ae7"):
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{guid}"
    return {"properties": {"roleDefinitionId": definition, "principalId": BATCH_AI}}


def roles_at(tested, scope):
    path = f"{scope}/providers/Microsoft.Authorization/roleAssignments"
    found = tested.call("GET", path, api_version="2022-04-01", validate=False, expect=200).json["value"]
    return {x["properties"]["scope"].removeprefix(scope): x["name"] for x in found}


V1, V2 = "0" * 31 + "1", "0" * 31 + "2"


def with_vaults(tested):
    body = vault_body(policy(tested.env["AZURE_CLIENT_ID"], secrets=["all"]))
    secrets = {
        "pw": {"versions": {V1: {"value": "old", "attributes": {"enabled": False}}}, "version": V2, "value": "new"},
        "gone": {"value": "lost", "deleted": "2026-11-20T09:00:00Z"},
    }
    return {
        "groups": {
            "lab": {"location": "eastus", "vaults": {"seedlive": {**body, "secrets": secrets}, "seeddead": {**body, "deleted": True}}},
            "past": {"location": "eastus", "deleted": True, "vaults": {"seedpast": {**body, "deleted": True, "secrets": {"s": {"value": "v"}}}}},
        }
    }


def account(**has):
    return {"location": "eastus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}, **has}


def stored(**has):
    return {"groups": {"lab": {"location": "eastus", "storageAccounts": {"seednotes": account(**has)}}}}

# SPDX-License-Identifier: MIT
"""Seeds of groups with many resources of one kind."""

from .batch_jobs import POOL
from .seeds import account, policy, vault_body
from .world import cluster_body, job_body

CLUSTER = "/subscriptions/{subscription}/resourceGroups/big/providers/Microsoft.BatchAI/workspaces/ws/clusters/c"
EMPTY_POOL = {**POOL, "targetDedicatedNodes": 0}


def workspace(**has):
    return {"workspaces": {"ws": {"location": "eastus", **has}}}


def batch(**has):
    return {"batchAccounts": {"bigbatch": {"location": "eastus", **has}}}


def clusters(daemon, names):
    return workspace(clusters={n: cluster_body(0) for n in names})


def jobs(daemon, names):
    made = {n: job_body(CLUSTER) for n in names}
    return workspace(clusters={"c": cluster_body(0)}, experiments={"e": {"jobs": made}})


def ended_jobs(daemon, names):
    made = {n: {**job_body(CLUSTER), "state": {"executionState": "succeeded"}} for n in names}
    return workspace(clusters={"c": cluster_body(0)}, experiments={"e": {"jobs": made}})


def blobs(daemon, names):
    return {"storageAccounts": {"bigblobs": account(containers={"box": {"blobs": {n: {"text": n, "metadata": {"a": "b"}} for n in names}}})}}


def secrets(daemon, names):
    body = vault_body(policy(daemon.env["AZURE_CLIENT_ID"], secrets=["all"]))
    return {"vaults": {"bigvault": {**body, "secrets": {n: {"value": n} for n in names}}}}


def pools(daemon, names):
    return batch(pools={n: EMPTY_POOL for n in names})


def tasks(daemon, names):
    job = {"poolInfo": {"poolId": "p"}, "tasks": {n: {"commandLine": "true"} for n in names}}
    return batch(pools={"p": EMPTY_POOL}, jobs={"j": job})


KINDS = {k.__name__: k for k in (clusters, jobs, ended_jobs, blobs, secrets, pools, tasks)}


def many(daemon, kind, count):
    """A state with the group `big`, and one beside it."""
    has = KINDS[kind](daemon, [f"n{i}" for i in range(count)])
    return {"groups": {"big": {"location": "eastus", **has}, "beside": {"location": "eastus"}}}

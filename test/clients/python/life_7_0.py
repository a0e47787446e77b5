# SPDX-License-Identifier: MIT
"""The life of a cluster and a job through azure-mgmt-batchai 7.0.0b1 (Debian), unmodified."""

import os
import sys
import time

import requests
from azure.identity import ClientSecretCredential
from azure.mgmt.batchai import BatchAI, models

endpoint = os.environ["BATCHAID_ENDPOINT"]
credential = ClientSecretCredential(
    tenant_id=os.environ["AZURE_TENANT_ID"],
    client_id=os.environ["AZURE_CLIENT_ID"],
    client_secret=os.environ["AZURE_CLIENT_SECRET"],
    authority=os.environ["AZURE_AUTHORITY_HOST"],
)
client = BatchAI(
    credential,
    os.environ["AZURE_SUBSCRIPTION_ID"],
    base_url=endpoint,
    credential_scopes=[endpoint + "/.default"],
)

GROUP, WORKSPACE, EXPERIMENT = sys.argv[1], "python7", "first"
SHARE = models.AzureFileShareReference(
    account_name="acct",
    azure_file_url="https://acct.file.core.windows.net/out",
    credentials=models.AzureStorageCredentialsInfo(account_key="c2VjcmV0IGtleQ=="),
    relative_mount_path="out",
)


def scale(nodes):
    return models.ScaleSettings(manual=models.ManualScaleSettings(target_node_count=nodes))


def wait_steady(nodes):
    while True:
        cluster = client.clusters.get(GROUP, WORKSPACE, "nodes")
        if cluster.current_node_count == cluster.node_state_counts.idle_node_count == nodes:
            return
        time.sleep(0.05)


def names():
    return [c.name for c in client.clusters.list_by_workspace(GROUP, WORKSPACE)]


def make_cluster():
    client.workspaces.begin_create(GROUP, WORKSPACE, models.WorkspaceCreateParameters(location="northeurope")).result()
    account = models.UserAccountSettings(admin_user_name="demo", admin_user_password="pw-never-shown")
    wanted = models.ClusterCreateParameters(
        vm_size="Standard_D1", scale_settings=scale(1), user_account_settings=account
    )
    cluster = client.clusters.begin_create(GROUP, WORKSPACE, "nodes", wanted).result()
    assert cluster.provisioning_state == models.ProvisioningState.SUCCEEDED, cluster
    wait_steady(1)
    assert names() == ["nodes"]
    return cluster


def run_job(cluster):
    client.experiments.begin_create(GROUP, WORKSPACE, EXPERIMENT).result()
    wanted = models.JobCreateParameters(
        cluster=models.ResourceId(id=cluster.id),
        node_count=1,
        mount_volumes=models.MountVolumes(azure_file_shares=[SHARE]),
        std_out_err_path_prefix="$AZ_BATCHAI_JOB_MOUNT_ROOT/out",
        custom_toolkit_settings=models.CustomToolkitSettings(command_line="echo hello from a job"),
    )
    job = client.jobs.begin_create(GROUP, WORKSPACE, EXPERIMENT, "hello", wanted).result()
    while job.execution_state not in (models.ExecutionState.SUCCEEDED, models.ExecutionState.FAILED):
        time.sleep(0.05)
        job = client.jobs.get(GROUP, WORKSPACE, EXPERIMENT, "hello")
    assert job.execution_state == models.ExecutionState.SUCCEEDED, job
    assert job.execution_info.exit_code == 0, job.execution_info


def read_output():
    options = models.JobsListOutputFilesOptions(outputdirectoryid="stdouterr")
    listed = client.jobs.list_output_files(GROUP, WORKSPACE, EXPERIMENT, "hello", options)
    files = {f.name: f for f in listed}
    assert files["stdout.txt"].file_type == models.FileType.FILE
    assert requests.get(files["stdout.txt"].download_url).text == "hello from a job\n"


def clean_up():
    smaller = models.ClusterUpdateParameters(scale_settings=scale(0))
    client.clusters.update(GROUP, WORKSPACE, "nodes", smaller)
    wait_steady(0)
    client.jobs.begin_delete(GROUP, WORKSPACE, EXPERIMENT, "hello").result()
    client.clusters.begin_delete(GROUP, WORKSPACE, "nodes").result()
    assert names() == []


run_job(make_cluster())
read_output()
clean_up()
print("ok python-7.0.0b1 2018-05-01")

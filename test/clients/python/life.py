# SPDX-License-Identifier: MIT
"""The life of a cluster and a job through azure-mgmt-batchai of 2018-05-01, unmodified: life.py VERSION GROUP, with
2.0.0, 7.0.0 or Debian's 7.0.0b1."""

import sys
import time

import requests
import signing_in
from azure.mgmt import batchai
from azure.mgmt.batchai import models

VERSION, GROUP = sys.argv[1:]
WORKSPACE, EXPERIMENT = f"python{VERSION[0]}", "first"
NEWER = VERSION.startswith("7.")
if NEWER:
    client = signing_in.management(batchai.BatchAI)
else:
    client = signing_in.old_management(batchai.BatchAIManagementClient)
SHARE = models.AzureFileShareReference(
    account_name="acct",
    azure_file_url="https://acct.file.core.windows.net/out",
    credentials=models.AzureStorageCredentialsInfo(account_key="c2VjcmV0IGtleQ=="),
    relative_mount_path="out",
)


def lasting(operations, name, *arguments):
    """What such a call comes to in the end. In the newer package its name says that it lasts."""
    return getattr(operations, f"begin_{name}" if NEWER else name)(*arguments).result()


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
    where = models.WorkspaceCreateParameters(location="northeurope") if NEWER else "northeurope"
    lasting(client.workspaces, "create", GROUP, WORKSPACE, where)
    account = models.UserAccountSettings(admin_user_name="demo", admin_user_password="pw-never-shown")
    wanted = models.ClusterCreateParameters(
        vm_size="Standard_D1", scale_settings=scale(1), user_account_settings=account
    )
    cluster = lasting(client.clusters, "create", GROUP, WORKSPACE, "nodes", wanted)
    assert cluster.provisioning_state == "succeeded", cluster
    wait_steady(1)
    assert names() == ["nodes"]
    return cluster


def run_job(cluster):
    lasting(client.experiments, "create", GROUP, WORKSPACE, EXPERIMENT)
    wanted = models.JobCreateParameters(
        cluster=models.ResourceId(id=cluster.id),
        node_count=1,
        mount_volumes=models.MountVolumes(azure_file_shares=[SHARE]),
        std_out_err_path_prefix="$AZ_BATCHAI_JOB_MOUNT_ROOT/out",
        custom_toolkit_settings=models.CustomToolkitSettings(command_line="echo hello from a job"),
    )
    job = lasting(client.jobs, "create", GROUP, WORKSPACE, EXPERIMENT, "hello", wanted)
    while job.execution_state not in ("succeeded", "failed"):
        time.sleep(0.05)
        job = client.jobs.get(GROUP, WORKSPACE, EXPERIMENT, "hello")
    assert job.execution_state == "succeeded", job
    assert job.execution_info.exit_code == 0, job.execution_info


def read_output():
    options = models.JobsListOutputFilesOptions(outputdirectoryid="stdouterr")
    listed = client.jobs.list_output_files(GROUP, WORKSPACE, EXPERIMENT, "hello", options)
    files = {f.name: f for f in listed}
    assert files["stdout.txt"].file_type == "file"
    assert requests.get(files["stdout.txt"].download_url).text == "hello from a job\n"


def clean_up():
    if NEWER:
        client.clusters.update(GROUP, WORKSPACE, "nodes", models.ClusterUpdateParameters(scale_settings=scale(0)))
    else:
        client.clusters.update(GROUP, WORKSPACE, "nodes", scale_settings=scale(0))
    wait_steady(0)
    lasting(client.jobs, "delete", GROUP, WORKSPACE, EXPERIMENT, "hello")
    lasting(client.clusters, "delete", GROUP, WORKSPACE, "nodes")
    assert names() == []


run_job(make_cluster())
read_output()
clean_up()
print(f"ok python-{VERSION} 2018-05-01")

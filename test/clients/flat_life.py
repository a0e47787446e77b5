# SPDX-License-Identifier: MIT
"""The life of a cluster and a job through azure-mgmt-batchai 0.2.0 or 1.0.1, unmodified. Run by the
Python of an environment that has one of them; test_python.py reads what it prints."""

import json
import os
import sys
import time

import requests
from azure.mgmt.batchai import BatchAIManagementClient, models
from msrest.authentication import BasicTokenAuthentication

GROUP, LOCATION = sys.argv[1], "northeurope"


def token():
    form = {
        "grant_type": "client_credentials",
        "client_id": os.environ["AZURE_CLIENT_ID"],
        "client_secret": os.environ["AZURE_CLIENT_SECRET"],
    }
    reply = requests.post(os.environ["BATCHAID_ENDPOINT"] + "/adfs/oauth2/token", data=form)
    reply.raise_for_status()
    return reply.json()


client = BatchAIManagementClient(
    BasicTokenAuthentication(token()),
    os.environ["AZURE_SUBSCRIPTION_ID"],
    base_url=os.environ["BATCHAID_ENDPOINT"],
)
client.config.long_running_operation_timeout = 0.1
said = {"api_version": client.api_version}


def say(**more):
    said.update(more)


share = models.AzureFileShareReference(
    account_name="acct",
    azure_file_url="https://acct.file.core.windows.net/out",
    credentials=models.AzureStorageCredentialsInfo(account_key="c2VjcmV0IGtleQ=="),
    relative_mount_path="out",
)
cluster = client.clusters.create(
    GROUP,
    "nodes",
    models.ClusterCreateParameters(
        location=LOCATION,
        tags={"kind": "test"},
        vm_size="Standard_D1",
        user_account_settings=models.UserAccountSettings(
            admin_user_name="demo", admin_user_password="pw-never-shown"
        ),
        scale_settings=models.ScaleSettings(manual=models.ManualScaleSettings(target_node_count=1)),
        node_setup=models.NodeSetup(mount_volumes=models.MountVolumes(azure_file_shares=[share])),
    ),
).result()
say(cluster=[cluster.name, cluster.type, cluster.location, cluster.tags])

job = client.jobs.create(
    GROUP,
    "hello",
    models.JobCreateParameters(
        location=LOCATION,
        cluster=models.ResourceId(id=cluster.id),
        node_count=1,
        priority=7,
        std_out_err_path_prefix="$AZ_BATCHAI_MOUNT_ROOT/out",
        custom_toolkit_settings=models.CustomToolkitSettings(command_line="echo hello from a job"),
        output_directories=[
            models.OutputDirectory(id="MODEL", path_prefix="$AZ_BATCHAI_MOUNT_ROOT/out", path_suffix="m")
        ],
    ),
).result()
say(job=[job.name, job.type, job.priority, str(job.tool_type).lower().rsplit(".", 1)[-1]])

while str(job.execution_state).lower().rsplit(".", 1)[-1] not in ("succeeded", "failed"):
    job = client.jobs.get(GROUP, "hello")
say(exit_code=job.execution_info.exit_code)

options = models.JobsListOutputFilesOptions(outputdirectoryid="stdouterr")
files = {f.name: f for f in client.jobs.list_output_files(GROUP, "hello", options)}
say(files=sorted(files), stdout=requests.get(files["stdout.txt"].download_url).text)
by_name = models.JobsListByResourceGroupOptions(filter="name eq 'hello'", max_results=1)
say(listed=[j.name for j in client.jobs.list_by_resource_group(GROUP, by_name)])
say(login=[n.port for n in client.clusters.list_remote_login_information(GROUP, "nodes")])

say(tags=client.clusters.update(GROUP, "nodes", tags={"a": "b"}).tags)
smaller = models.ScaleSettings(manual=models.ManualScaleSettings(target_node_count=0))
client.clusters.update(GROUP, "nodes", scale_settings=smaller)
while client.clusters.get(GROUP, "nodes").current_node_count != 0:
    time.sleep(0.05)
say(nodes=0)
try:
    client.clusters.get(GROUP, "nowhere")
except Exception as e:  # each version of msrest has its own
    say(missing=[e.status_code, str(e)])
client.jobs.delete(GROUP, "hello").result()
client.clusters.delete(GROUP, "nodes").result()
say(left=[c.name for c in client.clusters.list_by_resource_group(GROUP)])
print(json.dumps(said))

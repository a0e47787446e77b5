# SPDX-License-Identifier: MIT
"""The real Python SDK over every operation of 2018-05-01 that it has."""

import datetime

import pytest
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
)
from azure.mgmt.batchai import models
from support.world import ACCOUNT, MOUNT, SHARE, fresh

SSH_KEY = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 demo@example"


def cluster_parameters(nodes=0, **more):
    share = models.AzureFileShareReference(
        account_name=ACCOUNT,
        azure_file_url=f"https://{ACCOUNT}.file.core.windows.net/{SHARE}",
        credentials=models.AzureStorageCredentialsInfo(account_key="c2VjcmV0"),
        relative_mount_path=SHARE,
    )
    return models.ClusterCreateParameters(
        vm_size="Standard_D1",
        user_account_settings=models.UserAccountSettings(
            admin_user_name="demo", admin_user_ssh_public_key=SSH_KEY
        ),
        scale_settings=models.ScaleSettings(manual=models.ManualScaleSettings(target_node_count=nodes)),
        node_setup=models.NodeSetup(mount_volumes=models.MountVolumes(azure_file_shares=[share])),
        **more,
    )


def job_parameters(cluster_id, command, **more):
    return models.JobCreateParameters(
        cluster=models.ResourceId(id=cluster_id),
        node_count=1,
        std_out_err_path_prefix=MOUNT,
        custom_toolkit_settings=models.CustomToolkitSettings(command_line=command),
        **more,
    )


def test_workspaces(sdk, own_place):
    group, name = own_place.group, fresh("sdkws")
    created = sdk.workspaces.begin_create(
        group, name, models.WorkspaceCreateParameters(location="eastus", tags={"a": "1"})
    ).result()
    assert (created.name, created.location, created.tags) == (name, "eastus", {"a": "1"})
    assert created.provisioning_state == "succeeded"
    assert created.type == "Microsoft.BatchAI/workspaces"
    assert created.creation_time == created.provisioning_state_transition_time
    assert created.creation_time.tzinfo is not None
    changed = sdk.workspaces.update(group, name, models.WorkspaceUpdateParameters(tags={"b": "2"}))
    assert changed.tags == {"b": "2"}
    assert sdk.workspaces.get(group, name).tags == {"b": "2"}
    assert name in [w.name for w in sdk.workspaces.list()]
    assert {w.name for w in sdk.workspaces.list_by_resource_group(group)} == {name, own_place.workspace}
    sdk.workspaces.begin_delete(group, name).result()
    with pytest.raises(ResourceNotFoundError) as e:
        sdk.workspaces.get(group, name)
    assert e.value.error.code == "WorkspaceNotFound"
    assert e.value.error.message == f"The specified workspace {name} is not found"


def test_experiments(sdk, place):
    group, ws, name = place.group, place.workspace, fresh("sdkexp")
    created = sdk.experiments.begin_create(group, ws, name).result()
    assert (created.name, created.provisioning_state) == (name, "succeeded")
    assert created.type == "Microsoft.BatchAI/workspaces/experiments"
    assert sdk.experiments.get(group, ws, name).id == created.id
    assert name in [e.name for e in sdk.experiments.list_by_workspace(group, ws)]
    sdk.experiments.begin_delete(group, ws, name).result()
    with pytest.raises(ResourceNotFoundError) as e:
        sdk.experiments.get(group, ws, name)
    assert e.value.error.message == f"The specified experiment {name} is not found"


def test_clusters(sdk, own_place, exchanges):
    group, ws = own_place.group, own_place.workspace
    created = sdk.clusters.begin_create(group, ws, "c", cluster_parameters(nodes=1)).result()
    assert (created.vm_size, created.vm_priority) == ("STANDARD_D1", "dedicated")
    assert created.user_account_settings.admin_user_ssh_public_key == SSH_KEY
    assert created.scale_settings.manual.node_deallocation_option == "requeue"
    image = created.virtual_machine_configuration.image_reference
    assert (image.publisher, image.offer, image.sku, image.version) == (
        "Canonical", "UbuntuServer", "16.04-LTS", "latest",
    )  # fmt: skip
    polls = [x for x in exchanges if "/operationresults/" in x.url]
    assert len(polls) <= 1, "provisioning must be over at the first look"
    own_place.cluster_at("c").wait_steady(1)
    got = sdk.clusters.get(group, ws, "c")
    assert (got.current_node_count, got.node_state_counts.idle_node_count) == (1, 1)
    logins = list(sdk.clusters.list_remote_login_information(group, ws, "c"))
    assert [login.port > 0 for login in logins] == [True]
    assert logins[0].node_id.startswith("tvm-") and logins[0].ip_address
    scaled = sdk.clusters.update(
        group,
        ws,
        "c",
        models.ClusterUpdateParameters(
            scale_settings=models.ScaleSettings(
                auto_scale=models.AutoScaleSettings(minimum_node_count=0, maximum_node_count=3)
            )
        ),
    )
    assert scaled.scale_settings.manual is None
    assert scaled.scale_settings.auto_scale.maximum_node_count == 3
    assert scaled.scale_settings.auto_scale.initial_node_count == 0
    assert [c.name for c in sdk.clusters.list_by_workspace(group, ws)] == ["c"]
    sdk.clusters.begin_delete(group, ws, "c").result()
    assert list(sdk.clusters.list_by_workspace(group, ws)) == []
    with pytest.raises(ResourceNotFoundError) as e:
        sdk.clusters.get(group, ws, "c")
    assert e.value.error.message == "The specified cluster c is not found"


def test_file_servers(sdk, place):
    group, ws, name = place.group, place.workspace, fresh("sdknfs")
    parameters = models.FileServerCreateParameters(
        vm_size="Standard_D1",
        ssh_configuration=models.SshConfiguration(
            user_account_settings=models.UserAccountSettings(
                admin_user_name="demo", admin_user_password="pw-never-shown"
            )
        ),
        data_disks=models.DataDisks(disk_size_in_gb=10, disk_count=2, storage_account_type="Premium_LRS"),
    )
    created = sdk.file_servers.begin_create(group, ws, name, parameters).result()
    assert created.provisioning_state == "succeeded"
    assert created.data_disks.caching_type == "none"
    assert created.ssh_configuration.user_account_settings.admin_user_password is None
    assert created.mount_settings.file_server_internal_ip == "127.0.0.1"
    assert created.mount_settings.mount_point.startswith("/")
    assert name in [f.name for f in sdk.file_servers.list_by_workspace(group, ws)]
    with pytest.raises(AttributeError):  # why these two are exercised over REST elsewhere
        sdk.file_servers.get(group, ws, name)


def test_jobs(sdk, place, shared_cluster, exchanges):
    group, ws, exp, name = place.group, place.workspace, fresh("sdkexp"), fresh("sdkjob")
    sdk.experiments.begin_create(group, ws, exp).result()
    exchanges.clear()
    created = sdk.jobs.begin_create(
        group,
        ws,
        exp,
        name,
        job_parameters(
            shared_cluster.id,
            'echo "hello $GREETED"; echo $WORD > $AZ_BATCHAI_OUTPUT_RESULT/word',
            environment_variables=[models.EnvironmentVariable(name="GREETED", value="world")],
            secrets=[models.EnvironmentVariableWithSecretValue(name="WORD", value="sesame")],
            output_directories=[models.OutputDirectory(id="RESULT", path_prefix=MOUNT)],
        ),
    ).result()
    assert len([x for x in exchanges if "/operationresults/" in x.url]) <= 1
    assert created.provisioning_state == "succeeded"
    assert (created.tool_type, created.scheduling_priority) == ("custom", "normal")
    assert created.constraints.max_wall_clock_time == datetime.timedelta(days=7)
    assert created.cluster.id == shared_cluster.id
    assert [(s.name, s.value) for s in created.secrets] == [("WORD", None)]
    place.job_at(name, exp).succeed()
    done = sdk.jobs.get(group, ws, exp, name)
    assert done.execution_state == "succeeded"
    assert done.execution_info.exit_code == 0
    assert done.execution_info.start_time <= done.execution_info.end_time
    assert done.execution_info.errors is None
    assert [j.name for j in sdk.jobs.list_by_experiment(group, ws, exp)] == [name]
    options = models.JobsListOutputFilesOptions(outputdirectoryid="stdouterr")
    files = {f.name: f for f in sdk.jobs.list_output_files(group, ws, exp, name, options)}
    assert list(files) == ["execution.log", "stderr.txt", "stdout.txt"]
    assert files["stdout.txt"].content_length == len("hello world\n")
    assert files["stdout.txt"].file_type == "file"
    assert files["stdout.txt"].last_modified.tzinfo is not None
    options = models.JobsListOutputFilesOptions(outputdirectoryid="RESULT")
    assert [f.name for f in sdk.jobs.list_output_files(group, ws, exp, name, options)] == ["word"]
    (used,) = sdk.jobs.list_remote_login_information(group, ws, exp, name)  # as long as it is there
    of_cluster = sdk.clusters.list_remote_login_information(group, ws, shared_cluster.name)
    assert used.node_id in [n.node_id for n in of_cluster]
    sdk.jobs.begin_terminate(group, ws, exp, name).result()  # over already: a 200
    sdk.jobs.begin_delete(group, ws, exp, name).result()
    with pytest.raises(ResourceNotFoundError) as e:
        sdk.jobs.get(group, ws, exp, name)
    assert e.value.error.message == f"The specified job {name} is not found"


def test_a_running_job_names_its_nodes_and_can_be_terminated(sdk, place, shared_cluster):
    group, ws, exp, name = place.group, place.workspace, fresh("sdkexp"), fresh("sdkjob")
    sdk.experiments.begin_create(group, ws, exp).result()
    sdk.jobs.begin_create(group, ws, exp, name, job_parameters(shared_cluster.id, "sleep 600")).result()
    place.job_at(name, exp).wait("running")
    nodes = list(sdk.jobs.list_remote_login_information(group, ws, exp, name))
    of_cluster = sdk.clusters.list_remote_login_information(group, ws, shared_cluster.name)
    assert len(nodes) == 1
    assert (nodes[0].node_id, nodes[0].port) in [(n.node_id, n.port) for n in of_cluster]
    sdk.jobs.begin_terminate(group, ws, exp, name).result()
    ended = sdk.jobs.get(group, ws, exp, name)
    assert ended.execution_state == "failed"
    assert ended.execution_info.exit_code == 143
    (error,) = ended.execution_info.errors
    assert error.code == "JobTerminated"
    assert error.message == "The specified job has been terminated by the user"


def test_usages_and_operations(sdk):
    usages = list(sdk.usages.list("northeurope"))
    assert len(usages) == 17
    assert usages[0].name.value == "Clusters" and usages[0].unit == "Count"
    operations = list(sdk.operations.list())
    assert all(o.name.startswith("Microsoft.BatchAI/") for o in operations)
    assert all(o.display.provider == "Microsoft Batch AI" for o in operations)


def test_the_sdk_follows_next_links(sdk, place):
    names = {fresh("page") for _ in range(5)}
    for name in names:
        place.experiment(name)
    options = models.ExperimentsListByWorkspaceOptions(max_results=2)
    seen = [
        e.name
        for e in sdk.experiments.list_by_workspace(
            place.group, place.workspace, experiments_list_by_workspace_options=options
        )
    ]
    assert names <= set(seen) and len(seen) == len(set(seen))


def test_refusals_arrive_as_the_sdks_own_errors(sdk, place, daemon, shared_cluster):
    daemon.expect_log(r"login\.failed .*why=invalid_client")
    with pytest.raises(HttpResponseError) as e:
        sdk.clusters.begin_create(
            place.group, place.workspace, fresh("c"), cluster_parameters(nodes=-1)
        ).result()
    assert e.value.status_code == 400
    assert e.value.error.target == "properties.scaleSettings.manual.targetNodeCount"
    assert "-1" in e.value.error.message
    from azure.identity import ClientSecretCredential

    wrong = ClientSecretCredential(
        "adfs",
        daemon.env["AZURE_CLIENT_ID"],
        "wrong",
        authority=daemon.env["AZURE_AUTHORITY_HOST"],
        connection_verify=daemon.ca,
    )
    with pytest.raises(ClientAuthenticationError) as e:
        wrong.get_token(f"{daemon.endpoint}/.default")
    assert "client_secret" in str(e.value)

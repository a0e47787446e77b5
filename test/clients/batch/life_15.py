# SPDX-License-Identifier: MIT
"""The life of a pool, its jobs, tasks and schedules through azure-batch 15, unmodified and with its defaults:
life_15.py VERSION, with the variables of `batchaid env ACCOUNT` and PACKAGE, a package of the account, and BLOB_URL."""

import datetime
import os
import sys
import time

from azure.batch import BatchClient, models
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError

key = AzureNamedKeyCredential(os.environ["AZURE_BATCH_ACCOUNT"], os.environ["AZURE_BATCH_ACCESS_KEY"])
client = BatchClient(os.environ["AZURE_BATCH_ENDPOINT"], key)
name = "python-" + sys.argv[1].replace(".", "-")
POOL, JOB, SCHEDULE = f"{name}-pool", f"{name}-job", f"{name}-schedule"
SOON = {"polling_interval": 1}  # the default is 5 seconds


def until(condition, what):
    end = time.monotonic() + 60
    while True:
        seen = condition()
        if seen:
            return seen
        assert time.monotonic() < end, what
        time.sleep(0.05)


def refused(code, call, *arguments, **more):
    """`code`: of the error, or the status where the client does not read the error."""
    try:
        call(*arguments, **more)
    except HttpResponseError as e:
        assert code in (e.status_code, e.model and e.model.code), (e.status_code, e.model)
        return
    raise AssertionError(f"{call} {arguments} was not refused")


def ended(poller):
    """A poller that has come to its end in time, and well."""
    poller.result(timeout=60)
    assert poller.done() and poller.status() == "Succeeded", poller.status()


def make_pool():
    reference, agent = next((i.image_reference, i.node_agent_sku_id) for i in client.list_supported_images()
                            if i.image_reference.offer.lower() == "ubuntuserver")  # fmt: skip
    client.create_pool(models.BatchPoolCreateOptions(
        id=POOL,
        vm_size="Standard_D2_v2",
        target_dedicated_nodes=1,
        virtual_machine_configuration=models.VirtualMachineConfiguration(
            image_reference=reference,
            node_agent_sku_id=agent,
            data_disks=[models.DataDisk(logical_unit_number=0, disk_size_gb=10,
                                        managed_disk=models.ManagedDisk(storage_account_type="premium_lrs"))],
        ),
        task_scheduling_policy=models.BatchTaskSchedulingPolicy(node_fill_type="pack", job_default_order="creationtime"),
        start_task=models.BatchStartTask(command_line="/bin/sh -c 'echo $AZ_BATCH_NODE_ID'", wait_for_success=True),
        metadata=[models.BatchMetadataItem(name="made by", value=name)],
    ))  # fmt: skip
    assert client.pool_exists(POOL)
    until(lambda: client.get_pool(POOL).allocation_state == "steady", "a steady pool")
    ended(client.begin_resize_pool(POOL, models.BatchPoolResizeOptions(target_dedicated_nodes=2), **SOON))
    until(lambda: len([n for n in client.list_nodes(POOL) if n.state == "idle"]) == 2, "two idle nodes")
    client.update_pool(POOL, models.BatchPoolUpdateOptions(metadata=[models.BatchMetadataItem(name="a", value="b")]))
    pool = client.get_pool(POOL)
    assert (pool.state, pool.current_dedicated_nodes, pool.metadata[0].value) == ("active", 2, "b")
    assert pool.task_scheduling_policy.job_default_order == models.BatchJobDefaultOrder.CREATION_TIME
    (disk,) = pool.virtual_machine_configuration.data_disks
    assert disk.managed_disk.storage_account_type == models.StorageAccountType.PREMIUM_LRS
    client.replace_pool_properties(POOL, models.BatchPoolReplaceOptions(application_package_references=[], metadata=[]))
    assert not client.get_pool(POOL).metadata
    assert [p.id for p in client.list_pools(filter=f"id eq '{POOL}'", select=["id"])] == [POOL]
    assert POOL in [c.pool_id for c in client.list_pool_node_counts()]
    refused("PoolExists", client.create_pool, models.BatchPoolCreateOptions(id=POOL, vm_size="Standard_D2_v2",
            virtual_machine_configuration=pool.virtual_machine_configuration))  # fmt: skip


def add_tasks():
    client.create_job(models.BatchJobCreateOptions(id=JOB, pool_info=models.BatchPoolInfo(pool_id=POOL), uses_task_dependencies=True))
    app, version = os.environ["PACKAGE"].split("#")
    variable = "AZ_BATCH_APP_PACKAGE_" + f"{app}_{version}".replace(".", "_")
    client.create_task(JOB, models.BatchTaskCreateOptions(
        id="first",
        command_line=f"/bin/sh -c '${variable}/bin/say.sh; cat blob.txt; echo $GREETING'",
        environment_settings=[models.EnvironmentSetting(name="GREETING", value=name)],
        application_package_references=[models.BatchApplicationPackageReference(application_id=app, version=version)],
        resource_files=[models.ResourceFile(http_url=os.environ["BLOB_URL"], file_path="blob.txt")],
        constraints=models.BatchTaskConstraints(max_wall_clock_time=datetime.timedelta(minutes=10), max_task_retry_count=1),
    ))  # fmt: skip
    more = [models.BatchTaskCreateOptions(id=f"more{n}", command_line="/bin/true") for n in range(120)]
    more[0].command_line = "/bin/sh -c 'exit 3'"
    more[-1].depends_on = models.BatchTaskDependencies(task_ids=["first"])
    added = client.create_tasks(JOB, more).result_values  # the client cuts it into collections of 100
    assert {t.status.lower() for t in added} == {"success"} and len(added) == len(more)
    refused("TaskExists", client.create_task, JOB, models.BatchTaskCreateOptions(id="first", command_line="/bin/true"))


def run_job():
    add_tasks()
    until(lambda: not list(client.list_tasks(JOB, filter="state ne 'completed'", max_results=50)), "all tasks completed")
    counts = client.get_job_task_counts(JOB).task_counts
    assert (counts.completed, counts.succeeded, counts.failed) == (121, 120, 1), counts
    assert len(list(client.list_tasks(JOB))) == 121
    first, failed = client.get_task(JOB, "first"), client.get_task(JOB, "more0")
    assert (first.execution_info.exit_code, first.execution_info.result.lower()) == (0, "success")
    assert (failed.execution_info.exit_code, failed.execution_info.failure_info.code) == (3, "FailureExitCode")
    client.reactivate_task(JOB, "more0")
    until(lambda: client.get_task(JOB, "more0").state == "completed", "the task again")
    return first


def read_files(task):
    text = b"".join(client.download_task_file(JOB, task.id, "stdout.txt")).decode()
    assert text == f"from a package\nfrom a blob\n{name}\n", text
    seen = client.get_task_file_properties(JOB, task.id, "stdout.txt")
    assert (seen.content_length, seen.is_directory) == (len(text), False)
    assert b"".join(client.download_task_file(JOB, task.id, "stdout.txt", ocp_range="bytes=0-3")) == b"from"
    names = [f.name for f in client.list_task_files(JOB, task.id, recursive=True)]
    assert {"stdout.txt", "stderr.txt", "wd/blob.txt"} <= set(names), names
    node, path = task.node_info.node_id, f"{task.node_info.task_root_directory}/stdout.txt"
    assert b"".join(client.download_node_file(POOL, node, path)).decode() == text
    assert client.get_node_file_properties(POOL, node, path).content_length == len(text)
    client.delete_task_file(JOB, task.id, "wd/blob.txt")
    refused(404, client.download_task_file, JOB, task.id, "wd/blob.txt")


def use_a_node(task):
    node = task.node_info.node_id
    client.create_node_user(POOL, node, models.BatchNodeUserCreateOptions(name="ada", password="pw-never-Shown1"))
    assert client.get_node_remote_login_settings(POOL, node).remote_login_port > 0
    client.delete_node_user(POOL, node, "ada")
    requeue = models.BatchNodeDisableSchedulingOptions(node_disable_scheduling_option="requeue")
    # Without options the client fails before it asks, in each of these; some of its models of options are private.
    client.disable_node_scheduling(POOL, node, requeue)
    assert client.get_node(POOL, node).scheduling_state == models.SchedulingState.DISABLED
    client.enable_node_scheduling(POOL, node)
    ended(client.begin_reboot_node(POOL, node, options={"nodeRebootOption": "requeue"}, **SOON))
    ended(client.begin_reimage_node(POOL, node, options={"nodeReimageOption": "requeue"}, **SOON))
    until(lambda: client.get_node(POOL, node).state == "idle", "an idle node after the reimage")
    ended(client.begin_deallocate_node(POOL, node, options={"nodeDeallocateOption": "requeue"}, **SOON))
    until(lambda: client.get_node(POOL, node).state == "deallocated", "a deallocated node")
    ended(client.begin_start_node(POOL, node, **SOON))
    until(lambda: client.get_node(POOL, node).state == "idle", "an idle node after its start")
    ended(client.begin_remove_nodes(POOL, models.BatchNodeRemoveOptions(node_ids=[node]), **SOON))
    assert node not in [n.id for n in client.list_nodes(POOL)]


def use_a_schedule():
    client.create_job_schedule(models.BatchJobScheduleCreateOptions(
        id=SCHEDULE,
        schedule=models.BatchJobScheduleConfiguration(recurrence_interval=datetime.timedelta(hours=1)),
        job_specification=models.BatchJobSpecification(pool_info=models.BatchPoolInfo(pool_id=POOL)),
    ))  # fmt: skip
    assert client.job_schedule_exists(SCHEDULE)
    until(lambda: list(client.list_jobs_from_schedule(SCHEDULE)), "a job of the schedule")
    client.replace_job_schedule(SCHEDULE, client.get_job_schedule(SCHEDULE))
    client.disable_job_schedule(SCHEDULE)
    client.enable_job_schedule(SCHEDULE)
    ended(client.begin_terminate_job_schedule(SCHEDULE, **SOON))
    assert client.get_job_schedule(SCHEDULE).state == models.BatchJobScheduleState.COMPLETED
    ended(client.begin_delete_job_schedule(SCHEDULE, **SOON))
    refused(404, client.job_schedule_exists, SCHEDULE)  # the client raises where it could say False


def end():
    client.update_job(JOB, models.BatchJobUpdateOptions(priority=100))
    client.replace_job(JOB, client.get_job(JOB))
    ended(client.begin_disable_job(JOB, models.BatchJobDisableOptions(disable_tasks="requeue"), **SOON))
    assert client.get_job(JOB).state == models.BatchJobState.DISABLED
    client.create_task(JOB, models.BatchTaskCreateOptions(id="late", command_line="/bin/true"))
    client.replace_task(JOB, "late", client.get_task(JOB, "late"))
    ended(client.begin_enable_job(JOB, **SOON))
    ended(client.begin_terminate_job(JOB, options={"terminateReason": "enough"}, **SOON))
    job = client.get_job(JOB)
    assert (job.state, job.priority, job.execution_info.termination_reason) == ("completed", 100, "enough")
    client.delete_task(JOB, "more1")
    ended(client.begin_delete_job(JOB, **SOON))
    refused("JobNotFound", client.get_job, JOB)
    refused("OperationInvalidForCurrentState", client.begin_stop_pool_resize, POOL)
    ended(client.begin_delete_pool(POOL, **SOON))
    refused(404, client.pool_exists, POOL)


make_pool()
done = run_job()
read_files(done)
use_a_schedule()
use_a_node(done)
end()
print(f"ok python-batch-{sys.argv[1]} {client._config.api_version}")

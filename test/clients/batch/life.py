# SPDX-License-Identifier: MIT
"""The life of a pool, a job and its tasks through azure-batch 4.1 to 14, unmodified:
life.py VERSION, with the variables of `batchaid env ACCOUNT` and PACKAGE, a package of the account, and BLOB_URL."""

import datetime
import io
import os
import sys
import time

import azure.batch.models as models
from azure.batch import BatchServiceClient
from azure.batch.batch_auth import SharedKeyCredentials

try:
    from azure.batch.models import BatchErrorException
except ImportError:
    from azure.batch.models.batch_error import BatchErrorException

key = SharedKeyCredentials(os.environ["AZURE_BATCH_ACCOUNT"], os.environ["AZURE_BATCH_ACCESS_KEY"])
client = BatchServiceClient(key, **{"base_url" if sys.argv[1].startswith("4.") else "batch_url": os.environ["AZURE_BATCH_ENDPOINT"]})
name = "python-" + sys.argv[1].replace(".", "-")
POOL, JOB = f"{name}-pool", f"{name}-job"


def until(condition, what):
    end = time.monotonic() + 60
    while True:
        seen = condition()
        if seen:
            return seen
        assert time.monotonic() < end, what
        time.sleep(0.05)


def refused(code, call, *arguments, **more):
    try:
        call(*arguments, **more)
    except BatchErrorException as e:
        assert e.error.code == code, e.error.code
        return
    raise AssertionError(f"{call} {arguments} was not refused")


def image():
    """An image of Ubuntu and the agent's id for it, out of what the service lists."""
    if hasattr(client.account, "list_supported_images"):
        return next((i.image_reference, i.node_agent_sku_id) for i in client.account.list_supported_images()
                    if i.image_reference.offer.lower() == "ubuntuserver")  # fmt: skip
    return next((i, agent.id) for agent in client.account.list_node_agent_skus()
                for i in agent.verified_image_references if i.offer == "UbuntuServer")  # fmt: skip


def make_pool():
    reference, agent = image()
    client.pool.add(models.PoolAddParameter(
        id=POOL,
        vm_size="Standard_D2_v2",
        target_dedicated_nodes=1,
        virtual_machine_configuration=models.VirtualMachineConfiguration(image_reference=reference, node_agent_sku_id=agent),
        start_task=models.StartTask(command_line="/bin/sh -c 'echo $AZ_BATCH_NODE_ID'", wait_for_success=True),
        metadata=[models.MetadataItem(name="made by", value=name)],
    ))  # fmt: skip
    assert client.pool.exists(POOL)
    assert steady()
    client.pool.resize(POOL, models.PoolResizeParameter(target_dedicated_nodes=2))
    until(lambda: len([n for n in client.compute_node.list(POOL) if n.state.value == "idle"]) == 2, "two idle nodes")
    assert steady()
    client.pool.patch(POOL, models.PoolPatchParameter(metadata=[models.MetadataItem(name="a", value="b")]))
    pool = client.pool.get(POOL)
    assert (pool.state.value, pool.current_dedicated_nodes, pool.metadata[0].value) == ("active", 2, "b")
    assert POOL in [p.id for p in client.pool.list(models.PoolListOptions(filter=f"id eq '{POOL}'", select="id"))]
    refused("PoolExists", client.pool.add, models.PoolAddParameter(id=POOL, vm_size="Standard_D2_v2",
            virtual_machine_configuration=pool.virtual_machine_configuration))  # fmt: skip


def steady():
    return until(lambda: client.pool.get(POOL).allocation_state.value == "steady", "a steady pool")


def add_tasks():
    client.job.add(models.JobAddParameter(id=JOB, pool_info=models.PoolInformation(pool_id=POOL), uses_task_dependencies=True))
    url = "http_url" if "http_url" in models.ResourceFile._attribute_map else "blob_source"
    app, version = os.environ["PACKAGE"].split("#")
    variable = "AZ_BATCH_APP_PACKAGE_" + f"{app}_{version}".replace(".", "_")
    client.task.add(JOB, models.TaskAddParameter(
        id="first",
        command_line=f"/bin/sh -c '${variable}/bin/say.sh; cat blob.txt; echo $GREETING'",
        environment_settings=[models.EnvironmentSetting(name="GREETING", value=name)],
        application_package_references=[models.ApplicationPackageReference(application_id=app, version=version)],
        resource_files=[models.ResourceFile(**{url: os.environ["BLOB_URL"], "file_path": "blob.txt"})],
        constraints=models.TaskConstraints(max_wall_clock_time=datetime.timedelta(minutes=10), max_task_retry_count=1),
    ))  # fmt: skip
    more = [models.TaskAddParameter(id=f"more{n}", command_line="/bin/true") for n in range(120)]
    more[0].command_line = "/bin/sh -c 'exit 3'"
    more[-1].depends_on = models.TaskDependencies(task_ids=["first"])
    for at in (0, 100):  # later clients would cut it themselves
        added = client.task.add_collection(JOB, more[at : at + 100]).value
        assert {t.status.value.lower() for t in added} == {"success"} and len(added) == len(more[at : at + 100])
    refused("TaskExists", client.task.add, JOB, models.TaskAddParameter(id="first", command_line="/bin/true"))


def run_job():
    add_tasks()
    open_tasks = models.TaskListOptions(filter="state ne 'completed'", max_results=50)
    until(lambda: not list(client.task.list(JOB, open_tasks)), "all tasks completed")
    counts = client.job.get_task_counts(JOB)
    counts = getattr(counts, "task_counts", counts)
    assert (counts.completed, counts.succeeded, counts.failed) == (121, 120, 1), counts
    assert len(list(client.task.list(JOB))) == 121
    first, failed = client.task.get(JOB, "first"), client.task.get(JOB, "more0")
    assert (first.execution_info.exit_code, first.execution_info.result.value.lower()) == (0, "success")
    assert (failed.execution_info.exit_code, failed.execution_info.failure_info.code) == (3, "FailureExitCode")
    return first


def read_files(task):
    text = b"".join(client.file.get_from_task(JOB, task.id, "stdout.txt")).decode()
    assert text == f"from a package\nfrom a blob\n{name}\n", text
    assert client.file.get_properties_from_task(JOB, task.id, "stdout.txt", raw=True).response.headers["Content-Length"] == str(len(text))
    part = client.file.get_from_task(JOB, task.id, "stdout.txt", models.FileGetFromTaskOptions(ocp_range="bytes=0-3"))
    assert b"".join(part) == b"from"
    names = [f.name for f in client.file.list_from_task(JOB, task.id, recursive=True)]
    assert {"stdout.txt", "stderr.txt", "wd/blob.txt"} <= set(names), names
    node, below = task.node_info.node_id, task.node_info.task_root_directory
    again = io.BytesIO(b"".join(client.file.get_from_compute_node(POOL, node, f"{below}/stdout.txt")))
    assert again.getvalue().decode() == text
    client.file.delete_from_task(JOB, task.id, "wd/blob.txt")
    refused("FileNotFound", client.file.get_from_task, JOB, task.id, "wd/blob.txt")


def use_a_node(task):
    node = task.node_info.node_id
    client.compute_node.add_user(POOL, node, models.ComputeNodeUser(name="ada", password="pw-never-Shown1"))
    assert client.compute_node.get_remote_login_settings(POOL, node).remote_login_port > 0
    client.compute_node.delete_user(POOL, node, "ada")
    client.compute_node.disable_scheduling(POOL, node)
    assert client.compute_node.get(POOL, node).scheduling_state.value == "disabled"
    client.compute_node.enable_scheduling(POOL, node)


def end():
    client.job.patch(JOB, models.JobPatchParameter(priority=100))
    client.job.disable(JOB, "requeue")
    until(lambda: client.job.get(JOB).state.value == "disabled", "a disabled job")
    client.job.enable(JOB)
    client.job.terminate(JOB, terminate_reason="enough")
    job = until(lambda: (j := client.job.get(JOB)).state.value == "completed" and j, "a completed job")
    assert (job.priority, job.execution_info.terminate_reason) == (100, "enough")
    client.task.delete(JOB, "more1")
    client.job.delete(JOB)
    until(lambda: JOB not in [j.id for j in client.job.list()], "no job")
    refused("JobNotFound", client.job.get, JOB)
    client.pool.delete(POOL)
    until(lambda: not client.pool.exists(POOL), "no pool")


make_pool()
done = run_job()
read_files(done)
use_a_node(done)
end()
print(f"ok python-batch-{sys.argv[1]} {client.api_version}")

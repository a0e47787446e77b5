# SPDX-License-Identifier: MIT
"""Airflow's AzureBatchOperator, unmodified: it makes a pool, a job and a task, waits for the task and deletes the job and the
pool. The environment is that of `batchaid env ACCOUNT`."""

import json
import os

os.environ["AIRFLOW_CONN_AZURE_BATCH_DEFAULT"] = json.dumps({
    "conn_type": "azure_batch",
    "login": os.environ["AZURE_BATCH_ACCOUNT"],
    "password": os.environ["AZURE_BATCH_ACCESS_KEY"],
    "extra": {"account_url": os.environ["AZURE_BATCH_ENDPOINT"]},
})

from airflow.providers.microsoft.azure.operators.batch import AzureBatchOperator  # noqa: E402

operator = AzureBatchOperator(
    task_id="one",
    batch_pool_id="airflow-pool",
    batch_pool_vm_size="standard_d2s_v3",
    batch_job_id="airflow-job",
    batch_task_command_line="/bin/sh -c 'echo from airflow'",
    batch_task_id="airflow-task",
    vm_publisher="canonical",
    vm_offer="0001-com-ubuntu-server-jammy",
    vm_sku="22_04-lts",
    vm_node_agent_sku_id="batch.node.ubuntu 22.04",
    target_dedicated_nodes=1,
    timeout=5,
    should_delete_job=True,
    should_delete_pool=True,
)
operator.execute({})

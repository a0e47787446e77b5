# SPDX-License-Identifier: MIT
"""Jobs from Python, in a program or a notebook:

    import batchaid

    job = batchaid.submit(["python3", "train.py"], gpus=2, time="4h")
    job.wait()
    print(job.logs(tail=20))
    job.files().download("results")

docs/python.md of the project describes it. And a daemon for tests:

    with batchaid.Cloud() as cloud:
        test = cloud.subscription()
        client = test.batchai_client()
        ...

docs/testing.md describes what a test can ask for. Only the standard library is needed; clients of Azure need the packages
that they come from.
"""

from .client import Client, Current, connect
from .cloud import Cloud, Subscription
from .errors import (
    BatchaidError,
    Conflict,
    InvalidArgument,
    JobFailed,
    JobGone,
    LoginNeeded,
    NotAllowed,
    NotFound,
    Unreachable,
    WaitTimeout,
)
from .output_files import File
from .remote_job import Job
from .submission import Plan

_current = Current()
submit, job, jobs, queue, nodes = _current.submit, _current.job, _current.jobs, _current.queue, _current.nodes

__all__ = [
    "BatchaidError", "Client", "Cloud", "Conflict", "File", "InvalidArgument", "Job", "JobFailed", "JobGone", "LoginNeeded",
    "NotAllowed", "NotFound", "Plan", "Subscription", "Unreachable", "WaitTimeout", "connect", "job", "jobs", "nodes", "queue",
    "submit",
]  # fmt: skip

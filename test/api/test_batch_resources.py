# SPDX-License-Identifier: MIT
"""Resource files of Azure Batch's tasks: blobs of accounts of this daemon, put onto the node before a task begins."""

import pytest

OWN_POOL = {"id": "pool", "targetDedicatedNodes": 1}


def test_files_are_there_when_the_task_begins(jobs, container):
    (container.folder / "data.txt").write_text("from a blob\n")
    (container.folder / "big.bin").write_bytes(bytes(range(256)) * 20000)
    (container.folder / "run.sh").write_text("#!/bin/sh\ncat sub/data.txt\nwc -c < big.bin\n")
    files = [
        {"httpUrl": container.url("data.txt"), "filePath": "sub/data.txt"},
        {"httpUrl": container.url("big.bin"), "filePath": "big.bin"},
        {"httpUrl": container.url("run.sh"), "filePath": "run.sh", "fileMode": "0755"},
    ]
    job = jobs()
    job.good("./run.sh", id="t", resourceFiles=files)
    out = job.plane.call("GET", f"{job.url}/tasks/t/files/stdout.txt", expect=200)
    assert out.content == b"from a blob\n5120000\n"


@pytest.mark.parametrize(
    "name, more, code",
    [
        ("none.txt", {}, "BlobNotFound"),
        ("data.txt", {"signed": False}, "BlobAccessDenied"),
        ("data.txt", {"write": True}, "BlobAccessDenied"),
    ],
)
def test_what_cannot_be_had_is_named_without_its_signature(jobs, container, name, more, code):
    (container.folder / "data.txt").write_text("from a blob\n")
    url = container.url(name, **more)
    failed = jobs().done("/bin/true", id="t", resourceFiles=[{"httpUrl": url, "filePath": "x"}])
    info = failed["executionInfo"]["failureInfo"]
    assert info["code"] == code and info["category"] == "UserError"
    said = " ".join(d["value"] for d in info["details"])
    assert url.split("?")[0] in said and "sig=" not in said

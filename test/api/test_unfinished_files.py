# SPDX-License-Identifier: MIT
"""The file of an upload that has not ended, where the file system has no files without a name: nobody is given it, and
no list shows it."""

import contextlib
import fcntl
from urllib.parse import quote

import pytest
from support.batch_store import InputStore
from support.boxes import Box
from support.world import fresh

BEGIN = ".batchaid-unfinished-"
HALF = BEGIN + "0123456789abcdef"
OWN_POOL = {"id": "pool", "targetDedicatedNodes": 1}
OWN_STORE = InputStore


@pytest.fixture
def inputs(store):
    return Box(store.accounts, store.account, "inputs")


@contextlib.contextmanager
def being_written(folder):
    """As its writer has it: locked, because lists remove what no writer has."""
    path = folder / HALF
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("half\n")
        file.flush()
        yield
        assert path.read_text() == "half\n"
        path.unlink()


def by_url(store, blob):
    url, _, query = store.url().partition("?")
    return {"httpUrl": f"{url}/{quote(blob)}?{query}", "filePath": "x"}


def printed(job, command, **more):
    return job.text(job.good(command, **more)["id"])


def found_by(job, way):
    """The names of the files that a task of it gets; those of other tests are not counted."""
    out = printed(job, '/bin/sh -c "mkdir -p in && find in -type f"', resourceFiles=[way])
    return sorted({path.rpartition("/")[2] for path in out.split()} - {"copy"})


@pytest.mark.parametrize("below", ["", "dir/"])
def test_a_task_gets_no_half_of_a_blob(jobs, store, inputs, below):
    inputs.put(f"{below}whole")
    with being_written(inputs.folder / below):
        info = jobs().done("/bin/cat x", resourceFiles=[by_url(store, below + HALF)])["executionInfo"]
        assert info.get("failureInfo", {}).get("code") == "BlobNotFound", info
        for way in ({"storageContainerUrl": store.url()}, {"autoStorageContainerName": "inputs"}):
            for prefix, found in ((below, ["whole"]), (below + BEGIN, [])):
                assert found_by(jobs(), way | {"blobPrefix": prefix, "filePath": "in"}) == found


def test_no_request_reads_half_a_blob(daemon, inputs):
    inputs.put("whole")
    with being_written(inputs.folder):
        for method in ("GET", "HEAD", "DELETE"):
            assert inputs.ask(method, HALF).status == 404, method
        assert inputs.ask("PUT", HALF, "?comp=metadata", x_ms_meta_a="b").status == 404
        source = f"https://{inputs.account}.blob.core.localhost:{daemon.port}/inputs/{HALF}"
        assert inputs.ask("PUT", "copy", x_ms_copy_source=source).status == 404
        listed = inputs.ask("GET", "", "?restype=container&comp=list").text
        assert "whole" in listed and BEGIN not in listed
        page = f"/batchaid/storage/content?account={inputs.account}&kind=blobs&share=inputs&path={HALF}"
        assert daemon.call("GET", page, api_version=None).status == 404


def test_a_blob_may_have_such_a_name(jobs, store, inputs):
    for name in (HALF, f"{HALF}/deep", f"dir/{BEGIN}"):
        inputs.put(name, name.encode())
        assert inputs.ask("GET", name).content == name.encode()
        assert f"<Name>{name}</Name>" in inputs.ask("GET", "", "?restype=container&comp=list").text
        assert printed(jobs(), "/bin/cat x", resourceFiles=[by_url(store, name)]) == name
        assert not list(inputs.folder.rglob(BEGIN + "*"))
        assert inputs.ask("DELETE", name).status == 202


@pytest.fixture(scope="module")
def share(daemon, store):
    store.accounts.share(store.account, "files")
    return Box(store.accounts, store.account, "files", "files")


def test_no_request_reads_half_a_file(daemon, share):
    with being_written(share.folder):
        assert share.ask("GET", HALF).status in (400, 404)
        assert share.ask("HEAD", HALF).status in (400, 404)
        assert BEGIN not in share.ask("GET", "", "?restype=directory&comp=list").text
        page = f"/batchaid/storage/content?account={share.account}&kind=files&share=files&path={HALF}"
        assert daemon.call("GET", page, api_version=None).status == 404


def test_no_directory_is_made_that_lists_leave_out(share):
    for name in (HALF, BEGIN):
        assert share.ask("PUT", name, "?restype=directory").status == 400
        assert share.ask("PUT", f"{name}/f", x_ms_type="file", x_ms_content_length="0").status in (400, 404)
    assert not list(share.folder.rglob(BEGIN + "*"))


def test_the_files_of_a_job_leave_it_out(place, shared_cluster):
    root = "$AZ_BATCHAI_MOUNT_ROOT/out"
    out = [{"id": "OUT", "pathPrefix": root}]
    job = place.job(shared_cluster, "touch $AZ_BATCHAI_OUTPUT_OUT/whole", name=fresh("half"), outputDirectories=out).succeeded()
    with being_written(place.share() / job.properties["jobOutputDirectoryPathSegment"] / "outputs"):
        assert [f["name"] for f in job.files("OUT")] == ["whole"]

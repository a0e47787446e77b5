# SPDX-License-Identifier: MIT
"""The bytes of an archived blob by other ways than the blob service: links, pages, files and packages of tasks."""

from urllib.parse import quote

import pytest
from support.accounts import Accounts
from support.batch_packages import packaged, upload
from support.batch_store import InputStore
from support.boxes import Box
from support.world import fresh

OWN_POOL = {"id": "pool", "targetDedicatedNodes": 1}
OWN_STORE = InputStore
ODD = "odd//name"  # which no file can have


# --- what jobs of Batch AI leave behind ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["box", "Box"])
def output(daemon, _place, temporary_in_file, request):
    """A job whose output is in the container "box", which its mount may spell with a capital letter."""
    accounts = temporary_in_file(Accounts(daemon).make())
    account = accounts.account()
    accounts.share(account, "box", kind="blobs")
    box = Box(accounts, account, "box")
    blobs = {"accountName": account, "containerName": request.param, "credentials": {"accountKey": box.key}, "relativeMountPath": "box"}
    mounts = {"mountVolumes": {"azureBlobFileSystems": [blobs]}}
    root = "$AZ_BATCHAI_MOUNT_ROOT/box"
    job = _place.job(
        _place.cluster(1, nodeSetup=mounts),
        "echo result > $AZ_BATCHAI_OUTPUT_OUT/result.txt",
        name=fresh("archived"),
        stdOutErrPathPrefix=root,
        outputDirectories=[{"id": "OUT", "pathPrefix": root}],
    ).succeeded()
    segment = job.properties["jobOutputDirectoryPathSegment"]
    return job, box, f"{segment}/outputs/result.txt"


def test_a_download_link_gives_no_archived_bytes(daemon, output):
    job, box, blob = output
    link = job.link("result.txt", "OUT")
    assert daemon.fetch(link).content == b"result\n"
    box.tier(blob, "Archive")
    for headers in ({}, {"Range": "bytes=0-1"}):
        got = daemon.fetch(link, **headers)
        assert got.status == 409 and "BlobArchived" in got.text and "result" not in got.text
    assert daemon.fetch(link, method="HEAD").headers["Content-Length"] == "7"
    box.tier(blob, "Hot")
    assert daemon.fetch(link).content == b"result\n"


def test_the_page_gives_no_archived_bytes(daemon, output):
    job, box, blob = output
    group, workspace, experiment = (job.path.split("/")[i] for i in (4, 8, 10))
    of_job = f"/batchaid/jobs/{group}/{workspace}/{experiment}/{job.name}/files/content?directory=OUT&path=result.txt"
    of_box = f"/batchaid/storage/content?account={box.account}&kind=blobs&share=box&path={quote(blob)}"
    for path in (of_job, of_box, of_box + "&download=true"):
        read = lambda method="GET": daemon.call(method, path, api_version=None)
        assert read().content == b"result\n"
        box.tier(blob, "Archive")
        assert (read().status, read().code) == (409, "BlobArchived")
        assert read("HEAD").headers["Content-Length"] == "7"
        box.tier(blob, "Hot")
        assert read().content == b"result\n"


def test_what_a_job_wrote_since_is_read(daemon, output):
    job, box, blob = output
    link = job.link("result.txt", "OUT")
    box.tier(blob, "Archive")
    (box.folder / blob).write_text("written again\n")
    assert daemon.fetch(link).content == b"written again\n"
    (box.folder / blob).write_text("result\n")


# --- what tasks of Azure Batch are given --------------------------------------------------------------------------------


@pytest.fixture
def inputs(store):
    return Box(store.accounts, store.account, "inputs")


def ways(store, blob):
    """Each resource file that has the blob."""
    url, _, query = store.url().partition("?")
    yield {"httpUrl": f"{url}/{quote(blob)}?{query}", "filePath": blob}
    yield {"storageContainerUrl": store.url(), "blobPrefix": blob[:3]}
    yield {"autoStorageContainerName": "inputs", "blobPrefix": blob[:3]}


@pytest.mark.parametrize("blob", ["one.txt", ODD])
def test_a_task_gets_no_archived_blob(jobs, store, inputs, blob):
    inputs.put(blob)
    for way in ways(store, blob):
        job = jobs()
        inputs.tier(blob, "Archive")
        info = job.done("/bin/true", resourceFiles=[way])["executionInfo"]
        assert info["failureInfo"]["code"] == "BlobDownloadMiscError", info
        assert "archived" in str(info["failureInfo"]["details"]), info
        inputs.tier(blob, "Cool")
        job.good("/bin/cat " + blob.replace("//", "/"), resourceFiles=[way])


def test_another_spelling_of_a_path_names_no_blob(jobs, store, inputs):
    inputs.put("dir/f")
    inputs.tier("dir/f", "Archive")
    url, _, query = store.url().partition("?")
    for spelled in ("dir//f", "dir/./f", "./dir/f", "dir/f/"):
        info = jobs().done("/bin/cat f", resourceFiles=[{"httpUrl": f"{url}/{spelled}?{query}", "filePath": "f"}])["executionInfo"]
        assert info.get("failureInfo", {}).get("code") == "BlobNotFound", (spelled, info)


def test_other_blobs_of_the_container_are_no_hindrance(jobs, store, inputs):
    """An archived blob beside the prefix, and a file that a job wrote where an archived blob was."""
    for blob in ("both/a", "both-not/b"):
        inputs.put(blob)
        inputs.tier(blob, "Archive")
    (inputs.folder / "both" / "a").write_text("of a job\n")
    url, _, query = store.url().partition("?")
    job = jobs()
    for way in ({"storageContainerUrl": store.url(), "blobPrefix": "both/"}, {"httpUrl": f"{url}/both/a?{query}", "filePath": "both/a"}):
        task, _ = job.ran("/bin/cat both/a", resourceFiles=[way])
        job.succeed(task)
        assert job.text(task) == "of a job\n"


def test_an_archived_package_is_not_activated(daemon, temporary):
    accounts = temporary(packaged(daemon))
    path = f"/{accounts.name}/applications/app"
    accounts.call("PUT", path, expect=200)
    made = accounts.call("PUT", f"{path}/versions/1", expect=200).json["properties"]["storageUrl"]
    upload(daemon, made, b"an archive", expect=201)
    container, blob = made.partition("?")[0].split("/", 3)[3].split("/", 1)
    box = Box(accounts.store, accounts.store_name, container)
    box.tier(blob, "Archive")
    refused = accounts.call("POST", f"{path}/versions/1/activate", {"format": "zip"})
    assert refused.status == 409 and "archived" in refused.error["message"], refused
    box.tier(blob, "Hot")
    accounts.call("POST", f"{path}/versions/1/activate", {"format": "zip"}, expect=200)

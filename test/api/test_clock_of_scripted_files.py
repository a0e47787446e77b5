# SPDX-License-Identifier: MIT
"""What rules of fake nodes and seeds write has the time of the clock that tests set, wherever it is looked at."""

from datetime import timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.world import fresh, instant

ARGUMENTS = ("--fake-nodes",)
CLOCK = {"rate": 0}


def times(job, directory_id="stdouterr"):
    return {f["name"]: instant(f["properties"]["lastModified"]) for f in job.files(directory_id)}


def test_each_output_of_a_job_is_of_the_instant_at_which_its_rule_writes_it(place, t, clock):  # noqa: F811
    t.rules(
        {
            "duration": "PT6H",
            "stdout": ["began", {"at": "PT3H", "text": "half"}],
            "files": [{"path": "$AZ_BATCHAI_OUTPUT_MODEL/model.txt", "text": "weights", "at": "PT5H"}],
        }
    )
    outputs = [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out", "pathSuffix": "models"}]
    clock.advance("P2D")
    job = place.job(place.cluster(1), outputDirectories=outputs).running()
    began = instant(job.properties["executionInfo"]["startTime"])
    clock.advance("PT7H")
    job.succeed()
    ended = instant(job.properties["executionInfo"]["endTime"])
    assert ended - began == timedelta(hours=6)
    near = timedelta(seconds=1)  # lists have whole seconds
    seen = times(job)
    assert abs(seen["stdout.txt"] - began - timedelta(hours=3)) <= near, seen
    assert abs(seen["stderr.txt"] - began) <= near and abs(seen["execution.log"] - ended) <= near, seen
    assert abs(times(job, "MODEL")["model.txt"] - began - timedelta(hours=5)) <= near


def test_files_of_a_task_are_of_the_clocks_time_on_its_node(tested, t, clock, temporary):  # noqa: F811
    t.rules({"duration": "PT2H", "stdout": [{"at": "PT1H", "text": "half"}]})
    clock.advance("P1D")
    ground = temporary(BatchGround(tested))
    add_pool(ground.plane, "p", vmSize="fake", targetDedicatedNodes=1)
    job = Jobs(ground.plane, "p")()
    task = job.add("train")
    clock.advance("PT3H")
    (done,) = job.wait(task)
    began = instant(done["executionInfo"]["startTime"])
    head = ground.plane.call("HEAD", f"{job.url}/tasks/{task}/files/stdout.txt", expect=200)
    assert abs(parsedate_to_datetime(head.headers["Last-Modified"]) - began - timedelta(hours=1)) <= timedelta(seconds=1)


def test_what_a_seed_writes_is_of_the_clocks_time(tested, t, clock):  # noqa: F811
    clock.advance("P3D")
    name, port = fresh("seeded"), urlsplit(tested.endpoint).port
    account = {
        "location": "eastus",
        "kind": "StorageV2",
        "sku": {"name": "Standard_LRS"},
        "properties": {"allowBlobPublicAccess": True},
        "containers": {"box": {"properties": {"publicAccess": "Blob"}, "blobs": {"a": "bytes", "b/": "below", "c": {"text": "x", "metadata": {"k": "1"}}}}},
    }
    before = clock.now()
    t.seed({"groups": {"lab": {"location": "eastus", "storageAccounts": {name: account}}}})
    seen = []
    for blob in ("a", "b/", "c"):
        head = {"Host": f"{name}.blob.core.localhost:{port}", "x-ms-version": "2020-04-08"}
        reply = tested.call("HEAD", f"/box/{blob}", headers=head, token="", api_version=None, validate=False)
        assert reply.status == 200
        seen.append(parsedate_to_datetime(reply.headers["Last-Modified"]))
    t.reset()
    assert all(before.replace(microsecond=0) <= one <= clock.now() for one in seen), (before, seen)

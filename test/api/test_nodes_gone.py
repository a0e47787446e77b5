# SPDX-License-Identifier: MIT
"""What is known of ended work is known when its nodes are gone as well."""

from support.batch_jobs import Jobs, add_pool, resize
from support.world import fresh, wait_flag, wait_for


def test_of_a_job(own_place):
    """A second one waited for the same node; the cluster is scaled to none."""
    d, cluster, (host, inside) = own_place.daemon, own_place.cluster(1), own_place.flag(fresh("flag"))
    first = own_place.job(cluster, wait_flag(inside)).running()
    second = own_place.job(cluster, "false")
    host.touch()
    first.succeed()
    second.fail()

    def known():
        of = f"{own_place.group}/{own_place.workspace}/exp/{second.name}"
        read = lambda part: d.call("GET", f"/batchaid/{part}/{of}", api_version=None, expect=200).json  # noqa: E731
        return read("jobs"), read("usage"), second.get()

    wait_for(lambda: known()[1]["use"]["attempts"] == 1, what="the node to be free again")
    before = known()
    assert any(line["text"].startswith(f"it waited for job {first.name}, ") for line in before[0]["story"])
    cluster.resized(0)
    assert known() == before


def test_of_a_task(daemon, ground, plane, temporary):
    """On two nodes, with a preparation and a release."""
    add_pool(plane, "goes", targetDedicatedNodes=2, enableInterNodeCommunication=True)
    around = {kind: {"commandLine": "/bin/true"} for kind in ("jobPreparationTask", "jobReleaseTask")}
    job = temporary(Jobs(plane, "goes"))(**around)
    team = {"numberOfInstances": 2, "coordinationCommandLine": "/bin/true"}
    job.done("/bin/true", id="t", multiInstanceSettings=team)
    job.end()

    def known():
        of = {"job": job.id, "name": "t", "account": ground.name}
        shown = daemon.get("/batchaid/tasks", params=of)
        parts, around = plane.all(f"{job.url}/tasks/t/subtasksinfo"), plane.all(f"{job.url}/jobpreparationandreleasetaskstatus")
        return job.task("t"), parts, around, shown, job.get()

    before = known()
    assert len(before[1]) == 1 and len(before[2]) == 2
    resize(plane, "goes", 0)
    assert known() == before
    plane.remove_pool("goes")

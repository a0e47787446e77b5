# SPDX-License-Identifier: MIT
"""What takes time in strict mode, each as something that a test can find in its middle: Ground has what it is done to,
WHAT begins it, and Going looks at it."""

from .accounts import Accounts, account_body, account_name
from .batch import Plane
from .batch_jobs import Job as BatchJob
from .batch_jobs import add_pool
from .batch_rm import BatchAccounts
from .vaults import ALL, Safe, Vaults, policy, vault_body
from .waiting import wait_for
from .world import Place, cluster_body, file_server_body, fresh, job_body

# The sequences of states.
MAKING, GOING = ("creating", "succeeded"), ("succeeded", "deleting", "gone")
SIZES, NODES = ("steady", "resizing", "steady"), ("none", "preparing", "idle", "leaving", "none")
BATCH_NODES = ("none", "creating", "starting", "waitingforstarttask", "idle", "leavingpool", "none")


class Going:
    """`sequences`: what is looked at, and the states in the order in which they may come: (look, states).
    `reply`: of the request that began it. `then`: what else is so in the end."""

    def __init__(self, daemon, *sequences, reply=None, then=lambda: True):
        self.daemon, self.sequences, self.then = daemon, sequences, then
        heads = reply.headers if reply is not None else {}
        self.polls = [heads[name] for name in ("Azure-AsyncOperation", "Location") if name in heads]
        self.anew()

    def anew(self):
        """Strict mode was asked for: what was made just before is being created then."""
        self.seen = [[] for _ in self.sequences]

    def look(self):
        for (look, states), seen in zip(self.sequences, self.seen, strict=True):
            state = look()
            if not seen or seen[-1] != state:
                seen.append(state)
            at = 0
            for s in seen:
                assert s in states[at:], f"{seen} is not of the sequence {states}"
                at = states.index(s, at) + 1

    def is_over(self):
        self.look()
        ended = all(seen[-1] == states[-1] for seen, (_, states) in zip(self.seen, self.sequences, strict=True))
        return ended and all(self.has_ended(url) for url in self.polls) and self.then()

    def has_ended(self, url):
        reply = self.daemon.call("GET", url, api_version=None, validate=False)
        assert reply.status in (200, 202, 204), reply
        if "Azure-AsyncOperation" not in url and reply.status == 200 and reply.text and "status" in reply.json:
            assert reply.json["status"] in ("InProgress", "Succeeded"), reply.json
            return reply.json["status"] == "Succeeded"
        return reply.status != 202

    def said(self):
        return f"{self.seen}, {[(url, self.has_ended(url)) for url in self.polls]}, {self.then()}"


class Ground:
    """A workspace, an account of Azure Batch, one for storage and a vault, with nodes that are ready."""

    def __init__(self, daemon, t):
        self.daemon, self.t = daemon, t
        self.place = Place(daemon, fresh("group"), "ws")
        self.batch, self.accounts, self.vaults = BatchAccounts(daemon), Accounts(daemon), Vaults(daemon)
        self.batch_account, self.account, self.vault = fresh("batchground"), account_name(), fresh("vault")
        self.make()

    def make(self):
        self.place.make().experiment()
        self.cluster = self.place.cluster(1, "ready")
        for made in (self.batch, self.accounts, self.vaults):
            made.make()
        self.batch.account(self.batch_account)
        self.accounts.account(self.account)
        self.vaults.vault(policy(self.daemon.env["AZURE_CLIENT_ID"], **ALL), name=self.vault)
        self.plane = Plane(self.daemon, self.batch_account, self.batch.keys(self.batch_account)[0])
        self.pool("ready", 1)

    def safe(self):
        return Safe(self.daemon, self.vault)

    def pool(self, id, nodes):
        """One whose nodes can also be reimaged."""
        more = {"vmSize": "fake", "cloudServiceConfiguration": {"osFamily": "5"}, "resizeTimeout": "PT10H"}
        self.plane.call("POST", "/pools", {"id": id, "targetDedicatedNodes": nodes, **more}, expect=201)
        wait_for(lambda: self.plane.get(f"/pools/{id}")["allocationState"] == "steady", what="it is steady")
        wait_for(lambda: self.pool_nodes(id) == ("idle" if nodes else "none"), what="its nodes")
        return f"/pools/{id}"

    def pool_nodes(self, id):
        reply = self.plane.call("GET", f"/pools/{id}/nodes")
        states = sorted({n["state"] for n in reply.json["value"]}) if reply.status == 200 else []
        return " ".join(states) or "none"

    def works(self):
        """Jobs run on the nodes of both services."""
        job = self.place.job_at(fresh("after"))
        job.call("PUT", body=job_body(self.cluster.path), expect=(200, 202))
        task = BatchJob(self.plane, "ready")
        task.add("true", id="t")

        def ended():
            return job.state == "succeeded" and task.task("t")["state"] == "completed"

        wait_for(ended, what=lambda: f"{job.properties}, {task.task('t')}")
        job.call("DELETE", expect=(200, 202))
        self.plane.call("DELETE", task.url, expect=202)
        wait_for(lambda: job.gone() and self.plane.call("GET", task.url).status == 404, what="they are deleted")

    def remove(self):
        self.place.remove()
        for made in (self.batch, self.accounts, self.vaults):
            made.remove()
            wait_for(lambda path=made.base: self.daemon.call("HEAD", path).status == 404, what="a group to go")

    # --- what is looked at ---

    def provisioning(self, path, version="2018-05-01"):
        def look():
            reply = self.daemon.call("GET", path, api_version=version)
            return "gone" if reply.status == 404 else reply.json["properties"]["provisioningState"].lower()

        return look

    def of_cluster(self, cluster, name):
        def look():
            reply = cluster.call("GET")
            return "gone" if reply.status == 404 else reply.json["properties"][name]

        return look

    def cluster_nodes(self, cluster):
        def look():
            reply = cluster.call("GET")
            counts = reply.json["properties"]["nodeStateCounts"] if reply.status == 200 else {}
            return " ".join(k.removesuffix("NodeCount") for k, n in counts.items() if n) or "none"

        return look

    def of_batch(self, url, name="state"):
        return lambda: self.plane.call("GET", url).json.get(name, "gone")


# --- each: prepares what it is done to, and returns what begins it ------------------------------------


def cluster_is_created(g):
    cluster = g.place.cluster_at(fresh("c"))

    def begin():
        reply = cluster.call("PUT", body=cluster_body(1), expect=202)
        looks = (g.provisioning(cluster.path), MAKING), (g.of_cluster(cluster, "allocationState"), SIZES)
        return Going(g.daemon, *looks, (g.cluster_nodes(cluster), NODES[:3]), reply=reply)

    return begin


def cluster_grows(g):
    cluster = g.place.cluster(0)

    def begin():
        cluster.resize(1)
        return Going(g.daemon, (g.of_cluster(cluster, "allocationState"), SIZES), (g.cluster_nodes(cluster), NODES[:3]))

    return begin


def cluster_shrinks(g):
    cluster = g.place.cluster(1)

    def begin():
        cluster.resize(0)
        return Going(g.daemon, (g.of_cluster(cluster, "allocationState"), SIZES), (g.cluster_nodes(cluster), NODES[2:]))

    return begin


def deleted(g, path, version="2018-05-01", *more, states=GOING):
    def begin():
        reply = g.daemon.call("DELETE", path, api_version=version, expect=202)
        return Going(g.daemon, (g.provisioning(path, version), states), *more, reply=reply)

    return begin


def cluster_is_deleted(g):
    cluster = g.place.cluster(1)
    return deleted(g, cluster.path, "2018-05-01", (g.cluster_nodes(cluster), NODES[2:]))


def file_server_is_created(g):
    path = f"{g.place.path}/fileServers/{fresh('f')}"

    def begin():
        return Going(g.daemon, (g.provisioning(path), MAKING), reply=g.daemon.call("PUT", path, file_server_body(), expect=202))

    return begin


def file_server_is_deleted(g):
    return deleted(g, g.place.file_server().path)


def job_is_created(g):
    job = g.place.job_at(fresh("j"))

    def begin():
        reply = job.call("PUT", body=job_body(g.cluster.path), expect=202)
        states = (lambda: job.state), ("queued", "running", "succeeded")
        return Going(g.daemon, (g.provisioning(job.path), MAKING), states, reply=reply)

    return begin


def running_job(g):
    name = fresh("held")
    g.t.rules({"match": {"name": name}, "hold": True})
    job = g.place.job(g.place.cluster(1), name=name)
    wait_for(lambda: job.state == "running", what="it runs")
    return job


def job_is_terminated(g):
    job = running_job(g)

    def begin():
        reply = job.call("POST", "/terminate", expect=202)
        return Going(g.daemon, ((lambda: job.state), ("running", "terminating", "failed")), reply=reply)

    return begin


def job_is_deleted(g):
    return deleted(g, running_job(g).path)


def experiment_is_deleted(g):
    exp = fresh("e")
    g.place.job(g.cluster, experiment=exp)
    return deleted(g, g.place.experiment_path(exp))


def workspace_is_deleted(g):
    place = Place(g.daemon, g.place.group, fresh("w")).make()
    place.cluster(1)
    return deleted(g, place.path)


def group_is_deleted(g):
    place = Place(g.daemon, fresh("group"), "ws").make()
    place.cluster(1)
    return deleted(g, place.group_path, "2018-05-01")


def storage_account_is_created(g):
    name = account_name()
    path = f"{g.accounts.path}/{name}"

    def begin():
        reply = g.accounts.put(name, account_body())
        return Going(g.daemon, (g.provisioning(path, "2022-09-01"), MAKING), reply=reply, then=lambda: keys())

    def keys():
        return g.accounts.call("POST", f"/{name}/listKeys").status == 200

    return begin


def share_is_deleted(g):
    name = fresh("share")
    g.accounts.share(g.account, name)

    def begin():
        g.accounts.share(g.account, name, "DELETE", expect=200)
        return Going(g.daemon, then=lambda: g.accounts.share(g.account, name, expect=(200, 201, 409)).status != 409)

    return begin


def vault_is_created(g):
    name = fresh("vault")
    path = f"{g.vaults.path}/vaults/{name}"

    def begin():
        g.vaults.put(name, vault_body())
        return Going(g.daemon, (g.provisioning(path, "2022-07-01"), ("registeringdns", "succeeded")))

    return begin


def secret_is_deleted(g):
    name = fresh("s")
    g.safe().set(name, "v")

    def look():
        return g.safe().call("GET", f"/deletedsecrets/{name}", judged=False).status

    def begin():
        g.safe().delete(name)
        return Going(g.daemon, (look, (404, 200)))

    return begin


def batch_account_is_created(g):
    name = fresh("batchmade")
    path = f"{g.batch.path}/{name}"

    def begin():
        reply = g.batch.put(name)
        return Going(g.daemon, (g.provisioning(path, "2022-10-01"), MAKING), reply=reply)

    return begin


def batch_account_is_deleted(g):
    name = g.batch.account(fresh("batchgone"))
    return deleted(g, f"{g.batch.path}/{name}", "2022-10-01", states=("gone",))


def pool_is_created(g):
    id = fresh("p")

    def begin():
        start = {"startTask": {"commandLine": "true", "waitForSuccess": True}}
        add_pool(g.plane, id, vmSize="fake", targetDedicatedNodes=1, resizeTimeout="PT10H", **start)
        return Going(g.daemon, (g.of_batch(f"/pools/{id}", "allocationState"), SIZES), ((lambda: g.pool_nodes(id)), BATCH_NODES[:5]))

    return begin


def sized(g, before, after, states):
    id = fresh("p")
    url = g.pool(id, before)

    def begin():
        g.plane.call("POST", f"{url}/resize", {"targetDedicatedNodes": after, "resizeTimeout": "PT10H"}, expect=202)
        return Going(g.daemon, (g.of_batch(url, "allocationState"), SIZES), ((lambda: g.pool_nodes(id)), states))

    return begin


def pool_grows(g):
    return sized(g, 0, 1, BATCH_NODES[:5])


def pool_shrinks(g):
    return sized(g, 1, 0, BATCH_NODES[4:])


def pool_is_deleted(g):
    id = fresh("p")
    url = g.pool(id, 1)

    def begin():
        g.plane.call("DELETE", url, expect=202)
        return Going(g.daemon, (g.of_batch(url), ("active", "deleting", "gone")))

    return begin


def node_goes_on(operation, states):
    def prepare(g):
        id = fresh("p")
        url = g.pool(id, 1)
        (node,) = g.plane.all(f"{url}/nodes")

        def begin():
            g.plane.call("POST", f"{url}/nodes/{node['id']}/{operation}", expect=202)
            return Going(g.daemon, ((lambda: g.pool_nodes(id)), states))

        return begin

    return prepare


def batch_job_is(tail, states, method="POST", body=None, before=None):
    def prepare(g):
        job = BatchJob(g.plane, "none")
        if before:
            g.plane.call("POST", f"{job.url}/disable", before, expect=202)
            job.wait_state("disabled")

        def begin():
            g.plane.call(method, job.url + tail, body, expect=202)
            return Going(g.daemon, (g.of_batch(job.url), states))

        return begin

    return prepare


def task_runs(g):
    job = BatchJob(g.plane, "ready")

    def begin():
        job.add("true", id="t")
        return Going(g.daemon, ((lambda: job.task("t")["state"]), ("active", "running", "completed")))

    return begin


REQUEUE = {"disableTasks": "requeue"}
WHAT = {
    "cluster that is created": cluster_is_created,
    "cluster that grows": cluster_grows,
    "cluster that shrinks": cluster_shrinks,
    "cluster that is deleted": cluster_is_deleted,
    "file server that is created": file_server_is_created,
    "file server that is deleted": file_server_is_deleted,
    "job that is created": job_is_created,
    "job that is terminated": job_is_terminated,
    "job that is deleted": job_is_deleted,
    "experiment that is deleted": experiment_is_deleted,
    "workspace that is deleted": workspace_is_deleted,
    "group that is deleted": group_is_deleted,
    "storage account that is created": storage_account_is_created,
    "share that is deleted": share_is_deleted,
    "vault that is created": vault_is_created,
    "secret that is deleted": secret_is_deleted,
    "Batch account that is created": batch_account_is_created,
    "Batch account that is deleted": batch_account_is_deleted,
    "pool that is created": pool_is_created,
    "pool that grows": pool_grows,
    "pool that shrinks": pool_shrinks,
    "pool that is deleted": pool_is_deleted,
    "node that restarts": node_goes_on("reboot", ("idle", "rebooting", "starting", "waitingforstarttask", "idle")),
    "node that is reimaged": node_goes_on("reimage", ("idle", "reimaging", "starting", "waitingforstarttask", "idle")),
    "Batch job that is disabled": batch_job_is("/disable", ("active", "disabling", "disabled"), body=REQUEUE),
    "Batch job that is enabled": batch_job_is("/enable", ("disabled", "enabling", "active"), before=REQUEUE),
    "Batch job that is terminated": batch_job_is("/terminate", ("active", "terminating", "completed")),
    "Batch job that is deleted": batch_job_is("", ("active", "deleting", "gone"), "DELETE"),
    "task": task_runs,
}

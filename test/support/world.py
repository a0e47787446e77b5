# SPDX-License-Identifier: MIT
"""The resources as tests speak of them: a Place is a resource group with a workspace in it; in it
stand clusters, experiments and jobs. Bodies are the smallest that the service takes; tests add what
they are about."""

import copy
import itertools
import json
from datetime import datetime, timezone
from pathlib import Path

from .waiting import wait_for

NUMBERS = itertools.count(1)
ACCOUNT, SHARE = "acct", "out"
MOUNT = "$AZ_BATCHAI_MOUNT_ROOT/out"


def fresh(prefix):
    return f"{prefix}{next(NUMBERS)}"


def instant(text):
    """A time of the wire, whose fraction has 0 to 3 digits: texts of it do not sort."""
    form = "%Y-%m-%dT%H:%M:%S.%fZ" if "." in text else "%Y-%m-%dT%H:%M:%SZ"
    return datetime.strptime(text, form).replace(tzinfo=timezone.utc)


def merge(base, extra):
    """A deep copy of base with extra laid over it; None removes a property."""
    out = copy.deepcopy(base)
    for key, value in (extra or {}).items():
        if value is None:
            out.pop(key, None)
        elif isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge(out[key], value)
        else:
            out[key] = copy.deepcopy(value)
    return out


def wishes(**values):
    return [{"name": f"BATCHAID_JOB_{name}", "value": str(value)} for name, value in values.items()]


def file_share(share=SHARE, mount=SHARE, account=ACCOUNT, **more):
    return {
        "accountName": account,
        "azureFileUrl": f"https://{account}.file.core.windows.net/{share}",
        "credentials": {"accountKey": "c2VjcmV0IGtleQ=="},
        "relativeMountPath": mount,
        **more,
    }


def cluster_body(nodes=1, **properties):
    base = {
        "vmSize": "Standard_D1",
        "scaleSettings": {"manual": {"targetNodeCount": nodes}},
        "userAccountSettings": {"adminUserName": "demo", "adminUserPassword": "pw-never-shown"},
        "nodeSetup": {"mountVolumes": {"azureFileShares": [file_share()]}},
    }
    return {"properties": merge(base, properties)}


def job_body(cluster_id, command="true", nodes=1, **properties):
    base = {
        "cluster": {"id": cluster_id},
        "nodeCount": nodes,
        "customToolkitSettings": {"commandLine": command},
        "stdOutErrPathPrefix": MOUNT,
    }
    return {"properties": merge(base, properties)}


def file_server_body(**properties):
    base = {
        "vmSize": "Standard_D1",
        "sshConfiguration": {
            "userAccountSettings": {"adminUserName": "demo", "adminUserPassword": "pw-never-shown"}
        },
        "dataDisks": {"diskSizeInGB": 10, "diskCount": 2, "storageAccountType": "Standard_LRS"},
    }
    return {"properties": merge(base, properties)}


class Resource:
    """Something at a path."""

    def __init__(self, daemon, path):
        self.daemon, self.path = daemon, path

    @property
    def name(self):
        return self.path.rsplit("/", 1)[1]

    def get(self):
        return self.daemon.get(self.path)

    @property
    def properties(self):
        return self.get()["properties"]

    def call(self, method, tail="", body=None, **more):
        return self.daemon.call(method, self.path + tail, body, **more)

    def gone(self):
        return self.call("GET").status == 404

    def delete(self):
        self.daemon.do("DELETE", self.path)


class Cluster(Resource):
    @property
    def id(self):
        return self.get()["id"]

    def counts(self):
        return self.properties["nodeStateCounts"]

    def scale(self, **settings):
        return self.call("PATCH", body={"properties": {"scaleSettings": settings}}, expect=200)

    def resize(self, nodes, option=None):
        manual = {"targetNodeCount": nodes}
        if option:
            manual["nodeDeallocationOption"] = option
        return self.scale(manual=manual)

    def resized(self, nodes):
        """Until it has been resized."""
        self.resize(nodes)
        return self.wait_steady(nodes)

    def wait_steady(self, nodes, limit=30):
        """Until it holds this many nodes, all of them idle or running."""

        def steady():
            p = self.properties
            c = p["nodeStateCounts"]
            ready = c["idleNodeCount"] + c["runningNodeCount"]
            return p["allocationState"] == "steady" and p["currentNodeCount"] == nodes == ready

        wait_for(steady, limit, lambda: f"{nodes} steady nodes in {json.dumps(self.properties)}")
        return self


class Job(Resource):
    @property
    def state(self):
        return self.properties["executionState"]

    def wait(self, *states, limit=30):
        """Until it is in one of these states (default: ended); returns its properties."""
        wanted = states or ("succeeded", "failed")

        def there():
            p = self.properties
            if p["executionState"] in wanted:
                return p
            if p["executionState"] in ("succeeded", "failed"):
                raise AssertionError(f"wanted {wanted}, but it ended: {json.dumps(p)}")
            return None

        return wait_for(there, limit, lambda: f"{self.name} {wanted}: {json.dumps(self.properties)}")

    def succeed(self, limit=30):
        p = self.wait(limit=limit)
        assert p["executionState"] == "succeeded", json.dumps(p)
        return p

    def succeeded(self, limit=30):
        """The job itself, once it has succeeded."""
        self.succeed(limit)
        return self

    def running(self, limit=30):
        """The job itself, once it runs."""
        self.wait("running", limit=limit)
        return self

    def fail(self, limit=30):
        p = self.wait(limit=limit)
        assert p["executionState"] == "failed", json.dumps(p)
        return p

    def files(self, directory_id="stdouterr", expect=200, **params):
        reply = self.list(directory_id, expect=expect, **params)
        return reply.json["value"] if expect == 200 else reply

    def list(self, directory_id="stdouterr", expect=None, validate=True, **params):
        """The reply with a list of files."""
        params = {"outputdirectoryid": directory_id, **params}
        return self.call("POST", "/listOutputFiles", params=params, expect=expect, validate=validate)

    def link(self, name, directory_id="stdouterr", **params):
        found = [f for f in self.files(directory_id, **params) if f["name"] == name]
        assert found, f"no {name} among {self.files(directory_id, **params)}"
        return found[0]["downloadUrl"]

    def read(self, name, directory_id="stdouterr", **params):
        """A file's text through its download link."""
        return self.daemon.fetch(self.link(name, directory_id, **params), expect=200).text

    def terminate(self):
        return self.call("POST", "/terminate", expect=(200, 202))


class In:
    """The daemon, as it is seen in another subscription."""

    def __init__(self, daemon, subscription):
        self._daemon, self.subscription = daemon, subscription

    def __getattr__(self, name):
        return getattr(self._daemon, name)


class Place:
    def __init__(self, daemon, group=None, workspace=None, location="northeurope"):
        self.daemon = daemon
        self.group = group or fresh("group")
        self.workspace = workspace or fresh("ws")
        self.location = location

    def make(self):
        self.daemon.call("PUT", self.group_path, {"location": self.location}, expect=(200, 201))
        self.daemon.do("PUT", self.path, {"location": self.location})
        return self

    def remove(self, limit=60):
        self.daemon.call("DELETE", self.group_path, expect=(202, 204, 404))
        wait_for(self._is_gone, limit, f"{self.group} to go")

    def _is_gone(self):
        status = self.daemon.call("HEAD", self.group_path).status
        if status == 401:  # where a clock runs fast, the token ran out meanwhile
            self.daemon.forget_token()
        return status == 404

    @property
    def group_path(self):
        return f"/subscriptions/{self.daemon.subscription}/resourceGroups/{self.group}"

    @property
    def path(self):
        return f"{self.group_path}/providers/Microsoft.BatchAI/workspaces/{self.workspace}"

    def experiment_path(self, name="exp"):
        return f"{self.path}/experiments/{name}"

    def experiment(self, name="exp"):
        self.daemon.do("PUT", self.experiment_path(name))
        return Resource(self.daemon, self.experiment_path(name))

    def whole(self, body):
        """What a resource's body has besides."""
        return body

    def cluster_at(self, name):
        return Cluster(self.daemon, f"{self.path}/clusters/{name}")

    def cluster(self, nodes=1, name=None, steady=True, **properties):
        cluster = self.cluster_at(name or fresh("cluster"))
        self.daemon.do("PUT", cluster.path, cluster_body(nodes, **properties))
        return cluster.wait_steady(nodes) if steady else cluster

    def job_at(self, name, experiment="exp"):
        return Job(self.daemon, f"{self.experiment_path(experiment)}/jobs/{name}")

    def job(self, cluster, command="true", nodes=1, name=None, experiment="exp", **properties):
        """Submits a job (in an experiment that is made if need be) and waits for the operation."""
        self.experiment(experiment)
        job = self.job_at(name or fresh("job"), experiment)
        cluster_id = cluster if isinstance(cluster, str) else cluster.path
        self.daemon.do("PUT", job.path, self.whole(job_body(cluster_id, command, nodes, **properties)))
        return job

    def file_server(self, name=None, **properties):
        server = Resource(self.daemon, f"{self.path}/fileServers/{name or fresh('nfs')}")
        self.daemon.do("PUT", server.path, self.whole(file_server_body(**properties)))
        return server

    def share(self, name=SHARE, account=ACCOUNT):
        return Path(self.daemon.share(account, name))

    def flag(self, name):
        """A file on the default share that a running job can wait for, and its path in the job."""
        return self.share() / name, f"{MOUNT}/{name}"


def wait_flag(path):
    """Shell text: waits until the test makes this file."""
    return f'while [ ! -e "{path}" ]; do sleep 0.02; done'

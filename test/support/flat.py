# SPDX-License-Identifier: MIT
"""The resources as the versions without workspaces have them: clusters, file servers and jobs stand
directly in a resource group. The group's home workspace is a Place, for the same seen from 2018-05-01."""

from .spec import API_VERSION, OLD_VERSIONS
from .world import Job, Place, cluster_body, fresh

HOME = "migrated"
LOCATION = "northeurope"


def located(body, location=LOCATION, **more):
    return {"location": location, **more, **body}


class Versioned:
    """A daemon that is spoken to in one api-version."""

    def __init__(self, daemon, version):
        self._daemon, self.version = daemon, version

    def __getattr__(self, name):
        return getattr(self._daemon, name)

    def call(self, method, path, body=None, api_version=None, **more):
        return self._daemon.call(method, path, body, api_version=api_version or self.version, **more)

    def get(self, path, **more):
        return self.call("GET", path, expect=200, **more).json

    def do(self, method, path, body=None, **more):
        return self._daemon.do(method, path, body, api_version=self.version, **more)


class FlatPlace(Place):
    """A resource group seen through one of the old versions."""

    def __init__(self, daemon, version=OLD_VERSIONS[0], group=None):
        super().__init__(Versioned(daemon, version), group, HOME, LOCATION)
        self.version = version

    def make(self):
        self.daemon.call("PUT", self.group_path, {"location": self.location}, expect=(200, 201))
        return self

    def remove(self):
        self.through(API_VERSION).remove()

    def through(self, version):
        """The same group, seen through another version."""
        if version != API_VERSION:
            return FlatPlace(self.daemon._daemon, version, self.group)
        return Place(self.daemon._daemon, self.group, HOME, LOCATION)

    @property
    def path(self):
        return f"{self.group_path}/providers/Microsoft.BatchAI"

    def whole(self, body):
        return located(body)

    def cluster(self, nodes=1, name=None, steady=True, tags=None, **properties):
        cluster = self.cluster_at(name or fresh("cluster"))
        body = located(cluster_body(nodes, **properties), **({"tags": tags} if tags else {}))
        self.daemon.do("PUT", cluster.path, body)
        return cluster.wait_steady(nodes) if steady else cluster

    def experiment(self, name=None):
        """There are none."""

    def job_at(self, name, experiment=None):
        return Job(self.daemon, f"{self.path}/jobs/{name}")

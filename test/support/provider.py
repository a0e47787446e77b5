# SPDX-License-Identifier: MIT
"""A provider's resources as tests speak of them: in a resource group of their own, and with requests that are
judged by the published documents."""

from .world import Resource, fresh

USUAL = object()


class Provided:
    """A resource group, and the resources of one kind in it."""

    provider = None  # "Microsoft.KeyVault"
    below = ""  # what paths are below, behind the provider: "/storageAccounts"
    collection = ""  # of the kind, below that: "/vaults"
    version = None  # the usual api-version
    judge = None  # of replies: cloud_spec.load()
    made = None  # the status of a PUT

    def __init__(self, daemon, group=None):
        self.daemon = daemon
        self.group = group or fresh("provided")
        self.subscription = f"/subscriptions/{daemon.subscription}"
        self.base = f"{self.subscription}/resourceGroups/{self.group}"
        self.path = f"{self.base}/providers/{self.provider}{self.below}"
        self.above = f"{self.subscription}/providers/{self.provider}"

    def make(self):
        self.daemon.call("PUT", self.base, {"location": "eastus"}, expect=(200, 201))
        return self

    def is_documented(self, path):
        return True

    def call(self, method, path, body=None, api_version=USUAL, **more):
        """Below self.path, unless it is a whole path."""
        path = path if path.startswith("/subscriptions") else self.path + path
        version = self.version if api_version is USUAL else api_version
        reply = self.daemon.call(method, path, body, api_version=version, validate=False, **more)
        return self.judge.judge(reply) if self.is_documented(path) else reply

    def put(self, name, body=None, expect=None, **more):
        return self.call("PUT", f"{self.collection}/{name}", body or self.body(), expect=expect or self.made, **more)

    def get(self, name, expect=200):
        return self.call("GET", f"{self.collection}/{name}", expect=expect).json

    def delete(self, name, expect=200):
        return self.call("DELETE", f"{self.collection}/{name}", expect=expect)

    def remove(self):
        group = Resource(self.daemon, self.base)
        group.call("DELETE", expect=(202, 404))
        return group

# SPDX-License-Identifier: MIT
"""Storage accounts as tests speak of them: a group of their own, and requests that are judged by the published
documents."""

import re

from . import cloud_spec
from .provider import Provided
from .world import fresh

RM_VERSION = "2022-09-01"
RM = cloud_spec.load(
    "storage-rm/2022-09-01", "storage.json", "blob.json", "file.json", "common.json", error="CloudError"
)
# In no document: where a client asks whether a new account is there.
UNDOCUMENTED = re.compile("/asyncoperations/")


def account_name():
    """A name that no test has had: lower-case letters and digits."""
    return re.sub("[^a-z0-9]", "", fresh("acct").lower())[-24:]


def account_body(sku="Standard_LRS", location="eastus", kind="StorageV2", tags=None, **properties):
    body = {"sku": {"name": sku}, "kind": kind, "location": location, "properties": properties}
    return body if tags is None else {**body, "tags": tags}


class Accounts(Provided):
    """A resource group, and the storage accounts in it."""

    provider, below, version, judge, made = "Microsoft.Storage", "/storageAccounts", RM_VERSION, RM, 202
    body = staticmethod(account_body)

    def is_documented(self, path):
        return not UNDOCUMENTED.search(path)

    def wait(self, reply):
        """The account, once the place that a reply names has it."""
        assert reply.content == b"" and reply.headers["content-type"].startswith("text/plain")
        place = reply.headers["location"].removeprefix(self.daemon.endpoint)
        path, _, query = place.partition("?")
        assert query == f"monitor=true&api-version={RM_VERSION}"
        return self.call("GET", path, params={"monitor": "true"}, expect=200).json

    def account(self, name=None, **more):
        """A new account's name."""
        name = name or account_name()
        self.wait(self.put(name, account_body(**more)))
        return name

    def keys(self, name):
        return [k["value"] for k in self.call("POST", f"/{name}/listKeys", expect=200).json["keys"]]

    def share(self, account, name, method="PUT", body=None, expect=201, kind="files"):
        above = "fileServices/default/shares" if kind == "files" else "blobServices/default/containers"
        return self.call(method, f"/{account}/{above}/{name}", body, expect=expect)

    def shares(self, account, kind="files", **query):
        above = "fileServices/default/shares" if kind == "files" else "blobServices/default/containers"
        return self.call("GET", f"/{account}/{above}", params=query, expect=200).json

    def folder(self, account, name, kind="files"):
        return self.daemon.state_dir / "storage" / account / kind / name

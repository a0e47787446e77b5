# SPDX-License-Identifier: MIT
"""Batch accounts as tests speak of them: a group of their own, and requests that are judged by the published
documents of their version, where there is one."""

import os
import re
from pathlib import Path

from . import cloud_spec, spec
from .provider import Provided
from .waiting import wait_for
from .world import fresh

RM_VERSION = "2022-10-01"
# Those of which there is a document, and all.
DOCUMENTED = ("2017-05-01", "2017-09-01", "2020-05-01", "2022-10-01", "2024-07-01")
VERSIONS = (
    "2017-05-01", "2017-09-01", "2018-12-01", "2019-04-01", "2019-08-01", "2020-03-01", "2020-05-01", "2020-09-01", "2021-01-01",
    "2021-06-01", "2022-01-01", "2022-06-01", "2022-10-01", "2023-05-01", "2023-11-01", "2024-02-01", "2024-07-01",
    "2025-06-01",
)  # fmt: skip
# In no document: where a client asks whether something long has ended.
UNDOCUMENTED = re.compile("/(accountO|o|poolO|certificateO)perationResults/")


def spec_dir():
    given = os.environ.get("BATCHAID_BATCH_SPEC_DIR")
    return Path(given) if given else spec.default_dir().parent / "batch" / "spec"


# Instants of Batch have up to seven digits of a second.
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,6}[1-9])?Z$"
# Secrets that documents require of requests, and of replies with them.
NEVER_SHOWN = re.compile("'(password|accountKey|sasKey)' is a required property")


class RmSpec(cloud_spec.CloudSpec):
    def _convert(self, schema, above):
        out = super()._convert(schema, above)
        if out.get("format") == "date-time":
            del out["format"]
            out["pattern"] = TIME
        return out

    def check(self, *reply):
        op, complaints = super().check(*reply)
        return op, [c for c in complaints if not NEVER_SHOWN.search(c)]


def load(version):
    folder = spec_dir() / "resource-manager" / version
    present = (folder / "BatchManagement.json").is_file()
    return RmSpec(folder, ["BatchManagement.json"], "CloudError") if present else cloud_spec.NoSpec()


JUDGES = {version: load(version) for version in DOCUMENTED}


def account_name():
    """A name that no test has had: lower-case letters and digits."""
    return re.sub("[^a-z0-9]", "", fresh("batch").lower())[-24:]


def account_body(location="eastus", tags=None, **properties):
    body = {"location": location, "properties": properties}
    return body if tags is None else {**body, "tags": tags}


class BatchAccounts(Provided):
    """A resource group, and the Batch accounts in it."""

    provider, below, version, made = "Microsoft.Batch", "/batchAccounts", RM_VERSION, 202
    body = staticmethod(account_body)

    def call(self, method, path, body=None, api_version=RM_VERSION, **more):
        path = path if path.startswith("/subscriptions") else self.path + path
        reply = self.daemon.call(method, path, body, api_version=api_version, validate=False, **more)
        judge = JUDGES.get(api_version)
        return judge.judge(reply) if judge and not UNDOCUMENTED.search(path) else reply

    def follow(self, reply, **more):
        """The reply of the place that a 202 names, once it is another."""
        while reply.status == 202:
            place = reply.headers["location"].removeprefix(self.daemon.endpoint)
            assert re.fullmatch(r"\d+", reply.headers["retry-after"]) and reply.content == b""
            path, _, query = place.partition("?")
            version = query.removeprefix("api-version=")
            reply = wait_for(lambda: self.ended(path, version, **more))
        return reply

    def ended(self, path, version, **more):
        reply = self.call("GET", path, api_version=version, **more)
        return None if reply.status == 202 else reply

    def account(self, name=None, **more):
        """A new account's name."""
        name = name or account_name()
        self.follow(self.put(name, account_body(**more)))
        return name

    def put(self, name, body=None, expect=None, **more):
        return self.call("PUT", f"/{name}", body or account_body(), expect=expect or 202, **more)

    def get(self, name, expect=200, **more):
        return self.call("GET", f"/{name}", expect=expect, **more).json

    def keys(self, name, **more):
        reply = self.call("POST", f"/{name}/listKeys", expect=200, **more).json
        assert reply["accountName"] == name
        return reply["primary"], reply["secondary"]

    def delete(self, name, expect=202, **more):
        return self.call("DELETE", f"/{name}", expect=expect, **more)

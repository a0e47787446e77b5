# SPDX-License-Identifier: MIT
"""The published documents of services around Batch AI as judges of replies, as spec.py has it for Batch AI's
own. Where their folder is absent, nothing is judged."""

import json
import os
from pathlib import Path

from . import spec


def default_dir():
    given = os.environ.get("BATCHAID_CLOUD_SPEC_DIR")
    return Path(given) if given else spec.default_dir().parent / "storage" / "spec"


# What lies in folders that are not beside the documents: the envelope of every resource.
_TEXT = {"type": "string"}
_RESOURCE = {"id": _TEXT, "name": _TEXT, "type": _TEXT}
COMMON_TYPES = {
    "Resource": {"properties": _RESOURCE},
    "ProxyResource": {"properties": _RESOURCE},
    "PrivateEndpointConnection": {},
    "AzureEntityResource": {"properties": {**_RESOURCE, "etag": _TEXT}},
    "TrackedResource": {
        "properties": {
            **_RESOURCE,
            "location": _TEXT,
            "tags": {"type": "object", "additionalProperties": _TEXT},
        },
        "required": ["location"],
    },
}


class CloudSpec(spec.Spec):
    """The documents in one folder of one version; the first has the operations."""

    def __init__(self, folder, files, error):
        self.error = error
        self.seen = set()
        documents = [json.loads((folder / f).read_text()) for f in files]
        for document in documents:
            document.setdefault("parameters", {})
        super().__init__(folder.name, documents)
        self.definitions = {**COMMON_TYPES, **self.definitions}
        # What was wrong where: the resource manager's errors have it, and not all documents say so.
        self.definitions.get("CloudErrorBody", {"properties": {}})["properties"]["target"] = {"type": "string"}

    def find(self, method, path):
        """The one with the most literal path."""
        found = [op for op in self.operations if op.method == method.upper() and op.pattern.match(path)]
        return min(found, key=lambda op: op.template.count("{"), default=None)

    def _check_error(self, body):
        try:
            document = json.loads(body)
        except ValueError as e:
            return [f"an error without a JSON body ({e}): {body[:200]!r}"]
        return self.check_definition(self.error, document)

    def judge(self, reply):
        op, complaints = self.check(reply.method, reply.url, reply.status, reply.headers, reply.content)
        assert op is not None, f"the document has no operation for {reply.method} {reply.url}"
        assert not complaints, "against the published spec:\n" + "\n".join(complaints)
        if reply.status < 400:
            self.seen.add(op.id)
        return reply


class NoSpec:
    seen = None

    def judge(self, reply):
        return reply


def load(folder, *files, error):
    """`folder`: "keyvault-rm/2022-07-01"."""
    folder = default_dir() / folder
    return CloudSpec(folder, files, error) if all((folder / f).is_file() for f in files) else NoSpec()

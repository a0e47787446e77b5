# SPDX-License-Identifier: MIT
"""A container or share of an account of the resource manager, asked by the account's key."""

from email.utils import formatdate
from urllib.parse import quote

from .storage import VERSION, sign

SERVICE = {"blobs": "blob", "files": "file"}


class Box:
    def __init__(self, accounts, account, name, kind="blobs"):
        self.daemon, self.account, self.name, self.kind = accounts.daemon, account, name, kind
        self.key = accounts.keys(account)[0]
        self.folder = accounts.folder(account, name, kind)

    def ask(self, method, item="", comp="", body=b"", **headers):
        """`item`: a blob or a path in the share; of the whole, if it is empty."""
        path = f"/{self.name}{item and '/'}{quote(item)}{comp}"
        head = {name.replace("_", "-"): value for name, value in headers.items()}
        head |= {"x-ms-date": formatdate(usegmt=True), "x-ms-version": VERSION, "Content-Length": str(len(body))}
        head["Content-Type"] = "text/plain"
        head["Authorization"] = sign(method, path, head, self.key, self.account)
        head["Host"] = f"{self.account}.{SERVICE[self.kind]}.core.localhost:{self.daemon.port}"
        return self.daemon.call(method, path, data=body, headers=head, token=None, api_version=None, validate=False)

    def put(self, blob, body=b"bytes\n"):
        assert self.ask("PUT", blob, body=body, x_ms_blob_type="BlockBlob").status == 201

    def tier(self, blob, tier):
        assert self.ask("PUT", blob, "?comp=tier", x_ms_access_tier=tier).status in (200, 202)

# SPDX-License-Identifier: MIT
"""Clients of the storage data planes: a daemon with ports of their own for blobs and files, and requests that are
signed here, so that a test can send what no SDK would."""

import base64
import hashlib
import hmac
import http.client
from email.utils import formatdate
from urllib.parse import parse_qsl, quote, urlsplit

from . import data_spec
from .daemon import Daemon, unguarded
from .ports import free_port

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
VERSION = "2021-12-02"
BLOBS = data_spec.load(f"blob/{VERSION}", "blob.json")
FILES = data_spec.load(f"file/{VERSION}", "file.json")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def code(self):
        return self.headers.get("x-ms-error-code")

    def __repr__(self):
        return f"<{self.status} {self.code} {self.body[:600]!r}>"


def sign(method, path, headers, key=KEY, account=ACCOUNT):
    """The Authorization header of SharedKey, for a path as it is sent."""
    parts = urlsplit(path)
    low = {k.lower(): str(v) for k, v in headers.items()}
    length = low.get("content-length", "")
    standard = [
        low.get(n, "")
        for n in ("content-encoding", "content-language")
    ] + ["" if length == "0" else length]
    standard += [low.get(n, "") for n in ("content-md5", "content-type")] + [""]
    standard += [
        low.get(n, "") for n in ("if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range")
    ]
    own = "".join(f"{k}:{v}\n" for k, v in sorted(low.items()) if k.startswith("x-ms-"))
    resource = f"/{account}{parts.path}"
    for name, value in sorted(parse_qsl(parts.query, keep_blank_values=True)):
        resource += f"\n{name.lower()}:{value}"
    text = "\n".join([method, *standard]) + "\n" + own + resource
    mac = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    return f"SharedKey {account}:{base64.b64encode(mac).decode()}"


class Plane:
    """One of the two services, at its own port; the account is in the path. `ours`: not another program's."""

    def __init__(self, port, spec=None, ours=True):
        self.port, self.spec, self.ours = port, spec, ours
        self.url = f"http://127.0.0.1:{port}/{ACCOUNT}"

    def call(self, method, path, body=b"", key=KEY, signed=True, **headers):
        """`path` as it is to be sent, behind the account; headers with _ for -."""
        path = f"/{ACCOUNT}{path}"
        sent = {"x-ms-version": VERSION, "x-ms-date": formatdate(usegmt=True)}
        sent.update({k.replace("_", "-"): v for k, v in headers.items() if v is not None})
        sent["Content-Length"] = str(len(body))
        sent = {k: v for k, v in sent.items() if headers.get(k.replace("-", "_"), "") is not None}
        if signed:
            sent["Authorization"] = sign(method, path, sent, key)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        answer.method, answer.url = method, path
        assert not self.ours or not unguarded(answer), unguarded(answer)
        if self.spec and sent.get("x-ms-version") == VERSION:
            self.spec.judge(method, path.removeprefix(f"/{ACCOUNT}"), answer)
        return answer


class StorageDaemon(Daemon):
    """A daemon with the emulators' account."""

    def __init__(self, config=None, **more):
        self.blob, self.file = Plane(free_port(), BLOBS), Plane(free_port(), FILES)
        storage = {
            "blob_listen": [f"127.0.0.1:{self.blob.port}"],
            "file_listen": [f"127.0.0.1:{self.file.port}"],
            **(config or {}).pop("storage", {}),
        }
        super().__init__(config={**(config or {}), "storage": storage}, **more)

    @property
    def folder(self):
        """Of the account."""
        return self.dir / "state" / "storage" / ACCOUNT


def encoded(name):
    return quote(name, safe="/")



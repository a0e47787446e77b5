# SPDX-License-Identifier: MIT
"""The data plane of Azure Batch as tests speak to it: requests that are signed here or carry a token, and replies that
are judged by the published document of their version, or, where there is none, by the tables of all versions."""

import base64
import csv
import hashlib
import hmac
import json
import re
from email.utils import formatdate
from urllib.parse import parse_qsl, quote, urlsplit

from . import batch_2025, cloud_spec, spec
from .batch_rm import NEVER_SHOWN, TIME, BatchAccounts, spec_dir
from .waiting import wait_for

# Those of which there is a document, and all.
DOCUMENTED = (
    "2017-09-01.6.0", "2018-03-01.6.1", "2020-03-01.11.0", "2022-10-01.16.0", "2024-02-01.19.0", "2024-07-01.20.0",
)  # fmt: skip
VERSIONS = (
    "2017-09-01.6.0", "2018-03-01.6.1", "2018-08-01.7.0", "2018-12-01.8.0", "2019-06-01.9.0", "2019-08-01.10.0",
    "2020-03-01.11.0", "2020-09-01.12.0", "2021-06-01.14.0", "2022-01-01.15.0", "2022-10-01.16.0", "2023-05-01.17.0",
    "2023-11-01.18.0", "2024-02-01.19.0", "2024-07-01.20.0", batch_2025.NAME,
)  # fmt: skip
V = {name.split(".", 1)[-1]: name for name in VERSIONS}  # "16.0"; "2025-06-01"
VERSION = V["16.0"]

DURATION = r"^P(?!$)(\d+D)?(T(?!$)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$"
ETAG = re.compile(r"0x[0-9A-F]{15,16}")

# The documents have all values in lower case; the service wrote these so, and clients compare without case.
AS_RECORDED = {v.lower(): v for v in (
    "UserError", "ServerError", "Validated", "Success", "ClientError", "TaskSuccess", "TaskFailure", "TaskCompletion",
    "Spread", "Pack", "CurrentUser", "LocalMachine",
)}  # fmt: skip


def before(version, other):
    return VERSIONS.index(version) < VERSIONS.index(other)


# --- the documents, and what the tables say of versions without one ------------------------------------------------


def rows(name):
    with open(spec_dir() / name, newline="") as f:
        lines = list(csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    return batch_2025.added(name, lines[1:])


def within(version, first, last):
    """Dates sort as texts, and each version has one of its own."""
    return first <= version and (not last or version <= last)


def kind_of(text, enum, definitions):
    if text.startswith("["):
        return {"type": "array", "items": kind_of(text[1:-1], "", definitions)}
    if text in definitions:
        return {"$ref": f"#/definitions/{text}"}
    if text == "integer":
        return {"type": "integer", "format": "any"}
    if text in ("boolean", "number", "object"):
        return {"type": text}
    return {"type": "string", "enum": enum.split("|")} if enum else {"type": "string"}


def table_document(version):
    """What a document would say of this version, as far as the tables do."""
    properties = [r + [""] * (7 - len(r)) for r in rows("properties-data.tsv")]
    properties = [r for r in properties if within(version, r[5], r[6])]
    names = {r[0] for r in properties}
    definitions = {n: {"type": "object", "properties": {}} for n in names}
    for definition, name, kind, flags, enum, _first, _last in properties:
        of = definitions[definition]
        of["properties"][name] = kind_of(kind, enum, names)
        if "ro" in flags.split(","):
            of["properties"][name]["readOnly"] = True
        if "R" in flags.split(","):
            of.setdefault("required", []).append(name)
    paths = {}
    for op in operations(version):
        body = [{"in": "body", "schema": {"$ref": f"#/definitions/{op.body}"}}] if op.body in names else []
        schema = {"schema": {"$ref": f"#/definitions/{op.reply}"}} if op.reply in names else {}
        paths.setdefault(op.path, {})[op.verb.lower()] = {
            "operationId": op.id,
            "parameters": body,
            "responses": {status: schema if status == op.statuses[0] else {} for status in op.statuses},
        }
    return {"definitions": definitions, "parameters": {}, "paths": paths}


class TableOperation:
    def __init__(self, row):
        row = row + [""] * (10 - len(row))
        self.id, self.verb, self.path, statuses, self.body, self.reply, query, conditions, self.first, self.last = row
        self.query, self.conditions = (set(text.replace("*", "").split(",")) - {"-", ""} for text in (query, conditions))
        self.statuses = statuses.split(",")
        self.place = (self.verb, re.sub(r"\{\w+\}", "{}", self.path))  # names of parameters do not matter

    def known(self, version):
        return within(version, self.first, self.last)


def operations(version=None):
    """Of one version, or of all."""
    all_of_them = [TableOperation(r) for r in rows("operations-data.tsv")]
    return [op for op in all_of_them if version is None or op.known(version)]


class PlaneSpec(cloud_spec.CloudSpec):
    """A document, or what the tables say, as a judge."""

    def __init__(self, version, document):
        self.error, self.seen = "BatchError", set()
        document.setdefault("parameters", {})
        spec.Spec.__init__(self, version, [document])
        # Certificates' paths have their key in parentheses, files' any number of segments.
        for op in self.operations:
            if "Path}" in op.template or "fileName}" in op.template:
                op.pattern = re.compile(re.sub(r"\\\{file(Path|Name)\\\}", ".+", op.pattern.pattern.replace("[^/]+/?$", ".+$")), re.I)

    def _convert(self, schema, above):
        out = super()._convert(schema, above)
        if "enum" in out:
            out["enum"] = [*out["enum"], *(AS_RECORDED[v] for v in out["enum"] if v in AS_RECORDED)]
        form = out.pop("format", None)
        if form == "date-time":
            out["pattern"] = TIME
        elif form == "duration":
            out["pattern"] = DURATION
        elif form in ("int64", "any"):  # a large number is a text; tables do not say which are large
            out = {"type": "string", "pattern": r"^-?\d+$"} if form == "int64" else {"type": ["integer", "string"]}
        return out

    def _check_error(self, body):
        try:
            document = json.loads(body)
        except ValueError as e:
            return [f"an error without a JSON body ({e}): {body[:200]!r}"]
        document.pop("odata.metadata", None)
        says = document.get("message", {}).get("value", "")
        complaints = [] if re.search(r"\nRequestId:[0-9a-f-]{36}\nTime:.*Z$", says) else [f"the message {says!r}"]
        return complaints + self.check_definition(self.error, document)

    def judge(self, reply):
        body = reply.content
        if reply.status == 304 or (reply.method == "HEAD" and reply.status >= 400):
            assert not body
            return reply
        if body and b"odata.metadata" in body and reply.status < 400:
            document = json.loads(body)
            assert document.pop("odata.metadata").split("/$metadata#")[0].startswith("https://")
            body = json.dumps(document).encode()
        op, complaints = self.check(reply.method, reply.url, reply.status, reply.headers, body)
        if op is None and reply.status < 400:
            complaints = [f"the version has no operation for {reply.method} {reply.url}"]
        complaints = [c for c in complaints if not NEVER_SHOWN.search(c)]
        if "$select" in reply.url or "%24select" in reply.url:
            complaints = [c for c in complaints if "is a required property" not in c]
        if op and op.id in ("File_GetFromTask", "File_GetFromComputeNode") and reply.status == 200:
            complaints = []  # bytes of any type
        assert not complaints, "against the published spec:\n" + "\n".join(complaints)
        if op and reply.status < 400:
            self.seen.add(op.id)
        return reply


def load(version):
    folder = spec_dir()
    if not (folder / "properties-data.tsv").is_file():
        return cloud_spec.NoSpec()
    document = folder / "data-plane" / version / "BatchService.json"
    return PlaneSpec(version, json.loads(document.read_text()) if document.is_file() else table_document(version))


PRESENT = (spec_dir() / "properties-data.tsv").is_file()
JUDGES = {version: load(version) for version in VERSIONS}


# --- the client ----------------------------------------------------------------------------------------------------


def sign(method, path, query, headers, account, key, raw_names=False):
    """The Authorization header of SharedKey. `query` is a list of pairs, decoded."""
    low = {k.lower(): str(v) for k, v in headers.items()}
    standard = ["content-encoding", "content-language", "content-length", "content-md5", "content-type"]
    lines = [method] + [low.get(n, "") for n in standard] + ["" if "ocp-date" in low else low.get("date", "")]
    lines += [low.get(n, "") for n in ("if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range")]
    own = [f"{k}:{v}\n" for k, v in sorted(low.items()) if k.startswith("ocp-")]
    text = "\n".join(lines) + "\n" + "".join(own) + f"/{account}{path}"
    for name, value in sorted(query):
        text += f"\n{name if raw_names else name.lower()}:{value}"
    mac = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    return f"SharedKey {account}:{base64.b64encode(mac).decode()}"


class Plane:
    """An account of a daemon. `by`: "key" or "token"."""

    def __init__(self, daemon, account, key=None, version=VERSION, by="key", location="eastus"):
        self.daemon, self.account, self.key = daemon, account, key
        self.version, self.by, self.location = version, by, location

    def at(self, version):
        return Plane(self.daemon, self.account, self.key, version, self.by, self.location)

    def with_token(self):
        return Plane(self.daemon, self.account, self.key, self.version, "token", self.location)

    @property
    def host(self):
        port = urlsplit(self.daemon.endpoint).port
        return f"{self.account}.{self.location}.batch.localhost:{port}"

    @property
    def url(self):
        return f"https://{self.host}"

    def head(self, method, path, query, body, headers, raw_names=False):
        head = {"Host": self.host, "Accept": "application/json", "ocp-date": formatdate(usegmt=True), **headers}
        if body is not None:
            head["Content-Type"] = "application/json; odata=minimalmetadata; charset=utf-8"
            head["Content-Length"] = str(len(body))
        elif method not in ("GET", "HEAD"):
            head["Content-Length"] = "0"
        if self.by == "key" and "Authorization" not in head:
            head["Authorization"] = sign(method, path, query, head, self.account, self.key, raw_names)
        return {k: v for k, v in head.items() if v is not None}

    def call(self, method, path, body=None, params=None, headers=None, expect=None, validate=True, data=None, **more):
        """`path`: as it is sent, perhaps with a query; or a whole URL (nextLink)."""
        path = path.removeprefix(self.url)
        path, _, text = path.partition("?")
        query = [*parse_qsl(text, keep_blank_values=True), *(params or {}).items()]
        if self.version and not any(name == "api-version" for name, _ in query):
            query.append(("api-version", self.version))
        data = json.dumps(body).encode() if body is not None else data
        head = self.head(method, path, query, data, headers or {}, **more)
        sent = "&".join(f"{quote(n)}={quote(str(v), safe='')}" for n, v in query)
        reply = self.daemon.call(
            method, f"{path}?{sent}", data=data, headers=head, api_version=None, token=self.by == "token", validate=False
        )
        if validate and self.version in JUDGES:
            JUDGES[self.version].judge(reply)
        if expect is not None:
            wanted = expect if isinstance(expect, (tuple, list, set)) else (expect,)
            assert reply.status in wanted, f"wanted {expect}, got {reply!r} {reply.content[:2000]!r}"
        return reply

    def get(self, path, **params):
        return self.call("GET", path, params=params, expect=200).json

    def all(self, path, **params):
        """All items of a list, page by page."""
        page = self.get(path, **params)
        items = page["value"]
        while "odata.nextLink" in page:
            page = self.call("GET", page["odata.nextLink"], expect=200).json
            items += page["value"]
        return items

    def remove_pool(self, id):
        """Until it is gone."""
        self.call("DELETE", f"/pools/{id}", expect=202)
        wait_for(lambda: self.call("GET", f"/pools/{id}").status == 404, 60, f"pool {id} to go")

    def refused(self, status, code, method, path, body=None, **more):
        """The values of the error, by key."""
        reply = self.call(method, path, body, expect=status, **more)
        assert reply.json["code"] == code, reply.content
        return values_of(reply)


def values_of(reply):
    return {v["key"]: v["value"] for v in reply.json.get("values", [])}


class BatchGround:
    """A resource group with one Batch account, and its plane."""

    def __init__(self, daemon, accounts=None, **more):
        """`accounts`: that have one already (batch_packages.packaged())."""
        self.accounts = accounts or BatchAccounts(daemon).make()
        self.name = accounts.name if accounts else self.accounts.account(**more)
        self.plane = Plane(daemon, self.name, self.accounts.keys(self.name)[0])

    def remove(self):
        self.accounts.remove()

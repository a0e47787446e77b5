# SPDX-License-Identifier: MIT
"""The published documents of blobs and files as judges of the data planes' replies: status, headers, error codes and
the elements of XML bodies. Where their folder is absent, nothing is judged."""

import json
import re
import xml.etree.ElementTree as ET
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qs, urlsplit

from .cloud_spec import default_dir

# Said of any reply, or by the service where the documents leave it out.
ANY_HEADER = {
    "x-ms-request-id", "x-ms-version", "x-ms-client-request-id", "x-ms-error-code", "x-ms-request-server-encrypted",
    "x-ms-delete-type-permanent", "x-ms-type", "x-ms-is-hns-enabled",
    "x-ms-content-crc64",
    "x-ms-structured-body", "x-ms-structured-content-length",  # documents since 2025-01-05
}  # fmt: skip
# Required in the documents, but in no reply, or only in some.
NOT_REQUIRED = {"Deleted", "Snapshot", "Version", "Prefix"}
# Operations that the documents leave out: GET beside PUT.
LEFT_OUT = ({"comp": "metadata"}, {"restype": "container", "comp": "metadata"}, {"restype": "share", "comp": "metadata"})
LEFT_OUT += ({"restype": "directory", "comp": "metadata"},)
# Of one of the two the documents say 200; the service and its clients 202.
BATCH = "202"
EVERYWHERE = ("x-ms-request-id", "Date")
STATE = ("ETag", "Last-Modified")


def is_date(text):
    try:
        return parsedate_to_datetime(text) is not None and text.endswith("GMT")
    except ValueError:
        return False


FORMS = {
    "integer": re.compile(r"-?\d+").fullmatch,
    "boolean": re.compile("true|false").fullmatch,
    "number": re.compile(r"-?\d+(\.\d+)?").fullmatch,
    "date-time-rfc1123": is_date,
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").fullmatch,
}


def what_is_asked(query):
    return {k: v[0] for k, v in query.items() if k in ("restype", "comp") and v[0]}


class Operation:
    def __init__(self, template, method, document):
        path, _, query = template.partition("?")
        parts = query.split("&") if query else []
        self.method, self.template = method.upper(), template
        self.query = dict(p.split("=") for p in parts if "=" in p)
        if self.query.get("comp") == "copy" and "copyid" not in parts:
            del self.query["comp"]  # a mark among the documents' paths, which no client sends
        self.segments = 0 if path == "/" else path.count("/")
        self.responses = dict(document["responses"])
        if self.query.get("comp") == "batch":
            self.responses.setdefault(BATCH, self.responses.pop("200", None))

    def fits(self, method, segments, query):
        asked = what_is_asked(query)
        methods = {self.method, "HEAD"} if self.method == "GET" else {self.method}
        # What follows a container or a share is one name, whatever its slashes; a share's own directory has none.
        wanted = {1, 2} if self.query.get("restype") == "directory" else {min(self.segments, 2)}
        return method in methods and asked == self.query and segments in wanted


class DataSpec:
    def __init__(self, path):
        document = json.loads(path.read_text())
        self.definitions = document["definitions"]
        self.operations = [
            Operation(template, method, of)
            for template, methods in document["x-ms-paths"].items()
            for method, of in methods.items()
            if method != "parameters"
        ]

    def judge(self, method, path, answer):
        """`path` from the account on. Fails, if the reply is none that a document allows."""
        if complaints := list(self.complaints(method, path, answer)):
            raise AssertionError(f"{method} {path} {answer}, against the published document:\n" + "\n".join(complaints))

    def complaints(self, method, path, answer):
        yield from (f"no header {name}" for name in EVERYWHERE if name not in answer.headers)
        if answer.status >= 300:
            yield from self.error(method, answer)
            return
        parts = urlsplit(path)
        name = parts.path.strip("/")
        segments = 0 if not name else 2 if "/" in name else 1
        query = parse_qs(parts.query, keep_blank_values=True)
        fits = [op for op in self.operations if op.fits(method, segments, query)]
        if method == "OPTIONS":
            return
        if not fits and method in ("GET", "HEAD") and what_is_asked(query) in LEFT_OUT:
            return
        responses = [op.responses[str(answer.status)] for op in fits if str(answer.status) in op.responses]
        if not responses:
            allowed = sorted({s for op in fits for s in op.responses})
            yield f"status {answer.status}; there are {allowed} of {[op.template for op in fits]}"
            return
        # Several differ only in headers of the request: what one of them allows is well.
        yield from min((list(self.success(method, r, answer)) for r in responses), key=len)

    def error(self, method, answer):
        if not answer.code:
            yield "an error without x-ms-error-code"
        if method == "HEAD" or answer.status == 304:
            if answer.body:
                yield f"a body: {answer.body[:100]!r}"
            return
        try:
            root = ET.fromstring(answer.body.decode("utf-8-sig"))
        except ET.ParseError as e:
            yield f"an error that is no XML ({e})"
            return
        if root.tag != "Error" or root.findtext("Code") != answer.code or not root.findtext("Message"):
            yield f"an error without the code {answer.code} and a message in <Error>"

    def success(self, method, response, answer):
        declared = {name.lower(): schema for name, schema in response.get("headers", {}).items()}
        # A list of blocks that are all uncommitted is of a blob that is not there yet.
        is_there = answer.headers.get("x-ms-blob-content-length") != "0"
        for name in STATE if is_there else ():
            if name.lower() in declared and name not in answer.headers:
                yield f"no header {name}"
        for name, value in answer.headers.items():
            low = name.lower()
            if low in declared:
                yield from self.value(f"header {name}", declared[low], value)
            elif low.startswith("x-ms-") and low not in ANY_HEADER and not low.startswith("x-ms-meta-"):
                yield f"header {name}, which is not documented"
        schema = self.resolved(response.get("schema", {}))
        if "file" in (schema.get("type"), schema.get("format")) or method == "HEAD":
            return
        if not schema:
            if answer.body:
                yield f"a body: {answer.body[:100]!r}"
            return
        root = ET.fromstring(answer.body.decode("utf-8-sig"))
        yield from self.element(root.tag, schema, root)

    def resolved(self, schema):
        while "$ref" in schema:
            schema = {**self.definitions[schema["$ref"].rsplit("/", 1)[1]], **{k: v for k, v in schema.items() if k == "xml"}}
        return schema

    def value(self, where, schema, text):
        kind = schema.get("format") if schema.get("format") in FORMS else schema.get("type")
        if re.search("x-ms-file-.*-time", where):
            kind = "date-time"  # whatever the documents say
        if kind in FORMS and text and not FORMS[kind](text):
            yield f"{where} is {text!r}, which is no {kind}"
        modelled = schema.get("x-ms-enum", {}).get("modelAsString")
        if text and not modelled and "enum" in schema and text not in schema["enum"]:
            yield f"{where} is {text!r}, which is none of {schema['enum']}"

    def named(self, name, schema):
        """How an element of a property is called."""
        return self.resolved(schema).get("xml", {}).get("name", name) if "$ref" in schema else schema.get("xml", {}).get("name", name)

    def element(self, where, schema, element):
        schema = self.resolved(schema)
        if schema.get("type") == "array":
            for child in element:
                yield from self.element(f"{where}/{child.tag}", schema["items"], child)
            return
        properties = schema.get("properties")
        if properties is None:
            if not schema.get("additionalProperties"):
                yield from self.value(where, schema, element.text or "")
            return
        yield from self.members(where, schema, properties, element)

    def members(self, where, schema, properties, element):
        known = {}
        for name, of in properties.items():
            if of.get("type") == "array" and not of.get("xml", {}).get("wrapped"):
                item = self.resolved(of["items"])
                known[item.get("xml", {}).get("name", of["items"].get("$ref", name).rsplit("/", 1)[-1])] = of["items"]
                known[name] = of["items"]
            else:
                known[self.named(name, of)] = of
        text = any(of.get("xml", {}).get("x-ms-text") for of in properties.values())
        for child in element:
            if child.tag in known:
                yield from self.element(f"{where}/{child.tag}", known[child.tag], child)
            elif not schema.get("additionalProperties") and not text:
                yield f"element {where}/{child.tag}, which is not documented"
        for name in schema.get("required", []):
            of = properties.get(name, {})
            tag = self.named(name, of)
            attribute = of.get("xml", {}).get("attribute")
            missing = tag not in element.attrib if attribute else element.find(tag) is None
            if where.endswith("/Directory/Properties"):
                continue  # the documents have one definition for files and directories, which have no length
            if missing and of.get("type") != "array" and name not in NOT_REQUIRED:
                yield f"no {'attribute' if attribute else 'element'} {where}/{tag}"


class NoSpec:
    def judge(self, method, path, answer):
        pass


def load(folder, file):
    """`folder`: "blob/2021-12-02"."""
    path = default_dir() / folder / file
    return DataSpec(path) if path.is_file() else NoSpec()

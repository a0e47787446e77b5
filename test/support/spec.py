# SPDX-License-Identifier: MIT
"""The published OpenAPI documents as a judge of every reply.

`Spec.check()` finds the operation that a request belongs to, and lists what is wrong with its reply:
an undeclared status, a body that does not fit the schema, a property nobody declared, a time that is
not written the way the service wrote times. Known and wanted differences are in DEVIATIONS, each
with its reason.
"""

import copy
import json
import os
import re
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import jsonschema

API_VERSION = "2018-05-01"
OLD_VERSIONS = ("2018-03-01", "2017-09-01-preview")
# Each version's folders. The final document first: where several know an operation or a definition,
# it counts. The June one adds the cluster and file server lists by subscription and resource group.
DOCUMENTS = {API_VERSION: ("2018-05-01", "2018-05-01-june"), **{v: (v,) for v in OLD_VERSIONS}}
# Our own operations, which have no api-version, and those of them that no test may carry out.
OWN_DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "admin-api.json"
OWN, OWN_PATHS = "batchaid", re.compile("/batchaid/|/metrics(/|$)")
UNTRIED = {"batchaid Nodes_Reboot": "the machine is the one that the tests run on"}
METHODS = ("get", "put", "post", "patch", "delete", "head")

# yyyy-MM-ddTHH:mm:ss[.f{1,3}]Z, trailing zeros of the fraction cut off, no fraction if it is zero.
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,2}[1-9])?Z$")
DURATION = re.compile(r"^P(?!$)(\d+W|(\d+D)?(T(?!$)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)$")


def _add_enum(definition, *values):
    def apply(definitions):
        definitions[definition]["enum"] += values

    return apply


def _add_property(definition, name, schema):
    def apply(definitions):
        definitions[definition]["properties"][name] = schema

    return apply


ALL = tuple(DOCUMENTS)
# (versions, reason, change of the definitions)
DEVIATIONS = [
    (
        (API_VERSION, "2018-03-01"),
        "toolType: the service answered 'pytorch' for pyTorchSettings; the enum forgot it",
        _add_enum("ToolType", "pytorch"),
    ),
    (
        (API_VERSION,),
        "experimentName: recorded in every 2018-05-01 job, never in the document",
        _add_property("JobProperties", "experimentName", {"type": "string"}),
    ),
    (
        OLD_VERSIONS,
        "adminUserSSHPublicKey: what the service answered; the documents write Ssh",
        _add_property("UserAccountSettings", "adminUserSSHPublicKey", {"type": "string"}),
    ),
    (
        OLD_VERSIONS,
        "caffe2Settings: in the documents' requests, forgotten in their replies",
        _add_property("JobProperties", "caffe2Settings", {"$ref": "#/definitions/Caffe2Settings"}),
    ),
]
# A 4xx or 5xx with the error envelope is right for every operation, also where the document
# declares no "default" response (operations, usages).
# 412, 416 and such are not among these routes.


def default_dir():
    given = os.environ.get("BATCHAID_SPEC_DIR")
    return Path(given) if given else Path(__file__).resolve().parents[2].parent / "shared" / "spec"


def load(directory=None):
    """The specs, or None where their folder is absent: then nothing is validated."""
    directory = Path(directory) if directory else default_dir()
    specs = {}
    for version, folders in DOCUMENTS.items():
        files = [directory / name / "BatchAI.json" for name in folders]
        if not all(f.is_file() for f in files):
            return None
        specs[version] = Spec(version, [json.loads(f.read_text()) for f in files])
    specs[OWN] = Spec(OWN, [json.loads(OWN_DOCUMENT.read_text())])
    return Specs(specs)


class Specs:
    """All versions together: each request is judged by its own."""

    def __init__(self, by_version):
        self.by_version = by_version

    def __getitem__(self, version):
        return self.by_version[version]

    def check(self, method, url, status, headers, body):
        """Returns (operation or None, list of complaints)."""
        query = {k.lower(): v for k, v in parse_qs(urlsplit(url).query).items()}
        version = query.get("api-version", [""])[0]
        if OWN_PATHS.match(urlsplit(url).path):
            version = OWN
        spec = self.by_version.get(version)
        return spec.check(method, url, status, headers, body) if spec else (None, [])

    def operation_ids(self):
        keys = (op.key for spec in self.by_version.values() for op in spec.operations)
        return sorted(set(keys) - set(UNTRIED))


class Operation:
    def __init__(self, version, method, template, document):
        self.version, self.method, self.template, self.document = version, method, template, document
        self.id, self.responses = document["operationId"], document["responses"]
        self.produces = tuple(document.get("produces", ["application/json"]))
        self.key = f"{version} {self.id}"
        pattern = re.sub(r"\\\{[^/]+?\\\}", "[^/]+", re.escape(template))
        self.pattern = re.compile(f"^{pattern}/?$", re.IGNORECASE)


class Spec:
    def __init__(self, version, documents):
        self.version = version
        self.definitions = {}
        self.parameters = {}
        self.operations = []
        for doc in reversed(documents):  # the first one wins
            self.definitions.update(copy.deepcopy(doc["definitions"]))
            self.parameters.update(doc["parameters"])
        for versions, _reason, change in DEVIATIONS:
            if version in versions:
                change(self.definitions)
        known = set()
        for doc in documents:
            for template, methods in doc["paths"].items():
                for method in METHODS:
                    op = methods.get(method)
                    if op and (method, template.lower()) not in known:
                        known.add((method, template.lower()))
                        self.operations.append(Operation(version, method.upper(), template, op))
        self._validators = {}

    def find(self, method, path):
        for op in self.operations:
            if op.method == method.upper() and op.pattern.match(path):
                return op
        return None

    def check(self, method, url, status, headers, body):
        """Returns (operation or None, list of complaints)."""
        op = self.find(method, unquote(urlsplit(url).path))
        if op is None:
            return None, []
        if status >= 400:
            return op, self._check_error(body)
        declared = op.responses.get(str(status))
        if declared is None:
            return op, [f"{op.id} declares no status {status}"]
        return op, self._check_body(op, status, headers, body, declared.get("schema"))

    def _check_error(self, body):
        try:
            document = json.loads(body)
        except ValueError as e:
            return [f"an error without a JSON body ({e}): {body[:200]!r}"]
        complaints = self._violations("CloudError", {"$ref": "#/definitions/CloudError"}, document)
        error = document.get("error") if isinstance(document, dict) else None
        if not isinstance(error, dict) or not error.get("code") or not error.get("message"):
            complaints.append(f"an error needs a code and a message: {document!r}")
        return complaints

    def _check_body(self, op, status, headers, body, schema):
        if schema is None:
            return [f"{op.id} {status} has no body in the document, got {body[:200]!r}"] if body else []
        if schema.get("type") == "file":  # bytes of any type, which its owner has chosen
            return []
        kind = headers.get("content-type", "")
        complaints = [] if kind.lower().startswith(op.produces) else [f"content-type {kind!r}"]
        try:
            document = json.loads(body) if op.produces == ("application/json",) else body.decode("utf-8")
        except ValueError as e:
            return complaints + [f"{op.id} {status}: not JSON ({e}): {body[:200]!r}"]
        return complaints + self._violations(f"{op.id} {status}", schema, document)

    def check_definition(self, name, document):
        return self._violations(name, {"$ref": f"#/definitions/{name}"}, document)

    def _violations(self, what, schema, document):
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            self._validators[key] = jsonschema.Draft4Validator(
                self._convert(schema, ()), format_checker=FORMATS
            )
        found = []
        for e in self._validators[key].iter_errors(document):
            where = "/".join(str(p) for p in e.absolute_path) or "(top)"
            found.append(f"{what}: {where}: {e.message[:300]}")
        return found

    def _convert(self, schema, above):
        """Swagger 2.0 to JSON schema draft 4, references inlined, objects closed."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            if name in above:  # CloudErrorBody holds CloudErrorBody
                return {}
            return self._convert(self.definitions[name], above + (name,))
        if "allOf" in schema or "properties" in schema:
            return self._convert_object(schema, above)
        out = {
            k: schema[k] for k in ("type", "enum", "format", "minimum", "maximum", "pattern") if k in schema
        }
        if "items" in schema:
            out["items"] = self._convert(schema["items"], above)
        if "additionalProperties" in schema:
            out["additionalProperties"] = self._convert(schema["additionalProperties"], above)
        return out

    def _convert_object(self, schema, above):
        out = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        for part in schema.get("allOf", []):
            base = self._convert(part, above)
            out["properties"].update(base["properties"])
            out["required"] += base.get("required", [])
        for name, sub in schema.get("properties", {}).items():
            out["properties"][name] = self._convert(sub, above)
        out["required"] += schema.get("required", [])
        if not out["required"]:
            del out["required"]
        return out


FORMATS = jsonschema.FormatChecker(formats=())


@FORMATS.checks("date-time")
def _is_time(value):
    return not isinstance(value, str) or bool(TIME.match(value))


@FORMATS.checks("duration")
def _is_duration(value):
    return not isinstance(value, str) or bool(DURATION.match(value))


class Judge:
    """Checks replies as they pass, remembers complaints and which operations were exercised."""

    def __init__(self, spec):
        self.spec = spec
        self.seen = set()
        self.checked = 0
        self.complaints = []

    def hear(self, method, url, status, headers, body):
        """Returns the complaints about this reply, as texts."""
        if self.spec is None:
            return []
        op, complaints = self.spec.check(method, url, status, headers, body)
        if op is not None:
            self.checked += 1
            if status < 400:
                self.seen.add(op.key)
        complaints = [f"{method} {urlsplit(url).path} -> {status}: {c}" for c in complaints]
        self.complaints += complaints
        return complaints

    def save(self, path):
        """What it has heard, for the judge of another process."""
        heard = {"checked": self.checked, "seen": sorted(self.seen), "complaints": self.complaints}
        Path(path).write_text(json.dumps(heard))

    def add(self, path):
        heard = json.loads(Path(path).read_text())
        self.checked += heard["checked"]
        self.seen |= set(heard["seen"])
        self.complaints += heard["complaints"]

    def never_exercised(self):
        return [] if self.spec is None else sorted(set(self.spec.operation_ids()) - self.seen)

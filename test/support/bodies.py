# SPDX-License-Identifier: MIT
"""Request bodies out of the published documents: a full one for each operation that takes one, and
its mutations. What a document does not say (how an id looks, what excludes what) is in tables."""

import copy

KEY = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7 me@here"
ROOT = "$AZ_BATCHAI_MOUNT_ROOT"
TOOLKITS = (
    "customToolkitSettings", "cntkSettings", "pyTorchSettings", "tensorFlowSettings",
    "caffeSettings", "caffe2Settings", "chainerSettings", "customMpiSettings", "horovodSettings",
)  # fmt: skip

# Values by property, or by definition and property.
SAMPLES = {
    "vmSize": "STANDARD_D1",
    "location": "northeurope",
    "tags": {"kind": "test"},
    "adminUserName": "demo",
    "adminUserSshPublicKey": KEY,
    "adminUserPassword": "pw-never-shown",
    "secretUrl": "https://vault.example/secrets/name",
    "accountName": "acct",
    "accountKey": "c2VjcmV0",
    "azureFileUrl": "https://acct.file.core.windows.net/share",
    "containerName": "container",
    "fileMode": "0750",
    "directoryMode": "0750",
    "mountOptions": "rw",
    "mountCommand": "mount -t nfs server:/x",
    "sourceDirectory": "data",
    "targetNodeCount": 0,
    "minimumNodeCount": 0,
    "maximumNodeCount": 1,
    "initialNodeCount": 0,
    "diskSizeInGB": 10,
    "maxWallClockTime": "P1D",
    "stdOutErrPathPrefix": f"{ROOT}/out",
    "pathPrefix": f"{ROOT}/out",
    "pathSuffix": "models",
    "path": f"{ROOT}/in",
    "shmSize": "1g",
    "languageType": "Python",
    "communicationBackend": "gloo",
    "publicIPsToAllow": ["10.0.0.1"],
    ("AzureFileShareReference", "relativeMountPath"): "share",
    ("AzureBlobFileSystemReference", "relativeMountPath"): "blob",
    ("FileServerReference", "relativeMountPath"): "nfs",
    ("UnmanagedFileSystemReference", "relativeMountPath"): "other",
    ("EnvironmentVariableWithSecretValue", "name"): "SECRET_1",
    ("EnvironmentVariable", "name"): "NAME_1",
    ("EnvironmentSetting", "name"): "NAME_1",
    ("InputDirectory", "id"): "IN",
    ("OutputDirectory", "id"): "OUT",
}

# Which properties of a definition exclude each other: what to leave out, by alternative. The first
# alternative shows no secret, so that a reply to it can be sent again.
ALTERNATIVES = {
    "ScaleSettings": ({"autoScale"}, {"manual"}),
    "AzureStorageCredentialsInfo": ({"accountKey"}, {"accountKeySecretReference"}),
    "AppInsightsReference": ({"instrumentationKey"}, {"instrumentationKeySecretReference"}),
    "EnvironmentVariableWithSecretValue": ({"value"}, {"valueSecretReference"}),
    "PrivateRegistryCredentials": ({"password"}, {"passwordSecretReference"}),
    "CNTKsettings": ({"configFilePath"}, {"pythonScriptFilePath", "pythonInterpreterPath", "languageType"}),
    "CaffeSettings": ({"configFilePath"}, {"pythonScriptFilePath", "pythonInterpreterPath"}),
}
ALTERNATIVE = (0, 1)

# Optional in the document, but there is nothing to run, no way in, or no size without it.
NEEDED = {
    ("ScaleSettings", "manual"),
    ("ScaleSettings", "autoScale"),
    ("CustomToolkitSettings", "commandLine"),
    ("CNTKsettings", "pythonScriptFilePath"),
    ("CNTKsettings", "configFilePath"),
    ("CaffeSettings", "pythonScriptFilePath"),
    ("CaffeSettings", "configFilePath"),
    ("EnvironmentVariableWithSecretValue", "value"),
    ("EnvironmentVariableWithSecretValue", "valueSecretReference"),
    *(("JobBaseProperties", t) for t in TOOLKITS),
    *((f"{kind}CreateParameters", "properties") for kind in ("Cluster", "FileServer", "Job")),
}
# In the enum, but as an instruction it says nothing.
NOT_TO_SEND = {("DeallocationOption", "unknown")}


class Property:
    """One property in a body: where it is and what its document says of it."""

    def __init__(self, path, definition, name, schema, required):
        self.path, self.definition, self.name = path, definition, name
        self.schema, self.required = schema, required

    def __str__(self):
        return "/".join(str(p) for p in self.path)

    @property
    def needed(self):
        return self.required or (self.definition, self.name) in NEEDED


class Maker:
    """Makes bodies of one version. `ids` maps what a ResourceId stands for to an id."""

    samples = SAMPLES

    def __init__(self, spec, ids, tool=TOOLKITS[0], alternative=0):
        self.spec, self.ids, self.tool, self.alternative = spec, ids, tool, alternative

    def resolved(self, schema):
        """(definition's name or None, schema) behind a $ref."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return name, self.spec.definitions[name]
        return None, schema

    def omitted(self, definition):
        if definition == "JobBaseProperties":
            return set(TOOLKITS) - {self.tool}
        choices = ALTERNATIVES.get(definition, (set(),))
        return choices[self.alternative % len(choices)]

    def make(self, schema, definition=None, name=None):
        inner, schema = self.resolved(schema)
        for key in ((definition, name), name):
            if key in self.samples:
                return copy.deepcopy(self.samples[key])
        if inner == "ResourceId":
            return {"id": self.ids[name]}
        if "enum" in schema:
            return [v for v in schema["enum"] if (inner, v) not in NOT_TO_SEND][0]
        kind = schema.get("type", "object" if "properties" in schema else None)
        if kind == "array":
            return [self.make(schema["items"], inner, None)]
        if "properties" in schema:
            return {
                n: self.make(s, inner or definition, n)
                for n, s in schema["properties"].items()
                if n not in self.omitted(inner or definition) and not s.get("readOnly")
            }
        if schema.get("format") == "date-time":
            return "2030-01-01T00:00:00Z"
        return {"string": f"{name or 'item'}-text", "integer": 1, "boolean": True, "object": {}, "number": 1}[kind]

    def properties(self, body, schema, definition=None, path=()):
        """All properties that are in this body, outermost first."""
        inner, schema = self.resolved(schema)
        inner = inner or definition
        if schema.get("type") == "array":
            yield from self.properties(body[0], schema["items"], inner, path + (0,))
            return
        for name, sub in schema.get("properties", {}).items():
            if name not in body:
                continue
            here = path + (name,)
            yield Property(here, inner, name, sub, name in schema.get("required", ()))
            sub_kind = self.resolved(sub)[1]
            if "properties" in sub_kind or (sub_kind.get("type") == "array" and sub_kind["items"].get("$ref")):
                yield from self.properties(body[name], sub, inner, here)


def changed(body, path, value):
    """A copy of body with another value at path; without it if value is `changed`."""
    out = copy.deepcopy(body)
    at = out
    for step in path[:-1]:
        at = at[step]
    if value is changed:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return out


WRONG_TYPES = {
    "string": (7, True, {}, []),
    "integer": ("1", 1.5, True, {}),
    "number": ("1", {}),
    "boolean": ("true", 1, {}),
    "object": ("text", 7, [1], True),
    "array": ("text", {"a": 1}, 7),
}


def wrong_values(maker, prop):
    """(what is wrong, value) for one property."""
    inner, schema = maker.resolved(prop.schema)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    for value in WRONG_TYPES[kind]:
        yield "type", value
    if "enum" in schema:
        yield "enum", "no-such-value"
        yield "enum", ""
        for value in schema["enum"]:
            if (inner, value) in NOT_TO_SEND:
                yield "enum", value
    if kind == "integer":
        yield "range", schema.get("maximum", 2**31 - 1) + 1
        yield "range", schema.get("minimum", -(2**31)) - 1
    if schema.get("format") == "duration":
        yield "format", "7 days"
    if "maxLength" in schema:
        yield "length", "x" * (schema["maxLength"] + 1)
    if kind == "array" and "$ref" in schema["items"]:
        yield "item", ["text"]


def right_enums(maker, prop):
    inner, schema = maker.resolved(prop.schema)
    return [v for v in schema.get("enum", []) if (inner, v) not in NOT_TO_SEND]

# SPDX-License-Identifier: MIT
"""Requests out of the published documents, for every operation of every version: the full body and
each optional property left out are taken, each required one left out and each wrong value are refused
with a 400 that changes nothing. Every reply is judged on the way (support/spec.py)."""

import pytest
from support import spec
from support.bodies import ALTERNATIVE, TOOLKITS, Maker, changed, right_enums, wrong_values
from support.flat import HOME, LOCATION, FlatPlace
from support.spec import API_VERSION
from support.world import Place, fresh

SPECS = spec.load()
pytestmark = pytest.mark.skipif(SPECS is None, reason="the published spec is not here")

KINDS = {
    "Clusters_Create": "clusters",
    "FileServers_Create": "fileServers",
    "Jobs_Create": "jobs",
    "Workspaces_Create": "workspaces",
}


class Ground:
    """A group seen through one version, with a cluster without nodes for jobs to name."""

    def __init__(self, daemon, version):
        self.version, self.spec = version, SPECS[version]
        if version == API_VERSION:
            self.place = Place(daemon, workspace=HOME).make()
            self.place.experiment(HOME)
        else:
            self.place = FlatPlace(daemon, version).make()
        self.daemon = self.place.daemon
        self.cluster = self.place.cluster(nodes=0, name="ground").path

    def path(self, kind, name):
        if kind == "workspaces":
            return f"{self.place.path.rsplit('/', 1)[0]}/{name}"
        if kind == "jobs":
            return self.place.job_at(name, HOME).path
        return f"{self.place.path}/{kind}/{name}"

    def maker(self, **more):
        other = "/subscriptions/s/resourceGroups/g/providers/Other/things/t"
        ids = {
            "cluster": self.cluster,
            "fileServer": self.path("fileServers", "disks"),
            "subnet": other,
            "sourceVault": other,
            "component": other,
        }
        return Maker(self.spec, ids, **more)

    def body_schema(self, operation_id):
        (op,) = [o for o in self.spec.operations if o.id == operation_id]
        bodies = [p for p in op.document["parameters"] if p.get("in") == "body"]
        return bodies[0]["schema"] if bodies else None

    def put(self, kind, body, name=None):
        """The reply to a creation; what it made is removed again."""
        path = self.path(kind, name or fresh("made"))
        reply = self.daemon.call("PUT", path, body)
        if reply.status < 300:
            self.daemon.wait_operation(reply)
            seen = self.daemon.call("GET", path, expect=200).json
            self.daemon.wait_operation(self.daemon.call("DELETE", path, expect=202))
            return reply, seen
        assert self.daemon.call("GET", path).status == 404
        return reply, None


@pytest.fixture(scope="module", params=spec.ALL)
def ground(request, daemon):
    g = Ground(daemon, request.param)
    yield g
    Place(daemon, g.place.group, HOME).remove()


def cases(operation_ids):
    """(version, operation id) for each version that has it."""
    known = [(v, o.id) for v in spec.ALL for o in SPECS[v].operations] if SPECS else []
    return [case for case in known if case[1] in operation_ids]


def variants(ground, operation_id):
    """(maker, full body) for all that exclude each other."""
    schema = ground.body_schema(operation_id)
    tools = TOOLKITS if operation_id == "Jobs_Create" else TOOLKITS[:1]
    if operation_id == "Jobs_Create":
        known = ground.spec.definitions["JobBaseProperties"]["properties"]
        tools = [t for t in tools if t in known]
    for tool in tools:
        for alternative in ALTERNATIVE:
            maker = ground.maker(tool=tool, alternative=alternative)
            yield maker, schema, maker.make(schema)


def taken(ground, operation_id, what, body):
    reply, _ = ground.put(KINDS[operation_id], body)
    return [] if reply.status in (200, 202) else [f"{what}: {reply!r}"]


def refused(ground, operation_id, what, body):
    reply, _ = ground.put(KINDS[operation_id], body)
    if reply.status == 400 and reply.code and reply.error["message"]:
        return []
    return [f"{what}: {reply!r}"]


@pytest.mark.parametrize("ground, operation_id", cases(KINDS), indirect=["ground"])
def test_full_bodies_are_taken_and_stay_themselves(ground, operation_id):
    for maker, schema, body in variants(ground, operation_id):
        reply, seen = ground.put(KINDS[operation_id], body)
        assert reply.status in (200, 202), (body, reply)
        if maker.alternative == 0:
            # What a reply says can be sent again, and is what the next reply says.
            again, seen_again = ground.put(KINDS[operation_id], seen)
            if "location" in body and "location" not in seen:
                assert again.status == 400  # jobs' replies never said where they are
                again, seen_again = ground.put(KINDS[operation_id], {**seen, "location": LOCATION})
            assert again.status in (200, 202), again
            assert settled(seen_again) == settled(seen)


PASSING = ("jobOutputDirectoryPathSegment", "allocationState", "executionState", "executionInfo")


def settled(resource):
    """Without what differs from one incarnation to the next."""
    properties = {
        k: v
        for k, v in resource["properties"].items()
        if not k.endswith("Time") and k not in PASSING
    }
    properties.get("nodeSetup", {}).get("setupTask", {}).pop("stdOutErrPathSuffix", None)
    properties.get("mountSettings", {}).pop("mountPoint", None)
    return {**resource, "id": None, "name": None, "properties": properties}


@pytest.mark.parametrize("ground, operation_id", cases(KINDS), indirect=["ground"])
def test_required_properties_are_required_and_others_are_not(ground, operation_id):
    wrong, seen = [], set()
    for maker, schema, body in variants(ground, operation_id):
        for prop in maker.properties(body, schema):
            if (prop.path, prop.needed) in seen:
                continue
            seen.add((prop.path, prop.needed))
            check = refused if prop.needed else taken
            for how in (changed, None):  # null is what clients send for "none"
                wrong += check(ground, operation_id, f"without {prop}", changed(body, prop.path, how))
    assert seen
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("ground, operation_id", cases(KINDS), indirect=["ground"])
def test_wrong_values_are_refused(ground, operation_id):
    wrong, seen = [], set()
    for maker, schema, body in variants(ground, operation_id):
        for prop in maker.properties(body, schema):
            if prop.path in seen:
                continue
            seen.add(prop.path)
            for what, value in wrong_values(maker, prop):
                bad = changed(body, prop.path, value)
                wrong += refused(ground, operation_id, f"{prop} = {value!r} ({what})", bad)
    assert seen
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("ground, operation_id", cases(KINDS), indirect=["ground"])
def test_every_value_of_an_enum_is_taken(ground, operation_id):
    wrong, seen = [], set()
    for maker, schema, body in variants(ground, operation_id):
        for prop in maker.properties(body, schema):
            for value in right_enums(maker, prop) if prop.path not in seen else ():
                wrong += taken(ground, operation_id, f"{prop} = {value}", changed(body, prop.path, value))
            seen.add(prop.path)
    assert not wrong, "\n".join(wrong)


def read_only(maker, schema):
    """Names of read-only properties at the top and in "properties"."""
    _, top = maker.resolved(schema)
    for name, sub in top["properties"].items():
        if sub.get("readOnly"):
            yield (name,)
        for inner, s in maker.resolved(sub)[1].get("properties", {}).items():
            if name == "properties" and s.get("readOnly"):
                yield (name, inner)


REPLIES = {
    "Clusters_Create": "Cluster",
    "FileServers_Create": "FileServer",
    "Jobs_Create": "Job",
    "Workspaces_Create": "Workspace",
}


@pytest.mark.parametrize("ground, operation_id", cases(KINDS), indirect=["ground"])
def test_read_only_and_unknown_properties_are_ignored(ground, operation_id):
    maker, schema, body = next(variants(ground, operation_id))
    body.setdefault("properties", {})
    definition = {"$ref": f"#/definitions/{REPLIES[operation_id]}"}
    paths = list(read_only(maker, definition)) + [("colour",), ("properties", "colour")]
    assert len(paths) > 2
    for path in paths:
        reply, seen = ground.put(KINDS[operation_id], changed(body, path, "mine"))
        assert reply.status in (200, 202), (path, reply)
        for step in path:
            seen = seen.get(step, {})
        assert seen != "mine", path


PATCHES = {"Clusters_Update": "clusters", "Workspaces_Update": "workspaces"}


@pytest.mark.parametrize("ground, operation_id", cases(PATCHES), indirect=["ground"])
def test_updates(ground, operation_id):
    path = ground.cluster if operation_id == "Clusters_Update" else ground.place.path
    schema = ground.body_schema(operation_id)
    wrong = []
    for alternative in ALTERNATIVE:
        maker = ground.maker(alternative=alternative)
        body = maker.make(schema)
        ground.daemon.call("PATCH", path, body, expect=200)
        before = ground.daemon.get(path)
        for prop in maker.properties(body, schema):
            bad = list(wrong_values(maker, prop))
            if prop.needed:
                bad.append(("missing", changed))
            for what, value in bad:
                reply = ground.daemon.call("PATCH", path, changed(body, prop.path, value))
                if reply.status != 400:
                    wrong.append(f"{prop} = {value!r} ({what}): {reply!r}")
        assert ground.daemon.get(path) == before
    assert not wrong, "\n".join(wrong)


def bad_queries(parameter):
    if parameter["type"] == "integer":
        yield from ("x", "", "1.5")
        if "minimum" in parameter:
            yield parameter["minimum"] - 1
            yield parameter["maximum"] + 1


def resource_path(ground, op):
    """A path of this operation that leads to something."""
    job = ground.path("jobs", "standing")
    ground.daemon.call("PUT", job, ground.maker().make(ground.body_schema("Jobs_Create")), expect=(200, 202))
    values = {
        "subscriptionId": ground.daemon.subscription,
        "resourceGroupName": ground.place.group,
        "workspaceName": HOME,
        "experimentName": HOME,
        "clusterName": "ground",
        "jobName": "standing",
        "fileServerName": "none",
        "location": "northeurope",
    }
    return op.template.format(**values)


def test_query_parameters_of_every_operation(ground):
    """Each integer out of range, each required one missing; nothing is changed by such a request, so
    DELETE and PUT are asked too."""
    wrong, checked = [], 0
    for op in ground.spec.operations:
        parameters = []
        for p in op.document["parameters"]:
            p = ground.spec.parameters[p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p
            if p["in"] == "query":
                parameters.append(p)
        path = resource_path(ground, op)
        good = {p["name"]: "stdouterr" for p in parameters if p["name"] == "outputdirectoryid"}
        for p in parameters:
            for value in bad_queries(p):
                reply = ground.daemon.call(op.method, path, params={**good, p["name"]: value})
                checked += 1
                if reply.status != 400:
                    wrong.append(f"{op.id} {p['name']}={value!r}: {reply!r}")
            if p.get("required"):
                left = {k: v for k, v in good.items() if k != p["name"]}
                # The plain daemon: the others would add the version.
                daemon = getattr(ground.daemon, "_daemon", ground.daemon)
                version = None if p["name"] == "api-version" else ground.version
                reply = daemon.call(op.method, path, params=left, api_version=version)
                checked += 1
                if reply.status != 400:
                    wrong.append(f"{op.id} without {p['name']}: {reply!r}")
    assert checked > 40
    assert not wrong, "\n".join(wrong)


def test_names_are_as_long_as_the_document_says(ground):
    limits = [p for p in ground.spec.parameters.values() if "maxLength" in p]
    assert limits
    for p in limits:
        kind = {"clusterName": "clusters", "jobName": "jobs", "fileServerName": "fileServers"}.get(p["name"])
        if not kind:
            continue
        operation_id = [op for op, k in KINDS.items() if k == kind][0]
        body = ground.maker().make(ground.body_schema(operation_id))
        assert ground.put(kind, body, "x" * p["maxLength"])[0].status == 202
        for bad in ("x" * (p["maxLength"] + 1), "a%20b", "%C3%A9"):
            assert ground.put(kind, body, bad)[0].status == 400

# SPDX-License-Identifier: MIT
"""Bodies of pools for Azure Batch's management plane out of its documents: the full body is taken and stays itself, each
wrong value is refused with its place, and nothing is made."""

import pytest
from support import batch_bodies
from support.batch import BatchGround
from support.batch_packages import package, packaged
from support.batch_rm import DOCUMENTED, JUDGES
from support.bodies import changed
from support.world import fresh

WITH_POOLS = [v for v in DOCUMENTED if v >= "2017-09-01" and JUDGES[v].seen is not None]
pytestmark = pytest.mark.skipif(not WITH_POOLS, reason="the published spec is not here")


class Maker(batch_bodies.Maker):
    def __init__(self, spec, account):
        super().__init__(spec)
        self.account = account

    def omitted(self, definition):
        own = {
            "Pool": {"identity", "tags"},
            "ScaleSettings": {"autoScale"},
            "DeploymentConfiguration": {"cloudServiceConfiguration"},
            "ImageReference": {"id", "sharedGalleryImageId", "communityGalleryImageId"},
            "UserIdentity": {"userName"},
            "AzureBlobFileSystemConfiguration": {"sasKey", "identityReference"},
            "CloudServiceConfiguration": {"currentOSVersion"},
        }
        return own.get(definition, super().omitted(definition))

    def make(self, schema, definition=None, name=None):
        if (definition, name) == ("CertificateReference", "id"):
            return f"{self.account}/certificates/sha1-ab12"
        if (definition, name) == ("ApplicationPackageReference", "id"):
            return f"{self.account}/applications/applicationId-text"
        if name == "nodeAgentSkuId":
            return "batch.node.ubuntu 22.04"
        if name == "visibility":
            return ["Task"]
        if (definition, name) == ("ContainerConfiguration", "type"):
            return "DockerCompatible"
        return super().make(schema, definition, name)


@pytest.fixture(scope="module")
def ground(daemon, temporary_in_file):
    accounts = packaged(daemon)
    package(accounts, "applicationId-text", "version-text", "text", default=True)
    return temporary_in_file(BatchGround(daemon, accounts))


class Case:
    def __init__(self, ground, version):
        self.accounts, self.version = ground.accounts, version
        self.base = f"/{ground.name}/pools/"
        (op,) = [o for o in JUDGES[version].operations if o.id == "Pool_Create"]
        (parameter,) = [p for p in op.document["parameters"] if p.get("in") == "body"]
        self.schema = parameter["schema"]
        self.maker = Maker(JUDGES[version], f"{ground.accounts.path}/{ground.name}")
        self.body = self.maker.make(self.schema)
        self.properties = list(self.maker.properties(self.body, self.schema))

    def put(self, name, body):
        return self.accounts.call("PUT", self.base + name, body, api_version=self.version)


@pytest.fixture(params=WITH_POOLS)
def case(ground, request):
    return Case(ground, request.param)


def missing(given, seen, path=()):
    """The places of what was given and is not shown, or shown otherwise."""
    if isinstance(given, dict):
        return [m for k, v in given.items() for m in (missing(v, seen[k], (*path, k)) if isinstance(seen, dict) and k in seen else [(*path, k)])]
    if isinstance(given, list):
        return [m for i, v in enumerate(given) for m in (missing(v, seen[i], (*path, i)) if i < len(seen) else [(*path, i)])]
    same = str(given).lower() == str(seen).lower()
    return [] if same else [(*path, given, seen)]


def test_a_full_body_is_taken_and_stays_itself(case):
    reply = case.put(fresh("pool"), case.body)
    assert reply.status == 200, reply.content
    secrets = ("password", "accountKey", "sasKey", "sshPrivateKey", "nodeDeallocationOption", "settings", "protectedSettings")
    assert [m for m in missing(case.body, reply.json) if not set(m) & set(secrets)] == []


def test_wrong_values_are_refused_with_their_place(case):
    wrong, name = [], fresh("pool")
    for prop in case.properties:
        for what, value in batch_bodies.wrong_values(case.maker, prop):
            if (what, value) == ("enum", ""):
                continue  # none: test_batch_rm_pools.py
            reply = case.put(name, changed(case.body, prop.path, value))
            places = [d["message"] for d in reply.error.get("details", []) if d["code"] == "PropertyName"] if reply.status == 400 else []
            if not (places and places[0].startswith("properties")):
                wrong.append(f"{prop} of a wrong {what}: {value!r:.60}: {reply.status} {reply.content[-300:]!r}")
                if reply.status == 200:
                    name = fresh("pool")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:30])

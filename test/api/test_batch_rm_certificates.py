# SPDX-License-Identifier: MIT
"""Certificates of the management plane: the same that the data plane has."""

import base64

import pytest
from support.certificates import Made
from support.world import fresh


@pytest.fixture
def rm(ground):
    def call(method, name, body=None, **more):
        return ground.accounts.call(method, f"/{ground.name}/certificates{name}", body, **more)

    return call


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def name_of(made):
    return f"/sha1-{made.thumbprint}"


def body_of(made, **more):
    given = {"data": made.pfx, "password": "pw", "format": "Pfx", **more}
    return {"properties": {k: v for k, v in given.items() if v is not None}}


def test_a_certificate_is_made_here_and_shown_there(plane, rm, made):
    reply = rm("PUT", name_of(made), body_of(made), expect=200)
    seen = reply.json["properties"]
    assert (seen["thumbprint"], seen["thumbprintAlgorithm"], seen["provisioningState"]) == (made.thumbprint, "sha1", "Succeeded")
    assert seen["publicData"] == base64.b64encode(made.der).decode() and made.pfx not in reply.content.decode()
    assert plane.get(made.path)["publicData"] == seen["publicData"]
    assert reply.json["name"] == f"sha1-{made.thumbprint}" and reply.headers["etag"] == reply.json["etag"]
    again = rm("PUT", name_of(made), body_of(made), expect=200)
    assert again.json == reply.json and rm("PATCH", name_of(made), body_of(made), expect=200).json == reply.json
    rm("PUT", name_of(made), body_of(made), headers={"If-None-Match": "*"}, expect=412)
    assert rm("DELETE", name_of(made), expect=202).headers["location"]
    assert rm("GET", name_of(made), expect=404).code == "CertificateNotFound"
    rm("DELETE", name_of(made), expect=204)
    rm("PATCH", name_of(made), body_of(made), expect=404)


def test_tags_are_kept(rm, made):
    new = {"api_version": "2024-07-01"}
    tagged = {**body_of(made), "tags": {"team": "vision"}}
    assert rm("PUT", name_of(made), tagged, expect=200, **new).json["tags"] == {"team": "vision"}
    assert rm("GET", name_of(made), expect=200, **new).json["tags"] == {"team": "vision"}
    again = {**body_of(made), "tags": {"a": "b"}}
    assert rm("PATCH", name_of(made), again, expect=200, **new).json["tags"] == {"a": "b"}
    rm("DELETE", name_of(made), expect=202)


def test_certificates_are_listed(plane, rm, made):
    plane.call("POST", "/certificates", made.body(), expect=201)
    assert made.thumbprint in [c["properties"]["thumbprint"] for c in rm("GET", "", expect=200).json["value"]]
    assert rm("GET", "?$filter=properties/provisioningState eq 'Failed'", expect=200).json["value"] == []
    chosen = rm("GET", "?$select=properties/thumbprint&maxresults=1", expect=200).json["value"][0]
    assert list(chosen["properties"]) == ["thumbprint"]


def test_one_that_a_pool_has_stays_and_says_why(ground, plane, rm, made):
    pool = fresh("pool")
    plane.call("POST", "/certificates", made.body(), expect=201)
    certificates = [{"thumbprint": made.thumbprint, "thumbprintAlgorithm": "sha1"}]
    image = {"publisher": "canonical", "offer": "ubuntuserver", "sku": "18.04-LTS"}
    vm = {"imageReference": image, "nodeAgentSKUId": "batch.node.ubuntu 18.04"}
    body = {"id": pool, "vmSize": "a", "virtualMachineConfiguration": vm, "certificateReferences": certificates}
    plane.call("POST", "/pools", body, expect=201)
    active = rm("GET", name_of(made), expect=200).json
    assert rm("POST", f"{name_of(made)}/cancelDelete", expect=200).json == active
    reply = rm("DELETE", name_of(made), expect=202)
    place = reply.headers["location"].removeprefix(ground.accounts.daemon.endpoint).partition("?")[0]
    assert ground.accounts.call("GET", place, expect=409).code == "CertificateInUse"
    seen = rm("GET", name_of(made), expect=200).json["properties"]
    assert seen["provisioningState"] == "Failed" and seen["previousProvisioningState"] == "Succeeded"
    assert seen["deleteCertificateError"]["details"] == [{"code": "PoolId", "message": pool}]
    assert rm("POST", f"{name_of(made)}/cancelDelete", expect=200).json["properties"]["provisioningState"] == "Succeeded"


def test_wrong_certificates_are_refused(rm, made):
    for more, place in (
        ({"password": "wrong"}, "properties.password"),
        ({"data": "%%%"}, "properties.data"),
        ({"data": None}, "properties.data"),
        ({"format": "Der"}, "properties.format"),
        ({"thumbprint": "00"}, "properties.thumbprint"),
        ({"thumbprintAlgorithm": "md5"}, "properties.thumbprintAlgorithm"),
    ):
        reply = rm("PUT", name_of(made), body_of(made, **more), expect=400)
        assert {d["code"]: d["message"] for d in reply.error["details"]}["PropertyName"] == place
        assert made.pfx not in reply.content.decode()
    for name in ("/x", "/-", "/sha1-00"):
        rm("PUT", name, body_of(made), expect=400)
    rm("GET", name_of(made), expect=404)

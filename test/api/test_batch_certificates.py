# SPDX-License-Identifier: MIT
"""Certificates of Batch accounts."""

import base64

import pytest
from support.batch import V, BatchGround
from support.certificates import Made


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def test_a_certificate_is_kept_and_shown_by_its_public_part(plane, made):
    reply = plane.call("POST", "/certificates", made.body(thumbprint=made.thumbprint.upper()), expect=201)
    assert reply.content == b"" and reply.headers["location"] == reply.headers["dataserviceid"] == plane.url + made.path
    assert "etag" not in reply.headers
    seen = plane.get(made.path)
    assert seen.pop("odata.metadata") == f"{plane.url}/$metadata#certificates/@Element"
    assert seen.pop("stateTransitionTime")
    assert seen == {
        "thumbprint": made.thumbprint,
        "thumbprintAlgorithm": "sha1",
        "url": plane.url + made.path,
        "state": "active",
        "publicData": base64.b64encode(made.der).decode(),
    }
    swapped = f"/certificates(thumbprint={made.thumbprint.upper()},thumbprintAlgorithm=SHA1)"
    assert plane.call("GET", swapped, expect=200, validate=False).json["thumbprint"] == made.thumbprint
    assert list(plane.get(made.path, **{"$select": "state"})) == ["odata.metadata", "state"]
    plane.refused(409, "CertificateExists", "POST", "/certificates", made.cer())
    plane.call("DELETE", made.path, expect=202)
    plane.refused(404, "CertificateNotFound", "GET", made.path)
    plane.refused(404, "CertificateNotFound", "DELETE", made.path)


def test_a_certificate_without_a_key_is_taken_as_der_and_pem(plane, made):
    for data in (made.der, made.pem):
        plane.call("POST", "/certificates", made.cer() | {"data": base64.b64encode(data).decode()}, expect=201)
        assert base64.b64decode(plane.get(made.path)["publicData"]) == made.der
        plane.call("DELETE", made.path, expect=202)


@pytest.mark.parametrize("part", range(3), ids=["certificates", "key", "mac"])
def test_a_pfx_file_with_endless_key_derivation_is_refused(plane, tmp_path, part):
    made = Made(tmp_path, rounds=33000)
    pieces = base64.b64decode(made.pfx).split(b"\x02\x03\x00\x80\xe8")
    assert len(pieces) == 4
    rounds = [b"\x02\x03\x00\x80\xe8"] * 3
    rounds[part] = b"\x02\x03\x01\x86\xa1"
    data = b"".join(a + b for a, b in zip(pieces, [*rounds, b""], strict=True))
    values = plane.refused(400, "InvalidPropertyValue", "POST", "/certificates", made.body(data=base64.b64encode(data).decode()))
    assert values["PropertyName"] == "data" and "; 100000 are the limit" in values["Reason"]
    plane.call("POST", "/certificates", made.body(), expect=201)


def test_wrong_certificates_are_refused(plane, made):
    other = "0" * 40
    cases = [
        (made.body(password="wrong"), "password"),
        (made.body(password=None), "password"),
        (made.body(thumbprint=other), "thumbprint"),
        (made.body(thumbprintAlgorithm="md5"), "thumbprintAlgorithm"),
        (made.body(data="%%%"), "data"),
        (made.body(data="AAAA"), "data"),
        (made.cer() | {"data": made.pfx}, "data"),
        (made.cer(password="pw"), "password"),
        (made.body(certificateFormat="der"), "certificateFormat"),
    ]
    for body, name in cases:
        values = plane.refused(400, "InvalidPropertyValue", "POST", "/certificates", body)
        assert values["PropertyName"] == name
        assert not any(secret in str(values) for secret in (made.pfx, "wrong"))
    for name in ("thumbprint", "thumbprintAlgorithm", "data"):
        values = plane.refused(400, "MissingRequiredProperty", "POST", "/certificates", made.body(**{name: None}))
        assert values["PropertyName"] == name
    values = plane.refused(400, "InvalidRequestBody", "POST", "/certificates", made.body(colour="red"))
    assert values["PropertyName"] == "colour"
    plane.refused(404, "CertificateNotFound", "GET", made.path)


def test_certificates_are_listed_by_thumbprint_and_filtered(ground, tmp_path):
    p = type(ground.plane)(ground.plane.daemon, *new_account(ground))
    made = []
    for i in range(3):
        (tmp_path / str(i)).mkdir()
        made.append(Made(tmp_path / str(i)))
        p.call("POST", "/certificates", made[-1].cer(), expect=201)
    names = sorted(m.thumbprint for m in made)
    assert [c["thumbprint"] for c in p.all("/certificates", maxresults=1)] == names
    assert len(p.all("/certificates", **{"$filter": "state eq 'active'"})) == 3
    assert p.all("/certificates", **{"$filter": "state eq 'deleting' or state eq 'deletefailed'"}) == []
    long_ago = {"$filter": "stateTransitionTime lt datetime'2020-01-01T00:00:00Z'"}
    assert p.all("/certificates", **long_ago) == []
    assert len(p.all("/certificates", **{"$filter": "not (stateTransitionTime lt datetime'2020-01-01T00:00:00Z')"})) == 3
    page = p.get("/certificates", maxresults=2, **{"$filter": "state ne 'deleting'", "$select": "thumbprint"})
    assert [list(c) for c in page["value"]] == [["thumbprint"], ["thumbprint"]] and page["odata.nextLink"]
    p.refused(400, "InvalidQueryParameterValue", "GET", "/certificates", params={"$filter": "state eq 'gone'"})
    p.refused(400, "InvalidQueryParameterValue", "GET", "/certificates", params={"$select": "data"})


def new_account(ground):
    name = ground.accounts.account()
    return name, ground.accounts.keys(name)[0]


def test_only_a_failed_deletion_is_cancelled(plane, made):
    plane.refused(404, "CertificateNotFound", "POST", made.path + "/canceldelete")
    plane.call("POST", "/certificates", made.cer(), expect=201)
    plane.refused(409, "CertificateStateActive", "POST", made.path + "/canceldelete")
    plane.at(V["6.0"]).call("DELETE", made.path, expect=202)


def test_certificates_outlive_the_daemon_and_go_with_their_account(own_daemon, made):
    d = own_daemon()
    ground = BatchGround(d)
    ground.plane.call("POST", "/certificates", made.body(), expect=201)
    assert made.pfx[:64].encode() not in b"".join(f.read_bytes() for f in d.state_dir.glob("*.db*"))
    d.restart()
    assert ground.plane.get(made.path)["state"] == "active"
    ground.accounts.delete(ground.name)

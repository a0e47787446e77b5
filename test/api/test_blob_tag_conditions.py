# SPDX-License-Identifier: MIT
"""Conditions on the tags of blobs."""

from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import BlobClient, generate_blob_sas
from support.blobs import call, client, container, daemon, put, refused  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY

HOLD = [
    "\"Project\" = 'A'",
    "Project='A'",
    "\"Project\" <> 'B' AND \"Rank\" >= '5'",
    "\"Rank\" > '4' and \"Rank\" < '6'",
    "\"Project\" = 'B' OR \"Project\" = 'A'",
    "\"Project\" = 'A' OR \"Project\" = 'B' AND \"Rank\" = '9'",  # AND binds more tightly
    "\"None\" <> 'A'",
    "(\"Project\" = 'B' OR (\"Rank\" <= '5')) AND \"Project\" = 'A'",
    "\"a b/c\" = ''",
]
FAIL = [
    "\"Project\" = 'a'",
    "\"project\" = 'A'",
    "\"None\" = ''",
    "\"None\" > 'A' OR \"None\" < 'A'",
    "\"Rank\" > '5'",
    "(\"Project\" = 'A' OR \"Project\" = 'B') AND \"Rank\" = '9'",
]
BAD = [
    "",
    "Project",
    "\"Project\" = A",
    "\"Project\" = 'A",
    "\"Project = 'A'",
    "\"Project\" == 'A'",
    "\"Project\" = 'A' XOR \"Rank\" = '5'",
    "\"Project\" = 'A' AND",
    "\"Project\" = 'A' ANDRank = '5'",
    "(\"Project\" = 'A'",
    "\"Project\" = 'A')",
    "(" * 20 + "a='b'" + ")" * 20,
    "@container = 'c'",
    "\"" + "n" * 200 + "\" = 'A'",
]


@pytest.fixture
def tagged(put):
    put("b", b"x", x_ms_tags="Project=A&Rank=5&a%20b%2Fc=")


@pytest.mark.parametrize("condition", HOLD)
def test_what_holds(call, tagged, condition):
    assert call("GET", "/b", x_ms_if_tags=condition).body == b"x"


@pytest.mark.parametrize("condition", FAIL)
def test_what_does_not_hold(call, tagged, condition):
    got = call("GET", "/b", x_ms_if_tags=condition)
    assert (got.status, got.code) == (412, "ConditionNotMet")


@pytest.mark.parametrize("condition", BAD)
def test_what_is_no_condition(call, tagged, condition):
    got = call("HEAD", "/b", x_ms_if_tags=condition)
    assert (got.status, got.code) == (400, "InvalidHeaderValue")


def test_changes_and_copies_take_conditions(container, call, put, tagged):
    blob = container.get_blob_client("b")
    no, yes = "\"Project\" = 'B'", "\"Project\" = 'A'"
    assert refused(blob.set_blob_metadata, {"a": "b"}, if_tags_match_condition=no) == "ConditionNotMet"
    assert refused(blob.delete_blob, if_tags_match_condition=no) == "ConditionNotMet"
    assert put("b", b"y", x_ms_if_tags=no).code == "ConditionNotMet"
    assert put("new", b"y", x_ms_if_tags=yes).code == "ConditionNotMet"
    assert call("PUT", "/b?comp=snapshot", x_ms_if_tags=no).code == "ConditionNotMet"
    blob.set_blob_metadata({"a": "b"}, if_tags_match_condition=yes)
    source = {"x_ms_copy_source": blob.url}
    assert call("PUT", "/c", x_ms_source_if_tags=no, **source).code == "SourceConditionNotMet"
    assert call("PUT", "/c", x_ms_source_if_tags=yes, **source).status == 202
    blob.delete_blob(if_tags_match_condition=yes)


def test_a_signature_must_allow_tags(daemon, container, tagged):
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    for permission, code in (("r", "AuthorizationPermissionMismatch"), ("rt", None)):
        sas = generate_blob_sas(
            ACCOUNT, container.container_name, "b", account_key=KEY, permission=permission, expiry=until
        )
        blob = BlobClient.from_blob_url(f"{daemon.blob.url}/{container.container_name}/b?{sas}")
        condition = {"if_tags_match_condition": "\"Project\" = 'A'"}
        if code:
            assert refused(blob.get_blob_properties, **condition) is not None
        else:
            assert blob.get_blob_properties(**condition).size == 1

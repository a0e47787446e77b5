# SPDX-License-Identifier: MIT
"""Find Blobs by Tags: in an account and in a container."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta, timezone
from xml.etree import ElementTree

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient, generate_container_sas
from support import migrations
from support.blobs import call, client, container, daemon, put, refused  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY, StorageDaemon

FOUND = {
    "\"Project\" = 'A'": ["a", "ab", "b/c//d"],
    "Project='A'": ["a", "ab", "b/c//d"],
    "\"Project\" = 'A' AND \"Rank\" >= '5'": ["ab", "b/c//d"],
    "\"Rank\" >= '5' and \"Project\" = 'A'": ["ab", "b/c//d"],
    "\"Rank\" > '5'": ["b/c//d", "other"],
    "\"Rank\" > '3' AND \"Rank\" < '5'": ["a"],
    "\"Rank\" >= '4' AND \"Rank\" <= '5'": ["a", "ab"],
    "\"Rank\" < '5'": ["a"],
    "\"Rank\" > '6' AND \"Rank\" < '5'": [],
    "\"Project\" = 'A' AND \"Project\" = 'B'": [],
    "\"Empty\" = ''": ["ab"],
    "\"Empty\" >= ''": ["ab"],
    "\"Empty\" > ''": [],
    "\"Project\" = 'a'": [],
    "\"project\" = 'A'": [],
    "\"None\" = 'A'": [],
}
BAD = {
    "": "at character 1 the name of a tag",
    "   ": "at character 4 the name of a tag",
    "Project": "at character 8 one of = > >= < <= is expected",
    "\"Project\"": "one of = > >= < <=",
    "\"Project\" <> 'A'": "at character 11 one of = > >= < <=",
    "\"Project\" == 'A'": "a value in single quotes",
    "\"Project\" = A": "at character 13 a value in single quotes",
    "\"Project\" = \"A\"": "a value in single quotes",
    "\"Project\" = 'A": "a value in single quotes",
    "\"Project = 'A'": "the name of a tag",
    "'Project' = 'A'": "the name of a tag",
    "\"\" = 'A'": "the name of a tag",
    "\"Project\" = 'A' OR \"Rank\" = '5'": "at character 17 AND or the end",
    "\"Project\" = 'A' AND": "the name of a tag",
    "\"Project\" = 'A' ANDRank = '5'": "AND or the end",
    "\"Project\" = 'A', \"Rank\" = '5'": "AND or the end",
    "NOT \"Project\" = 'A'": "one of = > >= < <=",
    "(\"Project\" = 'A')": "the name of a tag",
    "\"Project\" = 'A';": "AND or the end",
    "@container = 'c'": "AND with the comparison of a tag",
    "@container > 'c' AND a = 'b'": "the operator =",
    "@box = 'c' AND a = 'b'": "or @container",
    "@container = 'c' AND @container = 'c' AND a = 'b'": "may be named once",
    "\"" + "n" * 129 + "\" = 'A'": "the name of a tag",
    "a = '" + "v" * 257 + "'": "a value in single quotes",
    " AND ".join(["a = 'b'"] * 21): "there may be 20 comparisons",
}


@pytest.fixture
def tagged(put):
    put("a", x_ms_tags="Project=A&Rank=4")
    put("ab", x_ms_tags="Project=A&Rank=5&Empty=")
    put("b/c//d", x_ms_tags="Project=A&Rank=6")  # no file can have this name
    put("other", x_ms_tags="Project=B&Rank=7")
    put("untagged")


def names(found):
    return [b.name for b in found]


@pytest.mark.parametrize("where", FOUND)
def test_what_is_found(container, tagged, where):
    assert sorted(names(container.find_blobs_by_tags(where))) == FOUND[where]


def test_an_accounts_containers_are_searched_in_their_order(client, container, tagged):
    other = client.create_container("z" + container.container_name)
    other.upload_blob("z", b"", tags={"Project": "A"})
    found = list(client.find_blobs_by_tags("\"Project\" = 'A'"))
    mine = [(b.container_name, b.name) for b in found if b.container_name.endswith(container.container_name)]
    c = container.container_name
    assert mine == [(c, "a"), (c, "ab"), (c, "b/c//d"), ("z" + c, "z")]
    within = f"@container = '{c}' AND \"Project\" = 'A'"
    assert names(client.find_blobs_by_tags(within)) == ["a", "ab", "b/c//d"]
    assert names(client.find_blobs_by_tags(f"\"Project\" = 'A' AND @Container = 'z{c}'")) == ["z"]
    assert names(client.find_blobs_by_tags("@container = 'none' AND \"Project\" = 'A'")) == []
    assert names(other.find_blobs_by_tags(within)) == []
    other.delete_container()
    assert names(client.find_blobs_by_tags(f"\"Project\" = 'A' AND @container = 'z{c}'")) == []


def test_only_the_asked_tags_are_shown(container, call, tagged):
    [found] = container.find_blobs_by_tags("\"Rank\" = '5' AND \"Project\" >= 'A'")
    assert found.tags == {"Project": "A", "Rank": "5"}
    text = call("GET", "?restype=container&comp=blobs&where=%22Rank%22%3D%275%27").body.decode()
    assert ElementTree.fromstring(text.lstrip("\ufeff")).findtext("Where") == "\"Rank\"='5'"
    assert f"<Blob><Name>ab</Name><ContainerName>{container.container_name}</ContainerName><Tags>" in text


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_pages_go_on_where_they_ended(container, tagged, size):
    pages = container.find_blobs_by_tags("\"Rank\" >= '4'", results_per_page=size).by_page()
    got = [names(page) for page in pages]
    assert sum(got, []) == ["a", "ab", "b/c//d", "other"]
    assert all(len(page) <= size for page in got)


def test_markers_of_other_lists_are_refused(call, tagged):
    where = "?restype=container&comp=blobs&where=a%3D%27b%27"
    for marker in ("x", "61", "61ff62", "ff" * 3, "61ff62ff63"):
        got = call("GET", f"{where}&marker={marker}")
        assert (got.status, got.code) == (400, "InvalidQueryParameterValue"), marker
    assert call("GET", f"{where}&maxresults=0").code == "OutOfRangeQueryParameterValue"
    assert call("GET", f"{where}&include=tags").code == "InvalidQueryParameterValue"
    assert call("GET", "?restype=container&comp=blobs").code == "MissingRequiredQueryParameter"


@pytest.mark.parametrize("where", BAD)
def test_what_is_no_expression(container, where):
    with pytest.raises(HttpResponseError) as e:
        list(container.find_blobs_by_tags(where))
    assert e.value.error_code == "InvalidQueryParameterValue"
    assert BAD[where] in e.value.message


def test_tags_that_change_are_found_as_they_are_now(container, put, tagged):
    a, where = container.get_blob_client("a"), "\"Project\" = 'C'"
    a.set_blob_tags({"Project": "C"})
    assert names(container.find_blobs_by_tags(where)) == ["a"]
    a.set_blob_metadata({"x": "y"})
    assert names(container.find_blobs_by_tags(where)) == ["a"]
    put("a", b"without tags")
    assert names(container.find_blobs_by_tags(where)) == []
    a.set_blob_tags({"Project": "C"})
    a.delete_blob()
    assert names(container.find_blobs_by_tags(where)) == []


def test_a_file_that_a_job_removed_is_not_found(daemon, container, tagged):
    (daemon.folder / "blobs" / container.container_name / "ab").unlink()
    assert names(container.find_blobs_by_tags("\"Project\" = 'A'")) == ["a", "b/c//d"]


def test_a_signature_needs_the_letter_f(daemon, container, tagged):
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    for permission, may in (("f", True), ("rlt", False)):
        sas = generate_container_sas(ACCOUNT, container.container_name, KEY, permission=permission, expiry=until)
        c = BlobServiceClient(daemon.blob.url, credential=sas).get_container_client(container.container_name)
        if may:
            assert names(c.find_blobs_by_tags("\"Project\" = 'B'")) == ["other"]
        else:
            assert refused(lambda c=c: list(c.find_blobs_by_tags("\"Project\" = 'B'"))) == "AuthorizationPermissionMismatch"


def test_blobs_of_an_older_database_are_found():
    with StorageDaemon() as d:
        assert d.blob.call("PUT", "/old?restype=container").status == 201
        for name, tags in (("a", "k=1"), ("b//", "k=2&l=3"), ("c", None)):
            headers = {"x_ms_tags": tags} if tags else {}
            assert d.blob.call("PUT", f"/old/{name}", b"x", x_ms_blob_type="BlockBlob", **headers).status == 201
        d.stop()
        with closing(sqlite3.connect(next(d.state_dir.glob("*.db")))) as db, db:
            migrations.undo(db, down_to=1)
        d.start()
        c = BlobServiceClient(d.blob.url, credential=KEY).get_container_client("old")
        assert [(b.name, b.tags) for b in c.find_blobs_by_tags("k >= '1'")] == [("a", {"k": "1"}), ("b//", {"k": "2"})]


def test_others_are_served_while_many_are_searched(daemon, client, container, put):
    """None of a thousand blobs matches, which is known only when all were looked at."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: put(f"n{i:04}", b"", x_ms_tags=f"All=1&N={i % 7}"), range(1000)))
    where = "\"All\" = '1' AND \"N\" > '8'"
    assert names(container.find_blobs_by_tags(where)) == []
    assert len(names(container.find_blobs_by_tags("\"All\" >= '1' AND \"N\" = '3'"))) == 143
    assert len(names(container.find_blobs_by_tags("\"All\" >= '1'", results_per_page=300))) == 1000

def test_a_search_of_the_account_goes_on_while_containers_go(client):
    names = [f"going{n:02}" for n in range(10)]
    made = [client.create_container(n) for n in names]
    for c in made:
        for blob in ("b", "x//y"):  # the second is beside the container's folder
            c.upload_blob(blob, b"bytes", tags={"Goes": "1"})
    seen = []
    with ThreadPoolExecutor(3) as pool:
        gone = pool.map(lambda c: c.delete_container(), made)
        while not seen or seen[-1]:
            found = {b["container_name"] for b in client.find_blobs_by_tags("\"Goes\" = '1'", results_per_page=5)}
            assert found <= set(names)
            seen.append(len(found))
        assert list(gone) == [None] * len(made)
    assert seen == sorted(seen, reverse=True)

# SPDX-License-Identifier: MIT
"""What is asked of the data planes and not served is refused by its name, never passed over. docs/storage.md lists what is
refused, and what is taken without effect, with the reasons; together with what is served here these lists have all that
the published documents know."""

import json
import re
from pathlib import Path

import pytest
from support.blobs import call, client, container, daemon, may_read, put # noqa: F401 fixtures
from support.data_spec import default_dir

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "docs" / "storage.md").read_text().partition("## What is asked for and not served")[2]
VERSIONS = {"blob": ("2021-04-10", "2021-12-02", "2024-08-04"), "file": ("2021-06-08", "2021-12-02", "2024-11-04")}
# Newer than these documents, from azure-storage-blob 12.31.1 and azure-storage-file-share 12.27.1 for Python,
# @azure/storage-blob 12.32.0 and @azure/storage-file-share 12.31.0.
NEWER_HEADERS = """access-tier-if-modified-since access-tier-if-unmodified-since blob-if-match blob-if-modified-since
    blob-if-none-match blob-if-unmodified-since enable-smb-directory-lease file-file-type file-mode-copy-mode
    file-owner-copy-mode file-property-semantics file-request-intent file-target-file group link-text mode owner
    share-provisioned-bandwidth-mibps share-provisioned-iops source-encryption-algorithm source-encryption-key
    source-encryption-key-sha256 structured-body structured-content-length""".split()
NEWER_PARAMETERS = ("startfrom", "endbefore")

SERVED_HEADERS = """access-tier allow-trailing-dot blob-cache-control blob-condition-appendpos blob-condition-maxsize
    blob-content-disposition blob-content-encoding blob-content-language blob-content-md5 blob-content-type
    blob-public-access blob-type cache-control client-request-id content-crc64 content-disposition content-encoding
    content-language content-length content-md5 content-type copy-source copy-source-authorization
    copy-source-blob-properties copy-source-tag-option delete-snapshots destination-lease-id file-attributes
    file-change-time file-copy-set-archive file-creation-time file-extended-info file-last-write-time
    file-rename-replace-if-exists file-rename-source handle-id if-tags lease-action lease-break-period lease-duration
    lease-id meta proposed-lease-id range rehydrate-priority range-get-content-crc64 range-get-content-md5 requires-sync seal-blob share-quota
    source-if-match source-if-modified-since source-if-none-match source-if-tags source-if-unmodified-since
    source-lease-id source-range structured-body structured-content-length tags type version write""".split()
SERVED_PARAMETERS = {"blockid", "blocklisttype", "comp", "delimiter", "include", "marker", "maxresults", "prefix", "restype",
                     "snapshot", "where"}  # fmt: skip
# Operations that are not served at all, each with a request for it, and the names that only they know.
UNSERVED = {
    "Blob_DeleteImmutabilityPolicy": ("DELETE", "/c/b?comp=immutabilityPolicies"),
    "Blob_Query": ("POST", "/c/b?comp=query"),
    "Blob_SetExpiry": ("PUT", "/c/b?comp=expiry"),
    "Blob_SetImmutabilityPolicy": ("PUT", "/c/b?comp=immutabilityPolicies"),
    "Blob_SetLegalHold": ("PUT", "/c/b?comp=legalhold"),
    "Container_Rename": ("PUT", "/c?restype=container&comp=rename"),
    "Container_Restore": ("PUT", "/c?restype=container&comp=undelete"),
    "PageBlob_ClearPages": ("PUT", "/c/b?comp=page"),
    "PageBlob_CopyIncremental": ("PUT", "/c/b?comp=incrementalcopy"),
    "PageBlob_GetPageRanges": ("GET", "/c/b?comp=pagelist"),
    "PageBlob_GetPageRangesDiff": ("GET", "/c/b?comp=pagelist"),
    "PageBlob_Resize": None,  # by comp=properties, of a page blob
    "PageBlob_UpdateSequenceNumber": None,
    "PageBlob_Create": None,  # by x-ms-blob-type
    "PageBlob_UploadPages": ("PUT", "/c/b?comp=page"),
    "PageBlob_UploadPagesFromURL": ("PUT", "/c/b?comp=page"),
    "Service_GetStatistics": ("GET", "/?restype=service&comp=stats"),
    "Share_Restore": ("PUT", "/s?restype=share&comp=undelete"),
}


def table(after):
    """The rows of the table behind a line of the docs: the names in its first column, by what stands in its second."""
    rows = {}
    for line in DOCS.partition(after)[2].partition("\n| --- ")[2].splitlines()[1:]:
        if not line.startswith("|"):
            break
        names, second = line.strip("|").split("|")[:2]
        rows.update(dict.fromkeys(re.findall(r"`([^`]+)`", names), second.strip().strip("`")))
    return rows


REFUSED = table("| refused |")
HARMLESS = table("| taken without effect |")
HEADERS = {name: same for name, same in REFUSED.items() if name.startswith("x-ms-")}
PARAMETERS = {name: same for name, same in REFUSED.items() if not name.startswith("x-ms-")}


def refusal(answer):
    return answer.status, answer.code, re.search(r"The (?:header|query parameter) (\S+) is not served", answer.body.decode())


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_is_not_served_is_refused(daemon, put, call, name):
    put("b", b"old")
    path, kind = "/b", {"x_ms_blob_type": "BlockBlob"}
    for value in ("value", "true"):
        answer = call("PUT", path, b"new", **{**kind, name: value})
        status, code, named = refusal(answer)
        assert (status, code) == (400, "UnsupportedHeader") and named[1] == name, answer
        assert call("GET", "/b").body == b"old"
    if same := HEADERS[name]:
        assert call("PUT", path, b"new", **{**kind, name: same}).status == 201
        assert daemon.file.call("GET", "/?comp=list", **{name: same}).status == 200
    assert daemon.file.call("GET", "/?comp=list", **{name: "value"}).code == "UnsupportedHeader"
    assert call("HEAD", "/b", **{name: "value"}).code == "UnsupportedHeader"


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_that_is_not_served_is_refused(daemon, put, call, name):
    put("b")
    kept = "ShareSnapshotOperationNotSupported" if "sharesnapshot" in name else "UnsupportedQueryParameter"
    for method, spelt in (("DELETE", name), ("GET", name.upper()), ("HEAD", name)):
        answer = call(method, f"/b?{spelt}=x")
        assert (answer.status, answer.code) == (400, kept), answer
        assert method == "HEAD" or refusal(answer)[2][1] == name
    assert call("GET", "/b").status == 200
    assert call("GET", f"?restype=container&comp=list&{name}=x").code == kept
    assert daemon.file.call("GET", f"/?comp=list&{name}=x").code == kept


def test_a_file_is_made_without_bytes(daemon):
    daemon.file.call("PUT", "/asked?restype=share")
    answer = daemon.file.call("PUT", "/asked/f", b"bytes", x_ms_type="file", x_ms_content_length="5")
    assert (answer.status, answer.code) == (400, "UnsupportedHeader") and b"Content-Length" in answer.body
    assert daemon.file.call("HEAD", "/asked/f").status == 404
    daemon.file.call("DELETE", "/asked?restype=share")


def test_what_a_copy_takes_of_its_source(put, call, daemon, container):
    put("from", x_ms_blob_content_type="text/x", x_ms_blob_content_language="de", x_ms_tags="k=v")
    source = f"{daemon.blob.url}/{container.container_name}/from?{may_read(container, 'rt')}"
    made = {"x_ms_copy_source": source, "x_ms_blob_type": "BlockBlob"}
    for says, language in (("true", "de"), ("false", None)):
        assert call("PUT", "/to", x_ms_copy_source_blob_properties=says, **made).status == 201
        assert call("HEAD", "/to").headers["Content-Language"] == language
    for says, count in (("COPY", "1"), ("REPLACE", None)):
        assert call("PUT", "/to", x_ms_copy_source_tag_option=says, **made).status == 201
        assert call("HEAD", "/to").headers["x-ms-tag-count"] == count
    for wrong in ({"x_ms_copy_source_tag_option": "MERGE"}, {"x_ms_copy_source_tag_option": "COPY", "x_ms_tags": "a=b"}):
        assert call("PUT", "/to", **wrong, **made).code == "InvalidHeaderValue"


def test_documents_have_the_hash_that_is_said(put, call):
    call("PUT", "/b?comp=block&blockid=MDA%3D", b"x")
    put("tagged")
    for path, body in (("/b?comp=blocklist", b"<BlockList><Latest>MDA=</Latest></BlockList>"),
                       ("/tagged?comp=tags", b"<Tags><TagSet></TagSet></Tags>")):  # fmt: skip
        assert call("PUT", path, body, x_ms_content_crc64="AAAAAAAAAAA=").code == "Crc64Mismatch"
        assert call("PUT", path, body, Content_MD5="AAAAAAAAAAAAAAAAAAAAAA==").code == "Md5Mismatch"
    assert call("GET", "/b").status == 404


@pytest.mark.parametrize("operation", [name for name, way in UNSERVED.items() if way])
def test_an_operation_that_is_not_served_is_refused(daemon, operation):
    method, path = UNSERVED[operation]
    plane = daemon.file if operation.startswith("Share") else daemon.blob
    answer = plane.call(method, path)
    assert (answer.status, answer.code) in ((400, "InvalidQueryParameterValue"), (405, "UnsupportedHttpVerb")), answer
    assert answer.status == 405 or b"<QueryParameterName>comp</QueryParameterName>" in answer.body
    named = re.search(r"restype '.*?'\)\. (.*)", answer.body.decode())
    assert answer.status == 405 or re.search("not served|do not|not renamed|no second|restore", named[1]), answer.body


NO_LEASE = "00000000-0000-4000-8000-000000000000"
BLOB_OPERATIONS = [
    ("GET", "/b", {}), ("HEAD", "/b", {}), ("GET", "/b?comp=blocklist", {}), ("GET", "/b?comp=tags", {}),
    ("PUT", "/b", {"x_ms_blob_type": "BlockBlob"}), ("PUT", "/b?comp=metadata", {}), ("PUT", "/b?comp=properties", {}),
    ("PUT", "/b?comp=tier", {"x_ms_access_tier": "Cool"}), ("PUT", "/b?comp=snapshot", {}),
    ("PUT", "/b?comp=tags", {"body": b"<Tags><TagSet></TagSet></Tags>"}),
    ("PUT", "/b?comp=blocklist", {"body": b"<BlockList></BlockList>"}),
    ("PUT", "/a?comp=appendblock", {"body": b"more"}), ("PUT", "/b", {"x_ms_copy_source": "/b"}), ("DELETE", "/b", {}),
]  # fmt: skip


@pytest.mark.parametrize("condition, code", [({"x_ms_lease_id": NO_LEASE}, "LeaseNotPresentWithBlobOperation"),
                                             ({"x_ms_if_tags": "\"k\" = 'other'"}, "ConditionNotMet")])  # fmt: skip
def test_lease_and_tags_count_in_each_operation_on_a_blob(daemon, container, put, call, condition, code):
    put("b", x_ms_tags="k=v")
    call("PUT", "/a", x_ms_blob_type="AppendBlob")
    for method, path, given in BLOB_OPERATIONS:
        more = dict(given)
        if "x_ms_copy_source" in more:
            more["x_ms_copy_source"] = f"{daemon.blob.url}/{container.container_name}/b"
        answer = call(method, path, more.pop("body", b""), **more, **condition)
        assert (answer.status, answer.code) == (412, code), (method, path, answer)


def test_the_lease_counts_in_each_operation_that_knows_it(daemon, call):
    daemon.file.call("PUT", "/leases?restype=share")
    daemon.file.call("PUT", "/leases/f", x_ms_type="file", x_ms_content_length="3")
    containers = [("GET", ""), ("HEAD", ""), ("GET", "&comp=acl"), ("PUT", "&comp=acl"), ("PUT", "&comp=metadata"), ("DELETE", "")]
    shares = [*containers, ("GET", "&comp=stats"), ("PUT", "&comp=properties")]
    files = [("GET", ""), ("HEAD", ""), ("PUT", "?comp=metadata"), ("PUT", "?comp=properties"), ("GET", "?comp=rangelist"),
             ("PUT", "?comp=range"), ("PUT", ""), ("DELETE", "")]  # fmt: skip
    more = {"x_ms_write": "clear", "x_ms_range": "bytes=0-1", "x_ms_type": "file", "x_ms_content_length": "3"}
    asked = [(call, method, "?restype=container" + rest, {}) for method, rest in containers]
    asked += [(daemon.file.call, method, "/leases?restype=share" + rest, {}) for method, rest in shares]
    asked += [(daemon.file.call, method, "/leases/f" + rest, more) for method, rest in files]
    for ask, method, path, given in asked:
        answer = ask(method, path, x_ms_lease_id=NO_LEASE, **given)
        assert answer.status == 412 and answer.code.startswith("LeaseNotPresentWith"), (method, path, answer)
    daemon.file.call("DELETE", "/leases?restype=share")


# --- the lists ----------------------------------------------------------------------------------------------


def names_of(kind, where):
    """The names that the operations of the documents know: {operation: names in lower case}."""
    found = {}
    for version in VERSIONS[kind]:
        path = default_dir() / kind / version / f"{kind}.json"
        if not path.is_file():
            pytest.skip(f"the published document {path} is not here")
        document = json.loads(path.read_text())
        for item in ({**document["paths"], **document.get("x-ms-paths", {})}).values():
            for operation in (o for m, o in item.items() if m != "parameters"):
                for p in item.get("parameters", []) + operation.get("parameters", []):
                    p = document["parameters"][p["$ref"].rsplit("/")[-1]] if "$ref" in p else p
                    if p["in"] == where:
                        found.setdefault(operation["operationId"], set()).add(p["name"].lower())
    return found


@pytest.mark.parametrize("kind", VERSIONS)
def test_the_lists_have_what_the_documents_know(kind):
    headers = {name for o, names in names_of(kind, "header").items() if o not in UNSERVED for name in names}
    headers = {name for name in headers if name.startswith("x-ms-")} | {f"x-ms-{n}" for n in NEWER_HEADERS}
    served = {f"x-ms-{name}" for name in SERVED_HEADERS}
    assert headers - served - REFUSED.keys() - HARMLESS.keys() == set()
    asked = {name for o, names in names_of(kind, "query").items() if o not in UNSERVED for name in names}
    assert {*asked, *NEWER_PARAMETERS} - SERVED_PARAMETERS - REFUSED.keys() - HARMLESS.keys() == set()


def test_the_lists_have_each_name_once():
    served = {f"x-ms-{name}" for name in SERVED_HEADERS} | SERVED_PARAMETERS
    # A source can be copied, and not appended; snapshots of blobs are deleted, and shares have none.
    assert served & {**REFUSED, **HARMLESS}.keys() == {"x-ms-delete-snapshots"}
    assert REFUSED.keys() & HARMLESS.keys() == set() and len(REFUSED) > 50 and len(HARMLESS) > 10


def test_what_is_served_is_read_somewhere():
    texts = [f.read_text() for room in ("blob", "file", "storage") for f in (ROOT / "api/plane" / room).glob("*.[ch]")]
    code = "\n".join(texts)
    for name in SERVED_HEADERS:
        behind_a_prefix = re.sub("^blob-", "", name)
        assert f'x-ms-{name}' in code or f'"{behind_a_prefix}"' in code or f'PREFIX "{name}' in code, name
    for name in SERVED_PARAMETERS:
        assert f'"{name}"' in code or f"{name}=" in code, name

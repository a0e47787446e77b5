# SPDX-License-Identifier: MIT
"""URL KEY: what the newest package does with tags, tiers, append blobs and structured messages; fails where an answer
is not what it should be."""

import io
import os
import sys
from datetime import datetime, timedelta, timezone

from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient, StandardBlobTier, generate_blob_sas

url, key = sys.argv[1:]
account = url.rsplit("/", 1)[-1]
service = BlobServiceClient(
    url,
    AzureNamedKeyCredential(account, key),
    max_single_put_size=1 << 20,
    max_block_size=1 << 20,
    max_single_get_size=3 << 20,
    max_chunk_get_size=2 << 20,
)
container = service.create_container("features")
data = os.urandom(5 << 20)
sent, got = [], []


def is_(wanted, found):
    assert found == wanted, f"{found!r} instead of {wanted!r}"


def code(do, *arguments, **named):
    try:
        do(*arguments, **named)
    except HttpResponseError as e:
        return e.error_code
    return None


def seen(answer):
    for heads, here in ((answer.http_request.headers, sent), (answer.http_response.headers, got)):
        here.append(heads.get("x-ms-structured-body") or ("crc64" if "x-ms-content-crc64" in heads else None))


def structured(name):
    """Up and down with a CRC64 of each piece: in a header, or in a structured message, as which the package sends what
    it reads from a stream, and takes all that it gets."""
    blob = container.get_blob_client(name)
    log = container.get_blob_client(name + ".log")
    log.create_append_blob()
    form = "XSM/1.0; properties=crc64"

    def comes_down(n):
        got.clear()
        is_(data[:n], blob.download_blob(validate_content="crc64", raw_response_hook=seen).readall())
        assert n == 0 or set(got) == {form}, (n, got)

    for n in (0, 1000, len(data)):
        sent.clear()
        blob.upload_blob(data[:n], validate_content="crc64", overwrite=True, raw_response_hook=seen)
        assert "crc64" in sent, (n, sent)
        comes_down(n)
        sent.clear()
        if n <= 1000:
            blob.upload_blob(data[:n], validate_content="crc64-sm", overwrite=True, raw_response_hook=seen)
        else:
            stream = io.BytesIO(data)
            blob.stage_block("1", stream, length=n, validate_content="crc64", raw_response_hook=seen)
            blob.commit_block_list(["1"])
        assert sent == [form], (n, sent)
        comes_down(n)
    log.append_block(data[:5000], validate_content="crc64")
    log.append_block(io.BytesIO(data[:5000]), length=5000, validate_content="crc64")
    is_(data[100:70100], blob.download_blob(offset=100, length=70000, validate_content="crc64").readall())
    is_(data[:5000] * 2, log.download_blob().readall())


def tags():
    for name, rank in (("a", "4"), ("b", "5"), ("c", "6")):
        container.upload_blob(name, name, tags={"Project": "A", "Rank": rank, "Other": "x"})
    found = list(container.find_blobs_by_tags("\"Project\"='A' AND \"Rank\">='5'"))
    is_([("b", {"Project": "A", "Rank": "5"}), ("c", {"Project": "A", "Rank": "6"})], [(b.name, b.tags) for b in found])
    where = "@container='features' AND \"Project\"='A'"
    pages = list(service.find_blobs_by_tags(where, results_per_page=2).by_page())
    is_([["a", "b"], ["c"]], [[b.name for b in page] for page in pages])
    is_("InvalidQueryParameterValue", code(lambda: list(service.find_blobs_by_tags("\"Project\"='A' OR \"Rank\"='5'"))))
    container.get_blob_client("a").set_blob_tags({"Project": "B"})
    is_(["a"], [b.name for b in container.find_blobs_by_tags("\"Project\"='B'")])


def archive():
    blob, copy = container.get_blob_client("old"), container.get_blob_client("old copy")
    blob.upload_blob(b"old", standard_blob_tier=StandardBlobTier.ARCHIVE)
    is_("BlobArchived", code(blob.download_blob))
    is_("BlobArchived", code(blob.upload_blob, b"new", overwrite=True))
    is_("BlobArchived", code(copy.start_copy_from_url, blob.url))
    copy.start_copy_from_url(blob.url, standard_blob_tier=StandardBlobTier.COOL, rehydrate_priority="High")
    is_(("Cool", b"old"), (copy.get_blob_properties().blob_tier, copy.download_blob().readall()))
    is_("Archive", {b.name: b.blob_tier for b in container.list_blobs()}["old"])
    blob.set_standard_blob_tier("Hot", rehydrate_priority="Standard")
    is_(("Hot", b"old"), (blob.get_blob_properties().blob_tier, blob.download_blob().readall()))


def append():
    container.upload_blob("source", data)
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    sas = generate_blob_sas(account, "features", "source", account_key=key, permission="r", expiry=until)
    source = container.get_blob_client("source").url + "?" + sas
    log = container.get_blob_client("log")
    log.create_append_blob()
    log.append_block_from_url(source)
    log.append_block_from_url(source, source_offset=10, source_length=20, appendpos_condition=len(data))
    is_(data + data[10:30], log.download_blob().readall())
    is_(True, log.seal_append_blob()["blob_sealed"])
    is_("BlobIsSealed", code(log.append_block, b"more"))
    is_(True, log.get_blob_properties().is_append_blob_sealed)


structured("structured")
tags()
archive()
append()
print("all right")

# SPDX-License-Identifier: MIT
"""Files up and down through the Python packages of 2017 to 2019, unmodified; ../test_storage_clients.py says what for."""

import os
import sys

from azure.storage.blob import BlockBlobService
from azure.storage.file import FileService

NAME, FILES, OUT = sys.argv[1:]
CONNECTION = "AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={BLOBS};FileEndpoint={SHARES}".format(**os.environ)
SIZES = sorted(os.listdir(FILES), key=int)


def resume(get, path, size):
    """The first half, as if the client had been stopped then; and what is missing."""
    get(path, open_mode="wb", start_range=0, end_range=size // 2 - 1)
    get(path, open_mode="ab", start_range=os.path.getsize(path), end_range=size - 1)


def blobs():
    service = BlockBlobService(connection_string=CONNECTION)
    service.create_container(NAME)
    for size in SIZES:
        service.create_blob_from_path(NAME, size, os.path.join(FILES, size), max_connections=4)
        service.get_blob_to_path(NAME, size, os.path.join(OUT, "blob-" + size), max_connections=4)
    resume(
        lambda path, **more: service.get_blob_to_path(NAME, SIZES[-1], path, max_connections=1, **more),
        os.path.join(OUT, "blob-resumed"),
        int(SIZES[-1]),
    )
    return sum(1 for _ in service.list_blobs("many", prefix="many/"))


def files():
    service = FileService(connection_string=CONNECTION)
    service.create_share(NAME)
    for size in SIZES:
        service.create_file_from_path(NAME, None, size, os.path.join(FILES, size), max_connections=4)
        service.get_file_to_path(NAME, None, size, os.path.join(OUT, "file-" + size), max_connections=4)
    resume(
        lambda path, **more: service.get_file_to_path(NAME, None, SIZES[-1], path, max_connections=1, **more),
        os.path.join(OUT, "file-resumed"),
        int(SIZES[-1]),
    )
    return sum(1 for _ in service.list_directories_and_files("many", "many"))


print("listed", blobs(), files())

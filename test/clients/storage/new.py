# SPDX-License-Identifier: MIT
"""Files up and down through the Python packages 12.x, unmodified; ../test_storage_clients.py says what for."""

import os
import sys

from azure.storage.blob import BlobServiceClient
from azure.storage.fileshare import ShareServiceClient

NAME, FILES, OUT = sys.argv[1:]
KEY = {"account_name": os.environ["ACCOUNT"], "account_key": os.environ["KEY"]}
SIZES = sorted(os.listdir(FILES), key=int)


def go_through(kind, upload, download):
    """Each file up and down, and the largest down in two parts, as if the client had been stopped between them."""
    for size in SIZES:
        with open(os.path.join(FILES, size), "rb") as f:
            upload(size, f)
        with open(os.path.join(OUT, f"{kind}-{size}"), "wb") as f:
            download(size).readinto(f)
    path, half = os.path.join(OUT, f"{kind}-resumed"), int(SIZES[-1]) // 2
    with open(path, "wb") as f:
        download(SIZES[-1], offset=0, length=half).readinto(f)
    with open(path, "ab") as f:
        for chunk in download(SIZES[-1], offset=os.path.getsize(path)).chunks():
            f.write(chunk)


def blobs():
    service = BlobServiceClient(os.environ["BLOBS"], credential=KEY)
    container = service.create_container(NAME)
    go_through(
        "blob",
        lambda name, f: container.upload_blob(name, f, max_concurrency=4),
        lambda name, **part: container.download_blob(name, max_concurrency=4, **part),
    )
    return sum(1 for _ in service.get_container_client("many").list_blobs(name_starts_with="many/"))


def files():
    service = ShareServiceClient(os.environ["SHARES"], credential=KEY)
    share = service.create_share(NAME)
    go_through(
        "file",
        lambda name, f: share.get_file_client(name).upload_file(f, max_concurrency=4),
        lambda name, **part: share.get_file_client(name).download_file(max_concurrency=4, **part),
    )
    return sum(1 for _ in service.get_share_client("many").list_directories_and_files("many"))


print("listed", blobs(), files())

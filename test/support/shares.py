# SPDX-License-Identifier: MIT
"""A share of a daemon for each test, by a client's package and by requests that are signed here."""

import hashlib

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import ShareServiceClient

from .storage import KEY, StorageDaemon


@pytest.fixture(scope="module")
def daemon():
    with StorageDaemon() as d:
        yield d


@pytest.fixture
def client(daemon):
    return ShareServiceClient(daemon.file.url, credential=KEY)


@pytest.fixture
def share(client, request):
    name = "s" + hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    s = client.create_share(name)
    yield s
    s.delete_share()


@pytest.fixture
def call(daemon, share):
    def call(method, path, body=b"", **headers):
        return daemon.file.call(method, f"/{share.share_name}{path}", body, **headers)

    return call


@pytest.fixture
def folder(daemon, share):
    return daemon.folder / "files" / share.share_name


def refused(code, act, *args, **kwargs):
    with pytest.raises(HttpResponseError) as e:
        act(*args, **kwargs)
    assert e.value.error_code == code
    return e.value

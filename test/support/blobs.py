# SPDX-License-Identifier: MIT
"""What tests of blobs begin with: a daemon, a client, a container of their own."""

import hashlib
from datetime import datetime, timedelta, timezone

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient, generate_container_sas

from .storage import ACCOUNT, KEY, StorageDaemon


@pytest.fixture(scope="module")
def daemon():
    with StorageDaemon() as d:
        yield d


@pytest.fixture
def client(daemon):
    return BlobServiceClient(daemon.blob.url, credential=KEY, max_single_put_size=8 << 20)


@pytest.fixture
def container(client, request):
    name = "c" + hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    c = client.create_container(name)
    yield c
    c.delete_container()


def may_read(container, permission="r"):
    """The query of a URL that reads its blobs."""
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    return generate_container_sas(ACCOUNT, container.container_name, account_key=KEY, permission=permission, expiry=until)


@pytest.fixture
def put(daemon, container):
    """Puts a blob by its name as it stands in a URL."""

    def put(name, body=b"bytes", **headers):
        path = f"/{container.container_name}/{name}"
        return daemon.blob.call("PUT", path, body, x_ms_blob_type="BlockBlob", **headers)

    return put


@pytest.fixture
def call(daemon, container):
    def call(method, name, body=b"", **headers):
        return daemon.blob.call(method, f"/{container.container_name}{name}", body, **headers)

    return call


def refused(do, *arguments, **named):
    """The code with which a call of the SDK is refused."""
    with pytest.raises(HttpResponseError) as e:
        do(*arguments, **named)
    return e.value.error_code

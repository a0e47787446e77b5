# SPDX-License-Identifier: MIT
"""Application packages of Batch accounts, as tests make them."""

import io
import zipfile
from urllib.parse import urlsplit

from .accounts import Accounts
from .batch_rm import BatchAccounts


def packaged(daemon):
    """A group with an account, `name`, and its auto-storage: `store_name` of the accounts `store`."""
    b = BatchAccounts(daemon).make()
    b.store = Accounts(daemon, b.group)
    b.store_name = b.store.account()
    b.name = b.account(autoStorage={"storageAccountId": f"{b.store.path}/{b.store_name}"})
    return b


def package(accounts, app, version, text, default=False):
    path = f"/{accounts.name}/applications/{app}"
    accounts.call("PUT", path, expect=200)
    made = accounts.call("PUT", f"{path}/versions/{version}", expect=200).json
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        program = zipfile.ZipInfo("bin/say.sh")
        program.external_attr = 0o100755 << 16
        z.writestr(program, f"#!/bin/sh\necho {text}\n")
    place = urlsplit(made["properties"]["storageUrl"])
    head = {"Host": place.netloc, "x-ms-blob-type": "BlockBlob", "x-ms-version": "2018-03-28"}
    target = f"{place.path}?{place.query}"
    accounts.daemon.call("PUT", target, data=archive.getvalue(), headers=head, token="", validate=False, expect=201)
    accounts.call("POST", f"{path}/versions/{version}/activate", {"format": "zip"}, expect=200)
    if default:
        accounts.call("PATCH", path, {"properties": {"defaultVersion": version}}, expect=200)

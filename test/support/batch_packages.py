# SPDX-License-Identifier: MIT
"""Application packages of Batch accounts, as tests make them."""

import io
import zipfile
from urllib.parse import urlsplit

from .accounts import Accounts
from .batch_rm import BatchAccounts


def packaged(daemon):
    """A group with an account, `name`, and its auto-storage: `store_name` of the accounts `store`; `auto` gives it to others."""
    b = BatchAccounts(daemon).make()
    b.store = Accounts(daemon, b.group)
    b.store_name = b.store.account()
    b.auto = {"autoStorage": {"storageAccountId": f"{b.store.path}/{b.store_name}"}}
    b.name = b.account(**b.auto)
    return b


def upload(daemon, url, data, **more):
    """By the URL alone, whose host is said in the request's head."""
    place = urlsplit(url)
    head = {"Host": place.netloc, "x-ms-blob-type": "BlockBlob", "x-ms-version": "2018-03-28"}
    return daemon.call("PUT", f"{place.path}?{place.query}", data=data, headers=head, token="", validate=False, **more)


def package(accounts, app, version, text, default=False):
    """One whose program says the text."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        program = zipfile.ZipInfo("bin/say.sh")
        program.external_attr = 0o100755 << 16
        z.writestr(program, f"#!/bin/sh\necho {text}\n")
    package_of(accounts, app, version, out.getvalue())
    if default:
        accounts.call("PATCH", f"/{accounts.name}/applications/{app}", {"properties": {"defaultVersion": version}}, expect=200)


def package_of(accounts, app, version, archive):
    path = f"/{accounts.name}/applications/{app}"
    accounts.call("PUT", path, expect=200)
    made = accounts.call("PUT", f"{path}/versions/{version}", expect=200).json
    upload(accounts.daemon, made["properties"]["storageUrl"], archive, expect=201)
    accounts.call("POST", f"{path}/versions/{version}/activate", {"format": "zip"}, expect=200)


def hostile():
    """(archive, what is said of it)"""

    def made(name, mode=None, text="x", times=1):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
            for _ in range(times):
                info = zipfile.ZipInfo(name)
                info.create_system = 3
                info.external_attr = (mode or 0o100644) << 16
                z.writestr(info, text)
        return out.getvalue()

    whole = made("a.txt", text="text " * 100)
    return [
        (b"no archive at all, but some bytes", "not a zip file"),
        (b"", "not a zip file"),
        (whole[:-40], "not a zip file"),
        (whole[:60] + b"\0\0\0" + whole[63:], ""),
        (made("../../etc/cron.d/x"), "leaves the archive"),
        (made("/etc/passwd"), "absolute"),
        (made("..\\x"), "leaves the archive"),
        (made("link", 0o120777, "/etc"), "symbolic link"),
        (made("device", 0o020644), "neither a file nor a directory"),
        (made("twice", times=2), "twice"),
    ]

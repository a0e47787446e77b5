# SPDX-License-Identifier: MIT
"""Bytes of users at the host of the daemon's page: a browser runs no script in them and guesses no type. Each reply that
other tests see is judged by support/daemon.py."""

import re
from types import SimpleNamespace

import pytest
from support import rights
from support.browser import Browser
from support.daemon import unguarded
from support.storage import StorageDaemon

HTML = b"<html><script>fetch('/batchaid/session')</script>"


def guarded(headers):
    """Exactly once each."""
    policy = headers.get_all("Content-Security-Policy") or []
    kind = headers.get_all("X-Content-Type-Options") or []
    parts = set(policy[0].split("; ")) if len(policy) == 1 else set()
    return {"sandbox", "default-src 'none'", "frame-ancestors 'none'"} <= parts and kind == ["nosniff"]


def filled(path):
    """The path of something that is not there."""
    template, _, query = path.partition("?")
    query = "&".join(q for q in query.split("&") if q and not q.endswith("="))
    return re.sub(r"\{[a-zA-Z]+\*?\}", "nosuch", template) + ("?" + query if query else "")


def test_each_route_of_bytes_says_so_with_each_reply(daemon):
    routes = [r for r in rights.routes() if r.bytes == "users"]
    assert {r.service for r in routes} >= {"azstorage", "azblob", "azfiles", "batch", "batch paths"}
    hosts = {"azblob": "nosuch.blob.core.localhost", "azfiles": "nosuch.file.core.localhost", "batch": "nosuch.eastus.batch.localhost"}
    for route in routes:
        assert route.method in ("GET", "HEAD"), route
        browser = Browser(daemon, f"{hosts.get(route.service, 'localhost')}:{daemon.port}")
        answer = browser.send(route.method, filled(route.path))
        assert answer.status in (400, 401, 403, 404) and guarded(answer.headers), (route, answer, answer.headers)
        browser.connection.close() if browser.connection else None


def test_what_is_missing_is_seen():
    """The judge of each reply."""
    seen = SimpleNamespace(method="GET", url="https://localhost/files/a/b/c", status=206, content=b"x", headers={"Content-Type": "text/html"})
    assert unguarded(seen)
    seen.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    assert unguarded(seen)
    seen.headers["X-Content-Type-Options"] = "nosniff"
    assert not unguarded(seen)
    seen.headers["Content-Security-Policy"] = "script-src sandbox"
    assert unguarded(seen)


# --- blobs and files, with the account in the path ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store():
    with StorageDaemon() as d:
        d.blob.call("PUT", "/box?restype=container", x_ms_blob_public_access="blob")
        d.blob.call("PUT", "/box/page", HTML, x_ms_blob_type="BlockBlob", x_ms_blob_content_type="text/html")
        d.file.call("PUT", "/box?restype=share")
        size = str(len(HTML))
        d.file.call("PUT", "/box/page", x_ms_type="file", x_ms_content_length=size, x_ms_content_type="text/html")
        d.file.call("PUT", "/box/page?comp=range", HTML, x_ms_write="update", x_ms_range=f"bytes=0-{len(HTML) - 1}")
        yield d


@pytest.mark.parametrize("plane", ["blob", "file"])
def test_a_page_of_a_user_is_none_of_the_daemon(store, plane):
    plane = getattr(store, plane)
    whole = plane.call("GET", "/box/page")
    assert (whole.status, whole.body, whole.headers["Content-Type"]) == (200, HTML, "text/html")
    part = plane.call("GET", "/box/page", x_ms_range="bytes=6-13")
    assert (part.status, part.body) == (206, b"<script>")
    head = plane.call("HEAD", "/box/page")
    missing = plane.call("GET", "/box/<script>".replace("<", "%3C"))
    forbidden = plane.call("GET", "/box/page", signed=False, x_ms_date=None)
    changed = plane.call("GET", "/box/page", If_None_Match=whole.headers["ETag"])
    wrong = plane.call("GET", "/box/page", x_ms_range="bytes=9999-")
    for answer in (whole, part, head, missing, forbidden, changed, wrong):
        assert guarded(answer.headers), (answer, answer.headers)
    assert [head.status, wrong.status] == [200, 416] and missing.status in (400, 404)

# SPDX-License-Identifier: MIT
"""Strict mode: an archived blob is rehydrated in its time, by the served clock."""

from email.utils import formatdate

import pytest
from support.accounts import Accounts
from support.storage import sign

ARGUMENTS = ("--ephemeral", "--fake-nodes")
CLOCK = {"rate": 0}
LONG, SHORT = "PT14H59M59S", "PT59M59S"


class Box:
    """A container of an account, whose blobs are asked for by key."""

    def __init__(self, accounts, daemon):
        self.daemon, self.account = daemon, accounts.account()
        accounts.share(self.account, "box", kind="blobs")
        self.key = accounts.keys(self.account)[0]

    def ask(self, method, path, body=b"", **headers):
        path = f"/box{path}"
        head = {name.replace("_", "-"): value for name, value in headers.items()}
        head |= {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02", "Content-Length": str(len(body)), "Content-Type": "text/plain"}
        head["Authorization"] = sign(method, path, head, self.key, self.account)
        head["Host"] = f"{self.account}.blob.core.localhost:{self.daemon.port}"
        return self.daemon.call(method, path, data=body, headers=head, token=None, api_version=None, validate=False)

    def code(self, *request, **headers):
        return self.ask(*request, **headers).headers.get("x-ms-error-code")

    def url(self, name):
        return f"https://{self.account}.blob.core.localhost:{self.daemon.port}/box/{name}"

    def put(self, name):
        assert self.ask("PUT", f"/{name}", b"old", x_ms_blob_type="BlockBlob", x_ms_access_tier="Archive").status == 201

    def thaw(self, name, tier="Hot", priority=None, expect=202):
        more = {"x_ms_rehydrate_priority": priority} if priority else {}
        got = self.ask("PUT", f"/{name}?comp=tier", x_ms_access_tier=tier, **more)
        assert got.status == expect, got
        return got.headers.get("x-ms-error-code")

    def shown(self, name):
        h = self.ask("HEAD", f"/{name}").headers
        return tuple(h.get(k) for k in ("x-ms-access-tier", "x-ms-archive-status", "x-ms-rehydrate-priority"))


@pytest.fixture
def box(tested, hurried, clock, strict):
    made = Box(hurried(Accounts(tested).make()), tested)
    clock.advance("PT1M")
    strict.set()
    made.put("b")
    return made


def pending(tier, priority):
    return "Archive", f"rehydrate-pending-to-{tier}", priority


@pytest.mark.parametrize("priority, span", [("Standard", LONG), ("High", SHORT), (None, LONG)])
def test_it_takes_its_time(box, clock, priority, span):
    etag = box.ask("HEAD", "/b").headers["ETag"]
    box.thaw("b", "Cool", priority)
    for step in (span, "PT1S"):
        assert box.shown("b") == pending("cool", priority or "Standard")
        assert box.code("GET", "/b") == "BlobArchived"
        listed = box.ask("GET", "?restype=container&comp=list").text
        assert "<AccessTier>Archive</AccessTier><ArchiveStatus>rehydrate-pending-to-cool</ArchiveStatus>" in listed
        assert f"<RehydratePriority>{priority or 'Standard'}</RehydratePriority>" in listed
        clock.advance(step)
    assert box.ask("GET", "/b").content == b"old" and box.shown("b") == ("Cool", None, None)
    assert box.ask("HEAD", "/b").headers["ETag"] == etag


def test_what_may_be_changed_meanwhile(box, clock):
    box.thaw("b", "Hot")
    assert box.thaw("b", "Cool", expect=409) == "BlobBeingRehydrated"
    assert box.thaw("b", "Archive", expect=409) == "BlobBeingRehydrated"
    box.thaw("b", "Hot")  # again, as a client that lost the answer
    assert box.ask("PUT", "/b", b"new", x_ms_blob_type="BlockBlob").status == 409
    clock.advance("PT1H")
    box.thaw("b", "Hot", "High")
    assert box.shown("b") == pending("hot", "High")
    assert box.thaw("b", "Hot", "Standard", expect=409) == "BlobBeingRehydrated"
    clock.advance(SHORT)
    assert box.code("GET", "/b") == "BlobArchived"
    clock.advance("PT1S")
    assert box.ask("GET", "/b").content == b"old"
    box.thaw("b", "Archive", expect=200)
    assert box.shown("b") == ("Archive", None, None)


def test_a_late_priority_makes_it_no_later(box, clock):
    box.thaw("b")
    clock.advance("PT14H30M")
    box.thaw("b", "Hot", "High")
    clock.advance("PT30M")
    assert box.ask("GET", "/b").content == b"old"


def test_a_copy_is_rehydrated_in_its_time(box, clock):
    copied = box.ask("PUT", "/to", x_ms_copy_source=box.url("b"), x_ms_access_tier="Cold", x_ms_rehydrate_priority="High")
    assert copied.status == 202 and copied.headers["x-ms-copy-status"] == "success"
    assert box.shown("to") == pending("cold", "High") and box.shown("b") == ("Archive", None, None)
    assert box.code("GET", "/to") == "BlobArchived"
    assert box.code("PUT", "/more", x_ms_copy_source=box.url("to")) == "BlobArchived"
    clock.advance("PT1H")
    assert box.ask("GET", "/to").content == b"old"
    assert box.ask("PUT", "/more", x_ms_copy_source=box.url("to")).status == 202
    assert box.shown("more") == ("Cold", None, None)


def test_a_deletion_and_a_new_blob_end_it(box, clock):
    box.thaw("b")
    assert box.ask("DELETE", "/b").status == 202
    assert box.ask("PUT", "/b", b"new", x_ms_blob_type="BlockBlob").status == 201
    assert box.ask("GET", "/b").content == b"new" and box.shown("b") == ("Hot", None, None)


def test_its_spans_are_set_as_others(box, clock, strict):
    strict.set(rehydration="PT10S", rehydrationHigh="PT0S")
    box.thaw("b")
    clock.advance("PT9S")
    assert box.code("GET", "/b") == "BlobArchived"
    clock.advance("PT1S")
    assert box.ask("GET", "/b").content == b"old"
    box.thaw("b", "Archive", expect=200)
    box.thaw("b", "Hot", "High")
    assert box.ask("GET", "/b").content == b"old"


def test_what_is_half_rehydrated_is_ready_when_strict_mode_ends(box, strict):
    box.thaw("b", "Cool")
    strict.off()
    assert box.ask("GET", "/b").content == b"old" and box.shown("b") == ("Cool", None, None)
    strict.set()
    assert box.code("GET", "/b") == "BlobArchived"  # nothing was written, and its time is not over


def test_a_dump_has_the_tier_without_the_rehydration(box, t):
    box.thaw("b", "Cool")
    (group,) = t.dump(subscription=box.daemon.subscription)["groups"].values()
    accounts = group["storageAccounts"]
    noted = accounts[box.account]["containers"]["box"]["blobs"]["b"]["properties"]
    assert noted["x-ms-access-tier"] == "Archive" and "x-ms-rehydration" not in noted
    accounts[f"{box.account}2"] = {k: v for k, v in accounts.pop(box.account).items() if k != "keys"}
    t.seed({"groups": {"again": group}})

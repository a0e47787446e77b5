# SPDX-License-Identifier: MIT
"""The list of principals, page by page."""

import json

import pytest
from support.daemon import Daemon
from support.people import READER, Person
from support.refusals import refused

PROGRAMS = 205  # more than a page of `batchaid user`


@pytest.fixture(scope="module")
def many():
    """A daemon with programs."""
    with Daemon() as d:
        graph = {"api_version": None, "validate": False, "expect": 201}
        for n in range(PROGRAMS):
            app = d.call("POST", "/v1.0/applications", {"displayName": f"tool {n}"}, **graph).json
            d.call("POST", "/v1.0/servicePrincipals", {"appId": app["appId"]}, **graph)
        yield d


def page(d, **params):
    return d.call("GET", "/batchaid/users", api_version=None, params=params, expect=200).json


def test_pages_have_everybody_once(many):
    users = [Person(many, READER).name for _ in range(2)]
    whole = page(many)
    assert "next" not in whole and whole["count"] == len(whole["value"]) > PROGRAMS + 2
    assert whole["value"][0]["objectId"] == many.env["AZURE_CLIENT_ID"] and [u["name"] for u in whole["value"][-2:]] == users
    for size in (1000, 100, 7, 1):
        found, after = [], {}
        while True:
            part = page(many, max=size, **after)
            assert len(part["value"]) <= size and part.get("count") == (None if after else whole["count"])
            found += part["value"]
            if "next" not in part:
                break
            after = {"after": part["next"]}
        assert found == whole["value"]


def test_who_goes_or_comes_between_two_pages_moves_no_other(many):
    goes, stays = (Person(many, READER).name for _ in range(2))
    first = page(many, max=len(page(many)["value"]) - 2)
    comes = Person(many, READER).name
    many.call("DELETE", f"/batchaid/users/{goes}", expect=204)
    assert [u["name"] for u in page(many, after=first["next"])["value"]] == [stays, comes]


def test_the_command_lists_all_pages(many):
    names = [u["name"] for u in page(many)["value"]]
    assert [u["name"] for u in json.loads(many.tool("user", "list", "--json").stdout)["value"]] == names
    assert len(many.tool("user").stdout.splitlines()) == len(names) + 1


@pytest.mark.parametrize("params, words", [({"after": "x"}, "'x'"), ({"after": "7/1"}, "'7/1'"), ({"after": "1/"}, "'1/'"), ({"after": "1/-1"}, "'1/-1'"), ({"after": "1/1x"}, "'1/1x'"), ({"max": "0"}, "'0'")])
def test_a_page_that_cannot_be(many, params, words):
    refused(many.call("GET", "/batchaid/users", api_version=None, params=params), 400, "InvalidQueryParameterValue", next(iter(params)), [words])

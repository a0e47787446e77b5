# SPDX-License-Identifier: MIT
"""Applications as the data plane of Azure Batch lists them."""

import io
import zipfile

import pytest
from support.batch import VERSIONS, Plane
from support.batch_packages import packaged, upload
from support.people import Person


@pytest.fixture(scope="module")
def accounts(daemon, temporary_in_file):
    return temporary_in_file(packaged(daemon))


@pytest.fixture(scope="module")
def name(accounts):
    """An account with applications: b has two active versions, a one, c none."""
    name = accounts.account(**accounts.auto)
    for app, version, active in (("b", "1", True), ("a", "2.0", True), ("b", "2", True), ("b", "3", False), ("c", "1", False)):
        path = f"/{name}/applications/{app}"
        accounts.call("PUT", path, {"properties": {"displayName": f"App {app}"}}, expect=200)
        made = accounts.call("PUT", f"{path}/versions/{version}", expect=200).json
        if active:
            upload(accounts.daemon, made["properties"]["storageUrl"], archive(), expect=201)
            accounts.call("POST", f"{path}/versions/{version}/activate", {"format": "zip"}, expect=200)
    return name


def archive():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as z:
        z.writestr("run", "x")
    return made.getvalue()


@pytest.fixture
def plane(daemon, accounts, name):
    return Plane(daemon, name, accounts.keys(name)[0])


@pytest.mark.parametrize("version", VERSIONS)
def test_what_nodes_can_get_is_listed(plane, version):
    plane = plane.at(version)
    rows = plane.get("/applications")["value"]
    assert rows == [
        {"id": "a", "displayName": "App a", "versions": ["2.0"]},
        {"id": "b", "displayName": "App b", "versions": ["1", "2"]},
    ]
    one = plane.get("/applications/B")
    assert one.pop("odata.metadata").endswith("#getapplicationsummaryresponse/@Element") and one == rows[1]


def test_lists_have_pages(plane):
    assert [a["id"] for a in plane.all("/applications?maxresults=1")] == ["a", "b"]


@pytest.mark.parametrize("app", ["c", "d"])
def test_what_nodes_cannot_get_is_not_there(plane, app):
    plane.refused(404, "ApplicationNotFound", "GET", f"/applications/{app}")


def test_the_roles_of_batch_are_known(daemon, accounts, name, temporary):
    """A role that manages what is in accounts sees these, but gets no keys."""
    person = temporary(Person(daemon, role="Azure Batch Data Contributor", scope=accounts.base))
    path = f"{accounts.path}/{name}"
    above = {"api_version": "2022-10-01", "validate": False}
    person.get(path, **above)
    person.get(f"{path}/applications/a/versions/2.0", **above)
    person.may_not("POST", f"{path}/listKeys", **above)
    person.may_not("DELETE", path, **above)
    keeper = temporary(Person(daemon, role="Azure Batch Account Contributor", scope=accounts.base))
    assert keeper.call("POST", f"{path}/listKeys", **above).status == 200

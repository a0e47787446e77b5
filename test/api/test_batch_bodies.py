# SPDX-License-Identifier: MIT
"""Bodies for Azure Batch's data plane out of the documents, for every operation of every version that makes something:
the full body and each optional property left out are taken; each required one left out, each wrong value and each
unknown name are refused, and nothing is made."""

import re

import pytest
from support import batch, batch_bodies
from support.batch import DOCUMENTED, JUDGES, PRESENT, VERSIONS, BatchGround
from support.batch_bodies import Maker
from support.batch_packages import package, packaged
from support.bodies import changed
from support.deep import ends
from support.world import fresh

pytestmark = pytest.mark.skipif(not PRESENT, reason="the published spec is not here")

REFUSALS = ("InvalidPropertyValue", "InvalidRequestBody", "MissingRequiredProperty")
# What is made where, by operation. The job has dependencies.
MAKES = {"Pool_Add": "/pools", "Job_Add": "/jobs", "JobSchedule_Add": "/jobschedules", "Task_Add": "/jobs/{job}/tasks"}


@pytest.fixture(scope="module")
def ground(daemon, temporary_in_file):
    accounts = packaged(daemon)
    package(accounts, "applicationId-text", "version-text", "text", default=True)
    return temporary_in_file(BatchGround(daemon, accounts))


class Case:
    """One operation of one version."""

    def __init__(self, ground, version, operation):
        self.plane = ground.plane.at(version)
        self.job = fresh("ground")
        body = {"id": self.job, "poolInfo": {"poolId": "nopool"}, "usesTaskDependencies": True, "onTaskFailure": "performexitoptionsjobaction"}
        self.plane.call("POST", "/jobs", body, expect=201)
        self.path = MAKES[operation].format(job=self.job)
        judge = JUDGES[version]
        (op,) = [o for o in judge.operations if o.id == operation]
        (parameter,) = [p for p in op.document["parameters"] if p.get("in") == "body"]
        self.schema = parameter["schema"]
        self.maker = Maker(judge)
        self.body = self.maker.make(self.schema)
        self.properties = list(self.maker.properties(self.body, self.schema))

    def send(self, body):
        return self.plane.call("POST", self.path, body)

    def taken(self, what, body):
        name = fresh("made")
        body = {**body, "id": name}
        reply = self.send(body)
        if reply.status != 201:
            return [f"{what}: {reply.content[-600:]!r}"]
        self.plane.get(f"{self.path}/{name}")
        self.plane.call("DELETE", f"{self.path}/{name}", expect=(200, 202))
        return []

    def refused(self, what, body, codes=REFUSALS):
        reply = self.send(body)
        if reply.status == 400 and reply.json["code"] in codes and batch.values_of(reply).get("PropertyName"):
            return []
        if reply.status == 201:
            self.plane.call("DELETE", f"{self.path}/{body['id']}", expect=(200, 202))
        return [f"{what}: {reply.status} {reply.content[-600:]!r}"]


def cases(versions):
    return [(v, o) for v in versions for o in MAKES]


@pytest.fixture
def case(ground, request):
    return Case(ground, *request.param)


@pytest.mark.parametrize("case", cases(ends(VERSIONS)), indirect=True, ids=lambda c: f"{c[0]}-{c[1]}")
def test_full_bodies_are_taken_and_stay_themselves(case):
    name = fresh("made")
    assert case.send({**case.body, "id": name}).status == 201, case.send({**case.body, "id": name}).content
    seen = case.plane.get(f"{case.path}/{name}")
    secret = re.compile("password|accountKey|sasKey|sshPrivateKey", re.I)
    lost = [str(p) for p in case.properties if not found(seen, p.path) and not secret.search(p.name) and p.name != "id"]
    assert lost == []
    case.plane.call("DELETE", f"{case.path}/{name}", expect=(200, 202))


def found(seen, path):
    for step in path:
        if isinstance(seen, dict) and step not in seen:
            return False
        seen = seen[step]
    return True


@pytest.mark.parametrize("case", cases(ends(DOCUMENTED)), indirect=True, ids=lambda c: f"{c[0]}-{c[1]}")
def test_required_properties_are_required_and_others_are_not(case):
    wrong = []
    for prop in case.properties:
        body = changed(case.body, prop.path, changed)
        if batch_bodies.is_needed(prop):
            wrong += case.refused(f"without {prop}", body)
        elif batch_bodies.is_optional(prop):
            wrong += case.taken(f"without {prop}", body)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", cases(ends(VERSIONS)), indirect=True, ids=lambda c: f"{c[0]}-{c[1]}")
def test_names_that_the_version_does_not_have_are_refused(case):
    wrong = []
    for path in batch_bodies.objects(case.body):
        body = batch_bodies.with_member(case.body, path, "noSuchProperty", 1)
        wrong += case.refused(f"noSuchProperty in {path}", body, ("InvalidRequestBody",))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", cases(ends(DOCUMENTED)), indirect=True, ids=lambda c: f"{c[0]}-{c[1]}")
def test_wrong_values_are_refused(case):
    wrong = []
    for prop in case.properties:
        for what, value in batch_bodies.wrong_values(case.maker, prop):
            wrong += case.refused(f"{prop} of a wrong {what}: {value!r:.60}", changed(case.body, prop.path, value))
    assert not wrong, "\n".join(wrong)
